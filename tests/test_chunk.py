"""The cutter: pieces of any text, however broken, and the definitions in one program a language."""

import pytest
from chunk_samples import SAMPLES, Sample
from hypothesis import given, settings
from hypothesis import strategies as st

from git_pkb.chunk import CUTTER, cut, embedded_text, language_of
from git_pkb.chunk.languages import LANGUAGES
from git_pkb.chunk.layout import HARD, TARGET
from git_pkb.model import DEFINITION_KINDS, Piece

BLANK = b" \t\r\n\x0b\x0c"
BOM = b"\xef\xbb\xbf"
CUT_FREELY = (
    "python",
    "rust",
    "javascript",
    "c",
    "elixir",
    "haskell",
    "markdown",
    "rst",
    "text",
    "yaml",
    "vue",
)
BY_LANGUAGE = {sample.language: sample for sample in SAMPLES}
REQUIRED = (
    "rust go typescript tsx javascript python java c cpp csharp ruby php kotlin swift scala lua elixir bash "
    "haskell zig hcl"
).split()


def check(content: bytes, pieces: list[Piece]) -> None:
    """Everything that holds of the pieces of any content."""
    at = 0
    lines = content.count(b"\n") + 1
    for piece in pieces:
        assert at <= piece.start < piece.end <= len(content)
        assert not content[at : piece.start].replace(BOM, b"").strip(BLANK)
        assert content[piece.end - 1 : piece.end].strip(BLANK)
        assert piece.line == content.count(b"\n", 0, piece.start) + 1
        assert piece.newlines == content.count(b"\n", piece.start, piece.end)
        assert piece.kind in (*DEFINITION_KINDS, "code", "text")
        assert "\n" not in piece.breadcrumb
        assert piece.end - piece.start <= HARD or piece.newlines == 0
        for definition in piece.definitions:
            assert definition.name
            assert definition.kind in DEFINITION_KINDS
            assert 0 <= definition.line <= piece.newlines
            assert definition.lines >= 1
            assert piece.line + definition.line + definition.lines - 1 <= lines
        at = piece.end
    assert not content[at:].replace(BOM, b"").strip(BLANK)
    if _is_utf8(content):
        for piece in pieces:
            assert "\ufffd" not in embedded_text(content, piece) or "\ufffd".encode() in content


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CUT_FREELY), st.text(max_size=4000))
def test_any_text_is_covered(language: str, text: str) -> None:
    """Pieces of random text are ordered, disjoint, on whole characters, and cover all that is not blank."""
    content = text.encode("utf-8", "surrogatepass")
    check(content, cut(content, language))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CUT_FREELY), st.binary(max_size=3000), st.integers(1, 8))
def test_any_bytes_are_covered(language: str, content: bytes, times: int) -> None:
    """Bytes that are no UTF-8 are cut like any others."""
    check(content * times, cut(content * times, language))


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_broken_programs_are_covered(data: st.DataObject) -> None:
    """Real programs with parts deleted or doubled, and any line ending, still fall into sound pieces."""
    sample = data.draw(st.sampled_from(SAMPLES))
    content = sample.long
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 400)))
        middle = data.draw(
            st.sampled_from([b"", content[start:end] * 2, b'"', b"(", b"}}", b"\n\n", "é".encode()])
        )
        content = content[:start] + middle + content[end:]
    ending = data.draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    content = data.draw(st.sampled_from([b"", BOM])) + content.replace(b"\n", ending)
    pieces = cut(content, sample.language)
    check(content, pieces)
    assert cut(content, sample.language) == pieces


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_definitions(sample: Sample) -> None:
    """Every definition is known by name, kind and the names around it."""
    content = sample.short
    pieces = cut(content, sample.language)
    check(content, pieces)
    found = [
        f"{definition.kind} {definition.scope}/{definition.name}"
        if definition.scope
        else f"{definition.kind} {definition.name}"
        for piece in pieces
        for definition in piece.definitions
    ]
    assert found == sample.definitions.strip().split("\n")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_breadcrumbs(sample: Sample) -> None:
    """Large definitions become pieces whose breadcrumb names them and what is around them."""
    content = sample.long
    pieces = cut(content, sample.language)
    check(content, pieces)
    assert [f"{piece.kind}: {piece.breadcrumb}" for piece in pieces] == sample.breadcrumbs.strip().split("\n")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.language)
def test_definition_lines(sample: Sample) -> None:
    """The first line of a definition or the two after it (attributes, a return type) hold its name."""
    content = sample.long
    lines = content.decode().split("\n")
    for piece in cut(content, sample.language):
        for definition in piece.definitions:
            start = piece.line - 1 + definition.line
            last = definition.name.rsplit(".", 1)[-1]
            assert any(last in line for line in lines[start : start + 3]), (
                definition,
                lines[start : start + 3],
            )


def test_all_required_languages_have_a_sample() -> None:
    """The languages of the design are all held by the samples."""
    assert set(REQUIRED) <= set(BY_LANGUAGE)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings(ending: str) -> None:
    """A file with other line endings has the same definitions, on the same lines where lines are fed."""
    sample = BY_LANGUAGE["python"]
    content = sample.short.replace(b"\n", ending.encode())
    pieces = cut(content, "python")
    check(content, pieces)
    if ending == "\r\n":
        plain = [
            (d.name, p.line + d.line, d.lines) for p in cut(sample.short, "python") for d in p.definitions
        ]
        assert [(d.name, p.line + d.line, d.lines) for p in pieces for d in p.definitions] == plain


def test_byte_order_mark_is_not_embedded() -> None:
    """A byte order mark is covered but not part of the text."""
    content = BOM + b"def f():\n    pass\n"
    (piece,) = cut(content, "python")
    assert embedded_text(content, piece) == "def f():\n    pass"
    assert [definition.name for definition in piece.definitions] == ["f"]


def test_latin_1_is_embedded_with_replacement() -> None:
    """Bytes that are no UTF-8 become replacement characters."""
    content = "# caf\xe9\ndef f(): pass\n".encode("latin-1")
    (piece,) = cut(content, "python")
    assert embedded_text(content, piece) == "# caf\ufffd\ndef f(): pass"


@pytest.mark.parametrize("content", [b"", b"\n", b" \t\r\n\x0c\n", BOM, BOM + b"\n\n"])
@pytest.mark.parametrize("language", CUT_FREELY)
def test_blank_content_has_no_pieces(content: bytes, language: str) -> None:
    """Nothing but white space makes no piece."""
    assert cut(content, language) == []


@pytest.mark.parametrize("language", CUT_FREELY)
def test_one_enormous_line_is_cut_between_characters(language: str) -> None:
    """A line longer than a piece may be is cut, never inside a character."""
    content = ("é" * 5000 + "€" * 5000).encode()
    pieces = cut(content, language)
    check(content, pieces)
    assert max(piece.end - piece.start for piece in pieces) <= HARD
    assert "".join(embedded_text(content, piece) for piece in pieces) == content.decode()


@pytest.mark.parametrize("language", [row.name for row in LANGUAGES.values() if row.grammar])
def test_deep_and_hopeless_nesting(language: str) -> None:
    """What no grammar knows, and nesting that never ends, is cut as well as may be."""
    for text in ("(", "[{(", "{\n", "\"'`", "<", "if x then\n", "a: ", "<<E\n", "/*", "#"):
        content = (text * 6000)[:6000].encode()
        check(content, cut(content, language))


def test_balanced_depth() -> None:
    """A well-formed but absurdly deep expression does not exhaust the stack."""
    content = b"x = " + b"[" * 20000 + b"]" * 20000 + b";\n"
    check(content, cut(content, "javascript"))


def test_small_file_is_one_piece() -> None:
    """A file below the target is one piece, however many definitions it has."""
    content = b"\n\n".join(b"def f%d():\n    return %d" % (n, n) for n in range(40))
    assert len(content) < TARGET
    (piece,) = cut(content, "python")
    assert len(piece.definitions) == 40


def test_pieces_are_not_small() -> None:
    """Many small definitions are merged: pieces average at least 1,200 bytes."""
    content = b"\n\n".join(b"def function_%d(value):\n    return value + %d" % (n, n) for n in range(600))
    pieces = cut(content, "python")
    assert len(content) / len(pieces) >= 1200


def test_doc_comment_stays_with_its_definition() -> None:
    """No piece ends in the comment of what opens the next."""
    body = "".join(f"    value += {n};\n" for n in range(35))
    content = "".join(
        f"/// Number {n}.\n#[inline]\nfn number_{n}() {{\n{body}}}\n\n" for n in range(20)
    ).encode()
    pieces = cut(content, "rust")
    assert len(pieces) >= 10
    for piece in pieces:
        assert embedded_text(content, piece).startswith("/// Number")


def test_banner_comment_goes_with_what_follows() -> None:
    """A comment that stands alone heads the definitions after it."""
    body = "    value += 1;\n" * 80
    content = "".join(
        f"/* ---- part {n} ---- */\n\nint part_{n}(void)\n{{\n{body}}}\n\n" for n in range(6)
    ).encode()
    pieces = cut(content, "c")
    assert len(pieces) == 6
    for piece in pieces:
        assert embedded_text(content, piece).startswith("/* ---- part")


def test_edit_leaves_other_pieces_alone() -> None:
    """Editing one function changes the text of one piece."""
    body = "".join(f"    value = step(value, {n})\n" for n in range(30))
    functions = [f"def function_{n}(value):\n{body}    return value\n" for n in range(30)]
    before = "\n\n".join(functions).encode()
    functions[11] = functions[11].replace("step(value, 7)", "step(value, 7, again=True)")
    after = "\n\n".join(functions).encode()
    old = {embedded_text(before, piece) for piece in cut(before, "python")}
    new = {embedded_text(after, piece) for piece in cut(after, "python")}
    assert len(new - old) == 1


def test_header_of_a_split_class_stays_with_its_first_member() -> None:
    """A class line is no piece of its own."""
    method = "    def method_{0}(self):\n" + "        self.value += 1\n" * 60 + "\n"
    content = ("class Big:\n" + "".join(method.format(n) for n in range(6))).encode()
    pieces = cut(content, "python")
    assert pieces[0].kind == "class"
    assert [piece.breadcrumb for piece in pieces] == ["class Big"] + [
        f"class Big > def method_{n}" for n in range(1, 6)
    ]


def test_oversized_function_names_itself_in_every_piece() -> None:
    """Pieces inside one large function carry its breadcrumb and kind."""
    content = ("def huge(value):\n" + "    value = step(value)\n\n" * 600).encode()
    pieces = cut(content, "python")
    assert len(pieces) > 5
    assert {(piece.kind, piece.breadcrumb) for piece in pieces} == {("function", "def huge")}


def test_large_doc_comment_belongs_to_what_it_documents() -> None:
    """A documentation longer than a piece carries the breadcrumb of its definition."""
    doc = "".join(f" * Sentence {n} about the client and all it does.\n" for n in range(100))
    content = ("import a.b;\n\n/**\n" + doc + " */\npublic class Client {\n    int size;\n}\n").encode()
    pieces = cut(content, "java")
    assert len(pieces) >= 3
    assert {piece.breadcrumb for piece in pieces if "Sentence 50 " in embedded_text(content, piece)} == {
        "class Client"
    }


def test_cplusplus_header_named_like_c() -> None:
    """A `.h` file with classes is read as C++, one without as C."""
    assert language_of("a/b.h") == "c"
    (piece,) = cut(b"namespace a {\nclass B {\n public:\n  int c();\n};\n}\n", "c")
    assert [(d.kind, d.scope, d.name) for d in piece.definitions] == [
        ("module", "", "a"),
        ("class", "a", "B"),
        ("prototype", "a.B", "c"),
    ]


def test_unknown_language_is_cut_as_text() -> None:
    """A language nobody knows is cut like plain text."""
    content = b"one paragraph\n\nanother\n"
    assert [(piece.kind, piece.definitions) for piece in cut(content, "klingon")] == [("text", ())]


def test_cutter_version_is_a_word() -> None:
    """The version of the cutter stands in a line of words."""
    assert CUTTER
    assert not set(CUTTER) & set(" \t\n")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_of_the_table_cuts(language: str) -> None:
    """Each row of the table loads its grammar and query, or does without."""
    content = b"one two three\n\nfour five six\n" * 200
    check(content, cut(content, language))
