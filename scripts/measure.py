#!/usr/bin/env python3
"""Speed and memory of whole processes, as ratios within one run.

    scripts/measure.py REPO… [--query TEXT] [--rounds N] [--semble 'COMMAND {query} {repo}']

Each repository is cloned, so nothing in it changes. Commands take turns, so that a busy machine slows all of
them alike; seconds are medians, memory is that of the largest process. Ratios are what counts: seconds depend
on the machine.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from git_pkb.output.evaltable import grid
from git_pkb.output.terminal import of_stream

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "measure"), ("EMAIL", "measure@localhost"))
}


@dataclass(slots=True)
class Measured:
    """One command: what it is called, how it runs, what its runs took."""

    name: str
    command: Sequence[str]
    seconds: list[float] = field(default_factory=list)
    peak: int = 0

    @property
    def median(self) -> float:
        """Median of the seconds."""
        return statistics.median(self.seconds) if self.seconds else 0.0


def once(measured: Measured, folder: Path, accept: Sequence[int] = (0, 1)) -> None:
    """Run a command once, and note time and memory."""
    started = time.perf_counter()
    with subprocess.Popen(
        measured.command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | IDENTITY,
    ) as process:
        said = process.stderr.read() if process.stderr else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    measured.seconds.append(time.perf_counter() - started)
    measured.peak = max(measured.peak, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    if process.returncode not in accept:
        last = said.decode(errors="replace")[-300:]
        sys.exit(f"{shlex.join(measured.command)}: exit {process.returncode}: {last}")


def take_turns(commands: Sequence[Measured], folder: Path, rounds: int) -> None:
    """Run all commands in turn, one unmeasured round first."""
    for measured in commands:
        once(measured, folder)
        measured.seconds.clear()
    for _ in range(rounds):
        for measured in commands:
            once(measured, folder)


def git(folder: Path, *args: str) -> str:
    """What git prints."""
    command = ["git", *args]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, env=os.environ | IDENTITY
    )
    return done.stdout


def commits(folder: Path, rounds: int, path: str) -> tuple[Measured, Measured]:
    """Commits of one changed file in turns, without hooks and with them."""
    git(folder, "config", "gc.auto", "0")
    command = ["git", "-c", "commit.gpgSign=false", "commit", "--quiet", "--all", "--message", "measure"]
    plain, hooked = Measured("commit without hooks", command), Measured("commit with hooks", command)
    hooks = Path(git(folder, "rev-parse", "--absolute-git-dir").strip()) / "no-hooks"
    for number in range(rounds + 1):
        for measured in (plain, hooked):
            if measured is plain:
                command = ["git", "-c", f"core.hooksPath={hooks}", *plain.command[1:]]
                run = Measured(plain.name, command, plain.seconds)
            else:
                run = hooked
            with (folder / path).open("ab") as file:
                file.write(f"\n# measure {number} {measured.name}\n".encode())
            once(run, folder, (0,))
            measured.peak = max(measured.peak, run.peak)
            if number == 0:
                measured.seconds.clear()
    return plain, hooked


def sizes(folder: Path) -> tuple[int, int, int]:
    """Tracked source bytes, bytes of the index in the work tree, files."""
    names = [name for name in git(folder, "ls-files", "-z").split("\0") if name]
    source = [folder / name for name in names if not name.startswith(".pkb/")]
    index = [folder / name for name in names if name.startswith(".pkb/index/")]
    total = [sum(p.stat().st_size for p in paths if p.is_file()) for paths in (source, index)]
    return total[0], total[1], len(source)


def measure(repository: Path, query: str, rounds: int, semble: str | None) -> list[list[str]]:
    """Rows of the table for one repository."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "clone"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", repository, folder], check=True)
        first = Measured("search, nothing indexed", ["git", "pkb", "search", "--json", query])
        once(first, folder)
        full = Measured("reindex, everything", ["git", "pkb", "reindex"])
        once(full, folder)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", "index")
        source, index, files = sizes(folder)
        pieces = json.loads(git(folder, "pkb", "reindex", "--json"))["chunks"]

        bare = Measured("bare interpreter", [sys.executable, "-c", "pass"])
        search = Measured("search", ["git", "pkb", "search", "--json", query])
        keyword = Measured("search --mode keyword", [*search.command, "--mode", "keyword"])
        status = Measured("git status", ["git", "status", "--porcelain"])
        nothing = Measured("reindex, nothing changed", ["git", "pkb", "reindex"])
        usage = Measured("-h", ["git-pkb", "-h"])
        commands = [bare, usage, status, search, keyword, nothing]
        other = None
        if semble:
            command = [part.format(query=query, repo=str(folder)) for part in shlex.split(semble)]
            other = Measured("semble search, cached", command)
            cold = Measured("semble search, nothing indexed", command)
            once(cold, folder)
            commands.append(other)
        take_turns(commands, folder, rounds)
        git(folder, "pkb", "install-hooks")
        path = next(
            n for n in git(folder, "ls-files", "*.py", "*.go", "*.rs", "*.js", "*.java", "*.md").split("\n")
        )
        plain, hooked = commits(folder, rounds, path)

    def row(m: Measured, what: str = "", ratio: float | None = None) -> list[str]:
        shown = "" if ratio is None else f"{ratio:.2f}"
        return [m.name, f"{m.median * 1000:,.0f}", f"{m.peak / 1e6:,.0f}" if m.peak else "", shown, what]

    rows = [
        [f"{repository.resolve().name}: {files:,} files, {pieces:,} pieces", "ms", "peak MB", "ratio", "of"],
        row(first),
        row(full),
        row(bare),
        row(usage, bare.name, usage.median / bare.median),
        row(status),
        row(nothing, status.name, nothing.median / status.median),
        row(search, bare.name, search.median / bare.median),
        row(keyword, search.name, keyword.median / search.median),
        row(plain),
        row(hooked, plain.name, hooked.median / plain.median),
        ["  the hook", f"{(hooked.median - plain.median) * 1000:+,.0f}", "", "", ""],
        ["index in the work tree, bytes", "", "", f"{index / source:.2f}" if source else "", "source"],
    ]
    if other is not None:
        rows += [
            row(cold),
            row(other),
            row(search, other.name, search.median / other.median),
            row(first, cold.name, first.median / cold.median),
        ]
    return rows


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPO")
    parser.add_argument("--query", default="where is the configuration file read")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--semble", metavar="COMMAND", help="a command line with {query} and {repo}")
    args = parser.parse_args()
    for repository in args.repositories:
        print(grid(measure(repository, args.query, args.rounds, args.semble), of_stream()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
