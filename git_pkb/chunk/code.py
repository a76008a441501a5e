"""Code cut on the boundaries of its syntax tree.

In: content and language. Out: pieces with every definition that starts in them. Invariant: a node of up to
layout.WHOLE bytes is never cut inside; what precedes a definition without a blank line (its doc comment, its
attributes, its type signature) stays with it while both fit; work is linear in the nodes that must be opened.
"""

import re
from itertools import pairwise

import tree_sitter

from git_pkb.chunk import definitions, layout, plain
from git_pkb.chunk.definitions import CALLABLES, VALUES, Found
from git_pkb.chunk.grammar import load
from git_pkb.chunk.layout import Lines
from git_pkb.model import Definition, Piece

#: Parts of these names in a node's type mean that it belongs to what follows.
_LEADING = re.compile(
    r"comment|attribute|decorator|annotation|pragma|haddock|documentation|^signature$|^spec$"
)
_LEADING_JULIA = frozenset({"string_literal"})
_LEADING_ELIXIR = re.compile(rb"@(?:doc|spec|impl|typedoc|deprecated|since|dialyzer|tag|describetag)\b")
#: A header `.h` is C by its name; its text tells whether another grammar must read it.
_DIALECTS = {
    "c": (
        (
            re.compile(
                rb"^[ \t]*(?:(?:inline[ \t]+)?namespace\b[^;\n]*$|template[ \t]*<|using[ \t]+namespace\b|"
                rb"(?:public|private|protected)[ \t]*:|class[ \t]+\w+[^;()\n]*$)|\bstd::\w",
                re.MULTILINE,
            ),
            "cpp",
        ),
        (re.compile(rb"^@(?:interface|protocol|implementation)\b", re.MULTILINE), "objc"),
    ),
}
#: Words that this grammar has beside a declaration, not in it.
_ZIG_MODIFIERS = frozenset({b"pub", b"export", b"extern", b"inline", b"threadlocal", b"comptime"})
_SCRIPT = re.compile(rb"<script\b[^>]*>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_EMBEDDED = frozenset({"vue", "svelte"})
_BREADCRUMB = 240
#: An error with more children than this is not code. A query's time grows with the square of their number
#: (50,000 open parentheses: 7 s).
_MAX_ERROR = 4000
#: Scanners that look ahead to the end of the line at every token; with a line above this they take too long
#: (Scala: one line of 24 kB of brackets 23 s, the same with line feeds 0.4 s).
_LONGEST_LINE = {"scala": 1000}
#: Scanners of nested comments that begin again at every one left open (Swift: 1,500 bytes of `/*` 2 s, and
#: eight times that for twice as many).
_NESTING_COMMENTS = frozenset({"swift", "kotlin"})
_MAX_OPEN_COMMENTS = 50
_COMMENT_MARK = re.compile(rb"/\*|\*/")


def cut_code(content: bytes, language: str) -> list[Piece] | None:
    """Pieces by syntax tree; None where there is no grammar or it made nothing of the content."""
    for pattern, dialect in _DIALECTS.get(language, ()):
        if pattern.search(content):
            language = dialect
            break
    grammar = load(language)
    if grammar is None:
        return None
    lines = Lines(content)
    if _overtaxes(lines, language):
        return None
    ranges = _scripts(content, lines) if language in _EMBEDDED else None
    if ranges is not None and not ranges:
        return None
    tree = grammar.parse(content, ranges)
    root = tree.root_node
    if root.has_error and _hopeless(root):
        return None
    found = definitions.find(tree, grammar.query, lines, language) if grammar.query else []
    if root.is_error and not found:
        return None
    boundaries: list[tuple[int, int]] = []
    documented: dict[int, int] = {}
    if len(content) > layout.TARGET:
        boundaries, documented = _boundaries(root, found, lines, language)
    if ranges is not None:
        boundaries = _around_scripts(content, boundaries, ranges)
    return _pieces(layout.spans(lines, boundaries), found, documented, lines)


def cut_or_plain(content: bytes, language: str) -> list[Piece]:
    """Pieces by syntax tree, else by indentation and lines."""
    pieces = cut_code(content, language)
    return plain.cut_lines(content) if pieces is None else pieces


def _overtaxes(lines: Lines, language: str) -> bool:
    """Whether the grammar's scanner would take more than linear time on this content."""
    content = lines.content
    longest = _LONGEST_LINE.get(language)
    if longest is not None and any(b - a > longest for a, b in pairwise([*lines.starts, len(content)])):
        return True
    if language not in _NESTING_COMMENTS or content.count(b"/*") <= _MAX_OPEN_COMMENTS:
        return False
    depth = 0
    for match in _COMMENT_MARK.finditer(content):
        depth = depth + 1 if match[0] == b"/*" else max(0, depth - 1)
        if depth > _MAX_OPEN_COMMENTS:
            return True
    return False


def _hopeless(root: tree_sitter.Node) -> bool:
    """Whether the parser lost itself: one error that holds thousands of tokens."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error and node.child_count > _MAX_ERROR:
            return True
        pending.extend(child for child in node.children if child.has_error)
    return False


def _scripts(content: bytes, lines: Lines) -> list[tree_sitter.Range]:
    """The scripts of a single-file component."""
    result: list[tree_sitter.Range] = []
    for match in _SCRIPT.finditer(content):
        start, end = match.span(1)
        if start < end:
            result.append(tree_sitter.Range(_point(start, lines), _point(end, lines), start, end))
    return result


def _point(offset: int, lines: Lines) -> tree_sitter.Point:
    row = lines.number(offset)
    return tree_sitter.Point(row, offset - lines.starts[row])


def _around_scripts(
    content: bytes, inside: list[tuple[int, int]], ranges: list[tree_sitter.Range]
) -> list[tuple[int, int]]:
    """Boundaries of the tree in the scripts, one level deeper, and of lines and indentation elsewhere."""
    spans = [(found.start_byte, found.end_byte) for found in ranges]
    elsewhere = [
        boundary
        for boundary in plain.indentation(content)
        if not any(start <= boundary[0] < end for start, end in spans)
    ]
    return elsewhere + [(offset, level + 1) for offset, level in inside]


def _boundaries(
    root: tree_sitter.Node, found: list[Found], lines: Lines, language: str
) -> tuple[list[tuple[int, int]], dict[int, int]]:
    """Where the tree may be cut, and where the leading comments of a node start, by the node's start.

    Cuts are starts of the children of every node that is too large to stay whole; the level grows with every
    definition on the way down, so that members are merged with each other before they are with strangers.
    """
    content = lines.content
    extents = {(item.node_start, item.end) for item in found}
    result: list[tuple[int, int]] = []
    leads: dict[int, int] = {}
    attached: set[int] = set()
    pending: list[tuple[tree_sitter.Node, int]] = [(root, 0)]
    while pending:
        node, level = pending.pop()
        previous_end = node.start_byte
        lead: int | None = None
        modifier = -1
        for child in node.children:
            start, end = child.start_byte, child.end_byte
            if start == end or not child.is_named:
                if start != end and language == "zig" and content[start:end] in _ZIG_MODIFIERS:
                    modifier = lines.start_of(start)
                previous_end = max(previous_end, end)
                continue
            opened = end - start > layout.WHOLE and child.child_count > 0
            line_start = lines.start_of(start)
            opens_line = line_start == modifier or not content[line_start:start].strip()
            if lead is not None and _blank_between(content, previous_end, start):
                # A comment that stands alone, a banner: a cut may follow, but rather precedes it.
                lead = None
                if opens_line:
                    result.append((line_start, level + 1))
            elif lead is not None:
                leads[start] = lead
                if end - lead > layout.HARD and not (opened and start - lead <= layout.TARGET):
                    result.append((line_start, level + 1))
                else:
                    attached.add(start)
            elif opens_line and start not in attached:
                result.append((line_start, level))
            if _leads(child, content, language) and (opens_line or lead is not None):
                lead = start if lead is None else lead
            else:
                lead = None
            if opened:
                deeper = (start, end) in extents
                pending.append((child, min(level + deeper, layout.MAX_LEVEL)))
            previous_end = end
    joined = [
        (item.start, item.end) for item in found if item.joined and item.end - item.start <= layout.WHOLE
    ]
    return _outside(result, joined), leads


def _blank_between(content: bytes, end: int, start: int) -> bool:
    """Whether a blank line parts two nodes; the first may hold its own line feed."""
    feeds = content.count(b"\n", end, start)
    return feeds > 1 or (feeds == 1 and content[end - 1 : end] == b"\n")


def _leads(node: tree_sitter.Node, content: bytes, language: str) -> bool:
    if _LEADING.search(node.type):
        return True
    if language == "julia" and node.type in _LEADING_JULIA:
        return True
    if language == "elixir" and node.type == "unary_operator":
        return _LEADING_ELIXIR.match(content, node.start_byte) is not None
    return False


def _outside(boundaries: list[tuple[int, int]], closed: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The boundaries that lie inside none of the extents, which are in order."""
    if not closed:
        return boundaries
    kept: list[tuple[int, int]] = []
    index = 0
    for offset, level in sorted(boundaries):
        while index < len(closed) and closed[index][1] <= offset:
            index += 1
        if index == len(closed) or offset <= closed[index][0]:
            kept.append((offset, level))
    return kept


def _pieces(
    spans: list[layout.Span], found: list[Found], documented: dict[int, int], lines: Lines
) -> list[Piece]:
    content = lines.content
    result: list[Piece] = []
    first = 0
    for index, (start, end) in enumerate(spans):
        limit = spans[index + 1][0] if index + 1 < len(spans) else len(content) + 1
        last = first
        while last < len(found) and found[last].start < limit:
            last += 1
        line = lines.number(start)
        main = _main(found, first, last, start, end)
        if main < 0 and last < len(found) and documented.get(found[last].node_start, end) <= start:
            main = last
        inside = tuple(
            Definition(
                item.name, item.kind, lines.number(item.start) - line, _height(item, lines), item.scope
            )
            for item in found[first:last]
        )
        kind, breadcrumb = ("code", "") if main < 0 else (found[main].kind, _breadcrumb(found, main))
        result.append(Piece(start, end, line + 1, content.count(b"\n", start, end), kind, breadcrumb, inside))
        first = last
    return result


def _height(item: Found, lines: Lines) -> int:
    return lines.number(max(item.start, item.end - 1)) - lines.number(item.start) + 1


def _breadcrumb(found: list[Found], index: int) -> str:
    labels: list[str] = []
    while index >= 0:
        labels.append(found[index].label)
        index = found[index].parent
    return " > ".join(reversed(labels))[:_BREADCRUMB]


def _main(found: list[Found], first: int, last: int, start: int, end: int) -> int:
    """The main definition of a piece, the one that fills most of it; -1 where none does."""
    around = first - 1
    while around >= 0 and found[around].end <= start:
        around = found[around].parent
    outer = [index for index in range(first, last) if found[index].parent < first]
    if around >= 0 and found[around].kind in CALLABLES:
        # Inside a function it is the main one, unless it ends and something larger follows.
        outer = [index for index in outer if found[index].start >= found[around].end]
        if not outer or min(found[around].end, end) - start >= max(_weight(found[i], end) for i in outer):
            return around
    main = max(outer, key=lambda index: _weight(found[index], end), default=-1)
    while main >= 0 and found[main].kind == "module":
        inner = [index for index in range(main + 1, last) if found[index].parent == main]
        if not inner:
            break
        main = max(inner, key=lambda index: _weight(found[index], end))
    if main < 0:
        return around
    if found[main].kind in VALUES or found[main].kind == "prototype":
        # One of many fields or declarations does not stand for them all.
        covered = min(found[main].end, end) - found[main].start
        parent = found[main].parent
        if covered * 2 < end - start and parent >= 0:
            return parent
        if covered * 5 < end - start:
            return around
    return main


def _weight(item: Found, end: int) -> float:
    """Bytes of a definition before `end`; values and prototypes count a quarter."""
    return (min(item.end, end) - item.start) * (
        0.25 if item.kind in VALUES or item.kind == "prototype" else 1.0
    )
