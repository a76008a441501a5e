"""The artifacts that are there when a run begins, and every place one may be taken from.

In: the listing of the index (files of the work tree, or blobs of the staging area), the overlay. Out:
headers for the plan; whole artifacts and old rows for what it writes. Invariant: reading here never fails:
what is damaged, missing or of a newer format counts as absent, except that a newer format in the index ends
the run.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from git_pkb.index.plan import Plan, Target
from git_pkb.index.recipe import Recipe
from git_pkb.index.recorded import Known, Memory
from git_pkb.index.sources import (
    Halves,
    Sources,
    from_commit,
    from_entries,
    from_history,
    from_overlay,
    halves_of_found,
    halves_of_names,
    records_in,
)  # fmt: skip
from git_pkb.mirror.format import Header
from git_pkb.mirror.names import META, VEC, source_path
from git_pkb.mirror.overlay import Overlay
from git_pkb.mirror.tree import FileSignature, Found, Tree, pair, scan_entries, walk
from git_pkb.model import Entry

if TYPE_CHECKING:
    from git_pkb.git import ObjectReader, Repository
    from git_pkb.index.produce import Row

_ROWS_OF_DROPPED = 2000  # artifacts of files that went whose rows are kept at hand for files that came
_HISTORY_FOR = 500  # files at most that are looked for in recent history
_OLD_PATHS = 3  # of a blob at several paths: how many of them are asked for old rows


class Stock:
    """See the module.

    `entries`: of `.pkb/index` in HEAD or the staging area, whichever is indexed; `walked`: from `tree.walk`;
    `distrusted`: paths whose artifact counts as damaged; `few`: the entries are a part, see staged.py.
    """

    def __init__(
        self,
        repo: "Repository",
        reader: "ObjectReader",
        tree: Tree,
        cache: str,
        recipe: Recipe,
        entries: Mapping[str, Entry],
        unmerged: Mapping[str, list[str]],
        walked: tuple[Mapping[str, FileSignature], list[str]] | None,
        *,
        staged: bool,
        overlaid: bool,
        distrusted: Iterable[str] = (),
        few: bool = False,
    ) -> None:
        self.repo, self.reader, self.tree, self.recipe = repo, reader, tree, recipe
        self.entries, self.unmerged, self.staged, self.overlaid = entries, unmerged, staged, overlaid
        self.of_files = Memory(cache, "artifacts-files", off=few)
        self.of_blobs = Memory(cache, "artifacts-blobs", off=few)
        self.of_overlay = Memory(cache, "artifacts-overlay", off=few)
        listing = scan_entries(entries) if staged else pair(*(walked or walk(tree.top)))
        self.found: dict[str, Found] = listing.found
        self.strays: list[str] = listing.strays
        memory = self.of_blobs if staged else self.of_files
        self.known: dict[str, Known | None] = memory.look(self.found.values(), self._read)
        for name in unmerged:
            path = source_path(name)
            if path is not None and path in self.known:
                self.known[path] = None
        self.known.update(dict.fromkeys((path for path in distrusted if path in self.known), None))
        self.overlay = Overlay(cache)
        self.in_overlay: dict[str, Known | None] = {}
        if overlaid:
            self.in_overlay = self.of_overlay.look(self.overlay.scan(), self._read_overlay)
        self._languages: dict[str, str] | None = None
        self._sources = Sources()

    # --- for the plan ---

    def recorded(self, targets: Mapping[str, Target], stems: Mapping[str, str]) -> dict[str, Header | None]:
        """The header each path has: of its artifact in the index, or in the overlay where that is current."""
        recorded: dict[str, Header | None] = {}
        for path, found in self.found.items():
            known = self.known[path]
            misplaced = path in stems and found.stem != stems[path]
            recorded[path] = None if known is None or misplaced else known.header
        if self.overlaid:
            fits = self.recipe.identity.fits
            for path, target in targets.items():
                if not fits(target, recorded.get(path)) and (over := self._overlaid(target)) is not None:
                    recorded[path] = over.header
        return recorded

    def records(self, target: Target) -> int:
        """How many pieces the current artifact of a target has."""
        known = self.known.get(target.path)
        if known is None or not self.recipe.identity.fits(target, known.header):
            known = self._overlaid(target)
        return known.records if known is not None else 0

    def language_at(self, path: str, blob: str) -> str | None:
        """The language an artifact of the same content under the same name has, if there is one."""
        known = self.known.get(path)
        if known is not None and known.header.blob == blob:
            return known.header.language
        if not self.overlaid or "." in path.rpartition("/")[2]:
            return None
        if self._languages is None:
            all_known = (k for k in self.in_overlay.values() if k is not None)
            self._languages = {k.header.blob: k.header.language for k in all_known}
        return self._languages.get(blob)

    def _overlaid(self, target: Target) -> Known | None:
        known = self.in_overlay.get(Overlay.stem(target.blob, target.language))
        fits = known is not None and self.recipe.identity.fits(target, known.header)
        return known if fits else None

    # --- for what is written ---

    def open_places(self, plan: Plan, stems: Mapping[str, str], commits: Sequence[str]) -> None:
        """Get ready to look for artifacts, the nearest places first."""
        moved_from = {target.path: old for old, target in plan.moved}
        wanted = {target.blob for target in plan.writes}
        known = ((path, k.header) for path, k in self.known.items() if k is not None)
        headers = {path: header for path, header in known if header.blob in wanted}

        def of_index(path: str) -> Halves | None:
            found = self.found.get(path) or self.found.get(moved_from.get(path, ""))
            try:
                return self._read(found) if found is not None else None
            except OSError:
                return None

        self._sources = sources = Sources()
        sources.add_index(headers, of_index)
        if self.unmerged:
            sources.add_place(self._both_sides(stems))
        if self.staged:
            sources.add_place(self._of_work_tree(stems))  # a run that was interrupted may have written it
        else:
            sources.add_place(from_entries(self.reader, self.entries, stems))
        for commit in commits:
            sources.add_place(from_commit(self.reader, commit, stems))
        in_haste = (
            self.staged and self.recipe.local
        )  # asking git takes longer than the model for a commit's pieces
        if self.entries and not in_haste and len(plan.writes) <= _HISTORY_FOR:
            bases = {target.path: stems[target.path] for target in plan.writes}
            sources.add_place(from_history(self.repo, self.reader, bases))
        if self.overlaid and not in_haste and len(plan.writes) <= _HISTORY_FOR:
            languages = {target.path: target.language for target in plan.writes}
            sources.add_place(from_overlay(self.repo, self.overlay, languages, commits))

    def whole(self, header: Header, group: Sequence[Target]) -> tuple[Halves, int] | None:
        """A sound artifact with this header from any place, and its number of pieces."""
        found = self.overlay.get(header.blob, header.language)
        records = records_in(found, header) if found is not None else None
        if records is None:
            return self._sources.whole(header, [target.path for target in group])
        return (found, records) if found is not None else None

    def old(self, group: Sequence[Target]) -> tuple[Halves, ...]:
        """Artifacts of these paths whose rows may serve again."""
        return tuple(halves for target in group[:_OLD_PATHS] for halves in self._sources.old(target.path))

    def rows_of_dropped(self, plan: Plan) -> "dict[bytes, Row]":
        """Rows of files that are gone, for files that are new: a rename with an edit keeps most of them."""
        from git_pkb.index.produce import rows_of

        rows: dict[bytes, Row] = {}
        if plan.added and len(plan.dropped) <= _ROWS_OF_DROPPED:
            for path in plan.dropped:
                with contextlib.suppress(OSError):
                    rows.update(rows_of(self._read(self.found[path]), self.recipe))
        return rows

    def bases_of(self, gone: Iterable[str], stems: Mapping[str, str]) -> list[str]:
        """The artifacts (names without suffix) of paths that are gone or have moved to another name."""
        live = {stems[path] for path in stems if path not in set(gone)}
        gone = list(gone)
        bases = [self.found[path].stem for path in gone if path in self.found]
        bases += [f.stem for path, f in self.found.items() if path in stems and f.stem != stems[path]]
        return [base for base in dict.fromkeys(bases) if base not in live]

    def save(self, folder: str) -> None:
        """Remember what was seen and written."""
        for memory in (self.of_files, self.of_blobs, self.of_overlay):
            memory.save(folder)

    # --- reading ---

    def _read(self, found: Found) -> Halves:
        """Both halves of an artifact of the index; OSError when it cannot be read."""
        if isinstance(found.meta, str):
            halves = halves_of_found(self.reader, found)
            if halves is None:
                raise FileNotFoundError(found.stem)
            return halves
        meta = self.tree.read(found.stem + META)
        return meta, self.tree.read(found.stem + VEC) if found.vec is not None else None

    def _read_overlay(self, found: Found) -> Halves:
        halves = self.overlay.read(found.stem)
        if halves is None:
            raise FileNotFoundError(found.stem)
        return halves

    def _of_work_tree(self, stems: Mapping[str, str]) -> Callable[[str], list[Halves]]:
        def of(path: str) -> list[Halves]:
            base = stems.get(path)
            meta = vec = None
            if base is not None:
                with contextlib.suppress(OSError):
                    meta = self.tree.read(base + META)
                    vec = self.tree.read(base + VEC)
            return [(meta, vec)] if meta is not None else []

        return of

    def _both_sides(self, stems: Mapping[str, str]) -> Callable[[str], list[Halves]]:
        def of(path: str) -> list[Halves]:
            base = stems.get(path, "")
            metas, vecs = self.unmerged.get(base + META, []), self.unmerged.get(base + VEC, [])
            read = (halves_of_names(self.reader, m, v) for m in metas for v in (vecs or (None,)))
            return [halves for halves in read if halves is not None]

        return of


def parse_unmerged(listed: bytes) -> dict[str, list[str]]:
    """What `git ls-files -u -z` prints: names in conflict -> blobs of both sides (not their ancestor)."""
    found: dict[str, list[str]] = {}
    for record in listed.split(b"\0"):
        if record:
            facts, _, raw = record.partition(b"\t")
            _, oid, number = facts.decode("ascii").split(" ")
            sides = found.setdefault(raw.decode("utf-8", "surrogateescape"), [])
            if number != "1":
                sides.append(oid)
    return found
