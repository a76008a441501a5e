"""Average the tables of several seeds and write the files that the package ships.

In: WORK/tables/*.npy, WORK/vocab.txt. Out: `table.i8`, `scales.f16`, `vocab.txt`, `vocab.idx` in OUT.
Invariant: the same tables give the same bytes, and the files stay below MOST_BYTES together.

    python scripts/train/export.py WORK OUT

Tables of different seeds start from the same rows, so their average points where they agree; each is first
brought to a mean square of one.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MOST_BYTES = 12_000_000


def average(tables: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of tables at equal scale."""
    total = np.zeros_like(tables[0])
    for table in tables:
        total += table / np.sqrt(np.square(table).mean())
    return total / np.float32(len(tables))


def quantize(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Signed bytes with one half-precision scale a row."""
    scale = (np.abs(table).max(axis=1) / 127).astype(np.float16)
    scale = np.maximum(scale, np.float16(2**-24))
    rows = np.rint(table / scale[:, None].astype(np.float32))
    return np.clip(rows, -127, 127).astype(np.int8), scale


def write(table: NDArray[np.float32], tokens: Path, out: Path) -> int:
    """Write the files of one table; return their bytes."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from pack_model import main as pack

    out.mkdir(parents=True, exist_ok=True)
    rows, scale = quantize(table)
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, "model.npz")
        np.savez(packed, q=rows, scale=scale)
        pack(str(packed), str(tokens), str(out))
    return sum((out / name).stat().st_size for name in ("table.i8", "scales.f16", "vocab.txt", "vocab.idx"))


def main(work: str, out: str) -> int:
    """Export the average of all seeds."""
    tables = [np.load(path) for path in sorted(Path(work, "tables").glob("*.npy"))]
    size = write(average(tables), Path(work, "vocab.txt"), Path(out))
    print(f"{len(tables)} tables, {size} bytes")
    return 1 if size > MOST_BYTES else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
