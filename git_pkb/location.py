"""Where the derived files of a repository live.

In: a repository. Out: the folder of its cache, without starting a process. Invariant: nothing untracked ever
appears in `git status`: the cache is inside `.pkb` only where that folder's own `.gitignore` hides it, else
inside the git directory of this worktree, or in the user's cache folder when neither can be written.
"""

import os
import stat
from typing import Protocol

CACHE_VARIABLE = "GIT_PKB_CACHE_DIR"
IGNORED_CACHE = "/cache/"  # the line of .pkb/.gitignore that hides the cache


class Place(Protocol):
    """What is needed of a repository."""

    workdir: str | None
    git_dir: str


def cache_dir(repo: Place) -> str:
    """The cache folder of this worktree, absolute. It may not exist yet."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:  # a folder of its own each, so that the variable may stand in a shell's profile
        return os.path.join(os.path.abspath(os.path.expanduser(named)), _fingerprint(repo))
    if repo.workdir is not None:
        inside = os.path.join(repo.workdir, ".pkb")
        if _hides_cache(inside) and os.access(inside, os.W_OK):
            return os.path.join(inside, "cache")
    own = state_dir(repo)
    if os.access(own if os.path.isdir(own) else repo.git_dir, os.W_OK):
        return own
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "git-pkb", _fingerprint(repo))


def state_dir(repo: Place) -> str:
    """Where this worktree's lock lies (`git rev-parse --git-path pkb`)."""
    return os.path.join(repo.git_dir, "pkb")


def _hides_cache(inside: str) -> bool:
    """Whether `.pkb` is a real folder whose `.gitignore` hides the cache."""
    try:
        if not stat.S_ISDIR(os.lstat(inside).st_mode):
            return False
        with open(os.path.join(inside, ".gitignore"), encoding="utf-8", errors="replace") as file:
            return IGNORED_CACHE in file.read(65536).split("\n")
    except OSError:
        return False


def _fingerprint(repo: Place) -> str:
    import hashlib

    return hashlib.blake2b(os.fsencode(repo.git_dir), digest_size=10).hexdigest()
