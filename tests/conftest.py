"""What every test shares: a sealed environment, real repositories told as a story, the real `git pkb`.

In: nothing of the developer's machine (no HOME, no git configuration, no clock, no vendor keys).
Out: the fixtures `repo`, `new_repo` and `pkb`. Invariant: the same test writes the same commit ids anywhere.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# no test has a time limit: machines differ, and speed is measured by scripts/
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

#: The only variables a test inherits; everything else (GIT_*, keys, PAGER, NO_COLOR, …) is dropped.
INHERITED = ("COVERAGE_PROCESS_START", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "SYSTEMROOT", "TMPDIR")

SEALED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2001-02-03T04:05:06Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2001-02-03T04:05:06Z",
    "HF_HUB_OFFLINE": "1",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "TZ": "UTC",
}

GLOBAL_CONFIG = """\
[init]
\tdefaultBranch = main
[protocol "file"]
\tallow = always
"""


@pytest.fixture(autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Replace the environment by a sealed one; gives the empty HOME."""
    home = tmp_path_factory.mktemp("home", numbered=True)
    (home / "gitconfig").write_text(GLOBAL_CONFIG)
    programs = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath)
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    environment |= SEALED
    environment |= {
        "PATH": programs + os.pathsep + path,  # so that git finds the git-pkb of this interpreter
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
    }
    for name in list(os.environ):
        if name not in environment:
            monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return home


@dataclass(frozen=True, slots=True)
class Repo:
    """A real repository in a temporary folder, and the verbs to tell its story with."""

    path: Path

    def git(
        self,
        *args: str | Path,
        stdin: str | bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> str:
        """Run git here and give its stdout without the last line feed; a failure shows its stderr."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            ["git", *map(str, args)],
            cwd=self.path,
            input=data if data is not None else b"",
            capture_output=True,
            check=False,
            env={**os.environ, **(env or {})},
        )
        if check and done.returncode:
            said = done.stderr.decode(errors="replace")
            pytest.fail(f"git {' '.join(map(str, args))} exited {done.returncode}: {said}")
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, path: str, content: str | bytes = "", *, executable: bool = False) -> Path:
        """Write one work-tree file (folders as needed) exactly as given, without newline translation."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        if executable:
            target.chmod(0o755)
        return target

    def read(self, path: str) -> str:
        """The text of a work-tree file."""
        return (self.path / path).read_bytes().decode("utf-8", "surrogateescape")

    def commit(self, files: Mapping[str, str | bytes | None] | None = None, message: str = "change") -> str:
        """Write (None: remove) `files`, stage everything, commit; gives the commit id."""
        for path, content in (files or {}).items():
            if content is None:
                (self.path / path).unlink()
            else:
                self.write(path, content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head()

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Create a branch and switch to it."""
        self.git("switch", "--quiet", "--create", name, start)

    def switch(self, name: str) -> None:
        """Switch to a branch."""
        self.git("switch", "--quiet", name)

    def merge(self, *names: str, check: bool = True) -> str:
        """Merge with a merge commit, never a fast-forward; gives git's stdout."""
        return self.git("merge", "--no-ff", "--no-edit", *names, check=check)

    def head(self) -> str:
        """The id of the current commit."""
        return self.git("rev-parse", "HEAD")

    def blob(self, path: str, rev: str = "HEAD") -> str:
        """The id of a committed blob."""
        return self.git("rev-parse", f"{rev}:{path}")

    def status(self) -> str:
        """`git status --porcelain`: empty when clean."""
        return self.git("status", "--porcelain", "--untracked-files=all")

    def tracked(self, rev: str = "HEAD") -> list[str]:
        """The paths of a commit."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", rev)
        return [name for name in names.split("\0") if name]


@pytest.fixture
def new_repo(tmp_path: Path) -> Callable[..., Repo]:
    """Makes empty repositories: `new_repo("name", "--bare", "--object-format=sha256")`."""

    def make(name: str = "repo", *init_options: str) -> Repo:
        path = tmp_path / name
        path.mkdir(parents=True)
        repo = Repo(path)
        repo.git("init", "--quiet", *init_options)
        return repo

    return make


@pytest.fixture
def repo(new_repo: Callable[..., Repo]) -> Repo:
    """One empty repository on the unborn branch main."""
    return new_repo()


@dataclass(frozen=True, slots=True)
class Ran:
    """How one `git pkb` ended and what it printed."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Stdout as the one JSON object it must be."""
        return json.loads(self.out)


@pytest.fixture
def pkb(repo: Repo) -> Callable[..., Ran]:
    """Runs the real `git pkb` in a process of its own: `pkb("search", "retry", cwd=…, code=0)`.

    `code` is the exit code the test expects; None accepts any, for tests that look at it themselves.
    """

    def run(
        *args: str | bytes | Path,
        cwd: Path | None = None,
        code: int | None = 0,
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        done = subprocess.run(
            [b"git", b"pkb", *(os.fsencode(arg) for arg in args)],
            cwd=cwd or repo.path,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **(env or {})},
        )
        out, err = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
        if code is not None and done.returncode != code:
            shown = " ".join(map(repr, args))
            pytest.fail(
                f"git pkb {shown}: exit {done.returncode}, expected {code}\nstdout: {out}\nstderr: {err}"
            )
        return Ran(done.returncode, out, err)

    return run
