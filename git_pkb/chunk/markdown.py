"""Markdown and its relatives cut at headings.

In: content and language (markdown, rst, asciidoc, org, latex, typst). Out: pieces whose definitions are the
headings inside. Invariant: nothing inside a fenced block or front matter is a heading; small sections are
merged with neighbours, large ones cut at paragraphs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from git_pkb.chunk import layout
from git_pkb.chunk.layout import Lines
from git_pkb.model import Definition, Piece

_ATX = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t\r]*$")
_SETEXT = re.compile(rb" {0,3}(=+|-+)[ \t\r]*$")
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})([^`]*)$")
_ADOC = re.compile(rb"(={1,6})[ \t]+(\S.*?)[ \t\r]*$")
_ADOC_FENCE = re.compile(rb"(-{4,}|\.{4,}|={4,}|\+{4,}|/{4,}|\*{4,}|_{4,})[ \t\r]*$")
_ADOC_UNDERLINES = [b"=", b"-", b"~", b"^", b"+"]
_ORG = re.compile(rb"(\*+)[ \t]+(\S.*?)[ \t\r]*$")
_LATEX = re.compile(rb"[ \t]*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?\{(.*?)\}")
_LATEX_LEVEL = {
    b"part": 1,
    b"chapter": 2,
    b"section": 3,
    b"subsection": 4,
    b"subsubsection": 5,
    b"paragraph": 6,
}
_TYPST = re.compile(rb"(={1,6})[ \t]+(\S.*?)[ \t\r]*$")
_RST_LINE = re.compile(rb"""([=\-`:.'"~^_*+#<>!$%&(),/;?@\[\\\]{|}])\1{2,}[ \t\r]*$""")
_NOT_TEXT = re.compile(rb"\s*(?:[-*+>|]|\d+[.)])\s|\s{4}|\s*$")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|<[^>]*>|[`*]|\{#[^}]*\}")
_MAX_HEADING = 120


@dataclass(slots=True)
class _Heading:
    line: int
    level: int
    text: str
    end: int = 0
    parent: int = -1


def cut_prose(content: bytes, language: str) -> list[Piece]:
    """Pieces by headings."""
    lines = Lines(content)
    rows = content.split(b"\n")
    headings, closed = _READERS[language](rows)
    _nest(headings, len(rows))
    boundaries = [(lines.starts[heading.line], heading.level) for heading in headings]
    boundaries += _in_large(
        _paragraphs(rows, lines, closed), [0, *(offset for offset, _ in boundaries)], lines
    )
    result: list[Piece] = []
    first = 0
    found = layout.spans(lines, boundaries)
    for index, (start, end) in enumerate(found):
        limit = lines.number(found[index + 1][0]) if index + 1 < len(found) else len(rows)
        line = lines.number(start)
        last = first
        while last < len(headings) and headings[last].line < limit:
            last += 1
        here = headings[first:last]
        main = first if here and _starts_with(here[0], rows, line) else first - 1
        main = first if main < 0 and here else main
        inside = tuple(
            Definition(
                heading.text,
                "section",
                heading.line - line,
                heading.end - heading.line,
                ".".join(_path(headings, heading.parent)),
            )
            for heading in here
        )
        breadcrumb = " > ".join(_path(headings, main))[:240]
        kind = "section" if main >= 0 else "text"
        result.append(Piece(start, end, line + 1, content.count(b"\n", start, end), kind, breadcrumb, inside))
        first = last
    return result


def _starts_with(heading: _Heading, rows: list[bytes], line: int) -> bool:
    """Whether hardly anything but badges or front matter stands in the piece before its first heading."""
    return sum(len(row.strip()) for row in rows[line : heading.line]) < 200 or rows[line].startswith(
        (b"---", b"+++")
    )


def _nest(headings: list[_Heading], rows: int) -> None:
    stack: list[int] = []
    for index, heading in enumerate(headings):
        while stack and headings[stack[-1]].level >= heading.level:
            headings[stack.pop()].end = heading.line
        heading.parent = stack[-1] if stack else -1
        stack.append(index)
    for index in stack:
        headings[index].end = rows


def _path(headings: list[_Heading], index: int) -> list[str]:
    names: list[str] = []
    while index >= 0:
        names.append(headings[index].text)
        index = headings[index].parent
    return names[::-1]


def _in_large(boundaries: list[tuple[int, int]], starts: list[int], lines: Lines) -> list[tuple[int, int]]:
    """The boundaries inside sections that are too large to stay whole."""
    ends = [*starts[1:], len(lines.content)]
    kept: list[tuple[int, int]] = []
    section = 0
    for offset, level in boundaries:
        while ends[section] <= offset and section + 1 < len(ends):
            section += 1
        if ends[section] - starts[section] > layout.WHOLE:
            kept.append((offset, level))
    return kept


def _paragraphs(rows: list[bytes], lines: Lines, closed: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Starts of paragraphs; those inside a block (fence, front matter) only deeper."""
    result: list[tuple[int, int]] = []
    block = 0
    for number in range(1, len(rows)):
        while block < len(closed) and closed[block][1] <= number:
            block += 1
        within = block < len(closed) and closed[block][0] < number
        if not rows[number - 1].strip() and rows[number].strip():
            result.append((lines.starts[number], 9 if within else 8 if rows[number][:1] in b" \t" else 7))
    return result


def _clean(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    stripped = " ".join(_MARKUP.sub(lambda match: match[1] or "", text).split())
    return (stripped or " ".join(text.split()))[:_MAX_HEADING]


Read = tuple[list[_Heading], list[tuple[int, int]]]
Reader = Callable[[list[bytes]], Read]


def _markdown(rows: list[bytes]) -> Read:
    headings: list[_Heading] = []
    closed: list[tuple[int, int]] = []
    start = _front_matter(rows)
    if start:
        closed.append((0, start))
    fence: bytes | None = None
    opened = 0
    for number in range(start, len(rows)):
        row = rows[number]
        match = _FENCE.match(row)
        if fence is not None:
            if match and match[1].startswith(fence) and not match[2].strip():
                closed.append((opened, number + 1))
                fence = None
            continue
        if match:
            fence, opened = match[1], number
            continue
        atx = _ATX.match(row)
        if atx:
            if atx[2]:
                headings.append(_Heading(number, len(atx[1]), _clean(atx[2])))
            continue
        setext = _SETEXT.match(row)
        if setext and number > start and not _NOT_TEXT.match(rows[number - 1]):
            above = number - 1
            if not (headings and headings[-1].line >= above) and (above == 0 or not rows[above - 1].strip()):
                headings.append(_Heading(above, 1 if setext[1][:1] == b"=" else 2, _clean(rows[above])))
    if fence is not None:
        closed.append((opened, len(rows)))
    return headings, closed


def _front_matter(rows: list[bytes]) -> int:
    """Number of lines of YAML or TOML front matter."""
    mark = rows[0].removeprefix(layout.BOM).rstrip()
    if mark not in {b"---", b"+++"}:
        return 0
    for number in range(1, min(len(rows), 400)):
        if rows[number].rstrip() == mark:
            return number + 1
    return 0


def _rst(rows: list[bytes]) -> Read:
    """Titles are underlined, perhaps overlined too; the order of first use gives the levels."""
    headings: list[_Heading] = []
    styles: list[tuple[bytes, bool]] = []
    for number in range(1, len(rows)):
        match = _RST_LINE.match(rows[number])
        title = rows[number - 1].rstrip()
        if not match or not title or (title[:1] in b" \t" and number < 2) or _RST_LINE.match(title):
            continue
        if len(rows[number].rstrip()) + 2 < len(title.strip()):
            continue
        over = number > 1 and rows[number - 2].rstrip() == rows[number].rstrip()
        if not over and (title[:1] in b" \t" or (number > 1 and rows[number - 2].strip())):
            continue
        style = (match[1], over)
        if style not in styles:
            styles.append(style)
        headings.append(_Heading(number - 1 - over, min(styles.index(style) + 1, 6), _clean(title)))
    return headings, []


def _is_underline(rows: list[bytes], number: int) -> bool:
    """Whether a line of AsciiDoc underlines a title: as long as it, give or take two, after a blank line."""
    row = rows[number].rstrip()
    if len(row) < 3 or row[:1] not in _ADOC_UNDERLINES or row.strip(row[:1]) or number == 0:
        return False
    title = rows[number - 1].rstrip()
    alone = number == 1 or not rows[number - 2].strip() or rows[number - 2].startswith((b"[", b"//"))
    return alone and title[:1].isalnum() and abs(len(title.decode("utf-8", "replace")) - len(row)) <= 2


def _by_pattern(
    pattern: re.Pattern[bytes], fence: re.Pattern[bytes] | None, *, underlines: bool = False
) -> Reader:
    def read(rows: list[bytes]) -> Read:
        headings: list[_Heading] = []
        closed: list[tuple[int, int]] = []
        mark: bytes | None = None
        opened = 0
        for number, row in enumerate(rows):
            bar = fence.match(row) if fence else None
            if mark is None and underlines and _is_underline(rows, number):
                level = _ADOC_UNDERLINES.index(row[:1]) + 1
                headings.append(_Heading(number - 1, level, _clean(rows[number - 1])))
                continue
            if mark is not None:
                if bar and row.rstrip() == mark:
                    closed.append((opened, number + 1))
                    mark = None
                continue
            if bar:
                mark, opened = row.rstrip(), number
                continue
            match = pattern.match(row)
            if match:
                level = _LATEX_LEVEL.get(match[1]) or min(len(match[1]), 6)
                headings.append(_Heading(number, level, _clean(match[2])))
        return headings, closed

    return read


_READERS: dict[str, Reader] = {
    "markdown": _markdown,
    "rst": _rst,
    "asciidoc": _by_pattern(_ADOC, _ADOC_FENCE, underlines=True),
    "org": _by_pattern(_ORG, None),
    "latex": _by_pattern(_LATEX, None),
    "typst": _by_pattern(_TYPST, None),
}
HEADED = frozenset(_READERS)
