"""The codec of artifacts: nothing is lost, nothing bad is taken, equal input gives equal bytes."""

import dataclasses
import struct
import tracemalloc

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_pkb.errors import NewerFormat
from git_pkb.mirror.format import (
    BadArtifact,
    Header,
    decode_meta,
    decode_vec,
    encode_meta,
    encode_vec,
    has_vectors,
    header_of,
    load,
    read_header,
    verify,
)
from git_pkb.model import DEFINITION_KINDS, Artifact, Definition, Piece, Record, Vectors

ODD = [
    "",
    " ",
    "@",
    "+",
    "@+",
    ".",
    "\\",
    "\\s",
    "=x",
    ">",
    "-",
    "a b",
    "\n",
    "\t",
    "\r\n",
    "\x1b[31m",
    "1 2",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [*ODD, "class A", "class A > def b", "A.b", "\x85", "\u2028", "é", "日本"]
)
NUMBERS = st.integers(0, 10**6)
DEFINITIONS = st.builds(Definition, TEXTS, st.sampled_from(DEFINITION_KINDS), NUMBERS, NUMBERS, TEXTS)
KINDS = st.sampled_from([*DEFINITION_KINDS, "code", "text"])


@st.composite
def artifacts(draw, model="local-1:256:int8"):
    """Any artifact the program may make: pieces in order, gaps between some of them."""
    records = []
    at = line = 0
    for _ in range(draw(st.integers(0, 6))):
        gap = draw(st.integers(0, 3))
        at, line = at + gap, line + draw(st.integers(0, gap))
        size = draw(st.integers(1, 5000))
        newlines = draw(st.integers(0, size))
        definitions = tuple(draw(st.lists(DEFINITIONS, max_size=4)))
        piece = Piece(at, at + size, line + 1, newlines, draw(KINDS), draw(TEXTS), definitions)
        key = draw(st.binary(min_size=8, max_size=8))
        records.append(Record(piece, key, draw(TEXTS), draw(TEXTS), draw(st.none() | TEXTS)))
        at, line = at + size, line + newlines
    gap = draw(st.integers(0, 3))
    blob = draw(st.sampled_from(["a" * 40, "0123456789abcdef" * 4]))
    language = draw(st.sampled_from(["python", "c++", "text"]))
    newlines = line + draw(st.integers(0, gap))
    return Artifact(blob, language, "1", model, at + gap, newlines, tuple(records), None, draw(TEXTS))


@st.composite
def with_vectors(draw):
    """An artifact and rows to match."""
    artifact = draw(artifacts())
    dims, count = draw(st.integers(1, 40)), len(artifact.records)
    if draw(st.booleans()):
        scales = draw(st.lists(st.floats(0, 1, width=32), min_size=count, max_size=count))
        packed = struct.pack(f"<{count}f", *scales)
        rows = draw(st.binary(min_size=count * dims, max_size=count * dims))
        vectors = Vectors(dims, "int8", packed, rows)
    else:
        width = (dims + 7) // 8
        vectors = Vectors(
            dims, "binary", b"", draw(st.binary(min_size=count * width, max_size=count * width))
        )
    return dataclasses.replace(artifact, vectors=vectors)


@given(artifacts())
@settings(max_examples=300, deadline=None)
def test_meta_round_trip(artifact):
    """Whatever is written is read back equal."""
    assert decode_meta(encode_meta(artifact)) == artifact


@given(with_vectors())
@settings(max_examples=150, deadline=None)
def test_pair_round_trip(artifact):
    """Both halves give the artifact back; a file without records needs no vectors."""
    meta = encode_meta(artifact)
    vec = encode_vec(artifact) if has_vectors(artifact) else None
    expected = artifact if artifact.records else dataclasses.replace(artifact, vectors=None)
    assert load(meta, vec) == expected
    assert verify(meta, vec) == (header_of(artifact), len(artifact.records))


@given(artifacts())
@settings(max_examples=100, deadline=None)
def test_a_record_is_a_line(artifact):
    """No text breaks a line or reaches a terminal as a control character."""
    text = encode_meta(artifact).decode()
    gaps = sum(line.startswith("- ") for line in text.split("\n"))
    assert len(text.split("\n")) == 2 + len(artifact.records) + gaps + bool(artifact.summary)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text)


def piece(start, end, line, newlines, **fields):
    """A plain piece."""
    return Piece(start, end, line, newlines, fields.get("kind", "code"), fields.get("breadcrumb", ""))


def example(*records, blob="a" * 40, size=None, newlines=0, **fields):
    """A plain artifact."""
    end = records[-1].piece.end if records else 0
    model = fields.get("model", "local-1:8:int8")
    return Artifact(
        blob,
        "python",
        "1",
        model,
        size or end,
        newlines,
        records,
        fields.get("vectors"),
        fields.get("summary", ""),
    )


def test_an_insertion_changes_one_line_and_the_header():
    """Lengths, not offsets: what lies below an edit keeps its line."""
    before = [
        Record(piece(i * 10, i * 10 + 10, i + 1, 1), bytes(7) + bytes([i]), f"line {i}") for i in range(5)
    ]
    grown = Record(piece(10, 25, 2, 2), b"new key!", "line 1")
    below = [
        Record(piece(r.piece.start + 5, r.piece.end + 5, r.piece.line + 1, 1), r.key, r.excerpt)
        for r in before[2:]
    ]
    old = encode_meta(example(*before, newlines=5)).split(b"\n")
    new = encode_meta(example(before[0], grown, *below, blob="b" * 40, newlines=6)).split(b"\n")
    assert [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b] == [0, 2]


def test_the_main_definition_is_named_once():
    """What the breadcrumb says already is not repeated: artifacts stay small."""
    definition = Definition("encode", "method", 0, 12, "Artifact")
    inner = Definition("helper", "method", 3, 2, "Artifact.encode")
    it = Piece(0, 9, 1, 0, "method", "class Artifact > def encode", (definition, inner))
    data = encode_meta(example(Record(it, bytes(8), "def encode(self):")))
    assert data.decode().split("\n")[1].split("\t")[3:] == ["0 12", "3 2 @+ helper"]


def test_text_that_is_not_unicode_cannot_be_written():
    """A lone surrogate is refused when writing, instead of making a file nobody can read."""
    with pytest.raises(BadArtifact):
        encode_meta(example(Record(piece(0, 1, 1, 0), bytes(8), "\udc80")))


def test_equal_input_gives_equal_bytes():
    """No order of a dictionary and no time is in the bytes."""
    a = example(Record(piece(0, 1, 1, 0), bytes(8), "x"), vectors=Vectors(8, "int8", bytes(4), bytes(8)))
    assert encode_vec(a) == encode_vec(a)
    assert list(msgpack.unpackb(encode_vec(a))) == ["format", "model", "dims", "dtype", "scales", "rows"]


HEADER = b"git-pkb 1 " + b"a" * 40 + b" python 1 local-1:8:int8\n"
GOOD = HEADER + b"10 1 0000000000000000 code\t\tx\n"


@pytest.mark.parametrize(
    "meta",
    [
        b"",
        b"\n",
        b"hello\n",
        HEADER.rstrip(b"\n"),
        HEADER.replace(b"python", b"py thon"),
        HEADER.replace(b"git-pkb 1", b"git-pkb one"),
        HEADER.replace(b"git-pkb 1", b"git-pkb 0"),
        HEADER.replace(b"a" * 40, b"a" * 39),
        HEADER.replace(b"a" * 40, b"A" * 40),
        GOOD[:-1],
        GOOD + b"\n",
        GOOD + b"10 1 0000000000000000 code\n",
        GOOD + b"10 1 000000000000000 code\t\tx\n",
        GOOD + b"10 1 0000000000000000 surprise\t\tx\n",
        GOOD + b"0 0 0000000000000000 code\t\tx\n",
        GOOD + b"1 2 0000000000000000 code\t\tx\n",
        GOOD + b"-1 0 0000000000000000 code\t\tx\n",
        GOOD + "\u0661 0 0000000000000000 code\t\tx\n".encode(),
        GOOD + b"99999999999 0 0000000000000000 code\t\tx\n",
        GOOD + b"- 1\n",
        GOOD + b"- 0 0\n",
        GOOD + b"10 1 0000000000000000 code\t\t\\q\n",
        GOOD + b"10 1 0000000000000000 code\t\t\\\n",
        GOOD + b"10 1 0000000000000000 code\t\t\\x9\n",
        GOOD + b"10 1 0000000000000000 code\t\tx\tnonsense\n",
        GOOD + b"10 1 0000000000000000 code\t\tx\tgadget 0 1 name\n",
        GOOD + b"10 1 0000000000000000 code\t\tx\t0 1\n",
        GOOD + b"10 1 0000000000000000 code\t\t\xff\n",
    ],
)
def test_bad_meta_is_refused(meta):
    """Each kind of damage has one name."""
    with pytest.raises(BadArtifact):
        decode_meta(meta)


def packed(**changes):
    """A `.vec` with some fields replaced (None: left out)."""
    fields = {"format": 1, "model": "m", "dims": 8, "dtype": "int8", "scales": bytes(4), "rows": bytes(8)}
    fields |= changes
    return msgpack.packb({name: value for name, value in fields.items() if value is not None})


NAN, INFINITE = struct.pack("<f", float("nan")), struct.pack("<f", float("inf"))


@pytest.mark.parametrize(
    "vec",
    [
        b"",
        b"\xc1",
        b"\xdf\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
        b"\x91" * 5000 + b"\xc0",
        b"\x93\x01\x02\x03",
        packed() + b"x",
        packed()[:-1],
        packed(format=None),
        packed(format="1"),
        packed(format=0),
        packed(model=None),
        packed(model=b"m"),
        packed(dims=0),
        packed(dims=-8),
        packed(dims=2**40),
        packed(dims=True),
        packed(dims=8.0),
        packed(dtype="float32"),
        packed(dtype=["int8"]),
        packed(scales=None),
        packed(scales=bytes(3)),
        packed(scales=bytes(8)),
        packed(scales=NAN),
        packed(scales=INFINITE),
        packed(scales=struct.pack("<f", -1.0)),
        packed(rows=bytes(7)),
        packed(rows="text"),
        packed(dtype="binary"),
        msgpack.packb({1: 2}),
        msgpack.packb(msgpack.Timestamp(1)),
    ],
)
def test_bad_vectors_are_refused(vec):
    """Wrong sizes, types, numbers and foreign bytes, without allocating what they claim."""
    tracemalloc.start()
    with pytest.raises(BadArtifact):
        decode_vec(vec)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


@given(st.binary(max_size=300))
@settings(max_examples=500, deadline=None)
def test_foreign_bytes_raise_nothing_else(data):
    """Whatever a file holds, reading it ends in one of our two errors."""
    for read in (decode_meta, decode_vec, read_header, lambda d: load(GOOD, d), lambda d: load(d, None)):
        with pytest.raises((BadArtifact, NewerFormat)):
            read(data)


@given(artifacts(), st.data())
@settings(max_examples=300, deadline=None)
def test_damage_raises_nothing_else(artifact, data):
    """A flipped byte or a cut either reads or is named as damage."""
    meta = bytearray(encode_meta(artifact))
    at = data.draw(st.integers(0, len(meta) - 1))
    meta[at] = data.draw(st.integers(0, 255))
    for damaged in (bytes(meta), bytes(meta[:at])):
        for read in (decode_meta, lambda d: verify(d, None)):
            try:
                read(damaged)
            except (BadArtifact, NewerFormat):
                continue


def test_halves_must_belong_together():
    """Another model, another number of rows, or a missing half is damage."""
    one = packed(model="local-1:8:int8")
    assert len(load(GOOD, one).records) == 1
    for vec in (packed(model="other"), packed(model="local-1:8:int8", scales=bytes(8), rows=bytes(16)), None):
        for read in (load, verify):
            with pytest.raises(BadArtifact):
                read(GOOD, vec)


def test_without_a_model_there_is_no_second_half():
    """The provider `none` keeps records alone."""
    meta = GOOD.replace(b"local-1:8:int8", b"none")
    assert load(meta, None).vectors is None
    assert verify(meta, None)[1] == 1


def test_a_newer_format_is_told_apart_from_damage():
    """It is never taken for a broken artifact, which would be overwritten."""
    newer = GOOD.replace(b"git-pkb 1", b"git-pkb 2").replace(b"python", b"py thon")
    for read in (read_header, decode_meta, lambda d: verify(d, None)):
        with pytest.raises(NewerFormat):
            read(newer)
    with pytest.raises(NewerFormat):
        decode_vec(packed(format=2, rows=None))


def test_the_header_is_read_from_the_first_line():
    """A header needs no more than the beginning of the file."""
    assert read_header(GOOD[:80]) == Header("a" * 40, "python", "1", "local-1:8:int8")
