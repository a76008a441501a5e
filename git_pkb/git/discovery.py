"""Finding the repository one stands in.

In: a folder, or what `GIT_DIR` and `GIT_WORK_TREE` say. Out: a `Repository`, or git's reason why there is
none. Invariant: one git process, 4 ms.
"""

import os

from git_pkb.errors import NotARepository
from git_pkb.git import process
from git_pkb.git.child import Child
from git_pkb.git.repository import LIST_CONFIG, OWN_CONFIG, Repository, decode


def discover(start: str | None = None) -> Repository:
    """Find the repository that holds the current folder (or `start`), with one git process.

    Without `start`, `GIT_DIR`, `GIT_WORK_TREE` and `GIT_INDEX_FILE` count as they do for git. A `start` names
    the repository by itself, so these are dropped. Raises `NotARepository` with git's reason.
    """
    environ = dict(os.environ) if start is None else process.unlocated(os.environ)
    environ.pop("GIT_PREFIX", None)
    try:
        cwd = os.path.abspath(start) if start is not None else os.getcwd()
    except FileNotFoundError:
        raise NotARepository(
            "the current folder no longer exists", "change to a folder inside a git repository"
        ) from None
    if not os.path.isdir(cwd):
        raise NotARepository(f"{start} is not a folder", "name a folder inside a git repository")
    env = process.git_environment(environ)
    # git's own words are read below, so they must not be translated
    done = process.run(_LOCATION, cwd, {**env, "LC_ALL": "C"})
    if done.returncode:
        raise _not_a_repository(done.stderr, cwd)
    return _parse_location(decode(done.stdout), cwd, env)


class Early:
    """What a search asks of git, asked all at once from the current folder, before anything is loaded."""

    def __init__(self, *beside: str) -> None:
        """Start `git rev-parse`, `git config`, and the git command `beside`."""
        environ = dict(os.environ)
        environ.pop("GIT_PREFIX", None)
        self._env = process.git_environment(environ)
        self._location = Child(_LOCATION, None, self._env)
        self.beside = Child(list(beside), None, self._env)
        self._settings = Child([*LIST_CONFIG, OWN_CONFIG], None, self._env)

    def repository(self) -> Repository:
        """The repository of the current folder; raises as `discover` does."""
        printed, _ = self._location.communicate()
        if self._location.returncode:
            return discover()  # for git's reason
        repo = _parse_location(decode(printed), os.getcwd(), self._env)
        repo.asked_config = self._settings
        return repo


_LOCATION = [
    "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--show-object-format",
    "--absolute-git-dir", "--git-common-dir", "--show-cdup", "--show-prefix", "--revs-only", "HEAD",
]  # fmt: skip


def _parse_location(printed: str, cwd: str, env: dict[str, str]) -> Repository:
    """Read what `discover` asked `git rev-parse` for."""
    bare, inside, object_format, git_dir, common, *rest = printed.removesuffix("\n").split("\n")
    hex_length = 64 if object_format == "sha256" else 40
    head = rest.pop() if len(rest[-1]) == hex_length and "/" not in rest[-1] else None
    # `--show-cdup` prints the way up inside a work tree, the work tree's path outside of one, and nothing
    # when bare or in `.git`; then comes the prefix, which may itself hold line breaks.
    workdir = None
    if inside == "true" or len(rest) > 1:
        workdir = os.path.realpath(os.path.join(cwd, rest.pop(0)))
        if not os.path.isdir(workdir):
            raise NotARepository(
                f"the work tree {workdir} does not exist",
                "correct GIT_WORK_TREE or the setting core.worktree",
            )
    prefix = "\n".join(rest)
    common_dir = os.path.realpath(os.path.join(cwd, common))
    if not os.path.isdir(common_dir):
        raise NotARepository(
            f"cannot make out where the repository of {cwd!r} lies",
            "move it to a folder without line breaks in its name",
        )
    for name, place in (("GIT_DIR", git_dir), ("GIT_WORK_TREE", workdir)):
        if (
            env.get(name) and place
        ):  # children run at the top, where a relative value would mean something else
            env[name] = place
    if env.get("GIT_DIR") and workdir:
        env["GIT_WORK_TREE"] = workdir
    if env.get("GIT_COMMON_DIR"):
        env["GIT_COMMON_DIR"] = common_dir
    return Repository(
        workdir=workdir,
        git_dir=git_dir,
        common_dir=common_dir,
        prefix=prefix,
        bare=bare == "true",
        object_format=object_format,
        head_at_open=head,
        env=env,
    )


def _not_a_repository(stderr: bytes, cwd: str) -> NotARepository:
    """Say why git does not take `cwd` for a repository, and what to do."""
    text = stderr.decode("utf-8", "replace").strip()
    first = text.split("\n", 1)[0].removeprefix("fatal: ")
    if "dubious ownership" in text or "unsafe repository" in text:
        command = next((line.strip() for line in text.splitlines() if "safe.directory" in line), "")
        return NotARepository(first, f"if you trust it: {command}" if command else None)
    if "not a git repository" in text:
        return NotARepository(
            f"{first}: {cwd}", "run this inside a git repository, or create one with: git init"
        )
    return NotARepository(first or "git cannot read this repository")
