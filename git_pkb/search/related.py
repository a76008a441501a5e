"""Pieces like a given one: near it in meaning, or made of the same rare words.

In: a `Current` index, a file and a line. Out: `SearchResults`, grouped by file as a search's are. Invariant:
the piece itself is never among them; equal scores are ordered by path and line.

score = cosine of the two pieces' own vectors + 0.35 times the share of the piece's most telling words that
the other holds. Nothing is embedded: both vectors are in the index already.
"""

from collections.abc import Mapping, Sequence
from math import log
from struct import unpack_from
from typing import TYPE_CHECKING, Any

from git_pkb.rank import vectors
from git_pkb.rank.results import FileResult, SearchResults, SymbolResult
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.cache.reader import CacheReader, FileFacts
    from git_pkb.model import Artifact, Record
    from git_pkb.search.refresh import Current

HYBRID, KEYWORD, SEMANTIC = "hybrid", "keyword", "semantic"
_NEAREST, _WORDS, _WORDS_LOOKED_UP = 200, 20, 200
_SHARED_WORDS = 0.35
_LEAST = 0.05  # below, two pieces have nothing to do with each other


@value
class Options:
    """How much to return: files, and pieces under each; `text`: with their source."""

    k: int = 5
    symbols_per_file: int = 3
    text: bool = False


def related(current: "Current", path: str, line: int, options: Options) -> SearchResults:
    """Files that hold pieces like the one at a line of an indexed file, best first."""
    reader = current.reader
    file = reader.file_named(path)
    artifact = _artifact(reader, file) if file is not None else None
    if file is None or artifact is None or not artifact.records:
        return _results(current, f"{path}:{line}", KEYWORD, (), ())
    number = _piece_at(artifact.records, line)
    piece = file.first + number
    query = f"{path}:{artifact.records[number].piece.line}"
    matrices = reader.matrices()
    own = vector_of(matrices, piece)
    weights = telling_words(current, file, artifact.records[number])
    words = shared_words(reader, weights)
    near = vectors.nearest(matrices, own, _NEAREST + 1, reader.live) if own is not None else []
    best = sorted(words, key=lambda other: (-words[other], other))[:_NEAREST]
    wanted = {other for other in (*near, *best) if other != piece and _is_live(reader, other)}
    cosines = vectors.cosines(matrices, own, wanted) if own is not None else {}
    scores = {other: cosines.get(other, 0.0) + _SHARED_WORDS * words.get(other, 0.0) for other in wanted}
    mode = KEYWORD if own is None else HYBRID if weights else SEMANTIC
    warnings = ("this piece has no vector yet; compared by words alone",) if own is None and matrices else ()
    return _results(current, query, mode, warnings, _grouped(current, scores, options))


def _results(
    current: "Current", query: str, mode: str, warnings: tuple[str, ...], files: tuple[FileResult, ...]
) -> SearchResults:
    return SearchResults(
        query, mode, (*current.warnings, *warnings), current.indexed_commit, current.stale_files, files
    )


def _artifact(reader: "CacheReader", file: "FileFacts") -> "Artifact | None":
    from git_pkb.mirror.format import BadArtifact, decode_meta

    try:
        return decode_meta(reader.meta(file.id))
    except BadArtifact:
        return None


def _piece_at(records: "Sequence[Record]", line: int) -> int:
    """The piece that holds a line, else the next one below, else the last."""
    for number, record in enumerate(records):
        if line <= record.piece.line + record.piece.newlines:
            return number
    return len(records) - 1


def _is_live(reader: "CacheReader", piece: int) -> bool:
    return reader.live is None or bool(reader.live[piece])


def vector_of(matrices: Sequence[Any], piece: int) -> list[float] | None:
    """The unit vector of a piece; None where it has none."""
    for matrix in matrices:
        i = piece - matrix.first_piece
        if not 0 <= i < matrix.pieces:
            continue
        scale = unpack_from("<f", matrix.scales, 4 * i)[0]
        if not scale:
            return None
        if matrix.dtype == "int8":
            row = matrix.rows[i * matrix.dims : (i + 1) * matrix.dims].cast("b")
            return vectors.unit(row)
        bits = "".join(f"{byte:08b}" for byte in vectors.sign_row(matrix, i))
        return vectors.unit([1.0 if bit == "1" else -1.0 for bit in bits[: matrix.dims]])
    return None


def telling_words(current: "Current", file: "FileFacts", record: "Record") -> dict[str, float]:
    """The terms of a piece that tell most, with weights that sum to one; empty where its text is not here."""
    from git_pkb.chunk import embedded_text
    from git_pkb.rank.lexical import BODY
    from git_pkb.tokens import STOP_WORDS, Tokenizer

    content = current.contents([file]).get(file.path)
    if content is None:
        return {}
    counts = Tokenizer().count(embedded_text(content, record.piece))
    terms = [term for term in counts if len(term) > 1 and term not in STOP_WORDS]
    terms.sort(key=lambda term: (-counts[term], term))
    pieces = current.reader.live_pieces
    scored = []
    for term in terms[:_WORDS_LOOKED_UP]:
        df = len(current.reader.posting(BODY, term)[0])
        if (
            1 < df <= max(2, pieces // 4)
        ):  # a word that only this piece holds finds nothing, a common one everything
            scored.append((min(counts[term], 3) ** 0.5 * log(1 + pieces / df), term))
    scored.sort(key=lambda item: (-item[0], item[1]))
    kept = scored[:_WORDS]
    total = sum(weight for weight, _ in kept)
    return {term: weight / total for weight, term in kept}


def shared_words(reader: "CacheReader", weights: Mapping[str, float]) -> dict[int, float]:
    """For each piece the share, 0 to 1, of the weighted words that it holds."""
    from git_pkb.rank.lexical import BODY

    found: dict[int, float] = {}
    for term, weight in weights.items():
        for piece in reader.posting(BODY, term)[0]:
            found[piece] = found.get(piece, 0.0) + weight
    return found


def _grouped(current: "Current", scores: Mapping[int, float], options: Options) -> tuple[FileResult, ...]:
    """Files by their best piece, and those pieces."""
    reader = current.reader
    by_file: dict[int, list[tuple[float, int]]] = {}
    for piece, score in scores.items():
        if score >= _LEAST:
            by_file.setdefault(reader.piece_file[piece], []).append((round(score, 6), piece))
    facts = {file.id: file for file in reader.files(by_file)}
    for pieces in by_file.values():
        pieces.sort(key=lambda item: (-item[0], item[1]))
    ids = [i for i in by_file if i in facts]
    ids.sort(key=lambda i: (-by_file[i][0][0], facts[i].path))
    shown = [facts[i] for i in ids[: options.k]]
    texts = current.contents(shown) if options.text else {}
    return tuple(_file(current, file, by_file[file.id], texts.get(file.path), options) for file in shown)


def _file(
    current: "Current",
    file: "FileFacts",
    pieces: Sequence[tuple[float, int]],
    content: bytes | None,
    options: Options,
) -> FileResult:
    artifact = _artifact(current.reader, file)
    symbols = []
    for score, piece in pieces[: options.symbols_per_file]:
        if artifact is not None and 0 <= piece - file.first < len(artifact.records):
            symbols.append(_symbol(artifact.records[piece - file.first], score, content))
    return FileResult(
        file.path,
        pieces[0][0],
        file.language,
        file.stale or file.path in current.outdated,
        artifact.summary if artifact else "",
        tuple(symbols),
    )


def _symbol(record: "Record", score: float, content: bytes | None) -> SymbolResult:
    piece = record.piece
    return SymbolResult(
        name=piece.breadcrumb.rsplit(" > ", 1)[-1],
        kind=piece.kind,
        breadcrumb=piece.breadcrumb,
        lines=(piece.line, piece.line + piece.newlines),
        score=score,
        excerpt=record.excerpt,
        summary=record.summary,
        text=content[piece.start : piece.end].decode("utf-8", "replace") if content is not None else None,
    )
