"""From vectors of numbers to the rows that are stored.

In: rows of floats or whole numbers, any length but all zero or not. Out: `Vectors`: int8 rows with one
float32 scale each, or sign bits. Invariant: the same numbers give the same bytes on every machine, with numpy
or without: each step is one IEEE operation, rounded half to even, and nothing is summed in floating point.

The scale of a row is 1/|row|, so that `scale * row` has unit length as stored; the length of the vector that
came in does not matter (top-10 neighbours kept with int8 at 256 dimensions: 99.7 %, git-facts 17).
"""

import math
import struct
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from git_pkb.model import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

INT8, BINARY = "int8", "binary"
_PEAK = 127.0


class BadVector(ValueError):
    """A row has the wrong width, or a component that is no finite number."""


def quantize(rows: Iterable[Sequence[float]], dims: int, dtype: str = INT8) -> Vectors:
    """Rows of `dims` numbers as `Vectors`; raises BadVector for a row that cannot be stored."""
    pack = _pack_binary if dtype == BINARY else _pack_int8
    packed: list[bytes] = []
    scales: list[bytes] = []
    for number, row in enumerate(rows):
        if len(row) != dims:
            raise BadVector(f"vector {number} has {len(row)} dimensions instead of {dims}")
        try:
            finite = math.isfinite(max(row)) and math.isfinite(min(row)) and not any(x != x for x in row)
        except TypeError:
            finite = False
        if not finite:
            raise BadVector(f"vector {number} holds a value that is not a finite number")
        data, scale = pack(row)
        packed.append(data)
        scales.append(scale)
    return Vectors(dims, dtype, b"".join(scales), b"".join(packed))


def quantize_array(rows: "NDArray[np.float64]", dtype: str = INT8) -> Vectors:
    """The same bytes as `quantize` for a float64 array [n, dims] of finite numbers."""
    import numpy as np

    dims = int(rows.shape[1])
    if dtype == BINARY:
        return Vectors(dims, BINARY, b"", np.packbits(rows > 0, axis=1).tobytes())
    peak = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    peak[peak == 0] = 1.0
    units = np.rint(rows * _PEAK / peak)
    squares = np.square(units).sum(axis=1)  # whole numbers below 2**53: exact in any order
    zero = squares == 0
    squares[zero] = 1.0
    scales = 1.0 / np.sqrt(squares)
    scales[zero] = 0.0
    return Vectors(dims, INT8, scales.astype("<f4").tobytes(), units.astype(np.int8).tobytes())


def concatenate(parts: Sequence[Vectors], dims: int, dtype: str = INT8) -> Vectors:
    """Several `Vectors` of one shape as one, in order."""
    return Vectors(dims, dtype, b"".join(p.scales for p in parts), b"".join(p.rows for p in parts))


def unit(row: Sequence[float]) -> "array[float]":
    """A vector at unit length, as doubles; all zero stays all zero."""
    length = math.sqrt(math.fsum(float(x) * float(x) for x in row))
    return array("d", (x / length for x in row) if length else (0.0 for _ in row))


def _pack_int8(row: Sequence[float]) -> tuple[bytes, bytes]:
    peak = float(max(max(row), -min(row)))
    if peak == 0:
        return bytes(len(row)), b"\0\0\0\0"
    units = [round(x * _PEAK / peak) for x in row]
    squares = sum(x * x for x in units)
    return array("b", units).tobytes(), struct.pack("<f", 1.0 / math.sqrt(squares))


def _pack_binary(row: Sequence[Any]) -> tuple[bytes, bytes]:
    bits = "".join("1" if x > 0 else "0" for x in row)
    width = (len(row) + 7) // 8
    return int(bits.ljust(width * 8, "0"), 2).to_bytes(width, "big"), b""
