"""The values that pass between the stages; no behaviour that needs another module.

In: nothing. Out: frozen dataclasses. Invariant: a path is a `str` decoded from git's bytes as UTF-8
with `surrogateescape`, relative to the top of the repository, with `/`; an object name is lower-case hex;
a span is in bytes of the blob, half open; a line is 1-based.
"""

from git_pkb.slotted import value

MODE_TYPE_MASK = 0o170000
MODE_REGULAR = 0o100000


@value
class Entry:
    """One path of a tree or of the staging area."""

    path: str
    oid: str
    mode: int

    @property
    def is_regular(self) -> bool:
        """Whether this is a plain file (not a symlink, not a submodule)."""
        return self.mode & MODE_TYPE_MASK == MODE_REGULAR


@value
class Definition:
    """A named thing defined inside a piece.

    `line` is the offset of its first line (0-based, decorators and signature, without its doc comment)
    from the first line of the piece; `lines` how many lines it spans (it may reach beyond the piece);
    `scope` the names it is nested in, outermost first, joined by `.` (`""` at top level).
    `kind` is one of DEFINITION_KINDS.
    """

    name: str
    kind: str
    line: int
    lines: int
    scope: str = ""


#: What a definition can be. The ranking weighs these classes (ranking.md): definitions with a body,
#: implementation blocks, prototypes, and constants or fields; headings are sections of prose.
DEFINITION_KINDS = (
    "function", "method", "class", "struct", "enum", "interface", "trait", "type", "module",
    "macro", "impl", "prototype", "constant", "variable", "field", "section",
)  # fmt: skip


@value
class Piece:
    """A stretch of a file that is embedded as one.

    `start`, `end`: span in bytes, which ends on a non-blank byte; `line`: line of its first byte; `newlines`:
    line feeds in the span, so `line + newlines` is its last line;
    `kind`: kind of its main definition, else `code`, `section` (prose under a heading) or `text`;
    `breadcrumb`: the path of its main symbol from the outside in, e.g. `class Artifact > def encode`,
    or of headings `Install > From source`; `""` where there is none.
    """

    start: int
    end: int
    line: int
    newlines: int
    kind: str
    breadcrumb: str
    definitions: tuple[Definition, ...] = ()


@value
class Vectors:
    """Quantised embeddings, one row a piece, in the order of the pieces.

    `dtype` `int8`: `rows` is n*dims signed bytes and `scales` n little-endian float32; the vector of row i is
    `scales[i] * rows[i]` and has unit length (a zero row has scale 0). `binary`: `rows` is n*ceil(dims/8)
    bytes of sign bits (bit set = component > 0, most significant bit first), `scales` is empty.
    """

    dims: int
    dtype: str
    scales: bytes
    rows: bytes

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dims if self.dtype == "int8" else (self.dims + 7) // 8

    def __len__(self) -> int:
        return len(self.rows) // self.row_bytes if self.dims else 0


@value
class Record:
    """One piece as the artifact keeps it.

    `key`: reuse key, 8 bytes: a hash of exactly what was embedded; `excerpt`: first telling line of its text;
    `summary`: what a summarizer wrote, or `""`; `text`: the whole text where artifacts keep it, else None.
    """

    piece: Piece
    key: bytes
    excerpt: str
    summary: str = ""
    text: str | None = None


@value
class Artifact:
    """The index of one blob: a function of (blob, language, cutter version, model identity), not of the path.

    `size` is the length of the blob in bytes, `newlines` its line feeds; `vectors` has one row a record, or
    is None for the provider `none`. `summary` is the roll-up of the whole file, or `""`.
    """

    blob: str
    language: str
    cutter: str
    model: str
    size: int
    newlines: int
    records: tuple[Record, ...]
    vectors: Vectors | None
    summary: str = ""


@value
class Skip:
    """A tracked file that is not indexed, and why."""

    path: str
    reason: str
