"""Show a long text through the pager git would use.

In: text and where it goes. Out: the text on the screen. Invariant: what fits on the screen, or does not go to
one, is written as it is: no process is started, links keep working, and a pipe sees the same bytes always.
"""

import os
import subprocess
import sys
from collections.abc import Callable

from git_pkb.output.terminal import Terminal

#: What git gives less and lv unless the user has set them: quit if it fits, keep colours, keep the screen.
PAGER_SETTINGS = {"LESS": "FRX", "LV": "-c"}


def show(text: str, terminal: Terminal, git: Callable[..., bytes] | None = None) -> None:
    """Print a whole text; `git` runs git in the repository, to learn the pager the user wants."""
    if not sys.stdout.isatty() or text.count("\n") < terminal.height:
        sys.stdout.write(text)
        return
    command = choose(git)
    if command is None:
        sys.stdout.write(text)
        return
    environment = {**PAGER_SETTINGS, **os.environ, "GIT_PAGER_IN_USE": "true"}
    sys.stdout.flush()
    # the pager is a line of shell, as in git: `core.pager = less -S | tee x` must work
    process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environment)  # noqa: S602
    try:
        process.communicate(text.encode("utf-8", "surrogateescape"))
    except KeyboardInterrupt:
        process.wait()  # less has taken the key and decides itself when to end
    if process.returncode in (126, 127):  # the shell found no such program
        sys.stdout.write(text)


def choose(git: Callable[..., bytes] | None) -> str | None:
    """The pager's command line: `pager.pkb`, then GIT_PAGER, core.pager, PAGER, less; None for no pager."""
    if git is None:
        command = os.environ.get("GIT_PAGER") or os.environ.get("PAGER") or "less"
    else:
        command = git("config", "--get", "pager.pkb", check=False).decode(errors="replace").strip()
        if command.lower() in ("false", "no", "off", "0"):
            return None
        if command.lower() in ("", "true", "yes", "on", "1"):
            command = git("var", "GIT_PAGER", check=False).decode(errors="replace").strip()
    return None if command in ("", "cat") else command
