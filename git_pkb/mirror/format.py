r"""The codec of artifacts: `.meta`, a line a record, and `.vec`, one msgpack map. Pure: bytes in, values out.

In: an `Artifact`. Out: bytes, the same for equal input anywhere. Reading checks everything, because
artifacts come from strangers: damage raises `BadArtifact`, a higher format `NewerFormat`, nothing else, and
memory stays within a small multiple of the input. Invariant: the lengths of records and gaps add up to the
blob, so no line depends on the lines above it: an edit inside one function changes its line and the header.

    git-pkb 1 <blob> <language> <cutter> <model>
    =<summary of the file>                                        (when there is one)
    <bytes> <newlines> <key> <kind>⇥<breadcrumb>⇥<excerpt>[⇥<definition>]…[⇥=<summary>][⇥><text>]
    - <bytes> <newlines>                                          (a gap: blank bytes that no piece holds)

A definition is `[<kind> ]<line> <lines>[ @<scope>][ <name>]`. What is left out is as in the definition
before: kind and scope; before the first stand the kind of the piece and the scope and name that its
breadcrumb ends in (most pieces are about one thing, which is named once). `@+` is the scope inside the
definition before, `@` alone none. Spaces inside a scope are `\s`. Control characters and backslashes are
escaped, so a line feed always ends a record, and a diff shown on a terminal cannot do anything to it.
"""

import re
import sys
from array import array

from git_pkb.errors import NewerFormat, PkbError
from git_pkb.model import DEFINITION_KINDS, Artifact, Definition, Piece, Record, Vectors
from git_pkb.slotted import value

FORMAT = 1

_MAGIC = "git-pkb"
_PIECE_KINDS = frozenset((*DEFINITION_KINDS, "code", "section", "text"))
_DEFINITION_KINDS = frozenset(DEFINITION_KINDS)
_KEY_BYTES = 8
_MOST_DIMS = 65536
_MOST_HEADER = 1024  # bytes; the longest honest one is far below

_HEADER = re.compile(
    r"(?P<blob>[0-9a-f]{40}|[0-9a-f]{64}) (?P<language>[a-z0-9_+#.-]{1,40})"
    r" (?P<cutter>[!-~]{1,200}) (?P<model>[!-~]{1,300})"
)
_PIECE = re.compile(r"([0-9]{1,10}) ([0-9]{1,10}) ([0-9a-f]{16}) ([a-z]+)")
_GAP = re.compile(r"- ([0-9]{1,10}) ([0-9]{1,10})")
_DEFINITION = re.compile(r"(?:([a-z]+) )?([0-9]{1,9}) ([0-9]{1,9})(?: @([^ ]*))?(?: (.+))?", re.DOTALL)

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ESCAPES |= {chr(c): f"\\x{c:02x}" for c in (*range(32), *range(127, 160)) if chr(c) not in _ESCAPES}
_ESCAPE = str.maketrans(_ESCAPES)
_UNESCAPE = re.compile(r"\\(x[0-9a-f]{2}|.|$)", re.DOTALL)
_UNESCAPED = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r", "s": " ", "z": "", "@": "@", "+": "+"}


class BadArtifact(PkbError):
    """An artifact that is damaged, or a pair that does not belong together."""

    exit_code = 1
    code = "bad-artifact"


@value
class Header:
    """What an artifact was made from: equal headers mean equal artifacts."""

    blob: str
    language: str
    cutter: str
    model: str


def header_of(artifact: Artifact) -> Header:
    """The header of an artifact."""
    return Header(artifact.blob, artifact.language, artifact.cutter, artifact.model)


# --- writing ---


def encode_meta(artifact: Artifact) -> bytes:
    """Write the text half. Texts must be free of surrogates (`BadArtifact` otherwise)."""
    a = artifact
    fields = f"{a.blob} {a.language} {a.cutter} {a.model}"
    if not _HEADER.fullmatch(fields):
        raise BadArtifact(f"cannot write an artifact with the header {fields!r}")
    lines = [f"{_MAGIC} {FORMAT} {fields}"]
    if a.summary:
        lines.append("=" + _escape(a.summary))
    at = newlines = 0
    for record in a.records:
        piece = record.piece
        if piece.start > at:
            lines.append(f"- {piece.start - at} {piece.line - 1 - newlines}")
        lines.append(_record_line(record))
        at, newlines = piece.end, piece.line - 1 + piece.newlines
    if a.size > at:
        lines.append(f"- {a.size - at} {a.newlines - newlines}")
    lines.append("")
    try:
        return "\n".join(lines).encode()
    except UnicodeEncodeError as error:
        raise BadArtifact(f"an artifact of {a.blob} holds text that is not Unicode: {error}") from error


def _record_line(record: Record) -> str:
    piece = record.piece
    fields = [
        f"{piece.end - piece.start} {piece.newlines} {record.key.hex()} {piece.kind}",
        _escape(piece.breadcrumb),
        _escape(record.excerpt),
    ]
    kind = piece.kind
    scope, name = _expected(piece.breadcrumb)
    inside = _join(scope, name)
    for d in piece.definitions:
        field = f"{d.line} {d.lines}" if d.kind == kind else f"{d.kind} {d.line} {d.lines}"
        if d.scope != scope:
            field += " @+" if d.scope == inside else " @" + _escape_scope(d.scope)
        if d.name != name:
            field += " " + _escape_name(d.name)
        fields.append(field)
        kind, scope, name = d.kind, d.scope, None
        inside = _join(scope, d.name)
    if record.summary:
        fields.append("=" + _escape(record.summary))
    if record.text is not None:
        fields.append(">" + _escape(record.text))
    return "\t".join(fields)


def has_vectors(artifact: Artifact) -> bool:
    """Whether the artifact has a `.vec` at all: not for the provider `none`, nor without a single record."""
    return artifact.vectors is not None and bool(artifact.records)


def encode_vec(artifact: Artifact) -> bytes:
    """Write the vector half of an artifact that `has_vectors`."""
    import msgpack

    vectors = artifact.vectors
    if vectors is None or len(vectors) != len(artifact.records):
        raise BadArtifact(f"an artifact of {artifact.blob} needs one vector a record")
    packed: bytes = msgpack.packb(
        {
            "format": FORMAT,
            "model": artifact.model,
            "dims": vectors.dims,
            "dtype": vectors.dtype,
            "scales": vectors.scales,
            "rows": vectors.rows,
        }
    )
    return packed


# --- reading ---


def read_header(data: bytes) -> Header:
    """Read the first line of a `.meta`; `data` may be just its beginning."""
    line, end, _ = data[:_MOST_HEADER].partition(b"\n")
    if not end:
        raise BadArtifact("no header")
    magic, _, rest = line.decode("ascii", "replace").partition(" ")
    number, _, fields = rest.partition(" ")
    if magic != _MAGIC or not re.fullmatch("[0-9]{1,9}", number):
        raise BadArtifact("not an artifact of git pkb")
    if int(number) > FORMAT:
        raise _newer(int(number))
    match = _HEADER.fullmatch(fields)
    if int(number) != FORMAT or not match:
        raise BadArtifact("a header that cannot be read")
    return Header(*match.groups())


def decode_meta(data: bytes) -> Artifact:
    """Read and check the text half; `vectors` is None."""
    header = read_header(data)
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise BadArtifact("text that is not UTF-8") from error
    if lines.pop() != "":
        raise BadArtifact("the last line is cut off")
    first = 1
    summary = ""
    if len(lines) > 1 and lines[1].startswith("="):
        summary = _unescape(lines[1][1:])
        first = 2
    records = []
    at = newlines = 0
    match_piece, match_gap = _PIECE.fullmatch, _GAP.fullmatch
    for line in lines[first:]:
        head, *fields = line.split("\t")
        if match := match_piece(head):
            size, feeds = int(match[1]), int(match[2])
            record = _record(match[3], match[4], fields, at, size, newlines, feeds)
            records.append(record)
        elif match := match_gap(line):
            size, feeds = int(match[1]), int(match[2])
        else:
            raise BadArtifact(f"a line that cannot be read: {line[:60]!r}")
        if not size > 0 or feeds > size:
            raise BadArtifact(f"sizes that cannot be: {line[:60]!r}")
        at += size
        newlines += feeds
    return Artifact(
        header.blob, header.language, header.cutter, header.model, at, newlines, tuple(records), None, summary
    )


def _record(key: str, kind: str, fields: list[str], at: int, size: int, newlines: int, feeds: int) -> Record:
    if kind not in _PIECE_KINDS or len(fields) < 2:
        raise BadArtifact("a record that cannot be read")
    summary, text = "", None
    definitions = []
    breadcrumb = _unescape(fields[0])
    before = kind
    scope, name = _expected(breadcrumb) if len(fields) > 2 else ("", None)
    outer = name  # of the definition before
    for field in fields[2:]:
        if match := _DEFINITION.fullmatch(field):
            what, line, lines, where, called = match.groups()
            if what is not None:
                before = what
            if where is not None:
                scope = _join(scope, outer) if where == "+" else _unescape(where)
            if called is not None:
                name = _unescape(called)
            if name is None or before not in _DEFINITION_KINDS:
                raise BadArtifact(f"a definition that cannot be read: {field[:60]!r}")
            definitions.append(Definition(name, before, int(line), int(lines), scope))
            outer, name = name, None
        elif field.startswith("="):
            summary = _unescape(field[1:])
        elif field.startswith(">"):
            text = _unescape(field[1:])
        else:
            raise BadArtifact(f"a field that cannot be read: {field[:60]!r}")
    piece = Piece(at, at + size, newlines + 1, feeds, kind, breadcrumb, tuple(definitions))
    return Record(piece, bytes.fromhex(key), _unescape(fields[1]), summary, text)


def decode_vec(data: bytes) -> tuple[str, Vectors]:
    """Read and check the vector half: model identity, rows."""
    import msgpack

    try:
        value = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        raise BadArtifact(f"vectors that cannot be read: {error}") from error
    if not isinstance(value, dict) or not isinstance(number := value.get("format"), int):
        raise BadArtifact("not vectors of git pkb")
    if number > FORMAT:
        raise _newer(number)
    model, dims, dtype = value.get("model"), value.get("dims"), value.get("dtype")
    scales, rows = value.get("scales"), value.get("rows")
    if (
        number != FORMAT
        or not isinstance(model, str)
        or type(dims) is not int
        or not 0 < dims <= _MOST_DIMS
        or dtype not in ("int8", "binary")
        or not isinstance(scales, bytes)
        or not isinstance(rows, bytes)
    ):
        raise BadArtifact("vectors with fields of a wrong type")
    vectors = Vectors(dims, dtype, scales, rows)
    count, rest = divmod(len(rows), vectors.row_bytes)
    if rest or len(scales) != (4 * count if dtype == "int8" else 0):
        raise BadArtifact("vectors whose sizes do not match")
    if not _scales_are_sound(scales):
        raise BadArtifact("vectors with scales that are no numbers, infinite or negative")
    return model, vectors


def _scales_are_sound(scales: bytes) -> bool:
    numbers = array("f", scales)
    if sys.byteorder == "big":
        numbers.byteswap()
    total = sum(numbers)  # a NaN or an infinity anywhere makes it one
    return not numbers or (total - total == 0.0 and min(numbers) >= 0.0)


def load(meta: bytes, vec: bytes | None) -> Artifact:
    """Read both halves of an artifact and check that they belong together.

    `vec` may be missing only where nothing was embedded: the model `none`, or a file without a record.
    """
    artifact = decode_meta(meta)
    if vec is None:
        if artifact.records and artifact.model != "none":
            raise BadArtifact("its vectors are missing")
        return artifact
    model, vectors = decode_vec(vec)
    _check_pair(artifact.model, len(artifact.records), model, len(vectors))
    a = artifact
    return Artifact(a.blob, a.language, a.cutter, a.model, a.size, a.newlines, a.records, vectors, a.summary)


def verify(meta: bytes, vec: bytes | None) -> tuple[Header, int]:
    """The checks of `load` that damage can fail, without building values: header and number of records.

    A tenth of the time of `load`, for looking over a whole index. What it lets pass and `load` does not is a
    well-formed line with an unknown word in it, which no accident makes.
    """
    header = read_header(meta)
    try:
        meta.decode()
    except UnicodeDecodeError as error:
        raise BadArtifact("text that is not UTF-8") from error
    if not meta.endswith(b"\n"):
        raise BadArtifact("the last line is cut off")
    records = 0
    for line in meta.split(b"\n")[1:-1]:
        if _PIECE_LINE.match(line):
            records += 1
        elif not _OTHER_LINE.match(line):
            raise BadArtifact(f"a line that cannot be read: {line[:60]!r}")
    if vec is None:
        if records and header.model != "none":
            raise BadArtifact("its vectors are missing")
    else:
        model, vectors = decode_vec(vec)
        _check_pair(header.model, records, model, len(vectors))
    return header, records


_PIECE_LINE = re.compile(
    rb"[0-9]{1,10} [0-9]{1,10} [0-9a-f]{16} [a-z]+\t[^\t]*\t[^\t]*(?:\t[a-z0-9=>][^\t]*)*\Z"
)
_OTHER_LINE = re.compile(rb"- [0-9]{1,10} [0-9]{1,10}\Z|=")


def _check_pair(model: str, records: int, vec_model: str, rows: int) -> None:
    if model != vec_model:
        raise BadArtifact(f"two halves of different models: {model} and {vec_model[:80]}")
    if records != rows:
        raise BadArtifact(f"{records} records but {rows} vectors")


def _newer(number: int) -> NewerFormat:
    return NewerFormat(
        f"the index has format {number}, this git pkb reads up to {FORMAT}",
        "upgrade git-pkb (pip install --upgrade git-pkb); the index was left as it is",
    )


def _escape(text: str) -> str:
    if text.isprintable() and "\\" not in text:
        return text
    return text.translate(_ESCAPE)


def _escape_scope(scope: str) -> str:
    escaped = _escape(scope).replace(" ", "\\s")
    return "\\+" if escaped == "+" else escaped


def _escape_name(name: str) -> str:
    escaped = _escape(name)
    if not escaped:
        return "\\z"
    return "\\" + escaped if escaped[0] == "@" else escaped


def _expected(breadcrumb: str) -> tuple[str, str | None]:
    """Scope and name of what a breadcrumb ends in: `class A > def b` gives `A` and `b`."""
    if not breadcrumb:
        return "", None
    *outer, last = [part.rpartition(" ")[2] for part in breadcrumb.split(" > ")]
    return ".".join(outer), last


def _join(scope: str, name: str | None) -> str:
    return f"{scope}.{name}" if scope and name else scope or name or ""


def _unescape(text: str) -> str:
    return _UNESCAPE.sub(_unescape_one, text) if "\\" in text else text


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 3:
        return chr(int(code[1:], 16))
    found = _UNESCAPED.get(code)
    if found is None:
        raise BadArtifact(f"an escape that cannot be read: {match[0]!r}")
    return found
