"""Files of the repository and passages from elsewhere in one order. Pure.

In: results best first, lists of passages best first. Out: results best first, at most k. Invariant: within
each list the order is kept; passages of one document stand together as one result.

Scores of different services have no common scale, so places are fused and not scores: a result is worth the
sum of 1 / (60 + place) over the lists it stands in (Cormack, Clarke and Buettcher, SIGIR 2009).
"""

from collections.abc import Sequence

from git_pkb.rank.results import KNOWLEDGE_BASE, FileResult, SymbolResult
from git_pkb.slotted import value

K = 60
_EXCERPT = 160  # characters
_DIGITS = 6


@value
class Passage:
    """A passage of a document: where that is, who has it, the text, the service's own score."""

    uri: str
    label: str
    text: str
    score: float


def fuse(
    files: Sequence[FileResult], lists: Sequence[Sequence[Passage]], k: int, symbols: int, *, text: bool
) -> tuple[FileResult, ...]:
    """The `k` best; of equal worth, files come first, then the order of paths decides.

    `symbols`: passages shown of each document.
    """
    worth: dict[tuple[bool, str], float] = {}
    documents: dict[str, list[Passage]] = {}
    for place, file in enumerate(files, 1):
        worth[False, file.path] = 1.0 / (K + place)
    for passages in lists:
        uris = list(dict.fromkeys(passage.uri for passage in passages))
        for place, uri in enumerate(uris, 1):
            worth[True, uri] = worth.get((True, uri), 0.0) + 1.0 / (K + place)
        for passage in passages:
            documents.setdefault(passage.uri, []).append(passage)
    by_path = {file.path: file for file in files}
    order = sorted(worth, key=lambda each: (-round(worth[each], _DIGITS), each))[:k]
    return tuple(
        _document(path, documents[path], worth[outside, path], symbols, text=text)
        if outside
        else _scored(by_path[path], worth[outside, path])
        for outside, path in order
    )


def _scored(file: FileResult, score: float) -> FileResult:
    """The same file; its score must tell its place among results that have no other."""
    return FileResult(file.path, round(score, _DIGITS), file.language, file.stale, file.summary, file.symbols)


def _document(uri: str, passages: Sequence[Passage], score: float, symbols: int, *, text: bool) -> FileResult:
    """A document with its passages; a passage has no lines, so all of them stand at line 1."""
    shown = tuple(
        SymbolResult(
            name="",
            kind="text",
            breadcrumb=passage.label,
            lines=(1, 1),
            score=round(passage.score, _DIGITS),
            excerpt=_excerpt(passage.text),
            text=passage.text if text else None,
        )
        for passage in passages[:symbols]
    )
    labels = ", ".join(dict.fromkeys(passage.label for passage in passages))
    return FileResult(uri, round(score, _DIGITS), KNOWLEDGE_BASE, stale=False, summary=labels, symbols=shown)


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
