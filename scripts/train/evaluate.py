"""Compare tables on packages that none of them was trained on.

In: WORK/pairs/test+*.jsonl, folders with the files of a table (such as git_pkb/embed/static). Out: a table of
MRR@10. Invariant: every question is asked of every table; no randomness but the bootstrap's.

    python scripts/train/evaluate.py WORK TABLE [OTHER_TABLE]

The first sentence of a doc comment, or an inline comment, asks for its code among all code of its package,
each question once; from two in five of the former the words of the symbol's name are taken out. Questions
are weighted as git-pkb weights them (idf over the package). With two tables: their difference with a 95 %
interval by a paired bootstrap over questions.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vocabulary import KINDS, encode, open_vocabulary

_KINDS = ("doc", "inline")
_ROUNDS = 2000
Array = NDArray[np.float64]


def read(folder: Path) -> tuple[NDArray[np.float32], list[str]]:
    """Rows and tokens of a table that is packed for the product."""
    tokens = (folder / "vocab.txt").read_text("ascii").splitlines()
    table = np.frombuffer((folder / "table.i8").read_bytes(), np.int8).reshape(len(tokens), -1)
    scales = np.frombuffer((folder / "scales.f16").read_bytes(), "<f2").astype(np.float32)
    return table * scales[:, None], tokens


def reciprocal_ranks(folder: Path, paths: list[Path]) -> dict[tuple[str, str, int], float]:
    """1/rank (0 beyond 10) of each question's code, by (package, kind, number of the pair)."""
    table, tokens = read(folder)
    vocabulary = open_vocabulary(tokens)
    result = {}
    for path in paths:
        pairs, _ = encode([path], vocabulary, keep_empty=True)
        question, code = (_unit(rows @ table) for rows in (pairs.question, pairs.code))
        _, first, group = np.unique(pairs.code_hash, return_index=True, return_inverse=True)
        scores = question @ code[first].T
        own = scores[np.arange(len(group)), group]
        better = (scores > own[:, None]).sum(axis=1)
        ties = (scores == own[:, None]).sum(axis=1) - 1
        rank = 1 + better + ties / 2
        name = path.stem.partition("+")[2]
        seen: set[int] = set()
        for number, (kind, place) in enumerate(zip(pairs.kind, rank, strict=True)):
            asked = int(pairs.question_hash[number])
            if KINDS[kind] in _KINDS and asked not in seen:  # boilerplate must not count a hundred times
                seen.add(asked)
                result[name, KINDS[kind], number] = 1 / place if place <= 10 else 0.0
    return result


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    result: NDArray[np.float32] = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return result


def interval(difference: Array) -> tuple[float, float]:
    """Bounds of the mean by bootstrap."""
    chance = np.random.default_rng(0)
    n = len(difference)
    means = [difference[chance.integers(0, n, n)].mean() for _ in range(_ROUNDS)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def main(work: str, *folders: str) -> int:
    """Print a row a package and kind, and the whole."""
    paths = sorted(Path(work).glob("pairs/test+*.jsonl"))
    results = [reciprocal_ranks(Path(folder), paths) for folder in folders]
    keys = sorted(results[0])
    columns = np.array([[result[key] for key in keys] for result in results])
    print("package", "kind", "questions", *(Path(folder).name for folder in folders), sep="\t")
    groups = sorted({key[:2] for key in keys})
    for group in [*groups, ("all", "doc"), ("all", "inline"), ("all", "both")]:
        chosen = [
            (group[0] == "all" or key[0] == group[0]) and (group[1] == "both" or key[1] == group[1])
            for key in keys
        ]
        part = columns[:, chosen]
        cells = [f"{value:.4f}" for value in part.mean(axis=1)]
        if group[0] == "all" and len(results) == 2:
            low, high = interval(part[1] - part[0])
            cells.append(f"{(part[1] - part[0]).mean():+.4f} [{low:+.4f}, {high:+.4f}]")
        print(*group, part.shape[1], *cells, sep="\t")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in {3, 4}:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
