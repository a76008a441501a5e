"""The write conductor: brings the index in line with HEAD or with the staging area.

In: a repository, its settings. Out: artifacts in `.pkb/index` (and in the staging area), or in the cache's
overlay, and a `Summary`. Invariant: content comes from git's blobs, never from work-tree files; what is
finished is on disk before more is asked for, so an interruption loses nothing; a run without a change writes
nothing. run.py has the steps, stock.py what is there, destination.py where things go.
"""

import contextlib
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from git_pkb.index.destination import writes_tree
from git_pkb.index.outcome import Options, Summary, Survey
from git_pkb.index.run import Run
from git_pkb.lock import DEFAULT_WAIT, writer_lock

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.index.costing import Forecast
    from git_pkb.output.progress import Progress

__all__ = ["Options", "Summary", "Survey", "estimate", "run", "survey", "writes_tree"]


def run(
    repo: "Repository",
    config: "Config",
    *,
    staged: bool = False,
    full: bool = False,
    dry_run: bool = False,
    write: bool = False,
    max_cost: float | None = None,
    reuse_from: Sequence[str] = (),
    progress: "Progress | None" = None,
    index_only: bool = False,
    fetch: bool = False,
    distrust: Iterable[str] = (),
    quick: bool = False,
    lock_wait: float = DEFAULT_WAIT,
) -> Summary:
    """Bring the index in line; see `Options` for the arguments.

    Raises CostCapExceeded and Untrusted before anything is spent, Locked, CannotWrite, NewerFormat,
    UsageError for a bare repository, ProviderError (what was finished by then is written; a store that fails
    leaves whole artifacts).
    """
    options = Options(
        staged,
        full,
        dry_run,
        write,
        max_cost,
        tuple(reuse_from),
        index_only,
        fetch,
        frozenset(distrust),
        quick,
    )
    started = time.monotonic()
    job = Run(repo, config, options, progress)
    with contextlib.nullcontext() if dry_run else writer_lock(repo, lock_wait):
        summary = job.run()
        if config.store.provider != "tree":
            from git_pkb.index.storing import follow

            follow(job)
    summary.seconds = time.monotonic() - started
    return summary


def estimate(
    repo: "Repository", config: "Config", *, staged: bool = False, full: bool = False
) -> tuple[Summary, "Forecast"]:
    """What the next run (or a full one) would do and cost: its own plan, with nothing asked or written."""
    job = Run(repo, config, Options(staged=staged, full=full, dry_run=True), None)
    summary = job.run()
    return summary, job.forecast()


def survey(repo: "Repository", config: "Config", *, staged: bool = False) -> Survey:
    """Compare the index with HEAD (or the staging area) and list every skip, without cutting anything."""
    return Run(repo, config, Options(staged=staged, dry_run=True), None).survey()
