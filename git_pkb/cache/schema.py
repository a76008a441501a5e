"""The tables of the cache and how the file is opened.

In: a folder. Out: sqlite3 connections. Invariant: a database of another CACHE_FORMAT, a damaged one, or one
that is not ours is never used: the caller builds a new one beside it and swaps it in.
"""

import os
import sqlite3
import sys

#: Raised whenever tables, posting layout or tokens change; costs users one rebuild of the cache.
CACHE_FORMAT = "2"

DATABASE, JOURNAL = "cache.db", "-journal"
_APPLICATION_ID = 0x706B6201

# Numbers in blobs are in the machine's byte order: lengths uint16, ids and counts uint32, liveness a byte
# each. `live_pieces` and the sums of lengths count the live pieces alone. A file's `.meta` has a table of its
# own, so that going through all files reads no more than their names.
_TABLES = """
CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE segments(
    id INTEGER PRIMARY KEY, first_piece INTEGER, pieces INTEGER, first_file INTEGER, files INTEGER,
    live_pieces INTEGER, live_files INTEGER, body_sum INTEGER, comment_sum INTEGER, name_sum INTEGER,
    dims INTEGER, dtype TEXT, path_dims INTEGER, matrix TEXT,
    body_lengths BLOB, comment_lengths BLOB, name_lengths BLOB, piece_file BLOB, file_pieces BLOB, live BLOB);
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path BLOB UNIQUE, blob TEXT, language TEXT, size INTEGER,
    first_piece INTEGER, pieces INTEGER, stale INTEGER);
CREATE INDEX files_stale ON files(id) WHERE stale;
CREATE TABLE metas(file INTEGER PRIMARY KEY, meta BLOB);
CREATE TABLE postings(
    field INTEGER, term TEXT, segment INTEGER, data BLOB, PRIMARY KEY(field, term, segment)) WITHOUT ROWID;
CREATE TABLE definitions(folded TEXT, name TEXT, kind TEXT, lines INTEGER, piece INTEGER);
CREATE INDEX definitions_folded ON definitions(folded);
CREATE INDEX definitions_piece ON definitions(piece);
"""


def create(path: str) -> sqlite3.Connection:
    """Make a new, empty database at `path`."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA page_size=8192")
    connection.execute("PRAGMA journal_mode=OFF")  # nobody reads it before it is swapped in
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
    connection.executescript(_TABLES)
    connection.execute("INSERT INTO facts VALUES('format', ?)", (_format(),))
    return connection


def open_existing(path: str, *, write: bool = False) -> sqlite3.Connection | None:
    """Open the database at `path`, or None when there is none that can be used."""
    if not os.path.isfile(path):
        return None
    uri = f"file:{_quote(path)}?mode={'rw' if write else 'ro'}"
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10.0)
        row = connection.execute("SELECT value FROM facts WHERE key='format'").fetchone()
    except sqlite3.Error:
        return None
    if row is None or row[0] != _format():
        connection.close()
        return None
    return connection


def roll_back(path: str) -> None:
    """Undo what a killed writer left half done; the caller holds the lock, so there is no other writer.

    Readers cannot do it: they open the file without the right to write, and then SQLite refuses.
    """
    if os.path.exists(path + JOURNAL):
        connection = open_existing(path, write=True)
        if connection is not None:
            connection.close()


def _format() -> str:
    """Format and byte order: the arrays inside are in the order of the machine."""
    return f"{CACHE_FORMAT}-{sys.byteorder}"


def _quote(path: str) -> str:
    """Percent-encode a path for a SQLite URI (`urllib.parse` does it too, and takes 1.4 ms to load)."""
    return "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in os.fsencode(path))


_PLAIN = frozenset(b"/-._~" + bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123)))
