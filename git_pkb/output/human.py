"""Search results for a person at a terminal, and the plain lines a pipe gets.

In: `SearchResults` and a `Terminal`. Out: text. Invariant: the plain form is one line a piece,
`PATH:LINE:SYMBOL<TAB>EXCERPT`, and does not depend on the width, the locale or the environment.
"""

import posixpath
import re
from collections.abc import Sequence

from git_pkb.output.terminal import (
    BOLD,
    CYAN,
    DIM,
    MAGENTA,
    RED,
    YELLOW,
    Terminal,
    display_width,
    fit,
    pad,
    quote_path,
    safe,
)
from git_pkb.rank.results import KNOWLEDGE_BASE, FileResult, SearchResults, SymbolResult
from git_pkb.tokens import STOP_WORDS

#: At most this share of the width goes to the column of symbols.
SYMBOL_SHARE = 0.45
SHORTEST_WORD = 3


def listing(
    results: SearchResults,
    terminal: Terminal,
    *,
    prefix: str = "",
    top: str | None = None,
    terse: bool = False,
    flat: bool = False,
) -> str:
    """The whole answer; paths are shown relative to `prefix`, the folder (with `/`) the user stands in.

    `top` is the work tree, for links. `terse`: one `PATH:START-END` a file, of its best piece. `flat`: each
    piece for itself, best first, whatever its file.
    """
    files = _each_alone(results.results) if flat else results.results
    shown = [(file, _shown_path(file, prefix)) for file in files]
    if terse:
        return "".join(_terse(file, path) for file, path in shown)
    if not terminal.tty:
        return "".join(_plain(file, path) for file, path in shown)
    words = _highlighter(results.query)
    if flat:
        return "".join(_line(file, path, terminal, words, top) for file, path in shown)
    blocks = [_block(file, path, terminal, words, top) for file, path in shown]
    return "\n".join(blocks)


def _shown_path(file: FileResult, prefix: str) -> str:
    here = prefix and file.language != KNOWLEDGE_BASE
    return quote_path(posixpath.relpath(file.path, prefix) if here else file.path)


def _each_alone(files: Sequence[FileResult]) -> list[FileResult]:
    """A result for each piece, best score first; what has no score that compares comes after it."""
    from dataclasses import replace

    alone = [
        replace(file, symbols=(symbol,))
        for file in files
        if file.language != KNOWLEDGE_BASE
        for symbol in file.symbols
    ]
    alone.sort(key=lambda each: (-each.symbols[0].score, each.path, each.symbols[0].lines))
    rest = [file for file in files if not file.symbols or file.language == KNOWLEDGE_BASE]
    return [*alone, *rest]


def _line(
    file: FileResult, path: str, terminal: Terminal, words: re.Pattern[str] | None, top: str | None
) -> str:
    """A piece alone in a line of a terminal."""
    head = terminal.paint(safe(path), MAGENTA)
    if top is not None and terminal.links and file.language != KNOWLEDGE_BASE:
        head = terminal.link(head, _url(f"{top}/{file.path}"))
    stale = "  stale" if file.stale else ""
    if not file.symbols:
        return head + terminal.paint(stale, YELLOW) + "\n"
    symbol = file.symbols[0]
    place = f":{symbol.lines[0]}" if file.language != KNOWLEDGE_BASE else ""
    title = fit(safe(_title(symbol)), int(terminal.width * SYMBOL_SHARE))
    rest = terminal.width - display_width(safe(path) + place + title + stale) - 4
    text = fit(safe(symbol.summary or symbol.excerpt).strip(), max(0, rest))
    line = head + terminal.paint(place, CYAN) + "  " + _emphasise(title, words, terminal)
    line += terminal.paint(stale, YELLOW)
    lines = [f"{line}  {_emphasise(text, words, terminal)}".rstrip()]
    if symbol.text is not None:
        lines += _numbered(symbol, terminal)
    return "".join(f"{each}\n" for each in lines)


def _terse(file: FileResult, path: str) -> str:
    if not file.symbols or file.language == KNOWLEDGE_BASE:
        return f"{path}\n"
    start, end = file.symbols[0].lines
    return f"{path}:{start}-{end}\n"


def _plain(file: FileResult, path: str) -> str:
    stale = "\tstale" if file.stale else ""
    if not file.symbols:
        return f"{path}{stale}\n"
    lines = []
    for symbol in file.symbols:
        text = safe(symbol.summary or symbol.excerpt, tty=False)
        lines.append(f"{path}:{symbol.lines[0]}:{safe(_title(symbol), tty=False)}\t{text}{stale}\n")
        if symbol.text is not None:
            lines += [f"\t{safe_line}\n" for safe_line in _source(symbol.text, tty=False)]
    return "".join(lines)


def _block(
    file: FileResult, path: str, terminal: Terminal, words: re.Pattern[str] | None, top: str | None
) -> str:
    head = terminal.paint(safe(path), MAGENTA, BOLD)
    if top is not None and terminal.links and file.language != KNOWLEDGE_BASE:
        head = terminal.link(head, _url(f"{top}/{file.path}"))
    if file.symbols and file.language != KNOWLEDGE_BASE:
        head += terminal.paint(f":{file.symbols[0].lines[0]}", CYAN)
    if file.stale:
        head += terminal.paint("  stale", YELLOW)
    lines = [head]
    if file.summary:
        lines.append("  " + terminal.paint(fit(safe(file.summary), terminal.width - 2), DIM))
    ranges = [f"{start}-{end}" if end > start else str(start) for start, end in _ranges(file.symbols)]
    titles = [safe(_title(symbol)) for symbol in file.symbols]
    numbers = max((len(each) for each in ranges), default=0)
    column = min(max(map(display_width, titles), default=0), int(terminal.width * SYMBOL_SHARE))
    for symbol, span, title in zip(file.symbols, ranges, titles, strict=True):
        name = pad(fit(title, column), column)
        rest = terminal.width - numbers - column - 6
        text = fit(safe(symbol.summary or symbol.excerpt).strip(), rest)
        line = f"  {terminal.paint(span.rjust(numbers), CYAN)}  {_emphasise(name, words, terminal)}"
        lines.append(f"{line}  {_emphasise(text, words, terminal)}".rstrip())
        if symbol.text is not None:
            lines += _numbered(symbol, terminal)
    return "".join(f"{line}\n" for line in lines)


def _url(path: str) -> str:
    from urllib.parse import quote

    return "file://" + quote(path, errors="surrogateescape")


def _numbered(symbol: SymbolResult, terminal: Terminal) -> list[str]:
    source = _source(symbol.text or "", tty=True)
    digits = len(str(symbol.lines[0] + len(source)))
    return [
        f"    {terminal.paint(str(number).rjust(digits), DIM)} {line}"
        for number, line in enumerate(source, symbol.lines[0])
    ]


def _source(text: str, *, tty: bool) -> list[str]:
    return [safe(line.expandtabs(4), tty=tty) for line in text.split("\n")] if text else []


def _ranges(symbols: Sequence[SymbolResult]) -> list[tuple[int, int]]:
    return [symbol.lines for symbol in symbols]


def _title(symbol: SymbolResult) -> str:
    return symbol.breadcrumb or symbol.name or symbol.kind


def _highlighter(query: str) -> re.Pattern[str] | None:
    """Finds the query's words, plurals cut, at the start of words in any case; None when it has none."""
    told = {word.lower() for word in re.findall(r"[^\W_]+", query)} - STOP_WORDS
    words = {word.removesuffix("s") for word in told if len(word) >= SHORTEST_WORD}
    if not words:
        return None
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(r"(?<![^\W_])(?:" + "|".join(map(re.escape, longest_first)) + ")", re.IGNORECASE)


def _emphasise(text: str, words: re.Pattern[str] | None, terminal: Terminal) -> str:
    if words is None or not terminal.color:
        return text
    return words.sub(lambda found: terminal.paint(found[0], RED, BOLD), text)
