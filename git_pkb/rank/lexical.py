"""Pieces by words: BM25F over body, comments, names, file stem and folders, with prefix expansion.

In: a `Question` and an index that answers `postings`. Out: a score a piece, and what the file score needs of
each term. Invariant: the result depends on the live pieces alone, never on how they are spread over segments,
and (to 1e-9) not on whether Python or numpy (bulk.py) added it up.

Formulas (ranking.md), n-th distinct term t: s = (1/T) sum_t w_t tf / (k1 + tf), T = sum_t w_t,
tf = sum_f W_f n_f / (1 - b_f + b_f len_f / avglen_f), w_t = min(qtf, 2) idf^0.8 / (1 + 0.15 n), half when
unknown, idf = ln(1 + (C - df + .5) / (df + .5)) over C pieces.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, MutableSequence, Sequence
from math import log
from typing import Protocol

from git_pkb.rank.query import Question
from git_pkb.slotted import made_by, mutable

# Field numbers of the word index; cache/segment.py writes them, and a test holds both equal.
BODY, COMMENT, NAME, STEM, FOLDER = range(5)
FIELDS = (BODY, COMMENT, NAME, STEM, FOLDER)
K1 = 1.5
WEIGHTS = (1.0, 1.5, 3.0, 3.0, 1.0)
LENGTH_SHARE = (0.75, 0.5, 0.5)
#: From so many pieces on, numpy is quicker although it takes 70 ms to import.
MANY_PIECES = 200_000
_IDF_POWER, _POSITION_DECAY = 0.8, 0.15
_EXPANSION_SHARE, _MOST_EXPANSIONS, _SHORTEST_PREFIX = 0.8, 40, 4

#: Ascending ids (pieces, or files for STEM and FOLDER), and how often the term occurs in each.
Posting = tuple["array[int]", bytes]


class WordIndex(Protocol):
    """What the ranking asks of an index (cache/reader.py is one).

    `lengths`: terms of body, comments and names of each piece; `piece_file`: the file of each piece;
    `file_first`: the first piece of each file, then the count of all pieces; `live`: a byte a piece, None
    when all are alive.
    """

    lengths: "tuple[array[int], array[int], array[int]]"
    piece_file: "array[int]"
    file_first: "array[int]"
    live: bytearray | None
    live_pieces: int
    live_files: int

    @property
    def pieces(self) -> int:
        """One more than the greatest id of a piece."""

    def average_lengths(self) -> tuple[float, float, float]:
        """Mean lengths of body, comments and names over the live pieces."""

    def postings(self, fields: Sequence[int], terms: Sequence[str]) -> Mapping[tuple[int, str], Posting]:
        """The postings of terms in fields, dead pieces and files included; absent ones are left out."""

    def document_counts(self, field: int, terms: Sequence[str]) -> Mapping[str, int]:
        """In how many live pieces or files each term occurs."""

    def terms_with_prefix(self, field: int, prefix: str, most: int) -> list[str]:
        """The first terms of a field that start with `prefix`."""

    def definitions(self, folded: str) -> list[tuple[str, str, int, int]]:
        """(name, kind, lines, piece) of each definition of that folded name."""


@mutable
class TermMatch:
    """One term of the question in the index: its weight and where it stands.

    `stem`, `folder`: file -> count, expansions included at their share; `expanded_name`: piece -> what
    expansions add to the count in names.
    """

    term: str
    weight: float
    idf: float
    body: Posting
    comment: Posting
    name: Posting
    stem: dict[int, float]
    folder: dict[int, float]
    expanded_name: dict[int, float] = made_by(dict)

    def known(self, index: "WordIndex") -> bool:
        """Whether anything alive matches."""
        pieces: tuple[Collection[int], ...] = (self.body[0], self.name[0], self.expanded_name)
        files = (self.stem, self.folder)
        live, first = index.live, index.file_first
        if live is None:
            return any(map(len, pieces)) or any(files)
        return any(live[piece] for ids in pieces for piece in ids) or any(
            first[file] < first[file + 1] and live[first[file]] for ids in files for file in ids
        )


@mutable
class Matches:
    """A question against an index: the terms, their total weight T, a score a piece (0: nothing matches)."""

    terms: list[TermMatch]
    total: float
    scores: MutableSequence[float]


_NOWHERE: Posting = (array("I"), b"")


def match_terms(question: Question, index: WordIndex) -> list[TermMatch]:
    """Look every term up, with its expansions and its weight."""
    found = []
    postings = index.postings(FIELDS, question.terms)
    shares = {term: _expansions(term, index) for term in question.terms}
    others = list(dict.fromkeys(other for each in shares.values() for other in each))
    expanded = index.postings((NAME, STEM, FOLDER), others)
    for position, (term, count) in enumerate(zip(question.terms, question.counts, strict=True)):
        body, comment, name, stem, folder = (postings.get((field, term), _NOWHERE) for field in FIELDS)
        df = len(body[0]) if index.live is None else sum(map(index.live.__getitem__, body[0]))
        idf = log(1.0 + (index.live_pieces - df + 0.5) / (df + 0.5))
        weight = min(count, 2) * idf**_IDF_POWER / (1.0 + _POSITION_DECAY * position)
        match = TermMatch(
            term, weight, idf, body, comment, name, dict(zip(*stem, strict=True)), dict(zip(*folder,
            strict=True))
        )  # fmt: skip
        targets = ((NAME, match.expanded_name), (STEM, match.stem), (FOLDER, match.folder))
        for other, share in shares[term].items():
            for field, target in targets:
                posting = expanded.get((field, other))
                if posting is not None:
                    for identity, n in zip(*posting, strict=True):
                        target[identity] = target.get(identity, 0.0) + share * n
        if not match.known(index):
            match.weight *= 0.5
        found.append(match)
    return found


def _expansions(term: str, index: WordIndex) -> dict[str, float]:
    """Terms that extend this one or that it extends (`auth`, `authentication`), each with its share."""
    longer: dict[str, float] = {}
    if len(term) >= _SHORTEST_PREFIX:
        for field in (NAME, STEM):
            for other in index.terms_with_prefix(field, term, _MOST_EXPANSIONS + 1):
                if other != term and len(other) <= 2 * len(term):
                    longer[other] = _EXPANSION_SHARE * (len(term) / len(other))
    shares = {other: longer[other] for other in sorted(longer)[:_MOST_EXPANSIONS]}
    for length in range(max(3, (len(term) + 1) // 2), len(term)):
        shares[term[:length]] = _EXPANSION_SHARE * (length / len(term))
    return shares


def score_pieces(terms: list[TermMatch], index: WordIndex) -> Matches:
    """BM25F of every live piece; dead ones get 0."""
    total = sum(match.weight for match in terms) or 1.0
    if index.pieces > MANY_PIECES:
        from git_pkb.rank.bulk import score_many

        return Matches(terms, total, score_many(terms, total, index))
    scores = [0.0] * index.pieces
    # n / (n + bodies[piece]) is tf / (K1 + tf) for a term that stands in the body alone
    bodies = norms(index, BODY, K1 / WEIGHTS[BODY])
    for match in terms:
        weight = match.weight / total
        if not weight:
            continue
        extra = _beside_body(match, index)
        if extra:
            for piece, n in zip(*match.body, strict=True):
                if piece in extra:
                    tf = extra.pop(piece) + K1 * n / bodies[piece]
                    scores[piece] += weight * tf / (K1 + tf)
                else:
                    scores[piece] += weight * n / (n + bodies[piece])
            for piece, tf in extra.items():
                scores[piece] += weight * tf / (K1 + tf)
        else:
            for piece, n in zip(*match.body, strict=True):
                scores[piece] += weight * n / (n + bodies[piece])
    if index.live is not None:
        scores = [score if alive else 0.0 for score, alive in zip(scores, index.live, strict=True)]
    return Matches(terms, total, scores)


def norms(index: WordIndex, field: int, factor: float = 1.0) -> list[float]:
    """`factor * (1 - b + b len / avglen)` of one field, for every piece."""
    share, average, lengths = LENGTH_SHARE[field], index.average_lengths()[field], index.lengths[field]
    by_length = [factor * (1.0 - share + share * n / average) for n in range(max(lengths, default=0) + 1)]
    return list(map(by_length.__getitem__, lengths))


def _beside_body(match: TermMatch, index: WordIndex) -> dict[int, float]:
    """What comments, names and paths add to tf of a term: piece -> tf."""
    averages, (_, comments, names) = index.average_lengths(), index.lengths
    comment_0, name_0 = 1.0 - LENGTH_SHARE[COMMENT], 1.0 - LENGTH_SHARE[NAME]
    comment_1 = LENGTH_SHARE[COMMENT] / averages[COMMENT]
    name_1 = LENGTH_SHARE[NAME] / averages[NAME]
    extra: dict[int, float] = {}
    for piece, n in zip(*match.comment, strict=True):
        extra[piece] = WEIGHTS[COMMENT] * n / (comment_0 + comment_1 * comments[piece])
    named: dict[int, float] = dict(zip(*match.name, strict=True))
    for piece, share in match.expanded_name.items():
        named[piece] = named.get(piece, 0.0) + share
    for piece, count in named.items():
        extra[piece] = extra.get(piece, 0.0) + WEIGHTS[NAME] * count / (name_0 + name_1 * names[piece])
    first = index.file_first
    for path_weight, files in ((WEIGHTS[STEM], match.stem), (WEIGHTS[FOLDER], match.folder)):
        for file, count in files.items():
            for piece in range(first[file], first[file + 1]):
                extra[piece] = extra.get(piece, 0.0) + path_weight * count
    return extra


def score_files(
    terms: list[TermMatch], total: float, index: WordIndex, spans: Mapping[int, tuple[int, int]]
) -> dict[int, float]:
    """BM25F of whole files divided by T, counts summed over their pieces; `spans`: file -> (first, count)."""
    averages = [value * index.live_pieces / max(1, index.live_files) for value in index.average_lengths()]
    expanded = [array("I", sorted(match.expanded_name)) for match in terms]
    result = dict.fromkeys(spans, 0.0)
    for file, (first, count) in spans.items():
        end = first + count
        file_norms = [
            1.0 - b + b * sum(column[first:end]) / average
            for b, column, average in zip(LENGTH_SHARE, index.lengths, averages, strict=True)
        ]
        value = 0.0
        for match, also in zip(terms, expanded, strict=True):
            tf = WEIGHTS[STEM] * match.stem.get(file, 0.0) + WEIGHTS[FOLDER] * match.folder.get(file, 0.0)
            for (ids, counts), field_weight, norm in zip(
                (match.body, match.comment, match.name), WEIGHTS[:3], file_norms, strict=True
            ):
                low, high = _between(ids, first, end)
                if low < high:
                    tf += field_weight * sum(counts[low:high]) / norm
            low, high = _between(also, first, end)
            if low < high:
                tf += (
                    WEIGHTS[NAME]
                    * sum(match.expanded_name[piece] for piece in also[low:high])
                    / file_norms[NAME]
                )
            if tf:
                value += match.weight * tf / (K1 + tf)
        result[file] = value / total
    return result


def _between(ids: Sequence[int], first: int, end: int) -> tuple[int, int]:
    """Where in ascending ids those of `first` .. `end` stand."""
    low = bisect_left(ids, first)
    if low == len(ids) or ids[low] >= end:
        return low, low
    return low, bisect_left(ids, end, low)
