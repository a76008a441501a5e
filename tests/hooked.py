"""Repositories with the hooks installed, and whether the index in a commit is right; for the tests of hooks.

In: a `Repo`. Out: problems as text, so that a failing test says what is wrong. Invariant: the judge is git's
own listing of the commit, never the work tree.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

from conftest import Ran, Repo

from git_pkb.mirror.format import load
from git_pkb.mirror.tree import META, VEC, source_path

PARAGRAPH = "".join(
    f"    value = compute_{{name}}(value, {n})  # step {n} of many, long enough\n" for n in range(24)
)


def function(name: str, note: str = "") -> str:
    """A Python function large enough to be a piece of its own (about 1,500 bytes)."""
    return (
        f'def {name}(value):\n    """{name} {note}."""\n{PARAGRAPH.format(name=name)}    return value\n\n\n'
    )


def module(**notes: str) -> str:
    """A Python module with one function a name; the value is a word in its docstring."""
    return "".join(function(name, note) for name, note in notes.items())


def set_up(repo: Repo, pkb: Callable[..., Ran], *options: str, provider: str = "mock") -> None:
    """Install the hooks; embeddings come from the mock, which counts its calls."""
    repo.git("config", "pkb.embedding.provider", provider)
    pkb("install-hooks", *options, cwd=repo.path)


def show(repo: Repo, rev: str, path: str) -> bytes:
    """A committed file, byte for byte."""
    name = f"{rev}:{path}".encode("utf-8", "surrogateescape")
    done = subprocess.run(["git", "cat-file", "blob", name], cwd=repo.path, capture_output=True, check=True)
    return done.stdout


def problems(repo: Repo, rev: str = "HEAD") -> list[str]:
    """Where the artifacts of a commit do not match its files; empty when all is right."""
    sources, artifacts = {}, {}
    for record in repo.git("ls-tree", "-r", "-z", rev).split("\0"):
        if record:
            head, path = record.split("\t", 1)
            mode, _, oid = head.split(" ")
            if path.startswith(".pkb/index/"):
                artifacts[path] = oid
            elif mode.startswith("100") and not path.startswith(".pkb/"):
                sources[path] = oid
    found = [
        f"{name} belongs to no file"
        for name in artifacts
        if not name.endswith((META, VEC)) or source_path(name) not in sources
    ]
    for path, oid in sources.items():
        metas = [name for name in artifacts if name.endswith(META) and source_path(name) == path]
        if len(metas) != 1:
            found.append(f"{path} has {len(metas)} artifacts")
            continue
        vec = metas[0].removesuffix(META) + VEC
        if vec not in artifacts:
            found.append(f"{path} has no vectors")
            continue
        artifact = load(show(repo, rev, metas[0]), show(repo, rev, vec))
        if artifact.blob != oid:
            found.append(f"{path} is {oid[:8]}, its artifact is of {artifact.blob[:8]}")
    return found


def own_status(repo: Repo) -> str:
    """What `git status` says of `.pkb`: nothing, when all is well."""
    return "\n".join(line for line in repo.status().splitlines() if ".pkb" in line)


class Calls:
    """Counts what the mock embedder was asked for, in other processes too."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def texts(self) -> int:
        """Texts embedded since the last time this was asked."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return sum(int(line.split()[1]) for line in lines if line.startswith("embed "))
