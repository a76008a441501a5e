"""What a run of the indexer is asked for, and what it reports.

In: nothing. Out: `Options`, `Summary`, `Survey`. Invariant: counts are of source files and of pieces; names in
`written` and `removed` are of files under `.pkb`.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .model import Skip

if TYPE_CHECKING:
    from .plan import Plan
    from .stock import Stock


@dataclass(slots=True)
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
    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether the run found anything to do."""
        return bool(self.files_added or self.files_changed or self.files_moved or self.files_removed)


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    `staged`: the staging area instead of HEAD, and stage what that writes; `full`: make every artifact anew;
    `write`: write artifacts whatever workflow and branch say; `max_cost`: cap in US dollars instead of the
    configured one; `reuse_from`: commits whose artifacts may serve (the other sides of a merge); `index_only`:
    with `staged`, leave the work tree alone; `fetch`: in a partial clone get what is missing in one request;
    `distrust`: source paths whose artifacts are made anew whatever they look like.
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


@dataclass(frozen=True, slots=True)
class Survey:
    """How the index stands to what is tracked. `plan` is None without a commit; `bad`: damaged artifacts."""

    summary: Summary
    plan: "Plan | None"
    bad: tuple[str, ...]
    stock: "Stock | None"
