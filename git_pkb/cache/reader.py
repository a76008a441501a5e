"""The read side of the cache: what one search needs, and nothing more.

In: the folder of the cache. Out: lengths, postings, rows and file facts, as plain arrays. Invariant: ids are
ascending in every posting and agree between all columns. Postings may hold dead pieces and files; `live` and
the `live_*` counts say which they are, and averages are over the live ones.
"""

import os
import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import accumulate

from git_pkb.cache.matrix import Matrix, map_matrix
from git_pkb.cache.schema import DATABASE, JOURNAL, open_existing
from git_pkb.slotted import value

_MOST_VARIABLES = 500  # SQLite's limit is 999 in old builds

#: What reading may raise where the file is damaged in a place that opening it does not look at.
DAMAGE = sqlite3.DatabaseError

#: Ids (pieces, or files for the fields of paths) that hold a term, and how often (at most 255).
Posting = tuple["array[int]", bytes]


@value
class FileFacts:
    """A live file: its id, its path, and where its pieces are (`first` .. `first + pieces`)."""

    id: int
    path: str
    blob: str
    language: str
    size: int
    first: int
    pieces: int
    stale: bool


class CacheReader:
    """An open cache. Use as a context manager.

    `lengths`: terms of body, comments and names of each piece (uint16); `piece_file`: the file of each piece;
    `file_first`: the first piece of each file, and one more number, the count of all pieces (uint32); `live`:
    a byte a piece, None when all are alive.
    """

    def __init__(self, connection: sqlite3.Connection, folder: str) -> None:
        self.db, self.folder = connection, folder
        self.db.execute("BEGIN")  # one snapshot for everything that one search reads
        self.facts: dict[str, str] = dict(self.db.execute("SELECT key, value FROM facts").fetchall())
        self.lengths = (array("H"), array("H"), array("H"))
        self.piece_file: array[int] = array("I")
        counts: array[int] = array("I")
        live = bytearray()
        columns = (*self.lengths, self.piece_file, counts)
        for *parts, alive in self.db.execute(
            "SELECT body_lengths, comment_lengths, name_lengths, piece_file, file_pieces, live"
            " FROM segments ORDER BY id"
        ):
            for column, part in zip(columns, parts, strict=True):
                column.frombytes(part)
            live += alive
        self.file_first: array[int] = array("I", accumulate(counts, initial=0))
        self.live: bytearray | None = live if 0 in live else None
        sums = self.db.execute(
            "SELECT total(live_pieces), total(live_files),"
            " total(body_sum), total(comment_sum), total(name_sum) FROM segments"
        ).fetchone()
        self.live_pieces, self.live_files = int(sums[0]), int(sums[1])
        self._sums: tuple[float, float, float] = sums[2:]

    def __enter__(self) -> "CacheReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    @property
    def pieces(self) -> int:
        """All pieces, the dead ones too: one more than the greatest id."""
        return len(self.piece_file)

    @property
    def stale_files(self) -> int:
        """How many live files lack rows that only `reindex` makes."""
        count: int = self.db.execute("SELECT count(*) FROM files WHERE stale").fetchone()[0]
        return count

    def average_lengths(self) -> tuple[float, float, float]:
        """Mean length of each piece field over the live pieces, in terms; at least 1e-9."""
        count = max(1, self.live_pieces)
        body, comment, name = (max(total / count, 1e-9) for total in self._sums)
        return body, comment, name

    def posting(self, field: int, term: str) -> Posting:
        """Ids that hold a term, and how often."""
        return self.postings((field,), (term,)).get((field, term)) or (array("I"), b"")

    def postings(self, fields: Sequence[int], terms: Sequence[str]) -> dict[tuple[int, str], Posting]:
        """The postings of many terms in many fields; what is nowhere is left out."""
        found: dict[tuple[int, str], Posting] = {}
        of_fields = ",".join(map(str, fields))
        for part, marks in _in_parts(terms):
            rows = self.db.execute(
                "SELECT field, term, segment, data FROM postings"  # noqa: S608 - numbers and question marks
                f" WHERE field IN ({of_fields}) AND term IN ({marks})",
                part,
            ).fetchall()
            rows.sort(key=lambda row: row[2])
            for field, term, _, data in rows:
                _append(found, (field, term), data)
        return found

    def terms_with_prefix(self, field: int, prefix: str, most: int) -> list[str]:
        """The first `most` terms of a field that start with `prefix`, in order of code points."""
        rows = self.db.execute(
            "SELECT DISTINCT term FROM postings WHERE field=? AND term>=? AND term<? ORDER BY term LIMIT ?",
            (field, prefix, prefix + "\U0010ffff", most),
        )
        return [term for (term,) in rows]

    def document_counts(self, field: int, terms: Sequence[str]) -> dict[str, int]:
        """In how many live pieces (or files) each term occurs; what is nowhere is left out."""
        if self.live is not None:
            live = self.live if field <= _LAST_PIECE_FIELD else self._live_files()
            every = self.postings((field,), terms)
            return {term: sum(map(live.__getitem__, ids)) for (_, term), (ids, _) in every.items()}
        found: dict[str, int] = {}
        for part, marks in _in_parts(terms):
            rows = self.db.execute(
                "SELECT term, sum(length(data)) / 5 FROM postings"  # noqa: S608 - a number and question marks
                f" WHERE field={field:d} AND term IN ({marks}) GROUP BY term",
                part,
            )
            found.update(rows.fetchall())
        return found

    def _live_files(self) -> bytearray:
        """A byte a file: whether it is alive."""
        live = bytearray(len(self.file_first) - 1)
        for (number,) in self.db.execute("SELECT id FROM files"):
            live[number] = 1
        return live

    def definitions(self, folded: str) -> list[tuple[str, str, int, int]]:
        """Definitions of that folded name: (name, kind, lines, piece), in order of pieces."""
        return self.db.execute(
            "SELECT name, kind, lines, piece FROM definitions WHERE folded=? ORDER BY piece, name", (folded,)
        ).fetchall()

    def files(self, ids: Iterable[int] | None = None) -> list[FileFacts]:
        """Facts of the live files among `ids` (all when None), ordered by id."""
        columns = "SELECT id, path, blob, language, size, first_piece, pieces, stale FROM files"
        if ids is None:
            rows = self.db.execute(f"{columns} ORDER BY id").fetchall()
        else:
            rows = []
            for part, marks in _in_parts(sorted(ids)):
                rows += self.db.execute(f"{columns} WHERE id IN ({marks}) ORDER BY id", part).fetchall()
        return [
            FileFacts(i, os.fsdecode(path), blob, language, size, first, pieces, bool(stale))
            for i, path, blob, language, size, first, pieces, stale in rows
        ]

    def file_named(self, path: str) -> FileFacts | None:
        """Facts of the file at `path`."""
        row = self.db.execute("SELECT id FROM files WHERE path=?", (os.fsencode(path),)).fetchone()
        return self.files([row[0]])[0] if row else None

    def meta(self, file: int) -> bytes:
        """The `.meta` of a file's artifact."""
        row = self.db.execute("SELECT meta FROM metas WHERE file=?", (file,)).fetchone()
        data: bytes = row[0] if row else b""
        return data

    def matrices(self) -> Sequence[Matrix]:
        """The mapped vectors, one a segment that has any; a missing or short file counts as none."""
        rows = self.db.execute(
            "SELECT first_piece, pieces, first_file, files, dims, dtype, path_dims, matrix"
            " FROM segments ORDER BY id"
        ).fetchall()
        mapped = (map_matrix(os.path.join(self.folder, name), *shape) for *shape, name in rows if name)
        return [matrix for matrix in mapped if matrix is not None]


_LAST_PIECE_FIELD = 2  # segment.NAME; the fields after it are counted once a file


def _append(found: dict[tuple[int, str], Posting], key: tuple[int, str], data: bytes) -> None:
    """Add what one segment knows of a term: 4 bytes an id, then a byte a count."""
    count = len(data) // 5
    ids: array[int] = array("I")
    ids.frombytes(data[: 4 * count])
    counts = data[4 * count :]
    before = found.get(key)
    found[key] = (ids, counts) if before is None else (before[0] + ids, before[1] + counts)


def _in_parts(values: Sequence[object]) -> Iterable[tuple[Sequence[object], str]]:
    """Parts of a long list that one statement can take, each with its question marks."""
    for at in range(0, len(values), _MOST_VARIABLES):
        part = values[at : at + _MOST_VARIABLES]
        yield part, ",".join("?" * len(part))


def open_reader(folder: str) -> CacheReader | None:
    """Open the cache in `folder` for one search, or None when there is none that can be used."""
    connection = open_existing(os.path.join(folder, DATABASE))
    if connection is None:
        return None
    try:
        return CacheReader(connection, folder)
    except (sqlite3.Error, ValueError):
        connection.close()
        return None


def is_damage(error: BaseException | None) -> bool:
    """Whether a database is damaged, rather than locked or on a disk that is full."""
    return isinstance(error, DAMAGE) and (
        not isinstance(error, sqlite3.OperationalError) or "decode" in str(error)
    )


def throw_away(folder: str) -> None:
    """Remove a database that turned out to be damaged; the next search makes a new one."""
    for suffix in ("", JOURNAL, "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.remove(os.path.join(folder, DATABASE + suffix))
