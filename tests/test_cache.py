"""The cache: what is written is what is read, whatever way it got there."""

import sqlite3
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_pkb.cache import bits, compact
from git_pkb.cache.reader import CacheReader, open_reader
from git_pkb.cache.segment import BODY, NAME, STEM, DefinitionRow, FileRow, Segment
from git_pkb.cache.store import CacheWriter
from git_pkb.model import Vectors
from git_pkb.rank import lexical
from git_pkb.tokens import Tokenizer

DIMS = 16


def segment_of(files: Sequence[tuple[str, Sequence[str]]]) -> Segment:
    """A segment of files given as (path, texts of pieces); each text names a definition, its first word."""
    segment = Segment(dims=DIMS, row_dtype="int8", path_dims=DIMS)
    tokenizer = Tokenizer()
    for path, texts in files:
        row = FileRow(path, f"{abs(hash(path)):040x}"[:40], "text", 10, len(texts), stale=False, meta=b"")
        names = [text.split()[:1] for text in texts]
        definitions = [DefinitionRow(n[0].lower(), n[0], "function", 3, i) for i, n in enumerate(names) if n]
        stem = path.rpartition("/")[2].split(".")[0]
        segment.add_file(row, texts, ["" for _ in texts], names, definitions, ([stem], []), tokenizer)
        rows = bytes((len(text) * 7 + i) % 256 for text in texts for i in range(DIMS))
        vectors = Vectors(DIMS, "int8", array("f", [0.5] * len(texts)).tobytes(), rows)
        segment.add_rows(
            vectors, len(texts), Vectors(DIMS, "int8", array("f", [1.0]).tobytes(), bytes(range(16)))
        )
    return segment


def everything(reader: CacheReader) -> dict[str, object]:
    """All that a search can learn, without ids: by path and the place of a piece in its file."""
    facts = reader.files()
    place = {f.first + i: (f.path, i) for f in facts for i in range(f.pieces)}
    path_of = {f.id: f.path for f in facts}
    rows: dict[object, object] = {}
    for matrix in reader.matrices():
        for i in range(matrix.pieces):
            key = place.get(matrix.first_piece + i)
            if key is not None:
                rows[key] = (
                    bytes(matrix.rows[i * DIMS : (i + 1) * DIMS]),
                    bytes(matrix.bits[i :: matrix.pieces]),
                    bytes(matrix.scales[4 * i : 4 * i + 4]),
                )
        for i in range(matrix.files):
            if matrix.first_file + i in path_of:
                rows[path_of[matrix.first_file + i]] = bytes(matrix.path_rows[i * DIMS : (i + 1) * DIMS])
    postings: dict[object, object] = {}
    for field, term in reader.db.execute("SELECT DISTINCT field, term FROM postings").fetchall():
        ids, counts = reader.posting(field, term)
        names = place if field <= NAME else path_of
        found = {names[i]: n for i, n in zip(ids, counts, strict=True) if i in names}
        if found:
            postings[field, term] = found
    definitions = [
        (name, kind, lines, place[piece])
        for name, kind, lines, piece in reader.db.execute("SELECT name, kind, lines, piece FROM definitions")
    ]
    return {
        "files": sorted((f.path, f.blob, f.language, f.size, f.pieces, f.stale) for f in facts),
        "rows": rows,
        "postings": postings,
        "definitions": sorted(definitions),
        "averages": reader.average_lengths(),
        "live": (reader.live_pieces, reader.live_files),
    }


def read(folder: Path) -> dict[str, object]:
    """All of the cache in a folder."""
    reader = open_reader(str(folder))
    assert reader is not None
    with reader:
        return everything(reader)


def test_field_numbers_of_writer_and_ranking_agree() -> None:
    """rank/ and cache/ do not import each other; the numbers of the fields must still be the same."""
    from git_pkb.cache import segment

    names = ("BODY", "COMMENT", "NAME", "STEM", "FOLDER")
    assert [getattr(segment, n) for n in names] == [getattr(lexical, n) for n in names]


FILES = st.dictionaries(
    st.sampled_from([f"src/{name}.py" for name in "abcdefgh"]),
    st.lists(st.sampled_from(["alpha beta", "beta gamma gamma", "delta", "get_path url", ""]), max_size=4),
    max_size=6,
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(FILES, st.sets(st.sampled_from("abcdefgh"))), min_size=1, max_size=5),
    st.integers(0, 3),
)
def test_changes_in_steps_read_like_one_full_build(
    steps: list[tuple[dict[str, list[str]], set[str]]], most: int
) -> None:
    """Files that come, change and go step by step leave what one build of the last state leaves."""
    usual, compact.MOST_SEGMENTS = compact.MOST_SEGMENTS, most
    try:
        _check_steps(steps)
    finally:
        compact.MOST_SEGMENTS = usual


def _check_steps(steps: list[tuple[dict[str, list[str]], set[str]]]) -> None:
    state: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as base:
        stepwise, whole = Path(base, "steps"), Path(base, "whole")
        for number, (written, gone) in enumerate(steps):
            with CacheWriter(str(stepwise), fresh=number == 0) as writer:
                have = writer.files()
                removed = {path for path in state if path[4] in gone} | (set(written) & set(state))
                writer.remove([have[path][0] for path in removed])
                writer.add(segment_of(sorted(written.items())))
            state = {path: texts for path, texts in state.items() if path not in removed} | written
        with CacheWriter(str(whole), fresh=True) as writer:
            writer.add(segment_of(sorted(state.items())))
        assert read(stepwise) == read(whole)


def test_an_untouched_file_survives_the_change_of_another(tmp_path: Path) -> None:
    """Replacing one file leaves the rows, words and definitions of the other as they were."""
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha beta", "gamma"]), ("b.py", ["beta"])]))
    with CacheWriter(str(tmp_path), fresh=False) as writer:
        writer.remove([writer.files()["a.py"][0]])
        writer.add(segment_of([("a.py", ["omega"])]))
    expected = segment_of([("b.py", ["beta"]), ("a.py", ["omega"])])
    other = tmp_path / "other"
    with CacheWriter(str(other), fresh=True) as writer:
        writer.add(expected)
    assert read(tmp_path) == read(other)


def _change_and_fail(folder: Path) -> None:
    with CacheWriter(str(folder), fresh=False) as writer:
        writer.remove([0])
        writer.add(segment_of([("b.py", ["beta"])]))
        raise RuntimeError


def test_a_failure_leaves_the_cache_as_it_was(tmp_path: Path) -> None:
    """An exception in the middle of a change rolls it back, and no matrix file is left behind."""
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha"])]))
    before, names = read(tmp_path), sorted(file.name for file in tmp_path.iterdir())
    with pytest.raises(RuntimeError):
        _change_and_fail(tmp_path)
    assert read(tmp_path) == before
    with CacheWriter(str(tmp_path), fresh=False):
        pass
    assert sorted(file.name for file in tmp_path.iterdir()) == names


def test_a_build_beside_is_not_seen_before_it_is_whole(tmp_path: Path) -> None:
    """While a new cache is built, readers go on reading the old one; afterwards they read the new one."""
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha"])]))
    before = read(tmp_path)
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("b.py", ["beta"])]))
        assert read(tmp_path) == before
    assert read(tmp_path)["files"] != before["files"]


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + bytes(200)])
def test_a_damaged_database_counts_as_none(tmp_path: Path, damage: bytes) -> None:
    """What is not a whole cache of this format is never read as one."""
    (tmp_path / "cache.db").write_bytes(damage)
    assert open_reader(str(tmp_path)) is None


def test_another_format_counts_as_none(tmp_path: Path) -> None:
    """A cache of another version is rebuilt, not read."""
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha"])]))
    with sqlite3.connect(tmp_path / "cache.db") as db:
        db.execute("UPDATE facts SET value='0-old' WHERE key='format'")
    db.close()
    assert open_reader(str(tmp_path)) is None


def test_a_missing_matrix_costs_the_vectors_alone(tmp_path: Path) -> None:
    """Without its matrix file the words of a cache still answer."""
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha"])]))
    for matrix in tmp_path.glob("cache.rows-*"):
        matrix.unlink()
    reader = open_reader(str(tmp_path))
    assert reader is not None
    with reader:
        assert reader.matrices() == []
        assert list(reader.posting(BODY, "alpha")[0]) == [0]
        assert list(reader.posting(STEM, "a")[0]) == [0]


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_sign_bits_are_the_same_with_and_without_numpy(dims: int, count: int, data: st.DataObject) -> None:
    """Few rows go through Python, many through numpy: the bits must not tell."""
    rows = data.draw(st.binary(min_size=dims * count, max_size=dims * count))
    few, bits._FEW_ROWS = bits._FEW_ROWS, 0
    try:
        by_numpy = bits.sign_bits(rows, dims)
    finally:
        bits._FEW_ROWS = few
    assert bits.sign_bits(rows, dims) == by_numpy
    first = [1 <= value <= 127 for value in rows[:dims]]
    assert [by_numpy[i // 8] >> (7 - i % 8) & 1 == 1 for i in range(dims)] == first


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    """The next writer (who holds the lock) tidies up databases and matrices that nobody finished."""
    for name in ("cache.db.123.new", "cache.rows-0123.bin", "overview.json"):
        (tmp_path / name).write_bytes(b"half")
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha"])]))
    left = {file.name for file in tmp_path.iterdir()}
    assert "overview.json" in left
    assert not left & {"cache.db.123.new", "cache.rows-0123.bin"}


def test_many_terms_are_looked_up_at_once(tmp_path: Path) -> None:
    """`postings`, `posting` and `document_counts` agree, however many terms."""
    with CacheWriter(str(tmp_path), fresh=True) as writer:
        writer.add(segment_of([("a.py", ["alpha beta", "beta"]), ("b.py", ["beta gamma"])]))
        writer.add(segment_of([("c.py", ["beta"])]))
    with CacheWriter(str(tmp_path), fresh=False) as writer:
        writer.remove([writer.files()["b.py"][0]])
    reader = open_reader(str(tmp_path))
    assert reader is not None
    with reader:
        terms = ["alpha", "beta", "gamma", *(f"no{i}" for i in range(2000))]
        found = reader.postings((BODY, STEM), terms)
        assert {key: list(ids) for key, (ids, _) in found.items()} == {
            (BODY, "alpha"): [0],
            (BODY, "beta"): [0, 1, 2, 3],
            (BODY, "gamma"): [2],
        }
        assert all(reader.posting(*key) == posting for key, posting in found.items())
        assert reader.document_counts(BODY, terms) == {"alpha": 1, "beta": 3, "gamma": 0}
        assert reader.document_counts(STEM, ["a", "b"]) == {"a": 1, "b": 0}
        assert list(reader.file_first) == [0, 2, 3, 4]
        assert (reader.live_pieces, reader.live_files) == (3, 2)
