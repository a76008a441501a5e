"""Texts for a model that cuts them itself: windows of large ones, and where the returned pieces lie. Pure.

In: a text, a token counter and limits; later the texts of the pieces. Out: windows, then spans in characters.
Invariant: the spans of a text are ordered and disjoint and hold every character that is not white space.

A window after the first begins with the head of the file and with the headings that it stands under, so that
its pieces know where they are; those lines belong to no piece of the window. Neighbouring windows overlap, so
that no piece is torn at a window's end: the last piece of a window is left to the next one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_HEAD = 1_000  # characters of the head of the file
_HEADINGS = 1_000
_HEADING = re.compile(r"^(#{1,6})[ \t]+\S.*$")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")


class Misplaced(ValueError):
    """A returned piece is not a part of the text it was cut from."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a text, `start` to `end` in characters, and the lines that are put before it."""

    start: int
    end: int
    preamble: str = ""

    def text(self, content: str) -> str:
        """What is sent for this window."""
        return self.preamble + content[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Found:
    """A piece that a provider returned: its span in the text, and the number of its row."""

    start: int
    end: int
    row: int


def windows(
    content: str,
    count: Callable[[str], int],
    limit: int,
    overlap: int,
    span: tuple[int, int] | None = None,
) -> list[Window]:
    """Cut `span` of a text (all of it) into windows of at most `limit` tokens that overlap by `overlap`."""
    first, last = span or (0, len(content))
    found: list[Window] = []
    start = first
    while True:
        preamble = _preamble(content, start) if start else ""
        room = max(limit - count(preamble), limit // 2)
        end = _reach(content, start, last, count, room)
        found.append(Window(start, end, preamble))
        if end >= last:
            return found
        again = _back(content, start, end, count, overlap)
        start = again if again > start else end


def place(window: Window, content: str, pieces: Sequence[str]) -> list[Found]:
    """Where the pieces of a window lie in the text, by exact search forwards; raises Misplaced.

    Pieces of the preamble are left out, one that reaches from it into the window is cut off at its start.
    """
    sent = window.text(content)
    found = []
    position = 0
    shift = window.start - len(window.preamble)
    for row, piece in enumerate(pieces):
        at = sent.find(piece, position)
        if at < 0 or not piece:
            raise Misplaced(f"piece {row + 1} of {len(pieces)} is not in the text that was sent")
        position = at + len(piece)
        start, end = max(at + shift, window.start), position + shift
        if end > window.start and content[start:end].strip():
            found.append(Found(start, end, row))
    return found


def merge(
    content: str, windows: Sequence[Window], placed: Sequence[Sequence[Found]]
) -> list[tuple[int, Found]]:
    """Pieces of all windows as (number of the window, piece), each place once, by position.

    Of two windows that hold a place the earlier one counts, except for its last piece, which its end may have
    torn. What no piece holds goes to the piece before it, unless it is white space.
    """
    kept: list[tuple[int, Found]] = []
    reached = 0
    for number, found in enumerate(placed):
        whole = list(found)
        following = windows[number + 1].start if number + 1 < len(windows) else None
        if following is not None and len(whole) > 1 and whole[-1].start >= following:
            whole.pop()
        for piece in whole:
            start = max(piece.start, reached)
            if content[start : piece.end].strip():
                kept.append((number, Found(start, piece.end, piece.row)))
                reached = piece.end
    return _closed(content, kept)


def _closed(content: str, kept: list[tuple[int, Found]]) -> list[tuple[int, Found]]:
    closed: list[tuple[int, Found]] = []
    for i, (number, piece) in enumerate(kept):
        start = piece.start
        if i == 0 and content[:start].strip():
            start = 0
        following = kept[i + 1][1].start if i + 1 < len(kept) else len(content)
        end = following if content[piece.end : following].strip() else piece.end
        closed.append((number, Found(start, end, piece.row)))
    return closed


def _reach(content: str, start: int, last: int, count: Callable[[str], int], room: int) -> int:
    """The farthest end with at most `room` tokens, behind a line break where there is one."""
    if count(content[start:last]) <= room:
        return last
    low, high = start + 1, last
    while low < high:
        middle = (low + high + 1) // 2
        if count(content[start:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    line = content.rfind("\n", start + (low - start) // 2, low)
    return line + 1 if line >= 0 else low


def _back(content: str, start: int, end: int, count: Callable[[str], int], overlap: int) -> int:
    """Where a window must begin to hold the last `overlap` tokens before `end`, at the start of a line."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if count(content[middle:end]) <= overlap:
            high = middle
        else:
            low = middle + 1
    line = content.find("\n", low, end)
    return line + 1 if 0 <= line < end - 1 else low


def _preamble(content: str, start: int) -> str:
    """The head of the file and the headings that a place stands under, in whole lines."""
    line = content.rfind("\n", 0, min(_HEAD, start) + 1)
    head = content[: line + 1] if line >= 0 else ""
    path: list[tuple[int, str]] = []
    fence = ""
    position = 0
    for text in content[:start].splitlines(keepends=True):
        mark = _FENCE.match(text)
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        heading = None if fence else _HEADING.match(text.rstrip("\r\n"))
        if heading:
            level = len(heading[1])
            path = [each for each in path if each[0] < level]
            if position >= len(head):
                path.append((level, text.rstrip("\r\n")))
        position += len(text)
    headings = "".join(f"{text}\n" for _, text in path)[:_HEADINGS]
    return head + headings
