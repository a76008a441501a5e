"""One score a file: what words say, what meaning says, what the path says.

In: a question matched against an index, cosines, facts of candidate files. Out: files, best first, each with
the scores of its pieces. Invariant: equal scores (to six digits) are ordered by path.

The score is the sum of WEIGHTS times features. The lexical ones are ranking.md's, the dense ones
embedding.md's; scripts/yardsticks.py says what each is worth, and the README's design notes have the table.
"""

from collections.abc import Container, Mapping, Sequence
from heapq import heapify, heappop, heappush, heappushpop
from itertools import pairwise
from math import log, log2
from operator import mul
from typing import Protocol

from git_pkb.rank.lexical import MANY_PIECES, NAME, STEM, Matches, WordIndex
from git_pkb.rank.paths import effective_stem
from git_pkb.rank.query import Question
from git_pkb.slotted import value
from git_pkb.tokens import Tokenizer

#: What a file is scored by, in the order of `Scored.features`, and the weight of each; what is cheap to know
#: comes first, then what `Details` knows by words, then by meaning; the last is what symbols.py says of the
#: best definition, known only of the files that are looked into.
WEIGHTS = {
    "best piece": 4.4,
    "top pieces": 1.0,
    "stem hit": 1.8,
    "folder hit": 3.4,
    "size": 0.2,
    "penalty": -4.0,
    "whole file": 3.8,
    "stem cover": 2.1,
    "content": 3.5,
    "path": 1.5,
    "definition": 0.2,
}
#: Meaning counts for less when the question is one name: who types a name wants that name.
DENSE_SHARE_OF_NAME = 0.4
_TOP, _TOP_DECAY = 8, 0.8
_TOP_SHARES = tuple(_TOP_DECAY**place for place in range(_TOP))
_DEFINITION, _JOINED, _CAPITALISED = 0.2, 0.1, 0.05
_KIND = {
    "impl": 0.5, "prototype": 0.6, "constant": 0.5, "variable": 0.5, "field": 0.5, "section": 0.5,
}  # fmt: skip  # everything else is a definition with a body: 1
_IGNORING_CASE = 0.6


@value
class Candidate:
    """What is known of a file before it is scored; `size` in bytes, the last two 0 to 1 (paths.py)."""

    id: int
    path: str
    size: int
    first: int
    pieces: int
    penalty: float
    path_share: float


class Details(Protocol):
    """What costs more to know of candidates than their scores by words; asked for a few files at a time."""

    def by_words(self, files: Sequence[Candidate]) -> Sequence[tuple[float, float]]:
        """For each file its `score_files` and its `stem_coverage`, both 0 to 1."""

    def by_meaning(self, files: Sequence[Candidate]) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """Cosines of the pieces that matter in these files, and of their paths; absent means 0."""


@value
class Scored:
    """A file with its score, its features in the order of WEIGHTS, and its pieces (id, score) best first.

    The last feature is missing before the file was looked into.
    """

    file: Candidate
    score: float
    features: tuple[float, ...]
    pieces: tuple[tuple[int, float], ...]


def add_definition_bonus(question: Question, matches: Matches, index: WordIndex) -> None:
    """Raise pieces that define what the question names, and those named by two words joined."""
    best: dict[int, float] = {}
    for name in question.identifiers:
        folded = fold(name)
        for found, kind, lines, piece in index.definitions(folded):
            exact = 1.0 if found == name else _IGNORING_CASE
            value = _DEFINITION * exact * _KIND.get(kind, 1.0) * (1.0 + log2(1 + min(lines, 256)) / 8.0)
            best[piece] = max(best.get(piece, 0.0), value)
    for name in question.capitalised:
        for found, _, _, piece in index.definitions(fold(name)):
            if found == name:
                best[piece] = max(best.get(piece, 0.0), _CAPITALISED)
    for piece, value in best.items():
        matches.scores[piece] += value


def add_joined_bonus(matches: Matches, joined: Sequence[str], index: WordIndex) -> None:
    """Raise pieces whose names or file stem hold two neighbouring words of the question as one."""
    if not joined:
        return
    raised: set[int] = set()
    for (field, _), (ids, _) in index.postings((NAME, STEM), joined).items():
        if field == NAME:
            raised.update(ids)
        else:
            for file in ids:
                raised.update(range(index.file_first[file], index.file_first[file + 1]))
    for piece in raised:
        if index.live is None or index.live[piece]:
            matches.scores[piece] += _JOINED


def joined_terms(question: Question, stem: Tokenizer) -> list[str]:
    """Neighbouring words of the question written as one, where that is not asked for already."""
    pairs = zip(question.words, question.words[1:], strict=False)
    found = (stem.stem(a + b) for a, b in pairs if a.isalpha() and b.isalpha())
    return [term for term in dict.fromkeys(found) if term not in question.terms]


def fold(name: str) -> str:
    """A name without regard to case and underscores."""
    return name.replace("_", "").lower()


def provisional(
    matches: Matches, index: WordIndex, most: int, allowed: Container[int] | None = None
) -> list[int]:
    """Ids of the `most` files that words and paths put first, by what of the score costs nothing to know."""
    by_stem = WEIGHTS["stem hit"] + WEIGHTS["stem cover"]
    hits = []
    for match in matches.terms:
        share = match.weight / matches.total
        hits += [(by_stem * share, match.stem), (WEIGHTS["folder hit"] * share, match.folder)]
    scores = matches.scores
    if index.pieces > MANY_PIECES and allowed is None:
        from git_pkb.rank import bulk

        best = bulk.best_of_files(scores, index.file_first)
        return bulk.first_files(best, WEIGHTS["best piece"], hits, most)
    values: dict[int, float] = {}
    for file, (first, end) in enumerate(pairwise(index.file_first)):
        best_piece = max(scores[first:end], default=0.0)
        if best_piece > 0.0 and (allowed is None or file in allowed):
            values[file] = WEIGHTS["best piece"] * best_piece
    for weight, found in hits:
        for file, n in found.items():
            if file in values:
                values[file] += weight * min(1.0, n)
    if len(values) > most:
        limit = sorted(values.values(), reverse=True)[most - 1]
        values = {file: each for file, each in values.items() if each >= limit}
    return sorted(values, key=lambda file: (-values[file], file))[:most]


def best(
    matches: Matches | None,
    candidates: Sequence[Candidate],
    most: int,
    details: Details,
    dense_share: float = 1.0,
) -> list[Scored]:
    """The `most` best candidates, best first: the same as if all of them were scored.

    A search spends most of its time on `details`, so they are asked for in the order of what a file can still
    reach, and no more once the others cannot reach the `most` best. Of 300 candidates a tenth needs cosines.
    `matches` is None when only meaning counts.
    """
    by_words, by_meaning = (
        _bound("whole file", "stem cover"),
        _bound("content", "path", share=dense_share),
    )
    # (what it can reach at most, negated; place, so that no two are equal; what is known; what is next)
    heap: list[tuple[float, int, tuple[float, ...], bool]] = []
    for place, file in enumerate(candidates):
        cheap = _cheap(matches, file)
        heap.append((-_total(cheap) - by_words - by_meaning, place, cheap, False))
    heapify(heap)
    found: list[Scored] = []
    leaders: list[float] = []  # a heap of the `most` best scores so far

    def hopeful() -> bool:
        return bool(heap) and (len(leaders) < most or -heap[0][0] >= leaders[0] - _ROUNDING)

    while hopeful():
        words_known = heap[0][3]
        part = [heappop(heap)]
        while len(part) < _AT_A_TIME and hopeful() and heap[0][3] == words_known:
            part.append(heappop(heap))
        files = [candidates[place] for _, place, _, _ in part]
        if not words_known:
            for (_, place, cheap, _), (whole, covered) in zip(part, details.by_words(files), strict=True):
                known = (*cheap, whole, covered * candidates[place].path_share)
                heappush(heap, (-_total(known) - by_meaning, place, known, True))
            continue
        content, paths = details.by_meaning(files)
        for file, (_, _, known, _) in zip(files, part, strict=True):
            near = [content.get(piece, 0.0) for piece in range(file.first, file.first + file.pieces)]
            of_path = file.path_share * paths.get(file.id, 0.0)
            of_meaning = (dense_share * max(near, default=0.0), dense_share * of_path)
            scored = _scored(matches, file, (*known, *of_meaning), near, dense_share)
            found.append(scored)
            if len(leaders) < most:
                heappush(leaders, scored.score)
            else:
                heappushpop(leaders, scored.score)
    found.sort(key=lambda scored: (-round(scored.score, 6), scored.file.path))
    return found[:most]


_AT_A_TIME = 12
_ROUNDING = 2e-6


def _bound(*names: str, share: float = 1.0) -> float:
    """The most these features can add: each is at most 1, a cosine of rounded rows at most a bit more."""
    return sum(max(0.0, WEIGHTS[name]) * 1.001 * share for name in names)


def _total(features: tuple[float, ...]) -> float:
    """The score of the features that are known, in the order of WEIGHTS."""
    total: float = sum(map(mul, WEIGHTS.values(), features))
    return total


def _cheap(matches: Matches | None, file: Candidate) -> tuple[float, ...]:
    """The first features of one file, which cost nothing to know."""
    size = log(file.size + 100)
    if matches is None:
        return 0.0, 0.0, 0.0, 0.0, size, file.penalty
    ranked = sorted(matches.scores[file.first : file.first + file.pieces], reverse=True)[:_TOP]
    top = sum(map(mul, ranked, _TOP_SHARES))
    stem = folder = 0.0  # sum w min(1, count) / T
    for match in matches.terms:
        if file.id in match.stem:
            stem += match.weight * min(1.0, match.stem[file.id])
        if file.id in match.folder:
            folder += match.weight * min(1.0, match.folder[file.id])
    best_piece = ranked[0] if ranked else 0.0
    share = file.path_share / matches.total
    return best_piece, top, share * stem, share * folder, size, file.penalty


def _scored(
    matches: Matches | None,
    file: Candidate,
    features: tuple[float, ...],
    near: Sequence[float],
    dense_share: float,
) -> Scored:
    of_words, of_meaning = WEIGHTS["best piece"], dense_share * WEIGHTS["content"]
    span = range(file.first, file.first + file.pieces)
    by_words = matches.scores[file.first : file.first + file.pieces] if matches else [0.0] * file.pieces
    pieces = [
        (piece, of_words * word + of_meaning * cosine)
        for piece, word, cosine in zip(span, by_words, near, strict=True)
    ]
    pieces.sort(key=lambda item: (-round(item[1], 6), item[0]))
    return Scored(file, _total(features), features, tuple(pieces))


def with_definition(scored: Scored, best: float) -> Scored:
    """The same file, the score of its best definition added."""
    features = (*scored.features, best)
    return Scored(scored.file, _total(features), features, scored.pieces)


def stem_parts(path: str, tokenizer: Tokenizer) -> tuple[str, ...]:
    """Terms of the file's effective stem, the compound last when there is more than one part."""
    return tokenizer.terms(effective_stem(path))


def stem_coverage(parts: Sequence[str], asked: Sequence[str], rarity: "StemRarity") -> float:
    """Share of a stem (`stem_parts`) that the terms of a question cover, its parts weighted by rarity."""
    if len(parts) > 1:
        *parts, compound = parts
        if compound in asked:
            return 1.0
    covered = total = 0.0
    for part in parts:
        weight = rarity(part)
        total += weight
        covered += weight * max((_resemblance(part, term) for term in asked), default=0.0)
    return min(1.0, covered / total) if total else 0.0


def _resemblance(part: str, term: str) -> float:
    """1 when equal; 0.8 times shorter/longer when one begins with the other and is at least half of it."""
    if part == term:
        return 1.0
    short, long = (part, term) if len(part) < len(term) else (term, part)
    if len(short) >= 3 and long.startswith(short) and len(short) * 2 >= len(long):
        return 0.8 * len(short) / len(long)
    return 0.0


class StemRarity:
    """`ln(1 + (F - d + .5) / (d + .5)) + .1` of a word among the stems of F files, d of which have it."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._known: dict[str, float] = {}

    def learn(self, terms: Sequence[str]) -> None:
        """Look many terms up at once."""
        new = [term for term in dict.fromkeys(terms) if term not in self._known]
        counts = self._index.document_counts(STEM, new) if new else {}
        files = self._index.live_files
        for term in new:
            df = counts.get(term, 0)
            self._known[term] = log(1.0 + (files - df + 0.5) / (df + 0.5)) + 0.1

    def __call__(self, term: str) -> float:
        """The rarity of one term."""
        if term not in self._known:
            self.learn([term])
        return self._known[term]
