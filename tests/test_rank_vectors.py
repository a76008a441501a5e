"""Pieces by meaning: both passes against brute force."""

from array import array
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.cache.matrix import Matrix, planes, rows_of_planes
from git_pkb.rank import vectors


def matrix(
    rows: np.ndarray, first: int = 0, dtype: str = "int8", scales: Sequence[float] | None = None
) -> Matrix:
    """A segment of int8 rows, or of their signs."""
    count, dims = rows.shape
    bits = np.packbits(rows > 0, axis=1).tobytes()
    scales = [1.0] * count if scales is None else scales
    return Matrix(
        first,
        count,
        first,
        count,
        dims,
        dtype,
        dims,
        memoryview(planes(bits, dims)),
        memoryview(array("f", scales).tobytes()),
        memoryview(rows.astype(np.int8).tobytes() if dtype == "int8" else b""),
        memoryview(array("f", scales).tobytes()),
        memoryview(rows.astype(np.int8).tobytes()),
    )


def draw_rows(seed: int, count: int, dims: int) -> np.ndarray:
    """Any int8 rows."""
    return np.random.default_rng(seed).integers(-127, 128, (count, dims))


SHAPES = st.tuples(
    st.integers(0, 2**32), st.integers(1, 80), st.sampled_from([1, 7, 8, 13, 64, 256, 300, 1024])
)


@given(SHAPES, st.integers(1, 12), st.integers(0, 3), st.booleans())
def test_nearest_is_what_brute_force_finds(
    shape: tuple[int, int, int], most: int, cuts: int, some_dead: bool
) -> None:
    """The nearest by sign bits, ties by id, over any number of segments, among the living."""
    seed, count, dims = shape
    rows = draw_rows(seed, count, dims)
    query = np.random.default_rng(seed + 1).standard_normal(dims)
    query_values = query.tolist()
    bounds = [0, *sorted(np.random.default_rng(seed).integers(0, count + 1, cuts)), count]
    segments = [matrix(rows[a:b], a) for a, b in pairwise(bounds)]
    live = (
        bytearray(np.random.default_rng(seed).integers(0, 2, count).astype(np.uint8)) if some_dead else None
    )
    differ = ((rows > 0) != (query > 0)).sum(axis=1)
    expected = sorted((int(d), i) for i, d in enumerate(differ) if live is None or live[i])
    assert vectors.nearest(segments, query_values, most, live) == [i for _, i in expected[:most]]


def test_rows_that_differ_in_every_bit_are_counted_right() -> None:
    """256 differing bits do not fit the byte in which they are added up."""
    rows = np.array([[1] * 256, [-1] * 256, [1] * 255 + [-1]])
    assert list(vectors.differing_bits(matrix(rows), b"\xff" * 32)) == [0, 256, 1]


def test_vectors_of_another_width_are_passed_over() -> None:
    """A segment that another model made is not compared."""
    rows = draw_rows(1, 5, 16)
    assert vectors.nearest([matrix(rows)], [1.0] * 8, 3, None) == []
    assert vectors.cosines([matrix(rows)], [1.0] * 8, range(5)) == {}
    assert vectors.path_cosines([matrix(rows)], [1.0] * 8, range(5)) == {}


@given(SHAPES)
def test_cosines_are_those_of_numpy(shape: tuple[int, int, int]) -> None:
    """Scale times row times question, for int8 rows and for signs; pieces without a vector are left out."""
    seed, count, dims = shape
    rows = draw_rows(seed, count, dims)
    query = np.random.default_rng(seed + 1).standard_normal(dims).tolist()
    scales = [0.0 if i % 5 == 4 else 1.0 / (i + 1) for i in range(count)]
    asked = [i for i in range(count) if i % 3]
    exact = np.array(scales, np.float32).astype(float)
    for dtype, values in (("int8", rows), ("binary", np.where(rows > 0, 1, -1))):
        found = vectors.cosines([matrix(rows, dtype=dtype, scales=scales)], query, asked)
        expected = {i: exact[i] * float(values[i] @ np.array(query)) for i in asked if scales[i]}
        assert found == pytest.approx(expected, abs=1e-7)
    of_paths = vectors.path_cosines([matrix(rows, scales=scales)], query, asked)
    assert of_paths == pytest.approx(
        {i: exact[i] * float(rows[i] @ np.array(query)) for i in asked if scales[i]}, abs=1e-7
    )


def test_ids_reach_over_segments() -> None:
    """A piece's id counts from the first segment's first piece."""
    rows = draw_rows(3, 6, 16)
    query = [1.0] * 16
    whole = vectors.cosines([matrix(rows)], query, range(6))
    assert vectors.cosines([matrix(rows[:2]), matrix(rows[2:], 2)], query, range(6)) == whole


@given(SHAPES, st.data())
def test_planes_can_be_turned_back(shape: tuple[int, int, int], data: st.DataObject) -> None:
    """Merging segments takes any run of rows out of the planes they are stored in."""
    seed, count, dims = shape
    rows = draw_rows(seed, count, dims)
    first = data.draw(st.integers(0, count))
    taken = data.draw(st.integers(0, count - first))
    bits = np.packbits(rows > 0, axis=1)
    found = matrix(rows, dtype="binary")
    assert rows_of_planes(found, first, taken) == bits[first : first + taken].tobytes()
    assert [vectors.sign_row(found, i) for i in range(count)] == [row.tobytes() for row in bits]


def test_a_unit_vector() -> None:
    """Length one, or all zero."""
    assert vectors.unit([3.0, 4.0]) == pytest.approx([0.6, 0.8])
    assert vectors.unit([0.0, 0.0]) == [0.0, 0.0]
