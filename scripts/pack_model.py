"""Pack a trained token table into the files that the package ships and maps into memory.

In: `model.npz` (`q` int8 [n, dims], `scale` float16 [n]) and `vocab.txt` (one token a line, line = row).
Out: `table.i8`, `scales.f16`, `vocab.txt` and `vocab.idx` (where each line begins, and the end; uint32) in
the target folder, little-endian, rows sorted by token, so that a token is found by bisection in the mapped
file. Invariant: the same input gives the same bytes.

    python scripts/pack_model.py MODEL.npz VOCAB.txt git_pkb/embed/static
"""

import sys
from pathlib import Path

import numpy as np


def main(model: str, vocabulary: str, target: str) -> int:
    """Write the four files; return 0."""
    with np.load(model) as arrays:
        table, scales = arrays["q"], arrays["scale"]
    tokens = Path(vocabulary).read_text("ascii").split("\n")[: len(table)]
    if (
        table.dtype != np.int8
        or scales.dtype != np.float16
        or not len(table) == len(tokens) == len(set(tokens))
    ):
        raise SystemExit("not a token table: want int8 rows, float16 scales and as many distinct tokens")
    order = sorted((token, row) for row, token in enumerate(tokens) if not token.startswith("["))
    rows = [row for _, row in order]
    folder = Path(target)
    (folder / "table.i8").write_bytes(np.ascontiguousarray(table[rows]).tobytes())
    (folder / "scales.f16").write_bytes(scales[rows].astype("<f2").tobytes())
    lines = [token.encode("ascii") + b"\n" for token, _ in order]
    (folder / "vocab.txt").write_bytes(b"".join(lines))
    (folder / "vocab.idx").write_bytes(np.cumsum([0, *map(len, lines)]).astype("<u4").tobytes())
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
