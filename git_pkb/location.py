"""Where the derived files of a repository live.

In: a repository. Out: the folder of its cache, without starting a process. Invariant: nothing untracked ever
appears in `git status`, and nothing that can be cloned is taken for a cache: it lies inside the git directory
of this worktree, or in the user's cache folder when that cannot be written.
"""

import os
from typing import Protocol

CACHE_VARIABLE = "GIT_PKB_CACHE_DIR"


class Place(Protocol):
    """What is needed of a repository."""

    workdir: str | None
    git_dir: str


def cache_dir(repo: Place) -> str:
    """The cache folder of this worktree, absolute. It may not exist yet."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:  # a folder of its own each, so that the variable may stand in a shell's profile
        return os.path.join(os.path.abspath(os.path.expanduser(named)), _fingerprint(repo))
    own = state_dir(repo)
    if os.access(own if os.path.isdir(own) else repo.git_dir, os.W_OK):
        return own
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "git-pkb", _fingerprint(repo))


def state_dir(repo: Place) -> str:
    """Where this worktree's lock lies (`git rev-parse --git-path pkb`)."""
    return os.path.join(repo.git_dir, "pkb")


def _fingerprint(repo: Place) -> str:
    import hashlib

    return hashlib.blake2b(os.fsencode(repo.git_dir), digest_size=10).hexdigest()
