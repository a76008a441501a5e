"""The mock embedder, which other tests count by."""

from pathlib import Path

import pytest

from git_pkb.config import load
from git_pkb.embed import base
from git_pkb.errors import ProviderError


def opened(**settings: object) -> base.Embedder:
    """A mock embedder."""
    flags = {"embedding.provider": "mock"} | settings
    embedder = base.open_embedder(load(None, flags, environment={}))
    assert embedder is not None
    return embedder


def test_it_is_deterministic_and_near_for_common_words() -> None:
    """Equal texts have equal rows; texts with common words are nearer than others."""
    embedder = opened()
    assert embedder.embed(["retry an upload"]) == opened().embed(["retry an upload"])
    question = embedder.embed_query("upload retry")
    near, far = (embedder.embed_query(text) for text in ("retry the upload", "matrix transpose"))
    assert sum(a * b for a, b in zip(question, near, strict=True)) > sum(
        a * b for a, b in zip(question, far, strict=True)
    )


def test_it_writes_down_every_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line a call with the number of texts; nothing for no texts."""
    monkeypatch.setenv("PKB_MOCK_LOG", str(tmp_path / "log"))
    embedder = opened()
    embedder.embed(["a", "b"])
    embedder.embed([])
    embedder.embed_query("c")
    assert sum(len(rows) for _, rows in embedder.embed_stream([str(i) for i in range(20)])) == 20
    assert (tmp_path / "log").read_text() == "embed 2\nquery 1\nembed 16\nembed 4\n"


def test_it_fails_when_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call, or only from a later one on."""
    monkeypatch.setenv("PKB_MOCK_FAIL", "query")
    with pytest.raises(ProviderError):
        opened().embed_query("a")
    monkeypatch.setenv("PKB_MOCK_FAIL", "embed:1")
    embedder = opened()
    embedder.embed(["a"])
    with pytest.raises(ProviderError):
        embedder.embed(["a"])


def test_it_cuts_text_as_a_contextual_model_does() -> None:
    """The model mock-context gives paragraphs with their places."""
    chunker = base.as_auto(opened(**{"embedding.model": "mock-context"}))
    assert chunker is not None
    content = "# One\n\ntwo\nthree\n\n\nfour"
    ((number, found), (_, blank)) = list(chunker.embed_auto([content, " "]))
    assert number == 0
    assert [content[start:end] for start, end in found.spans] == ["# One", "two\nthree", "four"]
    assert len(found.vectors) == 3
    assert blank.spans == ()
    assert chunker.identity.endswith(":auto")
    assert base.as_auto(opened()) is None


def test_money_is_counted() -> None:
    """The model mock-paid costs, the others do not."""
    paid, free = opened(**{"embedding.model": "mock-paid"}), opened()
    for embedder in (paid, free):
        embedder.embed(["three by three bytes"])
    assert paid.usage.usd == pytest.approx(7e-6)
    assert (free.usage.usd, free.usage.tokens) == (0.0, 7)
