"""Train the table of token vectors.

In: WORK/train.npz, WORK/initial.npy. Out: WORK/tables/SEED.npy, float32 [tokens, 256]. Invariant: the same
files, seed and number of steps give the same table on the same machine with one BLAS thread (another
processor may round differently).

    OPENBLAS_NUM_THREADS=1 python scripts/train/train.py WORK SEED [--steps N] [--rate R] [--initial FILE]

Symmetric InfoNCE: both vectors of a pair are sums of token rows at unit length, and each must find the other
among the batch (cosine / temperature, softmax, both ways). A batch is a few groups that each come from one
package, so that most wrong answers look like the right one. A pair does not count as wrong for another with
the same question or the same code.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from vocabulary import KINDS, Pairs

Array = NDArray[np.float32]

BATCH = 1024
GROUPS = 8
STEPS = 1200
TEMPERATURE = 0.05
DROPOUT = 0.2
RATE = 0.004
_WARM_UP = 30
_TAIL = 0.4  # of the steps: their tables are averaged, every tenth
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-4
#: How often each kind of pair is drawn.
SHARE = {"doc": 0.60, "name": 0.20, "inline": 0.07, "path": 0.13}


class Sampler:
    """Draws batches: package by the square root of its pairs, kind by SHARE, pair at random."""

    def __init__(self, pairs: Pairs, seed: int) -> None:
        self._chance = np.random.default_rng(seed)
        self._by_package: list[list[NDArray[np.int64]]] = []
        for package in range(pairs.package.max() + 1):
            of_package = pairs.package == package
            self._by_package.append(
                [np.flatnonzero(of_package & (pairs.kind == k)) for k in range(len(KINDS))]
            )
        weight = np.sqrt([float(sum(map(len, kinds))) for kinds in self._by_package])
        self._weight = weight / weight.sum()
        self._share = np.array([SHARE[kind] for kind in KINDS])

    def batch(self) -> NDArray[np.int64]:
        """Numbers of at most BATCH different pairs."""
        drawn = []
        for package in self._chance.choice(len(self._weight), GROUPS, replace=False, p=self._weight):
            kinds = self._by_package[package]
            share = self._share * [len(kind) > 0 for kind in kinds]
            counts = self._chance.multinomial(BATCH // GROUPS, share / share.sum())
            drawn += [self._chance.choice(kinds[k], n) for k, n in enumerate(counts) if n]
        return np.unique(np.concatenate(drawn))

    def drop(self, rows: sparse.csr_matrix) -> sparse.csr_matrix:
        """The rows with some of their tokens left out."""
        kept = self._chance.random(len(rows.data), np.float32) >= DROPOUT
        return sparse.csr_matrix((rows.data * kept, rows.indices, rows.indptr), shape=rows.shape)


@dataclass
class Adam:
    """Adam over rows: only those that a batch touches move."""

    table: Array

    def __post_init__(self) -> None:
        self._first = np.zeros_like(self.table)
        self._second = np.zeros_like(self.table)

    def update(self, rows: NDArray[np.int64], gradient: Array, rate: float, step: int) -> None:
        """One step for the given rows; `step` counts from 1."""
        first = self._first[rows] * np.float32(_BETA1) + gradient * np.float32(1 - _BETA1)
        second = self._second[rows] * np.float32(_BETA2) + np.square(gradient) * np.float32(1 - _BETA2)
        self._first[rows], self._second[rows] = first, second
        size = np.sqrt(second / np.float32(1 - _BETA2**step)) + np.float32(_EPSILON)
        self.table[rows] -= np.float32(rate / (1 - _BETA1**step)) * first / size


def loss_and_gradient(
    table: Array, question: sparse.csr_matrix, code: sparse.csr_matrix, same: NDArray[np.bool_]
) -> tuple[float, Array]:
    """Mean symmetric InfoNCE and its gradient to the table.

    `same` [n, n] marks pairs that must not oppose each other.
    """
    asked, asked_length = _unit(question @ table)
    answer, answer_length = _unit(code @ table)
    scores = (asked @ answer.T) / np.float32(TEMPERATURE)
    scores[same] = -np.inf
    n = len(scores)
    by_row, row_loss = _softmax(scores)
    by_column, column_loss = _softmax(scores.T)
    pull = by_row + by_column.T
    pull[np.arange(n), np.arange(n)] -= 2
    pull /= np.float32(2 * n * TEMPERATURE)
    gradient = question.T @ _through_unit(pull @ answer, asked, asked_length)
    gradient += code.T @ _through_unit(pull.T @ asked, answer, answer_length)
    return (row_loss + column_loss) / 2, gradient


def _unit(x: Array) -> tuple[Array, Array]:
    length = np.sqrt(np.square(x).sum(axis=1, keepdims=True)) + np.float32(1e-6)
    return x / length, length


def _through_unit(gradient: NDArray[np.floating], unit: Array, length: Array) -> Array:
    along = (gradient * unit).sum(axis=1, keepdims=True)
    result: Array = (gradient - along * unit) / length
    return result


def _softmax(scores: Array) -> tuple[Array, float]:
    top = scores.max(axis=1, keepdims=True)
    exponent = np.exp(scores - top)
    total = exponent.sum(axis=1, keepdims=True)
    right = np.diagonal(scores)[:, None]
    return exponent / total, float((np.log(total) + top - right).mean())


def train(pairs: Pairs, initial: Array, seed: int, steps: int, top_rate: float) -> Array:
    """The average of the last tables of one run."""
    sampler = Sampler(pairs, seed)
    adam = Adam(initial.copy())
    average = np.zeros_like(initial)
    averaged = 0
    start = time.monotonic()
    running = 0.0
    for step in range(1, steps + 1):
        batch = sampler.batch()
        question, code = sampler.drop(pairs.question[batch]), sampler.drop(pairs.code[batch])
        rows = np.unique(np.concatenate([question.indices, code.indices])).astype(np.int64)
        question, code = _narrow(question, rows), _narrow(code, rows)
        same = _equal(pairs.question_hash[batch]) | _equal(pairs.code_hash[batch])
        loss, gradient = loss_and_gradient(adam.table[rows], question, code, same)
        rate = top_rate * min(1, step / _WARM_UP) * 0.5 * (1 + np.cos(np.pi * step / steps))
        adam.update(rows, gradient, rate, step)
        running = loss if step == 1 else 0.95 * running + 0.05 * loss
        if step > (1 - _TAIL) * steps and step % 10 == 0:
            average += adam.table
            averaged += 1
        if step % 50 == 0:
            print(f"seed {seed} step {step} loss {running:.3f} {time.monotonic() - start:.0f} s", flush=True)
    return average / np.float32(averaged)


def _narrow(rows: sparse.csr_matrix, columns: NDArray[np.int64]) -> sparse.csr_matrix:
    indices = np.searchsorted(columns, rows.indices).astype(np.int32)
    return sparse.csr_matrix((rows.data, indices, rows.indptr), shape=(rows.shape[0], len(columns)))


def _equal(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = values[:, None] == values[None, :]
    np.fill_diagonal(same, False)
    return same


def main(arguments: list[str]) -> int:
    """Train one table and write it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("seed", type=int)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--initial", default="initial.npy", help="file in WORK to start from")
    given = parser.parse_args(arguments)
    pairs, initial = Pairs.load(given.work / "train.npz"), np.load(given.work / given.initial)
    table = train(pairs, initial, given.seed, given.steps, given.rate)
    (given.work / "tables").mkdir(exist_ok=True)
    np.save(given.work / "tables" / f"{given.seed}.npy", table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
