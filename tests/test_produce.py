"""From content to artifacts: what is embedded, what is reused, and what a failure leaves."""

import dataclasses

import pytest

from git_pkb import config
from git_pkb.embed.base import AutoPieces
from git_pkb.embed.mock import MockEmbedder
from git_pkb.embed.quantize import quantize
from git_pkb.errors import ProviderError
from git_pkb.index.bulk import encoded
from git_pkb.index.excerpt import LONGEST, excerpt
from git_pkb.index.produce import Item, encode, key_of, rows_of, stream, text_to_embed
from git_pkb.index.recipe import Recipe, open_recipe
from git_pkb.index.whole import pieces_at
from git_pkb.mirror.format import encode_meta, encode_vec, load
from git_pkb.model import Definition, Piece
from git_pkb.net.usage import Usage

FUNCTION = (
    "def {0}(x):\n" + "".join(f"    step_{i} = x + {i}  # {{0}}\n" for i in range(45)) + "    return x\n\n\n"
)


def source(*names):
    """A Python file of functions, each large enough for a piece of its own."""
    return "".join(FUNCTION.format(name) for name in names).encode()


class Counting:
    """The mock embedder, which notes every text."""

    paid = network = auto = False
    contextual = False
    provider, model = "counting", "counting"

    def __init__(self, fail_after=None):
        settings = config.Config(embedding=config.EmbeddingConfig(provider="mock", dimensions=16))
        self.inner = MockEmbedder(settings)
        self.dims, self.dtype, self.identity, self.usage = 16, "int8", "counting:16", self.inner.usage
        self.texts, self.fail_after = [], fail_after

    def embed(self, texts):
        """Rows of all texts."""
        self.texts += texts
        return self.inner.embed(texts)

    def embed_stream(self, texts):
        """Two at a time, until it is told to fail."""
        for start in range(0, len(texts), 2):
            if self.fail_after is not None and len(self.texts) >= self.fail_after:
                raise ProviderError("told to fail")
            yield start, self.embed(texts[start : start + 2])


def recipe(embedder, **fields):
    """A recipe around an embedder."""
    made = open_recipe(config.Config())
    identity = dataclasses.replace(made.identity, model=embedder.identity if embedder else "none")
    return Recipe(identity, embedder, **fields)


def item(*names, blob="a", old=()):
    """A file of functions."""
    return Item(blob * 40, "python", source(*names), old)


def test_one_edit_embeds_one_piece():
    """The rows of unchanged pieces come from the old artifact, bit for bit."""
    embedder = Counting()
    (old,) = stream([item("one", "two", "three")], recipe(embedder))
    pieces = len(old.artifact.records)
    assert (old.embedded, old.reused) == (pieces, 0)
    halves = (encode_meta(old.artifact), encode_vec(old.artifact))
    embedder.texts.clear()
    (new,) = stream([item("one", "changed", "three", blob="b", old=(halves,))], recipe(embedder))
    (full,) = stream([item("one", "changed", "three", blob="b")], recipe(Counting()))
    assert (new.embedded, new.reused) == (1, pieces - 1)
    assert len(embedder.texts) == 1
    assert "changed" in embedder.texts[0]
    assert encode(new).vec == encode(full).vec
    assert encode(new).meta == encode(full).meta


def test_equal_pieces_of_a_run_are_embedded_once():
    """Two files that share a function ask for it once."""
    embedder = Counting()
    made = list(stream([item("one", "two"), item("one", "three", blob="b")], recipe(embedder)))
    assert len(embedder.texts) == len(set(embedder.texts)) == sum(m.embedded for m in made)
    assert made[1].reused >= 1


def test_rows_of_another_model_are_not_mixed_in():
    """An old artifact of another vector space, or a damaged one, counts as absent."""
    (old,) = stream([item("one")], recipe(Counting()))
    meta, vec = encode_meta(old.artifact), encode_vec(old.artifact)
    other = Counting()
    other.identity = "other:16"
    assert rows_of((meta, vec), recipe(other)) == {}
    assert rows_of((meta, vec[:-1]), recipe(Counting())) == {}
    assert rows_of((meta, None), recipe(Counting())) == {}
    assert len(rows_of((meta, vec), recipe(Counting()))) == len(old.artifact.records)
    (made,) = stream([item("one", old=((meta, vec),))], recipe(other))
    assert made.embedded == len(made.artifact.records)


def test_a_failing_provider_keeps_what_was_complete():
    """Artifacts whose rows had arrived are given out before the error is raised."""
    embedder = Counting(fail_after=2)
    items = [item("one"), item("two", blob="b"), item("three", blob="c")]
    found = stream(items, recipe(embedder))
    assert next(found).artifact.blob[0] == "a"
    with pytest.raises(ProviderError):
        list(found)


def test_blank_and_empty_files_have_an_artifact():
    """They are known, with no piece and no second half."""
    for content in (b"", b"\n \n"):
        (made,) = stream([Item("a" * 40, "python", content)], recipe(Counting()))
        it = encode(made)
        assert (it.records, it.vec) == (0, None)
        assert load(it.meta, None).size == len(content)


def test_without_a_model_nothing_is_embedded():
    """The provider `none` cuts and describes."""
    (made,) = stream([item("one")], recipe(None))
    assert made.artifact.vectors is None
    assert (made.embedded, made.reused) == (0, 0)
    assert encode(made).vec is None


def test_full_text_is_kept_on_demand():
    """`text = "full"` keeps each piece, and the pieces give the file back."""
    (made,) = stream([item("one", "two")], recipe(Counting(), text=True))
    read = load(encode(made).meta, encode(made).vec)
    assert "".join(r.text for r in read.records).replace("\n", "") == source("one", "two").decode().replace(
        "\n", ""
    )


def test_models_that_read_get_the_breadcrumb():
    """A contextual model is given the path of the symbol above the text; others the text alone."""
    it = Piece(0, 4, 1, 0, "method", "class A > def f")
    assert text_to_embed(b"body", it, contextual=True) == "class A > def f\nbody"
    assert text_to_embed(b"body", it, contextual=False) == "body"
    assert key_of("x") != key_of("x", b"window")


def test_processes_make_the_same_bytes():
    """Many files spread over processes give what one process gives."""
    settings = config.Config()
    items = [Item(f"{i:040x}", "python", source(f"f{i}", f"g{i}")) for i in range(160)]
    made = recipe(None)
    many = {e.blob: e for e in encoded(items, open_recipe(settings), settings, expected=160, known={})}
    few = {e.blob: e for e in encoded(items, open_recipe(settings), settings, expected=1, known={})}
    assert made.cheap
    assert {b: (e.meta, e.vec) for b, e in many.items()} == {b: (e.meta, e.vec) for b, e in few.items()}


def test_pieces_of_a_provider_are_placed_in_bytes():
    """Spans of characters become spans of bytes, byte order mark and multi-byte characters included."""
    text = "# Über\n\nfirst é\n\n## Two\n\nsecond ü\n"
    content = b"\xef\xbb\xbf" + text.encode()
    spans = [(text.index("first"), text.index("first") + 7), (text.index("second"), len(text) - 1)]
    pieces = pieces_at(Item("a" * 40, "markdown", content), text, spans)
    assert [content[p.start : p.end].decode() for p in pieces] == ["first é", "second ü"]
    assert [p.line for p in pieces] == [3, 7]
    assert pieces[1].breadcrumb.endswith("Two")


class Auto(Counting):
    """Cuts prose itself, in halves."""

    auto = True

    def embed_query(self, text, weights=None):
        """Nobody asks."""
        raise AssertionError(text, weights)

    def embed_auto(self, contents):
        """Cut at the first blank line."""
        for number, text in enumerate(contents):
            middle = text.index("\n\n")
            spans = ((0, middle), (middle + 2, len(text)))
            rows = quantize([[1.0] * 16, [2.0] * 16], 16, "int8")
            yield number, AutoPieces(spans, rows, text.encode())


def test_prose_goes_whole_to_a_model_that_cuts():
    """Code is cut here, prose there; prose that is no UTF-8 is cut here too."""
    embedder = Auto()
    items = [
        Item("a" * 40, "markdown", b"# A\n\nbody"),
        Item("b" * 40, "markdown", b"# B\n\ncaf\xe9"),
        item("one", blob="c"),
    ]
    made = {m.artifact.blob[0]: m.artifact for m in stream(items, recipe(embedder))}
    assert [r.piece.end for r in made["a"].records] == [3, 9]
    assert len(embedder.texts) == len(made["b"].records) + len(made["c"].records)


@pytest.mark.parametrize(
    ("text", "kind", "line", "expected"),
    [
        ("# says\n@cache\ndef f(x):\n    pass\n", "function", 1, "def f(x):"),
        ("#[test]\nfn t() {}\n", "function", 0, "fn t() {}"),
        ("# Install\n\nRun it.\n", "section", 0, "Run it."),
        ("# Alone\n", "section", 0, "# Alone"),
        ("// comment\nlet x = 1;\n", "code", None, "let x = 1;"),
        ("// only comments\n// here\n", "code", None, "// only comments"),
        ("}\n", "code", None, "}"),
        ("a\tb\x1b[31m  c\n", "text", None, "a b [31m c"),
    ],
)
def test_the_excerpt_is_the_telling_line(text, kind, line, expected):
    """The signature of what the piece is about, else the first line that says something."""
    definitions = (
        (Definition("n", "section" if kind == "section" else kind, line, 1),) if line is not None else ()
    )
    assert excerpt(text, Piece(0, len(text), 1, 0, kind, "", definitions)) == expected


def test_a_long_excerpt_is_cut():
    """One line, no longer than the limit."""
    found = excerpt("word " * 100, Piece(0, 500, 1, 0, "text", ""))
    assert len(found) <= LONGEST
    assert found.endswith("…")


class Describing:
    """The mock summarizer's contract, counted; fails after so many summaries."""

    identity, provider, model = "describing:1", "describing", "1"
    paid = network = False

    def __init__(self, fail_after=None):
        self.usage = Usage()
        self.passages, self.outlines, self.fail_after = [], [], fail_after

    def summarize(self, passages):
        """Its breadcrumb in words; the last answers first."""
        for i in reversed(range(len(passages))):
            if self.fail_after is not None and len(self.passages) >= self.fail_after:
                raise ProviderError("told to fail")
            self.passages.append(passages[i])
            yield i, f"about {passages[i].breadcrumb}"

    def roll_up(self, outlines):
        """How many pieces it has."""
        for i, outline in enumerate(outlines):
            self.outlines.append(outline)
            yield i, f"{len(outline.pieces)} pieces"


def test_summaries_are_kept_and_embedded():
    """Each piece and the file are described; the description is embedded, and not asked for again."""
    summarizer, embedder = Describing(), Counting()
    (made,) = stream([item("one", "two")], recipe(embedder, summarizer=summarizer, embeds_summary=True))
    records = made.artifact.records
    assert [r.summary for r in records] == [f"about {r.piece.breadcrumb}" for r in records]
    assert made.artifact.summary == f"{len(records)} pieces"
    assert sorted(embedder.texts) == sorted(r.summary for r in records)
    halves = (encode_meta(made.artifact), encode_vec(made.artifact))
    again, quiet = Describing(), Counting()
    kept = recipe(quiet, summarizer=again, embeds_summary=True)
    (same,) = stream([item("one", "two", blob="b", old=(halves,))], kept)
    assert (again.passages, again.outlines, quiet.texts) == ([], [], [])
    assert same.artifact.records == records
    (edited,) = stream([item("one", "three", blob="c", old=(halves,))], kept)
    assert (len(again.passages), len(again.outlines), edited.embedded) == (1, 1, 1)


def test_a_failing_summarizer_keeps_what_was_paid_for():
    """What it had described is embedded and given out before the error."""
    summarizer = Describing(fail_after=1)
    found = stream(
        [item("one"), item("two", blob="b")], recipe(Counting(), summarizer=summarizer, embeds_summary=True)
    )
    assert next(found).artifact.blob[0] == "b"
    with pytest.raises(ProviderError):
        next(found)


def test_summaries_without_vectors():
    """The provider `none` may still have its pieces described."""
    (made,) = stream([item("one")], recipe(None, summarizer=Describing()))
    assert made.artifact.vectors is None
    assert made.artifact.records[0].summary
