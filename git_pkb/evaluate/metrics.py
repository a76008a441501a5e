"""How good one answer is: NDCG@10, recall, reciprocal rank, of files and of the pieces listed under them.

In: results of a search and what a case expects. Out: numbers from 0 to 1. Invariant: pure; NDCG@10 is that
of the retrieval benchmark's script: each target gains 1 at the rank of the first result that hits it, one
gain a rank, and the ideal has all targets first.
"""

import math
import re
from collections.abc import Iterable, Sequence

from git_pkb.evaluate.model import Case, SymbolTarget, Target
from git_pkb.rank.results import FileResult, SymbolResult

DEPTH = 10  # of NDCG@10
_QUALIFIER = re.compile(r"::|->|[.#/\\]")
_TOKEN = re.compile(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_")


def values(results: Sequence[FileResult], case: Case) -> dict[str, float]:
    """Every metric that applies to the case; recall and ranks look at its first `top_k` files.

    Symbols are ranked twice: as they are read from the first file down, and all of them by their score.
    """
    found: dict[str, float] = {}
    if case.files:
        ranks = file_ranks(results, case.files)
        found["ndcg10"] = ndcg(ranks)
        found["recall"] = recall(ranks, case.top_k)
        found["mrr"] = reciprocal(ranks, case.top_k)
    if case.symbols:
        shown = [(result.path, symbol) for result in results[: case.top_k] for symbol in result.symbols]
        ranks = symbol_ranks(shown, case)
        found["symbol_recall"] = recall(ranks)
        found["symbol_mrr"] = reciprocal(ranks)
        shown.sort(key=lambda item: (-item[1].score, item[0], item[1].lines))
        found["symbol_mrr_by_score"] = reciprocal(symbol_ranks(shown, case))
    return found


def same_path(found: str, wanted: str) -> bool:
    """Whether two paths mean one file: equal, or one ends with the other."""
    return found == wanted or found.endswith("/" + wanted) or wanted.endswith("/" + found)


def file_ranks(results: Sequence[FileResult], targets: Iterable[Target]) -> list[int | None]:
    """For each target the rank (from 1) of the first result that hits it."""
    return [next((i for i, result in enumerate(results, 1) if _hits(result, each)), None) for each in targets]


def _hits(result: FileResult, target: Target) -> bool:
    if not same_path(result.path, target.path):
        return False
    return target.start is None or any(overlap(symbol, target.start, target.end) for symbol in result.symbols)


def overlap(symbol: SymbolResult, start: int, end: int | None) -> bool:
    """Whether a listed piece shares a line with `start` to `end`."""
    first, last = symbol.lines
    return not (last < start or first > (start if end is None else end))


def symbol_ranks(shown: Sequence[tuple[str, SymbolResult]], case: Case) -> list[int | None]:
    """For each expected piece its rank among those shown (with their paths), in the order given.

    A piece that is expected by name alone counts in the expected files only, where the case names any.
    """
    ranks: list[int | None] = []
    for wanted in case.symbols:
        places = [wanted.path] if wanted.path else [target.path for target in case.files]
        ranks.append(
            next(
                (
                    rank
                    for rank, (path, symbol) in enumerate(shown, 1)
                    if _is_symbol(symbol, wanted)
                    and (not places or any(same_path(path, place) for place in places))
                ),
                None,
            )
        )
    return ranks


def _is_symbol(symbol: SymbolResult, wanted: SymbolTarget) -> bool:
    if wanted.start is not None and not overlap(symbol, wanted.start, wanted.end):
        return False
    if wanted.name is None or symbol.name == wanted.name:
        return True
    *scope, name = (part for part in _QUALIFIER.split(wanted.name) if part)
    words = symbol.name.split()
    if not words or words[-1] != name:
        return False
    around = _QUALIFIER.sub(" ", symbol.breadcrumb.replace(">", " ")).split()
    return all(part in around for part in scope)


def ndcg(ranks: Sequence[int | None], depth: int = DEPTH) -> float:
    """Normalised discounted cumulative gain of the targets' ranks."""
    if not ranks:
        return 0.0
    gained = sum(1 / math.log2(rank + 1) for rank in sorted({r for r in ranks if r and r <= depth}))
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(ranks)) + 1))


def recall(ranks: Sequence[int | None], depth: int | None = None) -> float:
    """Share of the targets that were found, in the first `depth` results if given."""
    return sum(1 for r in ranks if r and (depth is None or r <= depth)) / len(ranks) if ranks else 0.0


def reciprocal(ranks: Sequence[int | None], depth: int | None = None) -> float:
    """1 / rank of the first target found, 0 if none was."""
    found = [r for r in ranks if r and (depth is None or r <= depth)]
    return 1 / min(found) if found else 0.0


def tokens(text: str) -> int:
    """About how many tokens a language model reads: word parts of six letters, three digits, marks."""
    return sum(1 for _ in _TOKEN.finditer(text))
