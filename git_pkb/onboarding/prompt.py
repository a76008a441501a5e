"""Asks on a terminal: a menu with arrow keys or numbers, yes or no, a line of text. Return takes the default.

In: a title and options. Out: the choice. Raises KeyboardInterrupt on Ctrl-C, Ctrl-D and q. Invariant:
questions go to stderr, stdout stays free; the terminal is left as it was found, whatever happens.
"""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.output.terminal import Terminal

_UP, _DOWN, _ENTER, _STOP = "up", "down", "enter", "stop"
_KEYS = {
    b"\x1b[A": _UP, b"\x1bOA": _UP, b"k": _UP, b"\x10": _UP,
    b"\x1b[B": _DOWN, b"\x1bOB": _DOWN, b"j": _DOWN, b"\x0e": _DOWN, b"\t": _DOWN,
    b"\r": _ENTER, b"\n": _ENTER, b"q": _STOP, b"\x04": _STOP, b"\x03": _STOP, b"": _STOP,
}  # fmt: skip


def is_possible() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Prompt:
    """Asks one question after the other."""

    def __init__(self, terminal: "Terminal") -> None:
        self.terminal = terminal
        self._can_move = os.environ.get("TERM", "dumb") != "dumb" and _has_termios()

    def say(self, text: str) -> None:
        """Show a text above the next question."""
        import textwrap

        self._write(textwrap.fill(text, max(40, min(self.terminal.width, 100))) + "\n")

    def choose(self, title: str, options: Mapping[str, str], default: str) -> str:
        """One of the options (name -> a line about it)."""
        from git_pkb.output.terminal import fit

        names = list(options)
        at = names.index(default) if default in names else 0
        if not self._can_move:
            return self._choose_by_line(title, options, names, at)
        # a line that wraps would be counted as one when the menu is drawn again
        title = fit(title, self.terminal.width - 1)
        keys = fit(
            "  arrow keys or numbers, return takes the marked one", self.terminal.width - 1 - len(title)
        )
        self._write(self._bold(title) + self._dim(keys) + "\n")
        self._show(options, names, at)
        with _raw_keys() as read:
            while True:
                key = read()
                what = _KEYS.get(key)
                if what == _STOP:
                    raise KeyboardInterrupt
                if what == _ENTER:
                    break
                if what in (_UP, _DOWN):
                    at = (at + (1 if what == _DOWN else -1)) % len(names)
                elif key.isdigit() and 1 <= int(key) <= len(names):
                    at = int(key) - 1
                    break
                else:
                    continue
                self._write(f"\x1b[{len(names)}A")
                self._show(options, names, at)
        # the menu makes room for its answer
        self._write(f"\x1b[{len(names) + 1}A\x1b[J{title}: {self._bold(names[at])}\n")
        return names[at]

    def confirm(self, question: str, *, default: bool) -> bool:
        """Yes or no."""
        options = {"yes": "", "no": ""}
        return self.choose(question, options, "yes" if default else "no") == "yes"

    def text(self, question: str, default: str = "") -> str:
        """A line of text."""
        shown = f" [{default}]" if default else ""
        while True:
            answer = self._line(f"{question}{shown}: ").strip() or default
            if answer:
                return answer

    def _choose_by_line(self, title: str, options: Mapping[str, str], names: list[str], at: int) -> str:
        self._write(f"{title}\n")
        for number, (name, about) in enumerate(options.items(), 1):
            self._write(f"  {number}  {name}{f': {about}' if about else ''}\n")
        while True:
            answer = self._line(f"number or name [{names[at]}]: ").strip().lower()
            if not answer:
                return names[at]
            if answer.isdecimal() and 1 <= int(answer) <= len(names):
                return names[int(answer) - 1]
            near = [name for name in names if name.startswith(answer)]
            if answer in names or len(near) == 1:
                return answer if answer in names else near[0]
            self._write(f"there is no {answer!r}\n")

    def _line(self, question: str) -> str:
        self._write(question)
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        return line

    def _show(self, options: Mapping[str, str], names: list[str], at: int) -> None:
        from git_pkb.output.terminal import CYAN, fit

        width = max(map(len, names))
        for number, name in enumerate(names):
            about = fit(options[name], max(10, self.terminal.width - width - 8))
            mark = self.terminal.paint(">", CYAN) if number == at else " "
            shown = self._bold(name.ljust(width)) if number == at else name.ljust(width)
            self._write(f"\r\x1b[2K {mark} {number + 1} {shown}  {self._dim(about)}".rstrip() + "\n")

    def _bold(self, text: str) -> str:
        from git_pkb.output.terminal import BOLD

        return self.terminal.paint(text, BOLD)

    def _dim(self, text: str) -> str:
        from git_pkb.output.terminal import DIM

        return self.terminal.paint(text, DIM)

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _has_termios() -> bool:
    try:
        import termios  # noqa: F401 - Windows has none
    except ImportError:
        return False
    return True


class _raw_keys:  # noqa: N801 - used as a function
    """A terminal that gives keys at once, for the time of a `with`; gives a function that reads one."""

    def __enter__(self) -> "_raw_keys":
        import termios
        import tty

        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        self._waiting = b""
        tty.setcbreak(self._fd)  # Ctrl-C stays a signal
        return self

    def __exit__(self, *_: object) -> None:
        import termios

        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def __call__(self) -> bytes:
        if not self._waiting:
            self._waiting = os.read(self._fd, 64)
        data = self._waiting
        size = 3 if data[:1] == b"\x1b" else 1
        self._waiting = data[size:]
        return data[:size]
