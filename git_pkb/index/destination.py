"""Where finished artifacts go: the tracked tree with its staging area, or the overlay of the cache.

In: artifacts as bytes, one by one, and what is to go. Out: files, the list of what was written, the staging
area brought in line. Invariant: `.pkb/.gitignore` and `.gitattributes` are there before anything else is, and
only names under `.pkb` are written or staged.
"""

import contextlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from git_pkb.errors import PkbError
from git_pkb.index import marker
from git_pkb.index.recorded import Known, Memory, signature_of
from git_pkb.location import cache_dir
from git_pkb.mirror.overlay import Overlay
from git_pkb.mirror.tree import INDEX, META, VEC, Found, Tree, source_path

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import ObjectReader, Repository
    from git_pkb.index.sources import Halves
    from git_pkb.model import Entry

STAMP = "artifacts.stamp"  # in the cache folder; touched whenever artifacts were written


def writes_tree(repo: "Repository", config: "Config", *, write: bool = False) -> bool:
    """Whether artifacts go into the tracked tree here: the workflow and the branch decide."""
    workflow = config.index.write
    if write or workflow == "every-commit":
        return True
    if workflow == "local":
        return False
    branch = repo.current_branch()
    default = config.index.branch or repo.default_branch()
    if default is None and repo.head_at_open is None:
        default = branch  # before the first commit there is no other branch yet
    return branch is not None and branch == default


class Destination(Protocol):
    """What the indexer needs of a place; names relative to the top of what was written and removed."""

    written: list[str]
    removed: list[str]
    staged: bool  # whether what is tracked of the index is in line in the staging area at the end

    def put(self, base: str, halves: "Halves", known: Known) -> None:
        """Store one artifact at `base`, the name of its source without suffix."""

    def remove(self, name: str) -> None:
        """Remove one file."""

    def keep(self) -> None:
        """Leave things in order after a run that failed: what it has finished is kept."""


class TreeDestination:
    """`.pkb/index` in the work tree and, for `staged`, in the staging area.

    `tracked`: the entries under `.pkb` of what is indexed; `unmerged`: names in conflict -> their blobs;
    `index_only`: the work tree is left alone; `compare`: do not write what is there already.
    """

    def __init__(
        self,
        repo: "Repository",
        reader: "ObjectReader",
        tree: Tree,
        memories: tuple[Memory, Memory],
        tracked: Mapping[str, "Entry"],
        unmerged: Mapping[str, list[str]],
        *,
        staged: bool,
        index_only: bool,
        compare: bool,
    ) -> None:
        self.repo, self.reader, self.tree = repo, reader, tree
        self.of_files, self.of_blobs = memories
        self.tracked, self.unmerged = tracked, unmerged
        self.staged, self.index_only, self.compare = staged, index_only, compare or staged
        self.written: list[str] = []
        self.removed: list[str] = []
        self.to_stage: dict[str, bytes | None] = {}
        self._prepared = index_only

    def put(self, base: str, halves: "Halves", known: Known) -> None:
        """See `Destination`. `.vec` before `.meta`: what has a header is whole."""
        meta, vec = halves
        if vec is None:
            self.remove(base + VEC)
        else:
            self._put_file(base + VEC, vec)
        self._put_file(base + META, meta)
        blobs = self.reader.hash_blob(meta), self.reader.hash_blob(vec) if vec is not None else None
        self.of_blobs.remember(base, signature_of(Found("", base, *blobs)), known)
        if not self.index_only and (file := self.tree.signature(base + META)) is not None:
            other = self.tree.signature(base + VEC) if vec is not None else None
            self.of_files.remember(base, signature_of(Found("", base, file, other)), known)

    def remove(self, name: str) -> None:
        """See `Destination`."""
        gone = not self.index_only and self.tree.remove(name)
        if self.staged and name in self.tracked:
            self.to_stage[name] = None
            gone = True
        if gone:
            self.removed.append(name)

    def write_state(self, state: marker.State, old: bytes) -> None:
        """Write state.toml when it says something new."""
        data = marker.render(state)
        if data != old or marker.NAME in self.unmerged:
            self._put_file(marker.NAME, data, sync=True)

    def finish(self, live: Mapping[str, object]) -> None:
        """Stamp the change for search and stage it; `live`: the source paths that have an artifact."""
        if self.written or self.removed:
            folder = cache_dir(self.repo)
            with contextlib.suppress(OSError):
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, STAMP), "wb"):
                    os.utime(os.path.join(folder, STAMP))
        if self.staged:
            self._stage(live)

    def keep(self) -> None:
        """See `Destination`: what was finished goes into the commit, or it would stand in `git status`."""
        with contextlib.suppress(PkbError, OSError):
            self._stage_names()

    def _put_file(self, name: str, data: bytes, *, sync: bool = False) -> None:
        if self.staged:  # before it is written: an interruption may come in between
            self.to_stage[name] = data
        if not self.index_only:
            self._prepare()
            if not (self.compare and self._read(name) == data):
                self.tree.write(name, data, sync=sync)
                self.written.append(name)
        elif name not in self.written:
            self.written.append(name)

    def _prepare(self) -> None:
        if not self._prepared:
            self.written += self.tree.prepare()
            self._prepared = True

    def _stage(self, live: Mapping[str, object]) -> None:
        for name in self.unmerged:  # what this run had no reason to write is as good as it stands
            if name not in self.to_stage and name.startswith(INDEX + "/"):
                kept = source_path(name) in live
                self.to_stage[name] = self._read(name) if kept else None
        self._stage_names()

    def _stage_names(self) -> None:
        if not self.to_stage:
            return
        for name, content in self.tree.own_files().items():
            if name not in self.tracked or name in self.unmerged:
                if self._is_ignored():
                    self.staged = False
                    return  # a local index: `/.pkb/` stands in the repository's own .gitignore
                self.to_stage[name] = content
        if self.index_only:
            self.repo.stage_blobs(self.to_stage)
        else:
            self.repo.stage(self.to_stage)

    def _is_ignored(self) -> bool:
        return not self.tracked and bool(self.repo.git("check-ignore", "-v", ".pkb", check=False))

    def _read(self, name: str) -> bytes | None:
        try:
            return self.tree.read(name)
        except OSError:
            return None


class CacheDestination:
    """The overlay: nothing tracked is touched."""

    staged = False

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self.written: list[str] = []
        self.removed: list[str] = []

    def put(self, base: str, halves: "Halves", known: Known) -> None:
        """See `Destination`; the name of the source does not matter here."""
        del base
        self.overlay.put(known.header.blob, known.header.language, *halves)

    def remove(self, name: str) -> None:
        """Nothing goes at once: another branch may want it (see `Overlay.prune`)."""

    def keep(self) -> None:
        """Nothing to do: every entry is whole or absent."""
