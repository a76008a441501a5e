"""Quantised rows: what they keep, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.embed.quantize import BadVector, concatenate, quantize, quantize_array, unit

numbers = st.floats(-1e6, 1e6, allow_nan=False)
rows = st.integers(1, 40).flatmap(lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), max_size=6))


@given(rows.filter(bool), st.sampled_from(["int8", "binary"]))
def test_array_and_lists_agree(values: list[list[float]], dtype: str) -> None:
    """An array of rows and lists of the same numbers give the same bytes."""
    dims = len(values[0])
    assert quantize_array(np.array(values, np.float64), dtype) == quantize(values, dims, dtype)


@given(rows.filter(bool))
def test_int8_rows_have_unit_length_and_keep_the_direction(values: list[list[float]]) -> None:
    """A stored row has length one and points where the vector pointed; a zero vector stays zero."""
    vectors = quantize(values, len(values[0]))
    stored = np.frombuffer(vectors.rows, np.int8).reshape(len(values), -1) * np.frombuffer(
        vectors.scales, "<f4"
    ).astype(float).reshape(-1, 1)
    for value, row in zip(values, stored, strict=True):
        peak = max(map(abs, value))
        if peak == 0:
            assert not row.any()
        else:
            assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-6)
            scaled = row / np.abs(row).max()
            assert np.abs(scaled - np.array(value) / peak).max() <= 0.5 / 127 + 1e-6


def test_sign_bits_come_most_significant_first() -> None:
    """Component 0 is the highest bit of the first byte; the last byte is padded with zeros."""
    vectors = quantize([[1, -1, 0, 2, 5, -1, -1, 1, 1]], 9, "binary")
    assert (vectors.rows, vectors.scales) == (bytes([0b10011001, 0b10000000]), b"")
    assert len(vectors) == 1


@pytest.mark.parametrize("row", [[1.0], [1.0, math.nan], [math.inf, 0.0], [0.0, -math.inf], [None, 1.0]])
def test_rows_that_cannot_be_stored_are_refused(row: list[float]) -> None:
    """A wrong width, NaN, an infinity or no number at all never becomes a row."""
    with pytest.raises(BadVector):
        quantize([[1.0, 2.0], row], 2)


def test_concatenation_keeps_order() -> None:
    """Rows of several parts follow each other."""
    parts = [quantize([[1.0, 2.0]], 2), quantize([[3.0, -1.0], [0.0, 0.0]], 2)]
    assert concatenate(parts, 2) == quantize([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]], 2)


def test_unit_vectors() -> None:
    """A question's vector has length one, or is all zero."""
    assert list(unit([3, 4])) == [0.6, 0.8]
    assert list(unit([0, 0])) == [0.0, 0.0]
