"""Starting git: one place for its environment, its errors and the wait for a held lock.

In: arguments, a folder, an environment. Out: stdout as bytes, or an error with git's own words.
Invariant: a child never fetches objects behind the user's back and never takes an optional lock.
"""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from git_pkb.errors import Locked, PkbError

if TYPE_CHECKING:
    import subprocess

#: What ties a process to one repository (`git rev-parse --local-env-vars`, without the `GIT_CONFIG_*` that
#: carry `git -c`). Git sets some of them for hooks; a child working on another repository would write to
#: the wrong index.
LOCATION_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE", "GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX",
)  # fmt: skip

#: A lazy fetch inside a read would send a request (and may ask for a password). `GIT_NO_LAZY_FETCH` is
#: known since git 2.45; before, allowing no transport at all has the same effect. Reads take no optional
#: lock, so that a commit running beside never finds `index.lock`.
_QUIET = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_OPTIONAL_LOCKS": "0"}

_LOCK_HELD = rb"Unable to create '(.+?\.lock)': File exists"


class GitError(PkbError):
    """git failed; `stderr` is what it said."""

    code = "git"

    def __init__(self, message: str, hint: str | None = None, stderr: str = "") -> None:
        super().__init__(message, hint)
        self.stderr = stderr


class GitMissing(GitError):
    """There is no git to run."""

    exit_code = 2
    code = "git-missing"

    def __init__(self) -> None:
        super().__init__("git was not found", "install git, or put it on PATH")


def unlocated(environ: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of `environ` that points at no repository, for a child that works elsewhere."""
    return {name: value for name, value in environ.items() if name not in LOCATION_VARIABLES}


def git_environment(
    environ: Mapping[str, str] | None = None, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the environment of a git child: `environ` (default: ours), quiet, plus `extra`."""
    return {**(os.environ if environ is None else environ), **_QUIET, **(extra or {})}


def network_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` with fetching allowed again, for the one command that is told to fetch."""
    ours = {name: os.environ[name] for name in _QUIET if name in os.environ}
    return {name: value for name, value in environ.items() if name not in _QUIET} | ours


_running = 0


def running() -> bool:
    """Whether `run` waits for git just now."""
    return _running > 0


def run(
    args: list[str],
    cwd: str,
    env: Mapping[str, str],
    input: bytes | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run git to its end and return what it printed; only a missing git raises (`GitMissing`)."""
    import subprocess

    global _running
    _running += 1
    try:  # no input is an empty input: a hook's own stdin is not ours to hand on
        return subprocess.run(
            ["git", *args], cwd=cwd, env=env, capture_output=True, check=False, input=input or b""
        )
    except FileNotFoundError as error:
        raise _not_started(error, cwd) from error
    finally:
        _running -= 1


def spawn(args: list[str], cwd: str, env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Start git and return at once; its stdin is empty, stdout and stderr are pipes."""
    return popen(args, cwd, env, stdin=None)


def popen(args: list[str], cwd: str, env: Mapping[str, str], stdin: int | None) -> "subprocess.Popen[bytes]":
    """Start git with the given stdin (None: empty)."""
    import subprocess

    try:
        return subprocess.Popen(
            ["git", *args],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if stdin is None else subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise _not_started(error, cwd) from error


def _not_started(error: FileNotFoundError, cwd: str) -> GitError:
    """Tell a missing git from a missing folder: `subprocess` reports both alike."""
    if error.filename == cwd or not os.path.isdir(cwd):
        return GitError(f"the folder {cwd} does not exist")
    return GitMissing()


def failure(args: list[str], stderr: bytes) -> PkbError:
    """Return the error for a git that failed: `Locked` when another process holds a lock, else `GitError`."""
    text = stderr.decode("utf-8", "replace").strip()
    held = re.search(_LOCK_HELD, stderr)
    if held:
        lock = held.group(1).decode("utf-8", "replace")
        return Locked(
            f"another git process holds {lock}", "wait for it to end; remove the file if none is running"
        )
    said = text.removeprefix("fatal: ").removeprefix("error: ").split("\n", 1)[0]
    return GitError(f"git {args[0]} failed: {said or 'no message'}", stderr=text)
