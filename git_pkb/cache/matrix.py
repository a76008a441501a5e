"""The vectors of one segment as a file: how it is laid out, written and mapped.

In: rows of a `Segment`, or the file's shape. Out: a file, or a `Matrix` of views into it. Invariant: nothing
is copied when a file is mapped; a file of another size than its shape says counts as none.

Layout, n pieces and f files: sign bits, ceil(dims/8) planes of n bytes (byte j of piece i stands at j*n + i:
search goes through them plane by plane); scales, n float32; path scales, f float32; rows, n*dims int8 (none
for dtype `binary`, whose sign bits are all there is); path rows, f*path_dims int8. Little-endian.
"""

import mmap

from git_pkb.slotted import value


@value
class Matrix:
    """The mapped vectors of a segment; the module says how each part is laid out."""

    first_piece: int
    pieces: int
    first_file: int
    files: int
    dims: int
    dtype: str
    path_dims: int
    bits: memoryview
    scales: memoryview
    rows: memoryview
    path_scales: memoryview
    path_rows: memoryview


def planes(bits: bytes | bytearray, dims: int) -> bytes:
    """Sign bits, ceil(dims/8) bytes a row, turned into planes; `rows_of_planes` turns them back."""
    width = (dims + 7) // 8
    return b"".join(bits[plane::width] for plane in range(width))


def rows_of_planes(matrix: Matrix, first: int, count: int) -> bytes:
    """Sign bits of some pieces of a segment (counted from its first), row by row."""
    width = (matrix.dims + 7) // 8
    rows = bytearray(count * width)
    for plane in range(width):
        at = plane * matrix.pieces + first
        rows[plane::width] = matrix.bits[at : at + count]
    return bytes(rows)


def map_matrix(
    path: str, first: int, pieces: int, first_file: int, files: int, dims: int, dtype: str, path_dims: int
) -> Matrix | None:
    """Map the file of a segment of that shape; None when it is missing or of another size."""
    row_bytes = dims if dtype == "int8" else 0
    sizes = (pieces * ((dims + 7) // 8), pieces * 4, files * 4, pieces * row_bytes, files * path_dims)
    try:
        with open(path, "rb") as source:
            view = memoryview(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError):
        return None
    if len(view) != sum(sizes):
        return None
    parts = []
    at = 0
    for size in sizes:
        parts.append(view[at : at + size])
        at += size
    bits, scales, path_scales, rows, path_rows = parts
    return Matrix(
        first, pieces, first_file, files, dims, dtype, path_dims, bits, scales, rows, path_scales, path_rows
    )  # fmt: skip
