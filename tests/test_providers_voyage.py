"""Voyage's contextualized endpoint with auto-chunking, through Voyage's own client."""

from collections.abc import Iterator
from typing import Any

import pytest
from vendor_server import KEY, Fault, VendorServer, serving

from git_pkb.config import load
from git_pkb.embed import base, voyage
from git_pkb.embed.base import AutoEmbedder, AutoPieces
from git_pkb.errors import ProviderError
from git_pkb.net.network import Policy

WORDS = "one two three four five six seven eight nine ten\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[VendorServer]:
    """Voyage on the loopback."""
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    with serving("voyage") as running:
        yield running


def opened(server: VendorServer, **settings: object) -> AutoEmbedder:
    """An embedder that cuts text itself."""
    flags = {"embedding.provider": "voyage", "embedding.baseurl": server.url}
    embedder = base.open_embedder(load(None, flags | settings, environment={}))
    assert isinstance(embedder, voyage.VoyageEmbedder)
    embedder.policy = Policy(attempts=2, first_wait=0.01)
    chunker = base.as_auto(embedder)
    assert chunker is not None
    return chunker


def document(sections: int, lines: int = 6) -> str:
    """A Markdown file whose every line is different."""
    return "# Guide\n\n" + "\n".join(
        f"## Part {i}\n\n" + "".join(f"{i}.{j} {WORDS}" for j in range(lines)) for i in range(sections)
    )


def check(content: str, found: AutoPieces) -> None:
    """Spans are ordered, disjoint, hold all but white space, and there is a row for each."""
    assert len(found.vectors) == len(found.spans)
    reached = 0
    for start, end in found.spans:
        assert reached <= start < end
        assert not content[reached:start].strip()
        reached = end
    assert not content[reached:].strip()


def test_whole_files_are_cut_by_the_model(server: VendorServer) -> None:
    """Text goes whole, as a document, with auto-chunking; the pieces lie where their texts are."""
    contents = [document(3), "One line.", "  \n", document(1)]
    embedder = opened(server)
    found = dict(embedder.embed_auto(contents))
    assert sorted(found) == [0, 1, 2, 3]
    for number, content in enumerate(contents):
        check(content, found[number])
    assert found[1].spans == ((0, 9),)
    assert len(found[2].spans) == 0
    (seen,) = server.seen
    assert seen.path == "/v1/contextualizedembeddings"
    assert [each[0] for each in seen.body["inputs"]] == [contents[0], contents[1], contents[3]]
    assert (seen.body["input_type"], seen.body["enable_auto_chunking"]) == ("document", True)
    assert embedder.usage.usd == pytest.approx(embedder.usage.tokens * 0.12 / 1e6)


def test_an_edit_anywhere_makes_all_rows_of_a_file_new(server: VendorServer) -> None:
    """Rows depend on their surroundings, so the key material covers the whole file."""
    embedder = opened(server)
    before = dict(embedder.embed_auto(["alpha\n\nbeta\n"]))[0]
    after = dict(embedder.embed_auto(["alpha\n\ngamma\n"]))[0]
    assert before.key_material != after.key_material
    assert before.key_material == dict(embedder.embed_auto(["alpha\n\nbeta\n"]))[0].key_material


def test_code_stands_alone_and_questions_are_told(server: VendorServer) -> None:
    """Code pieces go as lists of one, without auto-chunking; a question goes as a query."""
    embedder = opened(server)
    embedder.embed(["class A\ndef f(): ...", "def g(): ..."])
    embedder.embed_query("what is f")
    documents, query = server.seen
    assert documents.body["inputs"] == [["class A\ndef f(): ..."], ["def g(): ..."]]
    assert "enable_auto_chunking" not in documents.body
    assert (documents.body["input_type"], query.body["input_type"]) == ("document", "query")
    assert {seen.body["model"] for seen in server.seen} == {"voyage-context-4"}


def test_manual_chunking_is_the_users_choice(server: VendorServer) -> None:
    """With chunking = "manual" a contextual model cuts nothing, and the identity says so."""
    flags = {"embedding.provider": "voyage", "embedding.baseurl": server.url, "chunking": "manual"}
    embedder = base.open_embedder(load(None, flags, environment={}))
    assert embedder is not None
    assert base.as_auto(embedder) is None
    assert embedder.identity == "voyage:voyage-context-4:256:int8"
    assert len(embedder.embed(["text"])) == 1


def test_large_files_go_in_overlapping_windows(server: VendorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the window goes in several; later ones begin with its head and their headings."""
    monkeypatch.setattr(voyage, "WINDOW", 2000)
    monkeypatch.setattr(voyage, "OVERLAP", 200)
    content = document(60)
    found = dict(opened(server).embed_auto([content]))[0]
    check(content, found)
    sent = [text for seen in server.seen for (text,) in seen.body["inputs"]]
    assert len(sent) == 5
    assert all(text.startswith("# Guide\n") for text in sent)
    assert all("\n## Part " in text[:1200] for text in sent[1:])


def test_a_window_above_the_token_limit_is_split_and_retried(server: VendorServer) -> None:
    """Voyage counts more tokens than the rule: halves are asked for until they fit, and nothing is lost."""
    server.characters_per_token = 1
    server.most_tokens = 6000
    contents = [document(60), document(1, 2), "short"]
    embedder = opened(server)
    found = dict(embedder.embed_auto(contents))
    assert sorted(found) == [0, 1, 2]
    for number, content in enumerate(contents):
        check(content, found[number])


def test_a_text_that_no_window_can_hold_is_an_error(server: VendorServer) -> None:
    """Halving ends: what is refused even in small windows is reported with Voyage's own words."""
    server.most_tokens = 3
    with pytest.raises(ProviderError, match="max allowed tokens"):
        dict(opened(server).embed_auto([document(20)]))


def spoilt(change: Any) -> Fault:
    """An answer whose first file's pieces are changed."""

    def spoil(answer: Any) -> Any:
        answer["data"][0]["data"] = change(answer["data"][0]["data"])
        return answer

    return Fault(spoil=spoil)


@pytest.mark.parametrize(
    "change",
    [
        lambda pieces: [{**each, "text": each["text"].replace("1", "one")} for each in pieces],
        lambda pieces: pieces[::-1],
        lambda pieces: [{k: v for k, v in each.items() if k != "text"} for each in pieces],
        lambda pieces: pieces[:0],
        lambda pieces: [{**pieces[0], "embedding": [0.0] * 100}, *pieces[1:]],
    ],
)
def test_pieces_that_cannot_be_placed_are_an_error(server: VendorServer, change: Any) -> None:
    """Texts that are changed, out of order or missing, no pieces, wrong widths: never placed by guessing."""
    server.faults = [spoilt(change)]
    with pytest.raises(ProviderError):
        dict(opened(server).embed_auto([document(4)]))


def test_files_that_were_answered_are_kept_when_another_fails(
    server: VendorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is paid for is handed out before the error of a later request is raised."""
    monkeypatch.setattr(voyage, "_MOST_FILES", 1)
    server.faults = [Fault(), Fault(401)]
    stream = opened(server, **{"embedding.concurrency": 1}).embed_auto(["first", "second", "third"])
    number, _ = next(stream)
    assert number == 0
    with pytest.raises(ProviderError, match="VOYAGE_API_KEY"):
        next(stream)
    assert len(server.seen) == 2
