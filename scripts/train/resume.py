"""Initial rows from a table that exists, for training on from it with a new vocabulary.

In: WORK/vocab.txt, WORK/initial.npy (minilm.py), a folder with the files of a packed table. Out:
WORK/resumed.npy, float32 [tokens, dims]. Invariant: no randomness; cosines between the tokens that both
vocabularies hold stay what they were.

    python scripts/train/resume.py WORK TABLE

A token that the old table lacks gets the row that a linear map from MiniLM's space, fitted on the common
tokens, gives it. Rows are scaled to the mean square of WORK/initial.npy, for which the rates are chosen.
"""

import sys
from pathlib import Path

import numpy as np
from evaluate import read
from numpy.typing import NDArray

_RIDGE = 1e-3


def resume(
    tokens: list[str], initial: NDArray[np.float32], table: NDArray[np.float32], old: list[str]
) -> NDArray[np.float32]:
    """Rows for `tokens`: those of `table` where `old` has the token, else mapped from `initial`."""
    number = {token: n for n, token in enumerate(old)}
    common = [n for n, token in enumerate(tokens) if token in number]
    source = initial[common].astype(np.float64)
    target = table[[number[tokens[n]] for n in common]].astype(np.float64)
    target *= np.sqrt(np.square(initial).mean() / np.square(target).mean())
    ridge = _RIDGE * len(common) * np.square(source).mean() * np.eye(source.shape[1])
    mapping = np.linalg.solve(source.T @ source + ridge, source.T @ target)
    rows: NDArray[np.float32] = (initial @ mapping).astype(np.float32)
    rows[common] = target
    return rows


def main(work: str, folder: str) -> int:
    """Write WORK/resumed.npy."""
    tokens = Path(work, "vocab.txt").read_text("ascii").splitlines()
    rows = resume(tokens, np.load(Path(work, "initial.npy")), *read(Path(folder)))
    np.save(Path(work, "resumed.npy"), rows)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
