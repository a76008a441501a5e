"""What the replays of real history share: clones to write into, commits that carry an index, counted calls.

In: the folder of a repository. Out: `Clone`s of it in a scratch folder. Invariant: the repository itself is
only read; in clones nothing of the developer's git configuration counts.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "replay"), ("EMAIL", "replay@localhost"))
    },
}


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone; its own settings are local to it."""

    folder: Path

    def run(
        self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git here, whatever comes of it."""
        return subprocess.run(
            ["git", *args],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **(env or {})},
        )

    def git(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> str:
        """What git prints; ends the program when git fails."""
        done = self.run(*args, stdin=stdin, env=env)
        if done.returncode:
            sys.exit(f"git {' '.join(args)} in {self.folder}: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def listed(self, *args: str) -> list[str]:
        """What git prints with `-z`, record by record."""
        return [record for record in self.git(*args).split("\0") if record]


def clone(source: Path, folder: Path, settings: Mapping[str, str]) -> Clone:
    """Clone without checking anything out; objects are shared with `source`."""
    subprocess.run(
        ["git", "clone", "--quiet", "--shared", "--no-checkout", str(source), str(folder)], check=True
    )
    made = Clone(folder)
    for name, value in {"gc.auto": "0", **settings}.items():
        made.git("config", name, value)
    return made


@contextmanager
def inside(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[None]:
    """Work in a folder, with some more environment."""
    before, at = dict(os.environ), Path.cwd()
    os.chdir(folder)
    os.environ.update(environment or {})
    try:
        yield
    finally:
        os.chdir(at)
        os.environ.clear()
        os.environ.update(before)


def with_index(clone: Clone, source: str, artifacts: str | None) -> str:
    """The tree of commit `source` with its index in it; `artifacts`: a tree-ish whose index is the start.

    Neither the work tree nor the staging area of the clone is touched.
    """
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.index import indexer

    scratch = {"GIT_INDEX_FILE": str(clone.folder / ".git" / "replay-index")}
    clone.git("read-tree", "--empty", env=scratch)
    clone.git("read-tree", f"{source}^{{tree}}", env=scratch)
    if artifacts is not None:
        clone.git("read-tree", "--prefix=.pkb/", f"{artifacts}:.pkb", env=scratch)
    with inside(clone.folder, scratch):
        repo = discover()
        indexer.run(repo, config.load(repo), staged=True, index_only=True, write=True)
    return clone.git("write-tree", env=scratch)


class Calls:
    """Texts the mock embedder was asked for, in any process, since the last look."""

    def __init__(self, log: Path) -> None:
        self._log = log
        os.environ["PKB_MOCK_LOG"] = str(log)

    def take(self) -> int:
        """How many."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return sum(int(line.split()[1]) for line in lines if line.startswith("embed "))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
