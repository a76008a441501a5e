"""What the stream can show: colours, links, how wide; and text made safe for it.

In: a stream, `--color`, the environment. Out: `Terminal`. Invariant: no byte from a file or an artifact that
a terminal would obey (escape sequences, bidirectional overrides) passes `safe`.
"""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

#: C0 and C1 control characters, and the marks that reorder text on the screen.
CONTROLS = r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby"})
LINKING_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "ALACRITTY_WINDOW_ID")
VTE_WITH_LINKS = 5000
DEFAULT_WIDTH, DEFAULT_HEIGHT = 80, 24

BOLD, DIM, RED, GREEN, YELLOW, MAGENTA, CYAN = "1", "2", "31", "32", "33", "35", "36"


@dataclass(frozen=True, slots=True)
class Terminal:
    """How to print: `tty` a person reads (maybe through a pager), else the plain and stable form."""

    tty: bool = False
    color: bool = False
    links: bool = False
    width: int = DEFAULT_WIDTH
    height: int = DEFAULT_HEIGHT

    def paint(self, text: str, *codes: str) -> str:
        """Colour a text, if colours are wanted."""
        return f"\x1b[{';'.join(codes)}m{text}\x1b[m" if self.color and text else text

    def link(self, text: str, target: str) -> str:
        """Make a text a hyperlink (OSC 8), if the terminal can."""
        return f"\x1b]8;;{target}\x1b\\{text}\x1b]8;;\x1b\\" if self.links else text


def of_stream(
    when: str = "auto", stream: TextIO | None = None, environment: Mapping[str, str] | None = None
) -> Terminal:
    """Find out what `stream` (stdout) can; `when` is the value of `--color`."""
    stream = sys.stdout if stream is None else stream
    known = os.environ if environment is None else environment
    own = stream.isatty()
    # git has already started a pager for us (`pager.pkb = true`, `git -p pkb`): a person reads the pipe
    tty = own or known.get("GIT_PAGER_IN_USE") in ("true", "1")
    smart = known.get("TERM", "dumb") != "dumb"
    color = when == "always" or (when == "auto" and tty and smart and not known.get("NO_COLOR"))
    width, height = _size(stream, known) if tty else (DEFAULT_WIDTH, DEFAULT_HEIGHT)
    return Terminal(tty, color, links=own and color and _can_link(known), width=width, height=height)


def safe(text: str, *, tty: bool = True) -> str:
    """Make visible what a terminal would obey; on a tty, bytes that are not UTF-8 become U+FFFD."""
    if tty:
        text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return re.sub(CONTROLS, lambda found: _visible(found[0]), text)


def quote_path(path: str) -> str:
    """A path as git prints it with core.quotePath off: in C quotes when a character needs them."""
    if not re.search(r'[\x00-\x1f\x7f"\\]', path):
        return path
    escapes = {
        "\a": "a",
        "\b": "b",
        "\t": "t",
        "\n": "n",
        "\v": "v",
        "\f": "f",
        "\r": "r",
        '"': '"',
        "\\": "\\",
    }
    quoted = (
        "\\" + escapes[c] if c in escapes else f"\\{ord(c):03o}" if c < " " or c == "\x7f" else c
        for c in path
    )
    return '"' + "".join(quoted) + '"'


def display_width(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def fit(text: str, columns: int) -> str:
    """Cut a text to a number of columns, with `…` where something is missing."""
    if display_width(text) <= columns:
        return text
    kept = text[: max(columns - 1, 0)]
    while kept and display_width(kept) > columns - 1:
        kept = kept[:-1]
    return kept + "…" if columns > 0 else ""


def pad(text: str, columns: int) -> str:
    """Fill a text with blanks up to a number of columns."""
    return text + " " * max(columns - display_width(text), 0)


def _visible(character: str) -> str:
    if character in "\t\n\r":
        return " "
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"


def _size(stream: TextIO, known: Mapping[str, str]) -> tuple[int, int]:
    try:
        columns, lines = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        columns, lines = DEFAULT_WIDTH, DEFAULT_HEIGHT
    given = known.get("COLUMNS", "")
    return (
        int(given) if given.isdecimal() and int(given) else columns
    ) or DEFAULT_WIDTH, lines or DEFAULT_HEIGHT


def _can_link(known: Mapping[str, str]) -> bool:
    if known.get("TERM", "").startswith(("screen", "tmux", "linux")):
        return False
    version = known.get("VTE_VERSION", "")
    return (
        known.get("TERM_PROGRAM") in LINKING_PROGRAMS
        or any(name in known for name in LINKING_VARIABLES)
        or (version.isdecimal() and int(version) >= VTE_WITH_LINKS)
    )
