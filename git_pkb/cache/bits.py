"""Sign bits of int8 rows: what the first pass over all vectors compares.

In: int8 rows. Out: ceil(dims/8) bytes a row, bit set where the component is above zero, most significant
bit first. Invariant: both ways of computing give the same bytes; numpy is imported only for many rows.
"""

_FEW_ROWS = 400  # below, plain Python is quicker than importing numpy


def sign_bits(rows: bytes | bytearray, dims: int) -> bytes:
    """Sign bits of `len(rows) // dims` int8 rows."""
    if not dims:
        return b""
    count = len(rows) // dims
    if count > _FEW_ROWS:
        import numpy as np

        matrix = np.frombuffer(rows, dtype=np.int8).reshape(count, dims)
        return np.packbits(matrix > 0, axis=1).tobytes()
    # 1..127 are the positive signed bytes; everything else is zero or negative.
    positive = bytes(rows).translate(_POSITIVE)
    width = (dims + 7) // 8
    pad = "0" * (width * 8 - dims)
    out = bytearray()
    for at in range(0, count * dims, dims):
        out += int(positive[at : at + dims].decode("ascii") + pad, 2).to_bytes(width, "big")
    return bytes(out)


_POSITIVE = bytes(ord("1") if 1 <= value <= 127 else ord("0") for value in range(256))
