"""A segment: the word counts, definitions and vectors of a run of files, before they are stored.

In: files, piece by piece, as text fields and rows. Out: arrays that `store.py` writes as they are.
Invariant: ids inside a segment count from 0 for pieces and for files; the store adds the segment's base.
A segment is never changed once stored (dead files are only marked), so a change costs what changed.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence

from git_pkb.model import Vectors
from git_pkb.slotted import made_by, mutable, value
from git_pkb.tokens import Tokenizer

#: Fields of the word index. BODY is the whole text of a piece; COMMENT and NAME repeat a part of it.
#: STEM (of the file name) and FOLDER (the last three) are counted once a file.
BODY, COMMENT, NAME, STEM, FOLDER = FIELDS = range(5)

#: Of one field: term -> ascending ids, and how often the term occurs in each (at most 255).
Postings = dict[str, "tuple[array[int], bytearray]"]
_MOST_COUNT = 255
_MOST_LENGTH = 65535


@value
class FileRow:
    """What the cache keeps of a file beside its postings. `meta` is its artifact's `.meta`."""

    path: str
    blob: str
    language: str
    size: int
    pieces: int
    stale: bool
    meta: bytes


@value
class DefinitionRow:
    """A definition as the ranking looks it up: by its folded name."""

    folded: str
    name: str
    kind: str
    lines: int
    piece: int


@mutable
class Segment:
    """Columns of a run of files; `postings[field][term]` is (ids, counts), ids ascending."""

    dims: int = 0
    row_dtype: str = "int8"
    path_dims: int = 0
    files: list[FileRow] = made_by(list)
    postings: "tuple[Postings, ...]" = made_by(lambda: tuple({} for _ in FIELDS))
    lengths: "tuple[array[int], array[int], array[int]]" = made_by(
        lambda: (array("H"), array("H"), array("H"))
    )
    piece_file: "array[int]" = made_by(lambda: array("I"))
    definitions: list[DefinitionRow] = made_by(list)
    rows: bytearray = made_by(bytearray)
    scales: bytearray = made_by(bytearray)
    path_rows: bytearray = made_by(bytearray)
    path_scales: bytearray = made_by(bytearray)

    @property
    def pieces(self) -> int:
        """Number of pieces in the segment."""
        return len(self.piece_file)

    def add_file(
        self,
        row: FileRow,
        texts: Sequence[str],
        comments: Sequence[str],
        names: Sequence[Sequence[str]],
        definitions: Iterable[DefinitionRow],
        path_fields: tuple[Sequence[str], Sequence[str]],
        tokenizer: Tokenizer,
    ) -> None:
        """Count the words of one file.

        `texts`, `comments`, `names`: for each piece its text, its comments, the names it defines;
        `definitions`: their rows, pieces counted from 0 in this file; `path_fields`: words of the stem and of
        the folders.
        """
        first, number = len(self.piece_file), len(self.files)
        self.files.append(row)
        count = tokenizer.count
        for i, text in enumerate(texts):
            body = count(text)
            comment = count(comments[i]) if comments[i] else {}
            named: dict[str, int] = {}
            for name in names[i]:
                for term, n in count(name).items():
                    named[term] = named.get(term, 0) + n
            for field, counts in ((BODY, body), (COMMENT, comment), (NAME, named)):
                _add(self.postings[field], first + i, counts)
                self.lengths[field].append(min(sum(counts.values()), _MOST_LENGTH))
            self.piece_file.append(number)
        for field, texts_of in ((STEM, path_fields[0]), (FOLDER, path_fields[1])):
            _add(self.postings[field], number, count(" ".join(texts_of)))
        self.definitions.extend(
            DefinitionRow(d.folded, d.name, d.kind, d.lines, first + d.piece) for d in definitions
        )

    def add_rows(self, vectors: Vectors | None, pieces: int, path_vector: Vectors | None) -> None:
        """Append the rows of one file; zero rows where it has none, so that rows and pieces stay in step."""
        if vectors is not None and vectors.dims == self.dims and len(vectors) == pieces:
            self.rows += vectors.rows
            self.scales += vectors.scales if vectors.dtype == "int8" else _unit_scales(vectors)
        else:
            self.rows += bytes(pieces * self.row_bytes)
            self.scales += bytes(4 * pieces)
        if path_vector is not None and path_vector.dims == self.path_dims:
            self.path_rows += path_vector.rows
            self.path_scales += path_vector.scales
        else:
            self.path_rows += bytes(self.path_dims)
            self.path_scales += bytes(4)

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of this segment's vectors."""
        return self.dims if self.row_dtype == "int8" else (self.dims + 7) // 8

    def extend(self, other: "Segment") -> None:
        """Append another segment (made by another process)."""
        base, file_base = len(self.piece_file), len(self.files)
        for field, (mine, others) in enumerate(zip(self.postings, other.postings, strict=True)):
            offset = base if field <= NAME else file_base
            for term, (ids, counts) in others.items():
                moved = array("I", [i + offset for i in ids]) if offset else ids
                posting = mine.get(term)
                if posting is None:
                    mine[term] = (moved, counts)
                else:
                    posting[0].extend(moved)
                    posting[1].extend(counts)
        for column, more in zip(self.lengths, other.lengths, strict=True):
            column.extend(more)
        self.piece_file.extend(n + file_base for n in other.piece_file)
        self.files.extend(other.files)
        self.definitions.extend(
            DefinitionRow(d.folded, d.name, d.kind, d.lines, base + d.piece) for d in other.definitions
        )
        for attribute in ("rows", "scales", "path_rows", "path_scales"):
            getattr(self, attribute).extend(getattr(other, attribute))


def _add(postings: Postings, identity: int, counts: Mapping[str, int]) -> None:
    """Append the counts of one piece or file; identities must come in ascending order."""
    for term, n in counts.items():
        posting = postings.get(term)
        if posting is None:
            posting = postings[term] = (array("I"), bytearray())
        posting[0].append(identity)
        posting[1].append(min(n, _MOST_COUNT))


def _unit_scales(vectors: Vectors) -> bytes:
    """Scales of sign-bit rows: 1/sqrt(dims) makes the row of +-1 a unit vector."""
    return array("f", [1.0 / vectors.dims**0.5] * len(vectors)).tobytes()
