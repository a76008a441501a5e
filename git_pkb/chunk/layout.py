"""From boundaries to spans: neighbours merged to pieces of a good size, the oversized cut at lines.

In: the content, and boundaries (offsets of line starts, each with a level: 0 between the outermost things,
deeper inside them). Out: spans in bytes, trimmed of blank lines and of white space at their end.
Invariant: the spans are ordered and disjoint, cover every non-blank byte, and cut no UTF-8 character.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable

TARGET = 1500  #: neighbours are merged up to this many bytes
WHOLE = 2200  #: a definition of up to this many bytes is not cut inside
HARD = 3000  #: no piece is larger unless one line is
SMALL = 600  #: a piece below this joins a neighbour up to WHOLE
MAX_LEVEL = 12

BLANK = b" \t\r\n\x0b\x0c"
BOM = b"\xef\xbb\xbf"
_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")

Span = tuple[int, int]


class Lines:
    """Offsets of the line starts of a content; a line ends with a line feed."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.starts = [0]
        self.starts.extend(match.end() for match in re.finditer(b"\n", content))

    def number(self, offset: int) -> int:
        """The 0-based line that holds a byte."""
        return bisect_right(self.starts, offset) - 1

    def start_of(self, offset: int) -> int:
        """Where the line that holds a byte starts."""
        return self.starts[self.number(offset)]


def spans(lines: Lines, boundaries: Iterable[tuple[int, int]]) -> list[Span]:
    """Cut at some of the boundaries, `(offset of a line start, level)`; the least level of one counts."""
    content = lines.content
    level_of: dict[int, int] = {}
    for offset, level in boundaries:
        if 0 < offset < len(content):
            level_of[offset] = min(level, level_of.get(offset, MAX_LEVEL))
    starts = [0, *sorted(level_of)]
    segments = [
        [start, end, level_of.get(start, 0)]
        for start, end in zip(starts, [*starts[1:], len(content)], strict=True)
    ]
    for level in sorted({segment[2] for segment in segments[1:]}, reverse=True):
        segments = _merge(segments, level)
    segments = _absorb(segments)
    result: list[Span] = []
    for start, end, _ in segments:
        if end - start > HARD:
            result.extend(_cut_lines(lines, start, end))
        else:
            result.append((start, end))
    return [trimmed for span in result if (trimmed := trim(content, *span))]


def trim(content: bytes, start: int, end: int) -> Span | None:
    """The span without the blank lines before it and the white space after it; None when nothing is left."""
    body = content[start:end]
    kept = body.rstrip(BLANK)
    if not kept or (start == 0 and kept == BOM):
        return None
    head = len(kept) - len(kept.lstrip(BLANK))
    return start + (kept.rfind(b"\n", 0, head) + 1), start + len(kept)


def _merge(segments: list[list[int]], level: int) -> list[list[int]]:
    """Join neighbours that a boundary of this level parts, from the left, up to TARGET bytes.

    What opens a group (a signature, a class line, a banner comment) belongs to what follows it: it may make
    the first piece of the group somewhat larger, and goes along with what is cut by lines anyway.
    """
    merged = [segments[0]]
    for segment in segments[1:]:
        last = merged[-1]
        size = segment[1] - last[0]
        opening = last[2] < level and last[1] - last[0] < SMALL
        fits = size <= (WHOLE if opening else TARGET) or (opening and segment[1] - segment[0] > HARD)
        if segment[2] == level and fits:
            last[1] = segment[1]
        else:
            merged.append(segment)
    return merged


def _absorb(segments: list[list[int]]) -> list[list[int]]:
    """Join what is still small to a neighbour: across the deeper boundary, else to the smaller one."""
    kept: list[list[int]] = []
    for index, segment in enumerate(segments):
        if kept and _joins(kept[-1], segment, segments[index + 1] if index + 1 < len(segments) else None):
            kept[-1][1] = segment[1]
        else:
            kept.append(segment)
    return kept


def _joins(left: list[int], right: list[int], following: list[int] | None) -> bool:
    if right[1] - left[0] > WHOLE:
        return False
    if left[1] - left[0] < SMALL:
        return True
    if right[1] - right[0] >= SMALL:
        return False
    if following is None or following[1] - right[0] > WHOLE:
        return True
    if following[2] != right[2]:
        return following[2] < right[2]
    return left[1] - left[0] <= following[1] - following[0]


def _cut_lines(lines: Lines, start: int, end: int) -> list[Span]:
    """Cut a stretch without boundaries: after blank lines where there are some, else after any line."""
    content = lines.content
    result: list[Span] = []
    while end - start > HARD:
        # Even parts: 3,100 bytes become two of 1,550, not 1,500 and a rest.
        aim = start + (end - start) // max(2, round((end - start) / TARGET))
        cut = _blank_line_near(content, start, aim) or _line_near(lines, start, aim)
        if cut is None or cut >= end:
            cut = end
        if cut - start > HARD:
            result.extend(_cut_line(content, start, cut))
        else:
            result.append((start, cut))
        start = cut
    if start < end:
        result.append((start, end))
    return result


def _blank_line_near(content: bytes, start: int, aim: int) -> int | None:
    found = None
    for match in _BLANK_LINE.finditer(content, aim - (aim - start) // 2, min(len(content), start + HARD)):
        if match.end() - start > HARD:
            break
        if found is None or abs(match.end() - aim) < abs(found - aim):
            found = match.end()
    return found


def _line_near(lines: Lines, start: int, aim: int) -> int | None:
    """The last line start up to `aim`, else the first after it."""
    index = bisect_right(lines.starts, aim) - 1
    if lines.starts[index] > start:
        return lines.starts[index]
    return lines.starts[index + 1] if index + 1 < len(lines.starts) else None


def _cut_line(content: bytes, start: int, end: int) -> list[Span]:
    """Cut one enormous line: after a space, comma or semicolon, at worst between two characters."""
    result: list[Span] = []
    while end - start > HARD:
        cut = start + TARGET
        at = max(content.rfind(mark, start + TARGET // 2, cut) for mark in (b" ", b",", b";", b">", b"\r"))
        if at >= 0:
            cut = at + 1
        # Back to the first byte of a character; after three steps the file is not UTF-8 at all.
        cut -= next((back for back in range(4) if content[cut - back] & 0xC0 != 0x80), 0)
        result.append((start, cut))
        start = cut
    result.append((start, end))
    return result
