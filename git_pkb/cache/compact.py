"""Merges segments, so that a cache that is changed every few minutes stays as quick as a new one.

In: an open database and the folder of its matrices. Out: one segment of what is alive in several; the caller
deletes those and stores this one. Invariant: what a search reads is the same before and after; nothing is
read from the repository.

Which: all segments but the large ones that are mostly alive, when there are more than MOST_SEGMENTS. A search
looks every term up in every segment, and dead pieces cost as much to score as live ones.
"""

import os
import sqlite3
from array import array
from itertools import repeat

from git_pkb.cache.matrix import Matrix, map_matrix, rows_of_planes
from git_pkb.cache.segment import NAME, DefinitionRow, FileRow, Segment

MOST_SEGMENTS = 12
_LARGE = 20_000  # pieces; merging such a segment takes seconds
_MOSTLY_ALIVE = 0.7


def segments_to_merge(db: sqlite3.Connection) -> list[int]:
    """Ids of the segments that should become one; empty when there are few."""
    rows = db.execute("SELECT id, pieces, live_pieces FROM segments ORDER BY id").fetchall()
    wasteful = [i for i, pieces, live in rows if live < _MOSTLY_ALIVE * pieces]
    if len(rows) <= MOST_SEGMENTS and sum(pieces for i, pieces, _ in rows if i in wasteful) <= _LARGE:
        return []
    found = [i for i, pieces, _ in rows if i in wasteful or pieces < _LARGE]
    return found if wasteful or len(found) > 1 else []


def merged(db: sqlite3.Connection, folder: str, ids: list[int]) -> Segment:
    """What is alive in these segments, as one; rows that cannot be read become zero rows."""
    marks = ",".join("?" * len(ids))
    segment = Segment()
    pieces: dict[int, int] = {}  # old id -> new id, as for files
    files: dict[int, int] = {}
    for number in ids:
        _take_segment(db, folder, number, segment, pieces, files)
    for folded, name, kind, lines, piece in db.execute("SELECT * FROM definitions ORDER BY piece, rowid"):
        if piece in pieces:
            segment.definitions.append(DefinitionRow(folded, name, kind, lines, pieces[piece]))
    postings = db.execute(
        f"SELECT field, term, data FROM postings WHERE segment IN ({marks}) ORDER BY field, term, segment",  # noqa: S608 - only question marks
        ids,
    )
    for field, term, data in postings:
        count = len(data) // 5
        old = array("I")
        old.frombytes(data[: 4 * count])
        number_of = pieces if field <= NAME else files
        taken = segment.postings[field].setdefault(term, (array("I"), bytearray()))
        for identity, n in zip(old, data[4 * count :], strict=True):
            new = number_of.get(identity)
            if new is not None:
                taken[0].append(new)
                taken[1].append(n)
    for field_postings in segment.postings:
        for term in [term for term, (ids, _) in field_postings.items() if not ids]:
            del field_postings[term]
    return segment


def delete(db: sqlite3.Connection, ids: list[int]) -> None:
    """Forget these segments, with the files and definitions in them."""
    for number in ids:
        first, pieces, first_file, files = db.execute(
            "SELECT first_piece, pieces, first_file, files FROM segments WHERE id=?", (number,)
        ).fetchone()
        db.execute("DELETE FROM files WHERE id>=? AND id<?", (first_file, first_file + files))
        db.execute("DELETE FROM metas WHERE file>=? AND file<?", (first_file, first_file + files))
        db.execute("DELETE FROM definitions WHERE piece>=? AND piece<?", (first, first + pieces))
        db.execute("DELETE FROM segments WHERE id=?", (number,))
    db.executemany("DELETE FROM postings WHERE segment=?", [(number,) for number in ids])


def _take_segment(
    db: sqlite3.Connection,
    folder: str,
    number: int,
    segment: Segment,
    pieces: dict[int, int],
    files: dict[int, int],
) -> None:
    """Append the live files of one segment, all but postings and definitions."""
    (first, count, first_file, file_count, *lengths, dims, dtype, path_dims, name) = db.execute(
        "SELECT first_piece, pieces, first_file, files, body_lengths, comment_lengths, name_lengths,"
        " dims, dtype, path_dims, matrix FROM segments WHERE id=?",
        (number,),
    ).fetchone()
    segment.dims, segment.row_dtype, segment.path_dims = dims, dtype, path_dims
    columns = []
    for data in lengths:
        column = array("H")
        column.frombytes(data)
        columns.append(column)
    shape = (first, count, first_file, file_count, dims, dtype, path_dims)
    matrix = map_matrix(os.path.join(folder, name), *shape) if name else None
    rows = db.execute(
        "SELECT id, path, blob, language, size, first_piece, pieces, stale, meta FROM files"
        " JOIN metas ON file=id WHERE id>=? AND id<? ORDER BY id",
        (first_file, first_file + file_count),
    ).fetchall()
    for identity, path, blob, language, size, start, length, stale, meta in rows:
        files[identity] = len(segment.files)
        for i in range(length):
            pieces[start + i] = segment.pieces + i
        segment.piece_file.extend(repeat(len(segment.files), length))
        segment.files.append(FileRow(os.fsdecode(path), blob, language, size, length, bool(stale), meta))
        at = start - first
        for column, old in zip(segment.lengths, columns, strict=True):
            column.extend(old[at : at + length])
        _take_rows(segment, matrix, at, length, identity - first_file)


def _take_rows(segment: Segment, matrix: Matrix | None, at: int, length: int, file: int) -> None:
    width, paths = segment.row_bytes, segment.path_dims
    if matrix is None:
        segment.rows += bytes(length * width)
        segment.scales += bytes(4 * length)
        segment.path_rows += bytes(paths)
        segment.path_scales += bytes(4)
        return
    if matrix.dtype == "int8":
        segment.rows += matrix.rows[at * width : (at + length) * width]
    else:
        segment.rows += rows_of_planes(matrix, at, length)
    segment.scales += matrix.scales[4 * at : 4 * (at + length)]
    segment.path_rows += matrix.path_rows[file * paths : (file + 1) * paths]
    segment.path_scales += matrix.path_scales[4 * file : 4 * file + 4]
