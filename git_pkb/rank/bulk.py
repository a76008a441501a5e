"""The sums over all pieces and all files, by numpy: for repositories where loading it pays.

In: terms matched against an index of more than `lexical.MANY_PIECES` pieces. Out: what `lexical.score_pieces`
and `files.provisional` give. Invariant: equal to theirs to 1e-9, files in the same order (a test compares
both).
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from git_pkb.rank.lexical import (
    BODY,
    COMMENT,
    FOLDER,
    K1,
    LENGTH_SHARE,
    NAME,
    STEM,
    WEIGHTS,
    Posting,
    TermMatch,
    WordIndex,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def score_many(terms: Sequence[TermMatch], total: float, index: WordIndex) -> "array[float]":
    """BM25F of every live piece, as doubles."""
    scores = np.zeros(index.pieces)
    averages = index.average_lengths()
    lengths = [np.frombuffer(column, np.uint16) for column in index.lengths]
    piece_file = np.frombuffer(index.piece_file, np.uint32)
    files = len(index.file_first) - 1

    def add(tf: "NDArray[Any]", field: int, ids: "NDArray[Any]", counts: "NDArray[Any]") -> None:
        share = LENGTH_SHARE[field]
        tf[ids] += WEIGHTS[field] * counts / (1.0 - share + share * lengths[field][ids] / averages[field])

    for match in terms:
        weight = match.weight / total
        if not weight:
            continue
        tf = np.zeros(index.pieces)
        for field, posting in ((BODY, match.body), (COMMENT, match.comment), (NAME, match.name)):
            add(tf, field, *_arrays(posting))
        if match.expanded_name:
            add(tf, NAME, *_columns(match.expanded_name))
        if match.stem or match.folder:
            of_file = np.zeros(files)
            for path_weight, found in ((WEIGHTS[STEM], match.stem), (WEIGHTS[FOLDER], match.folder)):
                if found:
                    ids, counts = _columns(found)
                    of_file[ids] += path_weight * counts
            tf += of_file[piece_file]
        scores += weight * tf / (K1 + tf)
    if index.live is not None:
        scores[np.frombuffer(index.live, np.uint8) == 0] = 0.0
    return array("d", scores.tobytes())


def best_of_files(scores: Sequence[float], first: Sequence[int]) -> "NDArray[Any]":
    """The best piece score of each file; 0 for a file without pieces. `first`: as `WordIndex.file_first`."""
    starts = np.array(first, np.int64)
    best = np.zeros(len(starts) - 1)
    filled = starts[:-1] < starts[1:]
    if filled.any():
        best[filled] = np.maximum.reduceat(np.asarray(scores), starts[:-1][filled])
    return best


def first_files(
    best: "NDArray[Any]", weight: float, hits: Iterable[tuple[float, dict[int, float]]], most: int
) -> list[int]:
    """`files.provisional` over all files: `weight` a best piece, and each of `hits` its weight a file."""
    values = weight * best
    for hit_weight, found in hits:
        if found:
            ids, counts = _columns(found)
            values[ids] += hit_weight * np.minimum(1.0, counts)
    values[best <= 0] = 0.0
    (ids,) = np.nonzero(values)
    if len(ids) > most:
        limit = np.partition(values[ids], len(ids) - most)[len(ids) - most]
        ids = ids[values[ids] >= limit]
    order = np.lexsort((ids, -values[ids]))[:most]
    return [int(i) for i in ids[order]]


def _arrays(posting: Posting) -> "tuple[NDArray[Any], NDArray[Any]]":
    ids, counts = posting
    return np.frombuffer(ids, np.uint32), np.frombuffer(counts, np.uint8).astype(np.float64)


def _columns(found: dict[int, float]) -> "tuple[NDArray[Any], NDArray[Any]]":
    size = len(found)
    return np.fromiter(found.keys(), np.int64, size), np.fromiter(found.values(), np.float64, size)
