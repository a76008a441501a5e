"""Makes `git pkb --help` work: git opens the manual page `git-pkb`, which must be where `man` looks.

In: this environment. Out: a link in the user's own man folder where no folder of `man` has the page.
Invariant: a file of someone else is never replaced; only a link to a page of this program is removed.

`man` looks in `share/man` beside each `bin` of PATH: an activated environment provides the page, `uv tool`
and pipx link the program alone.
"""

import os
import sys

from git_pkb.errors import CannotWrite

PAGE = os.path.join("man1", "git-pkb.1")


def page() -> str | None:
    """The page that came with this program: installed beside it, or in the folder it is developed in."""
    import git_pkb

    source = os.path.join(
        os.path.dirname(os.path.dirname(os.path.abspath(git_pkb.__file__))), "docs", "git-pkb.1"
    )
    for path in (os.path.join(sys.prefix, "share", "man", PAGE), source):
        if os.path.isfile(path):
            return path
    return None


def user_page() -> str:
    """Where a user's own copy lies."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "man", PAGE)


def is_provided() -> bool:
    """Whether `man` finds the page without our help."""
    folders = ["/usr/share/man", "/usr/local/share/man", *os.environ.get("MANPATH", "").split(os.pathsep)]
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        above = os.path.dirname(os.path.abspath(folder)) if folder else ""
        folders += [os.path.join(above, "share", "man"), os.path.join(above, "man")] if above else []
    own = user_page()
    paths = (os.path.join(folder, PAGE) for folder in folders if folder)
    return any(os.path.exists(path) and os.path.abspath(path) != own for path in paths)


def link() -> str | None:
    """Link the page into the user's folder where that is needed; what was done, in a line."""
    source, target = page(), user_page()
    if source is None or is_provided():
        return None
    if os.path.lexists(target):
        if not os.path.islink(target) or os.readlink(target) == source:
            return None
        os.unlink(target)  # to an environment that is gone, or another version
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(source, target)
    except OSError:
        return None  # a home that cannot be written is no reason to fail
    return f"linked the manual page: {target}"


def unlink() -> str | None:
    """Remove the link, if it is ours."""
    target = user_page()
    if not os.path.islink(target) or os.path.basename(os.readlink(target)) != "git-pkb.1":
        return None
    try:
        os.unlink(target)
    except OSError as error:
        raise CannotWrite(f"cannot remove {target}: {error.strerror}", "check its permissions") from error
    return f"removed {target}"
