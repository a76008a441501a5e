"""Where an artifact, or at least its rows, may be had without embedding.

In: the places that hold artifacts: the index itself, HEAD's or the work tree's copy, the overlay, other
commits (the other side of a merge), recent history. Out: halves of artifacts as they are stored. Invariant:
nothing is taken on trust; the caller checks what it takes, and a blob that is not in this clone is passed
over.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from git_pkb.errors import NewerFormat, PkbError
from git_pkb.mirror.format import BadArtifact, Header, load, read_header
from git_pkb.mirror.names import INDEX, META, VEC

if TYPE_CHECKING:
    from git_pkb.git import ObjectReader, Repository
    from git_pkb.mirror.overlay import Overlay
    from git_pkb.mirror.tree import Found
    from git_pkb.model import Entry

Halves = tuple[bytes, bytes | None]

_HISTORY = 50  # commits
_LITERALLY = {"GIT_LITERAL_PATHSPECS": "1"}


class Sources:
    """Looks in one place after another. Each place: source path -> stored halves, best first."""

    def __init__(self) -> None:
        self._by_header: dict[Header, Callable[[], Halves | None]] = {}
        self._places: list[Callable[[str], Iterable[Halves]]] = []

    def add_index(self, headers: Mapping[str, Header], read: Callable[[str], Halves | None]) -> None:
        """The artifacts of the index: found by header wherever they are, and by path."""
        for path, header in headers.items():
            self._by_header.setdefault(header, lambda path=path: read(path))  # type: ignore[misc]

        def of(path: str) -> Iterable[Halves]:
            found = read(path)
            return [found] if found is not None else []

        self._places.append(of)

    def add_place(self, place: Callable[[str], Iterable[Halves]]) -> None:
        """One more place, asked after those before it."""
        self._places.append(place)

    def whole(self, header: Header, paths: Sequence[str]) -> tuple[Halves, int] | None:
        """A sound artifact with this header and its number of pieces.

        From anywhere in the index, or from any other place by these paths.
        """
        from_index = self._by_header.get(header)
        found = from_index() if from_index is not None else None
        for candidate in itertools.chain([found] if found is not None else [], *map(self._each, paths)):
            records = records_in(candidate, header)
            if records is not None:
                return candidate, records
        return None

    def _each(self, path: str) -> Iterator[Halves]:
        for place in self._places:
            yield from place(path)

    def old(self, path: str) -> list[Halves]:
        """Every artifact known for a path."""
        return list(self._each(path))


def records_in(halves: Halves, header: Header) -> int | None:
    """How many pieces these halves have, if they are the artifact of that header, whole and matching."""
    try:
        if read_header(halves[0]) != header:
            return None
        return len(load(*halves).records)
    except (BadArtifact, NewerFormat):
        return None


def from_entries(
    reader: "ObjectReader", entries: Mapping[str, "Entry"], stems: Mapping[str, str]
) -> Callable[[str], list[Halves]]:
    """A place: the artifacts of a tree, given its entries by name of artifact and where paths have theirs."""

    def of(path: str) -> list[Halves]:
        base = stems.get(path, "")
        found = halves_of_blobs(reader, entries.get(base + META), entries.get(base + VEC))
        return [found] if found is not None else []

    return of


def halves_of_blobs(reader: "ObjectReader", meta: "Entry | None", vec: "Entry | None") -> Halves | None:
    """Read both halves from git, None when the first is not there or not in this clone."""
    if meta is None or not meta.is_regular:
        return None
    return halves_of_names(reader, meta.oid, vec.oid if vec is not None and vec.is_regular else None)


def halves_of_names(reader: "ObjectReader", meta: str, vec: str | None) -> Halves | None:
    """The same by object name."""
    try:
        return reader.blob(meta), reader.blob(vec) if vec is not None else None
    except PkbError:
        return None


def halves_of_found(reader: "ObjectReader", found: "Found") -> Halves | None:
    """The same for an artifact listed from the staging area or a tree."""
    if not isinstance(found.meta, str):
        return None
    return halves_of_names(reader, found.meta, found.vec if isinstance(found.vec, str) else None)


def from_commit(
    reader: "ObjectReader", commit: str, stems: Mapping[str, str]
) -> Callable[[str], list[Halves]]:
    """A place: the artifacts of a commit, listed when first asked."""
    listed: list[Callable[[str], list[Halves]]] = []

    def of(path: str) -> list[Halves]:
        if not listed:
            try:
                entries = reader.subtree(commit, INDEX)
            except PkbError:
                entries = {}
            listed.append(from_entries(reader, entries, stems))
        return listed[0](path)

    return of


def from_history(
    repo: "Repository", reader: "ObjectReader", stems: Mapping[str, str]
) -> Callable[[str], list[Halves]]:
    """A place: what the last commits did to the artifacts of the given paths (a revert finds them there)."""
    read: list[dict[str, list[Halves]]] = []

    def of(path: str) -> list[Halves]:
        if not read:
            read.append(_read_history(repo, reader, stems))
        return read[0].get(path, [])

    return of


def _read_history(
    repo: "Repository", reader: "ObjectReader", stems: Mapping[str, str]
) -> dict[str, list[Halves]]:
    names = [base + suffix for base in stems.values() for suffix in (META, VEC)]
    paths = {base: path for path, base in stems.items()}
    versions: dict[str, list[Halves]] = {}
    seen: set[tuple[str, str | None]] = set()
    for halves in _changes(_read_changes(repo, names)):
        for base in {name.rpartition(".")[0] for name, _ in halves}:
            for side in (0, 1):
                meta, vec = halves.get((base + META, side)), halves.get((base + VEC, side))
                if meta is not None and (meta, vec) not in seen:
                    seen.add((meta, vec))
                    found = halves_of_names(reader, meta, vec)
                    if found is not None:
                        versions.setdefault(paths[base], []).append(found)
    return versions


def from_overlay(
    repo: "Repository", overlay: "Overlay", languages: Mapping[str, str], commits: Sequence[str]
) -> Callable[[str], list[Halves]]:
    """A place: the overlay's artifacts of what these paths (with their languages) held lately.

    Lately: in HEAD, where HEAD was before (a pull, a switch), in `commits`, and in the last commits.
    """
    read: list[dict[str, dict[str, None]]] = []

    def of(path: str) -> list[Halves]:
        if not read:
            read.append(_recent_blobs(repo, list(languages), ["HEAD", "HEAD@{1}", *commits]))
        found = (overlay.get(blob, languages[path]) for blob in read[0].get(path, ()))
        return [halves for halves in found if halves is not None]

    return of


def _recent_blobs(
    repo: "Repository", paths: Sequence[str], commits: Sequence[str]
) -> dict[str, dict[str, None]]:
    """Path -> its blobs in some commits and in what the last commits changed."""
    blobs: dict[str, dict[str, None]] = {}
    for commit in commits:
        listed = repo.git(
            "ls-tree", "-z", "--full-tree", commit, "--", *paths, check=False, env=_LITERALLY
        )  # fmt: skip
        for record in listed.split(b"\0")[:-1]:
            facts, _, name = record.partition(b"\t")
            path = name.decode("utf-8", "surrogateescape")
            blobs.setdefault(path, {})[facts.split(b" ")[2].decode("ascii")] = None
    for halves in _changes(_read_changes(repo, paths)):
        for (path, _), blob in halves.items():
            blobs.setdefault(path, {})[blob] = None
    return blobs


def _read_changes(repo: "Repository", names: Sequence[str]) -> list[bytes]:
    """What the last commits did to some files, as git's raw fields."""
    commits = repo.git("rev-list", f"--max-count={_HISTORY}", "HEAD", check=False)
    if not commits or not names:
        return []
    listed = repo.git(
        "diff-tree", "--stdin", "-r", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "-z",
        "--", *names,
        input=commits, check=False, env=_LITERALLY,
    )  # fmt: skip
    return listed.split(b"\0")


def _changes(fields: Sequence[bytes]) -> Iterator[dict[tuple[str, int], str]]:
    """Commit by commit: (name, 0 before or 1 after) -> blob."""
    halves: dict[tuple[str, int], str] = {}
    facts: bytes | None = None
    for field in fields:
        if facts is not None:
            name = field.decode("utf-8", "surrogateescape")
            for side, oid in enumerate(facts.split(b" ")[2:4]):
                if oid.strip(b"0"):
                    halves[name, side] = oid.decode("ascii")
            facts = None
        elif field.startswith(b":"):
            facts = field
        else:  # the name of the next commit
            yield halves
            halves = {}
    yield halves
