#!/usr/bin/env python3
"""Fit the weights of definitions (rank/symbols.py) on the symbol yardstick.

    scripts/fit_symbols.py --train REPO… --test REPO…

In: repositories to make questions of, as scripts/yardsticks.py does. Out: the weights with the least softmax
loss over all definitions of the files that are looked into, and for them, for those in the code, and without
each signal the mean reciprocal rank of the right definition on both halves. Nothing is written. Unlike a
search it looks at the meaning of every definition, and at the score of a file before its best definition.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from yardsticks import derived

from git_pkb import config as settings
from git_pkb.evaluate.model import Case
from git_pkb.git import discover
from git_pkb.rank import symbols
from git_pkb.rank.files import WEIGHTS
from git_pkb.search.refresh import current, request_for
from git_pkb.search.searcher import SearchOptions, rank
from git_pkb.search.snapshot import start_status
from git_pkb.tokens import Tokenizer

FILES = 12
OF_DEFINITION = WEIGHTS["definition"]
STEPS, RATE, SHRINK = 400, 0.05, 1e-3
NAMES = (*symbols.WEIGHTS, *symbols.KIND, "file")
#: Of one question: features of its definitions [n, NAMES], and which of them are wanted [n].
Sample = tuple[Any, Any]


def samples(folder: Path, cases: Sequence[Case]) -> list[Sample]:
    """Ask the questions of one derived repository."""
    repo = discover(str(folder))
    index = current(repo, request_for(repo, settings.load(repo)), start_status(repo))
    words = Tokenizer()
    found = []
    with index.reader:
        for case in cases:
            ranking = rank(index, case.query, SearchOptions(k=FILES), words)
            rows, right = [], []
            for file in ranking.files:
                wanted = file.facts.path == case.symbols[0].path
                alone = file.scored.score - OF_DEFINITION * file.scored.features[-1]
                for place in (each.place for each in file.found):
                    kinds = [float(place.kind == kind) for kind in symbols.KIND]
                    features = ranking.scorer.features(place) if ranking.scorer else ()
                    rows.append((*features, *kinds, alone))
                    right.append(wanted and place.name == case.symbols[0].name)
            if rows:
                found.append((np.array(rows), np.array(right)))
    return found


def fit(data: Sequence[Sample]) -> Any:
    """Weights in the order of NAMES: softmax over the definitions of a question, Adam, all at once."""
    data = [each for each in data if each[1].any()]
    features = np.concatenate([x for x, _ in data])
    spread = features.std(0) + 1e-9
    scaled = (features - features.mean(0)) / spread
    sizes = [len(y) for _, y in data]
    starts = np.cumsum([0, *sizes[:-1]])
    group = np.repeat(np.arange(len(sizes)), sizes)
    wanted = np.concatenate([y / y.sum() for _, y in data])
    weights = np.zeros(len(NAMES))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        z = scaled @ weights
        e = np.exp(z - np.maximum.reduceat(z, starts)[group])
        share = e / np.add.reduceat(e, starts)[group]
        slope = scaled.T @ (share - wanted) / len(sizes) + SHRINK * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weights / spread


def reciprocal(data: Sequence[Sample], weights: Any) -> float:
    """Mean reciprocal rank of the right definition among all, a missing one counted as 0."""
    total = 0.0
    for x, y in data:
        if y.any():
            order = np.argsort(-(x @ weights), kind="stable")
            total += 1.0 / (1 + int(np.flatnonzero(y[order])[0]))
    return total / max(1, len(data))


def main() -> None:
    """Fit on --train, measure on both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", nargs="+", type=Path, required=True)
    parser.add_argument("--test", nargs="+", type=Path, required=True)
    parser.add_argument("--most", type=int, default=40, help="questions of each repository")
    parser.add_argument("--work", type=Path, help="folder for the derived repositories; kept")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = args.work or Path(scratch)
        halves = [
            [s for folder in part for s in samples(*derived("symbols", folder, work, args.most))]
            for part in (args.train, args.test)
        ]
    train, test = halves
    print(f"{len(train)} questions to fit, {len(test)} to measure")
    mine = np.array([*symbols.WEIGHTS.values(), *symbols.KIND.values(), symbols.OF_FILE])
    theirs = fit(train)
    print(f"{'':14} {'in the code':>12} {'fitted':>8}  without it")
    for place, name in enumerate(NAMES):
        without = mine.copy()
        without[place] = 0.0
        print(
            f"{name:14} {mine[place]:12.2f} {theirs[place]:8.2f}"
            f"  {reciprocal(train, without):.3f} {reciprocal(test, without):.3f}"
        )
    for label, weights in (("in the code", mine), ("fitted", theirs)):
        print(f"{label:14} MRR {reciprocal(train, weights):.3f} {reciprocal(test, weights):.3f}")


if __name__ == "__main__":
    main()
