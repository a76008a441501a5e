"""From files and definitions that were found to what a person or an agent is shown: symbols, lines, excerpts.

In: a `Ranking`. Out: `FileResult`s. Invariant: lines are those of the content that was indexed, or of the
work tree where an outdated file still has the text; when the text of a blob cannot be read, the excerpts of
the artifact stand in, and nothing fails.
"""

from typing import TYPE_CHECKING

from git_pkb.rank.results import FileResult, SymbolResult
from git_pkb.rank.symbols import OF_FILE, most_telling
from git_pkb.search.definitions import signature
from git_pkb.tokens import Tokenizer

if TYPE_CHECKING:
    from git_pkb.rank.symbols import Extent
    from git_pkb.search.definitions import Found, Looked
    from git_pkb.search.refresh import Current
    from git_pkb.search.searcher import Ranking, SearchOptions

_EXCERPT = 160


def present(
    current: "Current", ranking: "Ranking", options: "SearchOptions", tokenizer: Tokenizer
) -> tuple[FileResult, ...]:
    """Describe the ranked files."""
    results = []
    for file in ranking.files:
        path = file.facts.path
        symbols = _symbols(file, ranking, options, tokenizer)
        if file.content is not None and path in current.outdated:
            symbols = _as_it_stands(current, path, file.content, symbols)
        results.append(
            FileResult(
                path=path,
                score=round(file.scored.score, 6),
                language=file.facts.language,
                stale=file.facts.stale or path in current.outdated,
                summary=file.artifact.summary if file.artifact else "",
                symbols=symbols,
            )
        )
    return tuple(results)


def _symbols(
    file: "Looked", ranking: "Ranking", options: "SearchOptions", tokenizer: Tokenizer
) -> tuple[SymbolResult, ...]:
    """The best definitions of a file; their scores compare with those of other files."""
    kept: list[SymbolResult] = []
    seen: set[object] = set()
    for found in file.found:
        if len(kept) >= options.symbols_per_file:
            break
        score = round(found.score + OF_FILE * file.scored.score, 6)
        if found.extent is None:
            symbol = _piece(found, score, ranking, options, tokenizer)
        else:
            symbol = _definition(found, found.extent, score, options)
        # the same lines, or a name's overloads after the first, say the same again
        keys = {symbol.lines, (symbol.breadcrumb, symbol.kind) if symbol.name else symbol.lines}
        if not keys & seen:
            kept.append(symbol)
        seen |= keys
    return tuple(kept)


def _piece(
    found: "Found", score: float, ranking: "Ranking", options: "SearchOptions", tokenizer: Tokenizer
) -> SymbolResult:
    piece = found.record.piece
    telling = most_telling(found.lines, ranking.weights, tokenizer)
    return SymbolResult(
        name=found.place.name,
        kind=piece.kind,
        breadcrumb=piece.breadcrumb,
        lines=(piece.line, piece.line + piece.newlines),
        score=score,
        excerpt=(_clip(found.lines[telling].strip()) if telling is not None else "") or found.record.excerpt,
        summary=found.record.summary,
        text="\n".join(found.lines) if found.lines and options.text else None,
    )


def _definition(found: "Found", extent: "Extent", score: float, options: "SearchOptions") -> SymbolResult:
    definition = extent.definition
    start = found.record.piece.line + definition.line
    opening = signature(found.lines[definition.line : extent.end], definition.name)
    return SymbolResult(
        name=definition.name,
        kind=definition.kind,
        breadcrumb=" > ".join([*filter(None, definition.scope.split(".")), definition.name]),
        lines=(start, start + max(1, definition.lines) - 1),
        score=score,
        excerpt=_clip(opening[0] if opening else "") or found.record.excerpt,
        summary=found.record.summary,
        text="\n".join(found.lines[extent.first : extent.end]) if found.lines and options.text else None,
    )


def _as_it_stands(
    current: "Current", path: str, content: bytes, symbols: tuple[SymbolResult, ...]
) -> tuple[SymbolResult, ...]:
    """The symbols at their lines in the work tree, where they can be found in it."""
    from dataclasses import replace

    from git_pkb.search.relocate import relocate
    from git_pkb.search.snapshot import read_file

    now = read_file(current.repo.workdir, path) if current.repo.workdir else None
    if now is None:
        return symbols
    old, new = (text.decode("utf-8", "replace").split("\n") for text in (content, now))
    return tuple(
        replace(symbol, lines=relocate(old, new, symbol.lines) or symbol.lines) for symbol in symbols
    )


def _clip(text: str) -> str:
    text = text.replace("\r", "")
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
