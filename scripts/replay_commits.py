#!/usr/bin/env python3
"""Real commits made again with the hook on: what each costs in time, in the pack, in files touched.

    scripts/replay_commits.py REPO [--commits N] [--each FILE]

In: a repository with its history. Out: a Markdown table of medians and totals, and with `--each` a line a
commit. The last N commits of the first-parent line are made again, one after another, in a clone with the
hooks and the local model; every fourth of them also without hooks, for the time. Time is that of the
processor (user and system, children included): a busy machine does not change it. Bytes are those of the
objects each commit added, as they lie in the pack after `git repack -a -d`, deltas and compression included.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from replaying import ENVIRONMENT, Clone, clone, table

_WITHOUT_EVERY = 4


@dataclass(slots=True)
class Cost:
    """One commit; seconds are of the processor; `plain`: without hooks, where that was tried."""

    name: str
    seconds: float
    wall: float
    plain: float | None
    sources: int
    artifacts: int
    source_bytes: int = 0
    index_bytes: int = 0


def commits_of(history: Clone, count: int) -> list[str]:
    """The last commits of the first-parent line, oldest first, after the one they start from."""
    listed = history.git("rev-list", "--first-parent", f"--max-count={count + 1}", "HEAD")
    return listed.split()[::-1]


def set_sources(into: Clone, commit: str) -> None:
    """Make work tree and staging area those of `commit`, but leave `.pkb` as it is."""
    into.git("read-tree", f"{commit}^{{tree}}", env=(scratch := _scratch(into)))
    if into.run("rev-parse", "--verify", "--quiet", "HEAD:.pkb").returncode == 0:
        into.git("read-tree", "--prefix=.pkb/", "HEAD:.pkb", env=scratch)
    wanted = into.git("write-tree", env=scratch)
    into.git("read-tree", "--reset", "-u", wanted)


def _scratch(into: Clone) -> dict[str, str]:
    return {"GIT_INDEX_FILE": str(into.folder / ".git" / "replay-index")}


def timed(into: Clone, *args: str) -> tuple[float, float]:
    """Seconds of processor and of the clock that a git command takes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    into.git(*args)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.perf_counter() - started


def replay(into: Clone, commits: list[str]) -> list[Cost]:
    """Make the commits again; the first is not measured."""
    set_sources(into, commits[0])
    into.git("commit", "--quiet", "--message", commits[0])
    costs = []
    for number, commit in enumerate(commits[1:]):
        set_sources(into, commit)
        plain = None
        if number % _WITHOUT_EVERY == 0:
            plain, _ = timed(
                into, "-c", f"core.hooksPath={os.devnull}", "commit", "--quiet", "--allow-empty", "-m", commit
            )
            into.git("reset", "--quiet", "--soft", "HEAD~1")
        seconds, wall = timed(into, "commit", "--quiet", "--allow-empty", "--message", commit)
        changed = into.listed("diff-tree", "-r", "-z", "--name-only", "HEAD~1", "HEAD")
        own = sum(path.startswith(".pkb/") for path in changed)
        costs.append(Cost(commit, seconds, wall, plain, len(changed) - own, own))
        if into.git("status", "--porcelain"):
            sys.exit(f"after {commit} the status is not clean: {into.git('status', '--porcelain')[:500]}")
        if (number + 1) % 20 == 0:
            sys.stderr.write(f"{number + 1} of {len(commits) - 1} commits\n")
    return costs


def weigh(into: Clone, costs: list[Cost]) -> tuple[int, int]:
    """Fill in what each commit added; bytes of the first commit's two parts."""
    names = into.git("rev-list", "--reverse", "HEAD").split()[-len(costs) - 1 :]
    first = _added(into, names[0], None)
    for cost, before, name in zip(costs, names, names[1:], strict=False):
        cost.source_bytes, cost.index_bytes = _added(into, name, before)
    return first


def _added(into: Clone, commit: str, before: str | None) -> tuple[int, int]:
    """Bytes of the objects one commit added, of sources and of `.pkb`."""
    listed = into.git("rev-list", "--objects", "--no-walk" if before is None else f"^{before}", commit)
    objects = dict(line.partition(" ")[::2] for line in listed.splitlines())
    asked = "".join(f"{oid}\n" for oid in objects).encode()
    sizes = into.git("cat-file", "--batch-check=%(objectname) %(objectsize:disk)", stdin=asked)
    total = [0, 0]
    for line in sizes.splitlines():
        oid, size = line.split(" ")
        total[objects[oid].startswith(".pkb")] += int(size)
    return total[0], total[1]


def report(source: Path, costs: list[Cost], first: tuple[int, int]) -> str:
    """The table."""
    plain = statistics.median(cost.plain for cost in costs if cost.plain is not None)
    with_hook = [cost.seconds for cost in costs]
    sources, index = sum(c.source_bytes for c in costs), sum(c.index_bytes for c in costs)
    size = len(costs)
    rows = [
        ("processor seconds of a commit without hooks, median", f"{plain:.3f}"),
        ("processor seconds of a commit with the hook, median", f"{statistics.median(with_hook):.3f}"),
        ("the same, of the slowest tenth", f"{sorted(with_hook)[-max(1, size // 10)]:.3f}"),
        ("source files touched by a commit, mean", f"{sum(c.sources for c in costs) / size:.1f}"),
        ("files of the index touched by a commit, mean", f"{sum(c.artifacts for c in costs) / size:.1f}"),
        ("first commit: source in the pack", f"{first[0] / 1e6:.2f} MB"),
        ("first commit: index in the pack", f"{first[1] / 1e6:.2f} MB ({first[1] / first[0]:.2f} of it)"),
        (f"{size} commits: source and its history grow by", f"{sources / 1e3:,.0f} kB"),
        (
            f"{size} commits: the index grows by",
            f"{index / 1e3:,.0f} kB ({index / size / 1e3:.1f} kB a commit, {index / sources:.1f} times)",
        ),
    ]
    return f"{source.name}, {size} commits:\n\n" + table(("what", "measured"), rows)


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("repository", metavar="REPO", type=Path)
    parser.add_argument("--commits", metavar="N", type=int, default=200)
    parser.add_argument("--each", metavar="FILE", type=Path, help="write a line a commit, tab-separated")
    args = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    with tempfile.TemporaryDirectory(prefix="pkb-commits-") as folder:
        into = clone(args.repository.resolve(), Path(folder) / "clone", {})
        commits = commits_of(into, args.commits)
        into.git("symbolic-ref", "HEAD", "refs/heads/replayed")
        into.git("pkb", "install-hooks")
        costs = replay(into, commits)
        alone = Path(folder) / "alone"  # what is packed is the replayed line alone
        subprocess.run(
            ["git", "clone", "--quiet", "--bare", "--no-local", "--single-branch", "--branch", "replayed",
             str(into.folder), str(alone)], check=True,
        )  # fmt: skip
        bare = Clone(alone)
        bare.git("repack", "-a", "-d", "-f", "--quiet", "--window=50", "--depth=50")
        first = weigh(bare, costs)
    if args.each:
        lines = [
            f"{c.name}\t{c.seconds:.3f}\t{c.wall:.3f}\t{'' if c.plain is None else f'{c.plain:.3f}'}\t"
            f"{c.sources}\t{c.artifacts}\t{c.source_bytes}\t{c.index_bytes}\n"
            for c in costs
        ]
        head = "commit\tcpu\twall\tcpu without\tsources\tartifacts\tsource bytes\tindex bytes\n"
        args.each.write_text(head + "".join(lines))
    sys.stdout.write(report(args.repository, costs, first))


if __name__ == "__main__":
    main()
