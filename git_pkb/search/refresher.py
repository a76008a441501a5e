"""Finds what changed since the cache was written, makes segments of it, and writes them.

In: a repository, a recipe, what the work tree holds. Out: a cache in line with it. Work is in proportion to
what changed: trees are compared, not listed, and only changed files are read. Invariant: no tracked file is
written, and the cache stays as it was until its one transaction commits.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from git_pkb.cache.reader import open_reader
from git_pkb.errors import Locked, PkbError
from git_pkb.index.sources import halves_of_blobs
from git_pkb.lock import hold
from git_pkb.mirror.format import Header, read_header
from git_pkb.mirror.names import INDEX, META, VEC, stem
from git_pkb.mirror.overlay import Overlay
from git_pkb.model import Entry
from git_pkb.rank.paths import load_census
from git_pkb.search.fill import Filler, Job, fill
from git_pkb.search.refresh import (
    ABSENT,
    CENSUS,
    CHANGED,
    HEAD,
    MADE_OF,
    STAMP,
    STATE,
    Request,
    has_artifacts,
    state_of,
)
from git_pkb.search.snapshot import (
    Signature,
    WorkTree,
    changed_between,
    entries_at,
    is_source,
    read_file,
    worktree_entry,
)

if TYPE_CHECKING:
    from git_pkb.git import Repository
    from git_pkb.index.plan import Identity
    from git_pkb.index.produce import Halves

_WAIT, _LONG_WAIT = 3.0, 1800.0  # seconds
_WORTH_A_LINE = 25  # files; fewer are indexed before anyone could read about it


class Refresher:
    """One run: finds what changed, makes segments of it, writes them."""

    def __init__(
        self,
        repo: "Repository",
        request: Request,
        folder: str,
        tree: WorkTree,
        made_of: str,
        stamp: str,
        say: Callable[[str], None],
        progress: Callable[[int, int, int], None] | None,
    ) -> None:
        self.repo, self.request, self.folder, self.tree = repo, request, folder, tree
        self.made_of, self.stamp, self.say, self.progress = made_of, stamp, say, progress
        self.contents: dict[str, bytes] = {}
        self.changed: dict[str, tuple[list[int] | None, str | None]] = {}
        self.absent: set[str] = set()

    def run(self, *, patient: bool = False) -> None:
        """Bring the cache in line with the work tree.

        Raises Locked when another process keeps the cache; `patient`: only after as long as building one may
        take.
        """
        lock = os.path.join(self.folder, "cache.lock")
        try:
            with hold(lock, wait=_WAIT):
                self._run()
        except Locked:
            if not patient:
                raise
            self.say("another git pkb is indexing this repository; waiting for it")
            with hold(lock, wait=_LONG_WAIT):
                self._run()

    def _run(self) -> None:
        from git_pkb.cache.schema import DATABASE, roll_back
        from git_pkb.cache.store import CacheWriter

        roll_back(os.path.join(self.folder, DATABASE))
        old = self._usable_facts()
        with CacheWriter(self.folder, fresh=old is None) as writer:
            have = writer.files()
            wanted = self._wanted(old, have)
            census = load_census(old.get(CENSUS) if old else None)
            gone = [path for path in wanted if path in have]
            writer.remove([have[path][0] for path in gone])
            for path in gone:
                census.count(path, -1)
            jobs = {path: entry for path, entry in wanted.items() if entry is not None}
            if len(jobs) >= _WORTH_A_LINE:
                self.say(f"indexing {len(jobs):,} files into the cache")
            for segment in fill(
                self._jobs(jobs),
                partial(Filler, self.request.recipe, embed=self.request.embed),
                expected=len(jobs),
                progress=lambda files, pieces: self.progress and self.progress(files, len(jobs), pieces),
            ):
                writer.add(segment)
                for file in segment.files:
                    census.count(file.path, 1)
            writer.set_facts(
                {
                    MADE_OF: self.made_of,
                    STATE: state_of(self.tree),
                    HEAD: self.tree.head or "",
                    CHANGED: json.dumps(self.changed),
                    STAMP: self.stamp,
                    CENSUS: census.dump(),
                    ABSENT: json.dumps(sorted(self.absent)),
                }
            )

    def _usable_facts(self) -> dict[str, str] | None:
        reader = open_reader(self.folder)
        if reader is None:
            return None
        with reader:
            return reader.facts if reader.facts.get(MADE_OF) == self.made_of else None

    def _wanted(
        self, facts: Mapping[str, str] | None, have: Mapping[str, tuple[int, str, str, int]]
    ) -> dict[str, Entry | None]:
        """Paths whose rows must be made again, with what they hold now; None: only removed."""
        base: dict[str, Entry | None] = {}
        head = self.tree.head
        known: dict[str, tuple[list[int] | None, str | None]] = (
            json.loads(facts.get(CHANGED, "{}")) if facts else {}
        )
        between = None
        if facts is not None and head is not None and facts.get(HEAD):
            between = {} if facts[HEAD] == head else changed_between(self.repo, facts[HEAD], head)
        if between is not None and any(map(_sets_attributes, (*between, *known, *self.tree.changed))):
            between = None  # any file may be generated now, or no longer
        if between is None:
            whole = self.repo.reader().tree(head) if head else {}
            base.update(whole)
            base.update({path: None for path in have if path not in whole})
        else:
            base.update(between)
            back = [path for path in known if path not in self.tree.changed and path not in base]
            stale = [p for p, row in have.items() if row[3] and p not in base] if facts else []
            absent = [p for p in json.loads(facts.get(ABSENT, "[]")) if p not in base] if facts else []
            again = list(dict.fromkeys([*back, *stale, *absent]))
            if again and head:
                at_head = entries_at(self.repo, head, again)
                base.update({path: at_head.get(path) for path in again})
        for path, sign in self.tree.changed.items():
            base[path] = self._worktree_entry(path, sign, known.get(path))
        selected = self._select({p: e for p, e in base.items() if e is not None and is_source(e)})
        wanted: dict[str, Entry | None] = {}
        for path in base:
            kept = selected.get(path)
            if kept is None and path not in have:
                continue
            if kept is not None and path in have and have[path][1] == kept.oid and not have[path][3]:
                continue
            wanted[path] = kept
        return wanted

    def _worktree_entry(
        self, path: str, sign: Signature | None, known: tuple[list[int] | None, str | None] | None
    ) -> Entry | None:
        """What a changed path holds; hashed only when its signature is new."""
        if sign is None or self.repo.workdir is None:
            self.changed[path] = (None, None)
            return None
        oid = known[1] if known and known[0] == list(sign) else None
        if oid is None:
            from git_pkb.select import MAX_BYTES, content_skip

            content = read_file(self.repo.workdir, path) if sign[1] <= MAX_BYTES else None
            if content is not None and content_skip(content, path) is None:
                oid = _blob_name(content, self.repo.object_format)
                self.contents[path] = content
        self.changed[path] = (list(sign), oid)
        return worktree_entry(path, oid) if oid else None

    def _select(self, entries: dict[str, Entry]) -> dict[str, Entry]:
        from git_pkb.select import select

        return select(entries, _Attributes(self.repo, len(entries)), self.request.config).kept

    def _jobs(self, entries: dict[str, Entry]) -> Iterator[Job]:
        """Content and artifact of each file, read when it is needed."""
        from git_pkb.chunk import language_of
        from git_pkb.select import content_skip

        overrides = self.request.config.ext_overrides
        # where rows cost nothing, making them is quicker than opening the object store for them
        head = None if self.request.embed else self.tree.head
        artifacts = ArtifactSource(self.repo, self.request.recipe.identity, self.folder, head)
        for path, entry in sorted(entries.items()):
            content = self._content(path, entry)
            if content is None or content_skip(content, path) is not None:
                continue
            language = language_of(path, content[:256], overrides)
            halves, old = artifacts.find(path, entry.oid, language)
            yield Job(path, entry.oid, language, content, halves, old)

    def _content(self, path: str, entry: Entry) -> bytes | None:
        if path in self.contents:
            return self.contents.pop(path)
        if path in self.changed and self.repo.workdir is not None:
            return read_file(self.repo.workdir, path)
        content = self._clean_file(path, entry)
        if content is not None:
            return content
        try:
            return self.repo.reader().blob(entry.oid)
        except PkbError:
            self.absent.add(path)
            return None

    def _clean_file(self, path: str, entry: Entry) -> bytes | None:
        """The file of a clean path, when its bytes are the blob's (no filter changed them)."""
        if self.repo.workdir is None:
            return None
        content = read_file(self.repo.workdir, path)
        if content is None or _blob_name(content, self.repo.object_format) != entry.oid:
            return None
        return content


class ArtifactSource:
    """Finds committed artifacts for the cache: in the work tree, else (bare, sparse) in the commit `head`."""

    def __init__(self, repo: "Repository", identity: "Identity", folder: str, head: str | None) -> None:
        self.repo, self.identity, self.overlay, self.head = repo, identity, Overlay(folder), head
        self._committed: Mapping[str, Entry] | None = None
        self._there = has_artifacts(repo)

    def find(self, path: str, blob: str, language: str) -> tuple["Halves | None", tuple["Halves", ...]]:
        """A current artifact, or else one of the path whose rows may still serve."""
        wanted = Header(blob, language, self.identity.cutter, self.identity.model)
        overlaid = self.overlay.get(blob, language)
        if overlaid is not None and _header(overlaid[0]) == wanted:
            return overlaid, ()
        if not self._there and self.head is None:
            return None, ()
        for twin in (False, True):
            halves = self._read(stem(path, twin=twin))
            header = _header(halves[0]) if halves is not None else None
            if halves is None or header is None or header.model != wanted.model:
                continue
            return (halves, ()) if header == wanted else (None, (halves,))
        return None, ()

    def _read(self, base: str) -> "Halves | None":
        """Both halves of the artifact at a name without suffix."""
        if self._there and self.repo.workdir is not None:
            file = os.path.join(self.repo.workdir, base)
            meta = _read(file + META)
            if meta is not None:
                return meta, _read(file + VEC)
        if self.head is None:
            return None
        if self._committed is None:
            self._committed = self.repo.reader().subtree(self.head, INDEX)
        return halves_of_blobs(
            self.repo.reader(), self._committed.get(base + META), self._committed.get(base + VEC)
        )


class _Attributes:
    """Asks for attributes through the object reader, unless nothing in this work tree can set any."""

    def __init__(self, repo: "Repository", count: int) -> None:
        self.repo, self.count = repo, count

    def attributes(self, paths: Sequence[str], names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        top = self.repo.workdir
        few = self.count < 200
        if few and top and not any(
            os.path.exists(os.path.join(top, folder, ".gitattributes"))
            for path in paths
            for folder in _folders(path)
        ):  # fmt: skip
            return {}
        return self.repo.reader().attributes(paths, names)


def _header(meta: bytes) -> Header | None:
    """The header of a `.meta`, None when it cannot be used."""
    try:
        return read_header(meta)
    except PkbError:
        return None


def _sets_attributes(path: str) -> bool:
    return path.rpartition("/")[2] == ".gitattributes"


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["", *("/".join(parts[: i + 1]) for i in range(len(parts)))]


def _blob_name(content: bytes, object_format: str) -> str:
    from git_pkb.git.hashing import blob_name

    return blob_name(content, object_format)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as source:
            return source.read()
    except OSError:
        return None
