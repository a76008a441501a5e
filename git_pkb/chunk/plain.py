"""Text cut at paragraphs, and code without a usable grammar at blank lines and indentation.

In: content. Out: pieces without definitions. Invariant: a boundary is the start of a line; after a blank line
and with less indentation it is a better one.
"""

import re

from git_pkb.chunk import layout
from git_pkb.chunk.layout import Lines
from git_pkb.model import Piece

_LINE = re.compile(rb"[^\n]*\n?")
_CLOSING = (b"}", b")", b"]", b"end", b"</", b"else", b"fi", b"done", b"esac", b"|", b"-->", b"*/")
_DEEPEST = 6


def cut_text(content: bytes) -> list[Piece]:
    """Prose: paragraphs."""
    return pieces(content, paragraphs(content), "text")


def cut_lines(content: bytes) -> list[Piece]:
    """Code or data: blocks by blank lines and indentation."""
    return pieces(content, indentation(content), "code")


def pieces(content: bytes, boundaries: list[tuple[int, int]], kind: str) -> list[Piece]:
    """Pieces of one kind, without breadcrumbs."""
    lines = Lines(content)
    return [
        Piece(start, end, lines.number(start) + 1, content.count(b"\n", start, end), kind, "")
        for start, end in layout.spans(lines, boundaries)
    ]


def paragraphs(content: bytes, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Starts of lines after blank lines."""
    stop = len(content) if end is None else end
    return [
        (match.end(), 1)
        for match in re.finditer(rb"\n[ \t\r]*\n(?:[ \t\r]*\n)*+", content[:stop])
        if match.end() > start
    ]


def indentation(content: bytes) -> list[tuple[int, int]]:
    """Starts of lines, less indented ones first; after a blank line counts as one step further out."""
    result: list[tuple[int, int]] = []
    steps: list[int] = []
    blank = False
    for match in _LINE.finditer(content):
        line = match[0]
        body = line.lstrip(layout.BLANK)
        if not body:
            blank = True
            continue
        indent = len(line.expandtabs(4)) - len(body.expandtabs(4))
        while steps and steps[-1] > indent:
            steps.pop()
        if not steps or steps[-1] < indent:
            steps.append(indent)
        depth = len(steps) * 2 - (2 if blank else 1)
        if depth <= _DEEPEST and not body.startswith(_CLOSING):
            result.append((match.start(), depth))
        blank = False
    return result
