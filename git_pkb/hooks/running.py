"""What `git pkb hook NAME` does.

In: the name of a hook, git's environment. Out: an exit status. Invariant: whatever happens, a hook says at
most one line and ends 0, unless the person asked for strict hooks; the source files of the work tree are
never touched.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError

if TYPE_CHECKING:
    from git_pkb.git import Repository
    from git_pkb.index.indexer import Summary

#: Left by a pre-commit hook whose staging area is not the one that stays (`commit --only`), or that left
#: the work tree alone (below pre-commit); tells post-commit that there is something to bring in line.
MARKER = "pkb/after-commit"
_OFF = ("", "0", "false", "no", "off")
_AGAIN = 0.02  # seconds until the next look whether git has ended


class HookTimeout(BaseException):
    """A hook took longer than it may. No `Exception`: it comes at any moment, and may not pass for one."""


def run_hook(name: str) -> int:
    """Run one hook; the status git gets."""
    if os.environ.get("GIT_PKB_SKIP", "").lower() not in _OFF:
        return 0
    if name not in _HOOKS:  # of another version: not worth stopping anything for
        print(f"git pkb: there is nothing to do in the hook {name}", file=sys.stderr)
        return 0
    repo: Repository | None = None
    try:
        from git_pkb.git import discover

        repo = discover()
        _HOOKS[name](repo)
    except (Exception, HookTimeout) as error:  # a hook never hurts: whatever it is, the commit goes through
        message = " ".join(str(error).split()) or type(error).__name__
        if not isinstance(error, (PkbError, HookTimeout)):
            message = f"{type(error).__name__}: {message}"
        print(f"git pkb: the index was left as it is: {message}", file=sys.stderr)
        return 1 if repo is not None and _is_strict(repo) else 0
    return 0


def _pre_commit(repo: "Repository") -> None:
    """Bring the index in line with what is about to be committed, in the same commit."""
    from git_pkb.hooks.below import artifacts_put_aside, below_pre_commit

    left_over = _take_marker(repo)
    if left_over:  # of a commit that was given up
        _bring_up(repo, left_over)
    if below_pre_commit() and artifacts_put_aside():
        before = _staged_artifacts(repo)
        try:
            _index(repo, index_only=True)
        finally:  # what was finished before a failure is staged, too
            changed = sorted(path for path, _ in before ^ _staged_artifacts(repo))
            _flag(repo, changed, "--assume-unchanged")
            _leave_marker(repo, changed)
        return
    wrote = True
    try:
        summary = _index(repo)
        wrote = bool(summary.written or summary.removed)
    finally:
        if wrote and _is_only():
            _leave_marker(repo, [])


def _post_commit(repo: "Repository") -> None:
    """After `commit --only` git's usual staging area lacks what the hook added: take it from HEAD."""
    marked = _take_marker(repo)
    if marked is None:
        return
    usual = repo.without_index_file()
    usual.git("reset", "--quiet", "HEAD", "--", ".pkb")
    _bring_up(usual, marked)


def _post_merge(repo: "Repository") -> None:
    """After a merge that git committed by itself: put the right index into that very commit.

    No hook can do it earlier: git writes the tree of a merge before it runs pre-merge-commit. The commit is
    seconds old and no one has it yet. It stays as it is, stale, when it is signed, or when anything is
    staged.
    """
    from git_pkb.hooks.merging import replace_tree, unsigned_merge

    merged = unsigned_merge(repo)
    if merged is None or repo.git("write-tree").decode().strip() != merged.tree:
        return
    _index(repo)
    replace_tree(repo, merged, repo.git("write-tree").decode().strip())


def _post_index_change(repo: "Repository") -> None:
    """After a merge that left conflicts under `.pkb`: nobody needs to solve them."""
    from git_pkb.hooks.merging import settle

    settle(repo)


_HOOKS: dict[str, Callable[["Repository"], None]] = {
    "pre-commit": _pre_commit,
    "post-commit": _post_commit,
    "post-merge": _post_merge,
    "post-index-change": _post_index_change,
}


def _index(repo: "Repository", *, index_only: bool = False) -> "Summary":
    """Run the indexer over the staging area, within the hook's limits of cost and time."""
    from git_pkb.config import load
    from git_pkb.hooks.merging import other_sides
    from git_pkb.index import indexer

    config = load(repo)
    caps = [cap for cap in (config.hook_max_cost, config.max_reindex_cost) if cap > 0]
    with _time_limit(config.hook_timeout):
        summary = indexer.run(
            repo,
            config,
            staged=True,
            max_cost=min(caps, default=0.0),
            reuse_from=other_sides(repo),
            index_only=index_only,
            quick=True,
        )
    for warning in summary.warnings:
        print(f"git pkb: {warning}", file=sys.stderr)
    return summary


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise HookTimeout in the block after so many seconds, where the system can (not on Windows).

    Not while git runs for us: it would be killed, and leave its `index.lock` behind.
    """
    if seconds <= 0 or not hasattr(signal, "setitimer"):
        yield
        return

    from git_pkb.git import process

    def give_up(_signal: int, _frame: object) -> None:
        if process.running():
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
            return
        raise HookTimeout(f"it took longer than {seconds:g} s; run `git pkb reindex` to complete it")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _is_only() -> bool:
    """Whether this is `git commit --only` or `git commit PATH`: not git's usual staging area."""
    return os.path.basename(os.environ.get("GIT_INDEX_FILE", "")).startswith("next-index-")


def _is_strict(repo: "Repository") -> bool:
    """Whether a failing hook is to block; answered from git alone when the settings cannot be loaded."""
    try:
        from git_pkb.config import load

        return load(repo).hook_strict
    except Exception:
        return repo.config().get("pkb.hookstrict", "").lower() not in _OFF


def _staged_artifacts(repo: "Repository") -> set[tuple[str, str]]:
    """Path and object of everything staged under `.pkb`."""
    listed = repo.git("ls-files", "-s", "-z", "--", ".pkb").decode("utf-8", "surrogateescape")
    records = (record.partition("\t") for record in listed.split("\0") if record)
    return {(path, head) for head, _, path in records}


def _flag(repo: "Repository", paths: list[str], flag: str) -> None:
    """Set or clear a flag of those paths that are staged."""
    staged = {path for path, _ in _staged_artifacts(repo)}
    listed = "".join(f"{path}\0" for path in paths if path in staged)
    if listed:
        repo.git("update-index", flag, "-z", "--stdin", input=listed.encode("utf-8", "surrogateescape"))


def _bring_up(repo: "Repository", paths: list[str]) -> None:
    """Bring artifacts in the work tree in line with the staging area."""
    if paths:
        from git_pkb.hooks.merging import check_out

        _flag(repo, paths, "--no-assume-unchanged")
        check_out(repo, paths)


def _leave_marker(repo: "Repository", paths: list[str]) -> None:
    """Tell post-commit that there is something to do, and which files of the work tree lag behind."""
    path = repo.git_path(MARKER)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write("\0".join(paths).encode("utf-8", "surrogateescape"))


def _take_marker(repo: "Repository") -> list[str] | None:
    """The paths in the marker, which is removed; None when there is none."""
    path = repo.git_path(MARKER)
    try:
        with open(path, "rb") as stream:
            text = stream.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    os.remove(path)
    return [name for name in text.split("\0") if name]
