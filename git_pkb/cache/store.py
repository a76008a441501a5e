"""The write side of the cache: segments go in, files die, small segments are merged.

In: `Segment`s and the ids of files that are gone. Out: a database and one matrix file a segment.
Invariant: a change is one SQLite transaction; a matrix file is complete and flushed before the transaction
that names it commits, and is removed only after no row names it. A full build happens in a second
database that replaces the first by a rename.
"""

import os
import sqlite3
from array import array
from collections.abc import Iterable, Mapping
from itertools import compress

from git_pkb.cache.bits import sign_bits
from git_pkb.cache.compact import delete, merged, segments_to_merge
from git_pkb.cache.matrix import planes
from git_pkb.cache.schema import DATABASE, JOURNAL, create, open_existing
from git_pkb.cache.segment import NAME, Segment
from git_pkb.errors import CannotWrite

_BUILDING = ".new"
_MATRIX_PREFIX, _MATRIX_SUFFIX = "cache.rows-", ".bin"


class CacheWriter:
    """One writer at a time (the caller holds the lock). A context manager that leaves nothing half done."""

    def __init__(self, folder: str, *, fresh: bool) -> None:
        self.folder = folder
        self._final = os.path.join(folder, DATABASE)
        self._building: str | None = None
        try:
            os.makedirs(folder, exist_ok=True)
            existing = None if fresh else open_existing(self._final, write=True)
            if existing is None:
                self._building = f"{self._final}.{os.getpid()}{_BUILDING}"
                _remove(self._building)
                existing = create(self._building)
            self.db: sqlite3.Connection = existing
            self.db.execute("BEGIN IMMEDIATE")
        except (OSError, sqlite3.Error) as error:
            raise _cannot(folder, error) from error

    @property
    def fresh(self) -> bool:
        """Whether this writes a new database (nothing of an old one is in it)."""
        return self._building is not None

    def __enter__(self) -> "CacheWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if kind is None:
                self._compact()
                self.db.execute("COMMIT")
            elif self.db.in_transaction:
                self.db.execute("ROLLBACK")
            if kind is None and self._building is not None:
                self.db.close()
                _remove(self._final + JOURNAL)  # of the old database; it must not be applied to the new one
                os.replace(self._building, self._final)
                self.db = open_existing(self._final) or create(":memory:")
            if kind is None:
                self._drop_leftovers()
        except (OSError, sqlite3.Error) as failed:
            raise _cannot(self.folder, failed) from failed
        finally:
            self.db.close()
            if kind is not None and self._building is not None:
                _remove(self._building)
        if isinstance(error, sqlite3.Error):
            raise _cannot(self.folder, error) from error

    def set_facts(self, facts: Mapping[str, str]) -> None:
        """Remember what the cache stands for (model identity, what it was brought in line with)."""
        self.db.executemany("INSERT OR REPLACE INTO facts VALUES(?, ?)", facts.items())

    def files(self) -> dict[str, tuple[int, str, str, int]]:
        """Every live file: path -> (id, blob, language, stale)."""
        rows = self.db.execute("SELECT path, id, blob, language, stale FROM files")
        return {os.fsdecode(path): (i, blob, language, stale) for path, i, blob, language, stale in rows}

    def remove(self, ids: Iterable[int]) -> None:
        """Take files out: their rows go, their pieces are marked dead."""
        spans = []
        for identity in ids:
            row = self.db.execute(
                "SELECT id, first_piece, pieces FROM files WHERE id=?", (identity,)
            ).fetchone()
            if row is not None:
                spans.append(row)
                self.db.execute("DELETE FROM files WHERE id=?", (identity,))
                self.db.execute("DELETE FROM metas WHERE file=?", (identity,))
                self.db.execute(
                    "DELETE FROM definitions WHERE piece>=? AND piece<?", (row[1], row[1] + row[2])
                )
        if not spans:
            return
        segments = self.db.execute(
            "SELECT id, first_file, files, first_piece, pieces, live,"
            " body_lengths, comment_lengths, name_lengths FROM segments"
        ).fetchall()
        for segment, first_file, files, first, pieces, live, *lengths in segments:
            inside = [(a, n) for i, a, n in spans if first_file <= i < first_file + files]
            if inside:
                changed = bytearray(live)
                for a, n in inside:
                    changed[a - first : a - first + n] = bytes(n)
                sums = (_live_sum(column, changed) for column in lengths)
                self.db.execute(
                    "UPDATE segments SET live=?, live_pieces=?, live_files=live_files-?,"
                    " body_sum=?, comment_sum=?, name_sum=? WHERE id=?",
                    (bytes(changed), pieces - changed.count(0), len(inside), *sums, segment),
                )

    def add(self, segment: Segment) -> None:
        """Store a segment after all others."""
        if not segment.files:
            return
        execute, executemany = self.db.execute, self.db.executemany
        row = execute("SELECT max(first_piece + pieces), max(first_file + files) FROM segments").fetchone()
        first_piece, first_file = row[0] or 0, row[1] or 0
        columns = {
            "first_piece": first_piece,
            "pieces": segment.pieces,
            "first_file": first_file,
            "files": len(segment.files),
            "live_pieces": segment.pieces,
            "live_files": len(segment.files),
            "body_sum": sum(segment.lengths[0]),
            "comment_sum": sum(segment.lengths[1]),
            "name_sum": sum(segment.lengths[2]),
            "dims": segment.dims,
            "dtype": segment.row_dtype,
            "path_dims": segment.path_dims,
            "matrix": self._write_matrix(segment),
            "body_lengths": segment.lengths[0].tobytes(),
            "comment_lengths": segment.lengths[1].tobytes(),
            "name_lengths": segment.lengths[2].tobytes(),
            "piece_file": _shifted(segment.piece_file, first_file),
            "file_pieces": array("I", [file.pieces for file in segment.files]).tobytes(),
            "live": b"\1" * segment.pieces,
        }
        number = execute(
            f"INSERT INTO segments({','.join(columns)}) VALUES({','.join('?' * len(columns))})",
            tuple(columns.values()),
        ).lastrowid
        at = first_piece
        rows = []
        for identity, file in enumerate(segment.files, first_file):
            rows.append(
                (
                    identity,
                    os.fsencode(file.path),
                    file.blob,
                    file.language,
                    file.size,
                    at,
                    file.pieces,
                    file.stale,
                )
            )
            at += file.pieces
        executemany("INSERT INTO files VALUES(?,?,?,?,?,?,?,?)", rows)
        executemany(
            "INSERT INTO metas VALUES(?,?)",
            ((i, file.meta) for i, file in enumerate(segment.files, first_file)),
        )
        executemany(
            "INSERT INTO definitions VALUES(?,?,?,?,?)",
            ((d.folded, d.name, d.kind, d.lines, first_piece + d.piece) for d in segment.definitions),
        )
        executemany(
            "INSERT INTO postings VALUES(?,?,?,?)",
            (
                (field, term, number, _shifted(ids, first_piece if field <= NAME else first_file) + counts)
                for field, postings in enumerate(segment.postings)
                for term, (ids, counts) in sorted(postings.items())
            ),
        )

    def _compact(self) -> None:
        """Merge segments when there are many, or much in them is dead."""
        ids = segments_to_merge(self.db)
        if ids:
            whole = merged(self.db, self.folder, ids)
            delete(self.db, ids)
            self.add(whole)

    def _write_matrix(self, segment: Segment) -> str | None:
        """Write the file of a segment's vectors (matrix.py has the layout); None when it has none."""
        if not segment.dims and not segment.path_dims:
            return None
        name = f"{_MATRIX_PREFIX}{os.urandom(8).hex()}{_MATRIX_SUFFIX}"
        int8 = segment.row_dtype == "int8"
        bits = sign_bits(segment.rows, segment.dims) if int8 else segment.rows
        try:
            with open(os.path.join(self.folder, name), "wb") as out:
                out.writelines((planes(bits, segment.dims), segment.scales, segment.path_scales))
                if int8:
                    out.write(segment.rows)
                out.write(segment.path_rows)
        except OSError as error:
            raise _cannot(self.folder, error) from error
        return name

    def _drop_leftovers(self) -> None:
        """Remove matrices that nothing names, and databases of builds that were killed."""
        named = {name for (name,) in self.db.execute("SELECT matrix FROM segments")}
        for entry in os.listdir(self.folder):
            unnamed = entry.startswith(_MATRIX_PREFIX) and entry not in named
            if unnamed or (entry.startswith(DATABASE) and entry.endswith(_BUILDING)):
                _remove(os.path.join(self.folder, entry))


def _shifted(ids: "array[int]", base: int) -> bytes:
    """Ids of a segment as ids of the whole cache, so that a query adds nothing up."""
    return (array("I", [i + base for i in ids]) if base else ids).tobytes()


def _live_sum(column: bytes, live: bytearray) -> int:
    """Sum of the lengths (uint16) of the live pieces."""
    lengths = array("H")
    lengths.frombytes(column)
    return sum(compress(lengths, live))


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _cannot(folder: str, error: Exception) -> CannotWrite:
    return CannotWrite(
        f"cannot write the cache in {folder}: {error}",
        "free space or set GIT_PKB_CACHE_DIR to a folder that can be written",
    )
