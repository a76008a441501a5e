"""What is indexed, how current it is, and what it takes.

In: a repository. Out: `Stats`. Invariant: counts come from the artifacts themselves, never from the marker;
and reads only.
"""

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError
from git_pkb.index import indexer, marker
from git_pkb.index.recipe import open_recipe
from git_pkb.location import cache_dir
from git_pkb.mirror.tree import INDEX, META, VEC, Tree, walk
from git_pkb.model import Skip

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts are of files and pieces, sizes in bytes.

    `indexed_commit`: the marker's when it is an ancestor of HEAD, else the last that touched the index;
    `model`: of the index, None when there is none; `wanted_model`: what the next run uses; `pack_bytes`:
    HEAD's artifacts as git stores them; `source_bytes`: the indexed files.
    """

    indexed_commit: str | None
    head: str | None
    files: int
    chunks: int
    languages: dict[str, int]
    model: str | None
    wanted_model: str
    cutter: str | None
    workflow: str
    written_to: str
    missing: int
    stale: int
    left_over: int
    damaged: int
    source_bytes: int
    meta_bytes: int
    vec_bytes: int
    pack_bytes: int
    cache_bytes: int
    cache: str
    skipped: tuple[Skip, ...]
    hooks: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def current(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.missing or self.stale or self.left_over or self.damaged)


def collect(repo: "Repository", config: "Config") -> Stats:
    """Look at everything."""
    survey = indexer.survey(repo, config)
    summary, plan, stock = survey.summary, survey.plan, survey.stock
    state = _state(repo)
    known = [k for k in (stock.known.values() if stock is not None else ()) if k is not None]
    if stock is not None and not summary.to_tree and plan is not None:
        known += [k for k in stock.in_overlay.values() if k is not None]
    skipped = {skip.path for skip in summary.skipped}
    writes = [target.path for target in plan.writes if target.path not in skipped] if plan is not None else []
    recorded = stock.found if stock is not None else {}
    signatures = walk(repo.top)[0] if repo.workdir is not None else {}
    sizes = {suffix: sum(s[0] for n, s in signatures.items() if n.endswith(suffix)) for suffix in (META, VEC)}
    cache = cache_dir(repo)
    return Stats(
        indexed_commit=_indexed_commit(repo, state),
        head=repo.head_at_open,
        files=len(known),
        chunks=sum(k.records for k in known),
        languages=dict(
            sorted(Counter(k.header.language for k in known).items(), key=lambda i: (-i[1], i[0]))
        ),
        model=next(iter(Counter(k.header.model for k in known).most_common(1)), (None, 0))[0],
        wanted_model=open_recipe(config).identity.model,
        cutter=next(iter(Counter(k.header.cutter for k in known).most_common(1)), (None, 0))[0],
        workflow=config.index.write,
        written_to="tree" if summary.to_tree else "cache",
        missing=sum(path not in recorded for path in writes),
        stale=sum(path in recorded and path not in survey.bad for path in writes),
        left_over=len(plan.dropped) if plan is not None and summary.to_tree else 0,
        damaged=len(survey.bad),
        source_bytes=_source_bytes(repo, {k.header.blob for k in known}),
        meta_bytes=sizes[META],
        vec_bytes=sizes[VEC],
        pack_bytes=_pack_bytes(repo),
        cache_bytes=_folder_bytes(cache),
        cache=cache,
        skipped=tuple(summary.skipped),
        hooks=_displaced(repo),
        warnings=tuple(summary.warnings),
    )


def _state(repo: "Repository") -> marker.State | None:
    if repo.workdir is None:
        return None
    try:
        return marker.parse(Tree(repo.workdir).read(marker.NAME))
    except OSError:
        return None


def _indexed_commit(repo: "Repository", state: marker.State | None) -> str | None:
    """See `Stats`; a marker from another branch says nothing about this one."""
    if state is not None and state.commit is not None:
        # prints the commit itself exactly when it is an ancestor of HEAD
        base = repo.git("merge-base", state.commit, "HEAD", check=False).decode("ascii", "replace").strip()
        if base == state.commit:
            return base
    last = repo.git("log", "-1", "--format=%H", "HEAD", "--", INDEX, check=False)
    return last.decode("ascii", "replace").strip() or None


def _source_bytes(repo: "Repository", blobs: set[str]) -> int:
    listed = _batch_check(repo, "%(objectsize)", blobs)
    return sum(listed)


def _pack_bytes(repo: "Repository") -> int:
    """What HEAD's artifacts take in the object store, deltas and compression included."""
    if repo.head_at_open is None:
        return 0
    try:
        entries = repo.reader().subtree(repo.head_at_open, INDEX)
    except PkbError:
        return 0
    return sum(_batch_check(repo, "%(objectsize:disk)", {entry.oid for entry in entries.values()}))


def _batch_check(repo: "Repository", what: str, oids: set[str]) -> list[int]:
    if not oids:
        return []
    asked = "".join(f"{oid}\n" for oid in sorted(oids)).encode()
    listed = repo.git("cat-file", f"--batch-check={what}", "--buffer", input=asked, check=False)
    return [int(line) for line in listed.split(b"\n") if line.isdigit()]


def _folder_bytes(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue  # gone meanwhile
    return total


def _displaced(repo: "Repository") -> tuple[str, ...]:
    if repo.workdir is None:
        return ()
    from git_pkb.hooks.displaced import displaced

    return tuple(displaced(repo))
