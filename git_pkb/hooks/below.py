"""Running as one hook of the pre-commit framework, which has rules of its own.

In: its environment. Out: whether it runs us, and whether it has put aside unstaged changes of ours.
Invariant: reads only.

The framework stashes unstaged changes before its hooks and applies them again as a patch; where that patch
touches an artifact we have just rewritten in the work tree, it does not apply and the commit is refused. It
also refuses when `git diff` differs after a hook. So the work tree and the staging area are changed alike,
except when such a patch waits: then only the staging area is, out of sight of `git diff`
(`--assume-unchanged`), and post-commit brings up the work tree.
"""

import os
import re
import time

_PATCH = re.compile(r"patch\d+(?:-(\d+))?")
_AN_HOUR = 3600


def below_pre_commit() -> bool:
    """Whether the pre-commit framework runs us."""
    return os.environ.get("PRE_COMMIT") == "1"


def artifacts_put_aside() -> bool:
    """Whether the running framework has stashed unstaged changes of files under `.pkb`."""
    folder = _store()
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(
        (match := _PATCH.fullmatch(name))
        and _is_running(match[1], os.path.join(folder, name))
        and _touches_artifacts(os.path.join(folder, name))
        for name in names
    )


def _store() -> str:
    """The framework's own folder, where it keeps its patches."""
    named = os.environ.get("PRE_COMMIT_HOME")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return named or os.path.join(cache, "pre-commit")


def _is_running(process: str | None, path: str) -> bool:
    """Whether the framework that wrote a patch is still at work; patches are never deleted."""
    try:
        if time.time() - os.path.getmtime(path) > _AN_HOUR:
            return False
        if process and os.name == "posix":
            os.kill(int(process), 0)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _touches_artifacts(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return any(line.startswith(b"diff --git ") and b"/.pkb/" in line for line in stream)
    except OSError:
        return False
