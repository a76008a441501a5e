"""What a run of the indexer is asked for, and what it reports.

In: nothing. Out: `Options`, `Summary`, `Survey`. Invariant: counts are of source files and pieces; names in
`written` and `removed` are of files under `.pkb`.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from git_pkb.model import Skip
from git_pkb.slotted import made_by, mutable, value

if TYPE_CHECKING:
    from git_pkb.index.plan import Plan
    from git_pkb.index.stock import Stock


@mutable
class Summary:
    """What a run did. `written` and `removed` are names of files under `.pkb`."""

    files_added: int = 0
    files_changed: int = 0
    files_moved: int = 0
    files_removed: int = 0
    files_skipped: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    files: int = 0
    chunks: int = 0
    commit: str | None = None
    to_tree: bool = True
    dry_run: bool = False
    written: list[str] = made_by(list)
    removed: list[str] = made_by(list)
    skipped: list[Skip] = made_by(list)
    warnings: list[str] = made_by(list)

    @property
    def changed(self) -> bool:
        """Whether the run found anything to do."""
        return bool(self.files_added or self.files_changed or self.files_moved or self.files_removed)

    def count(
        self, plan: "Plan", given_up: set[str], found: Collection[str], records: Mapping[str, int]
    ) -> None:
        """Count what a plan came to.

        `given_up`: planned paths whose content was not to be indexed; `found`: paths that had an artifact;
        `records`: pieces of those that have one now.
        """
        self.files_added = sum(target.path not in given_up for target in plan.added)
        self.files_changed = sum(target.path not in given_up for target in plan.changed)
        self.files_moved = sum(target.path not in given_up for _, target in plan.moved)
        if self.to_tree:
            kept_moves = {old for old, target in plan.moved if target.path not in given_up}
            gone = {path for path in given_up if path in found} | set(plan.dropped)
            self.files_removed = len(gone - kept_moves)
        self.files, self.chunks = len(records), sum(records.values())


@value
class Options:
    """How to run.

    `staged`: the staging area instead of HEAD, and stage what that writes; `full`: make every artifact anew;
    `write`: write artifacts whatever workflow and branch say; `max_cost`: cap in US dollars instead of the
    configured one; `reuse_from`: commits whose artifacts may serve (other sides of a merge); `index_only`:
    with `staged`, leave the work tree alone; `fetch`: in a partial clone get what is missing in one request;
    `distrust`: source paths whose artifacts are made anew whatever they look like; `quick`: with `staged`,
    pass over what is known to be in line (counts are then of the rest).
    """

    staged: bool = False
    full: bool = False
    dry_run: bool = False
    write: bool = False
    max_cost: float | None = None
    reuse_from: tuple[str, ...] = ()
    index_only: bool = False
    fetch: bool = False
    distrust: frozenset[str] = frozenset()
    quick: bool = False


@value
class Survey:
    """How the index stands to what is tracked. `plan` is None without a commit; `bad`: damaged artifacts."""

    summary: Summary
    plan: "Plan | None"
    bad: tuple[str, ...]
    stock: "Stock | None"
