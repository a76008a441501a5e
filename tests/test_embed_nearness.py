"""Cosines of short texts with a question, summed in 32 bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.embed import nearness
from git_pkb.embed.local import LocalEmbedder
from git_pkb.embed.nearness import Nearness

QUESTION = LocalEmbedder().embed_query("send a file again when the upload failed")
TEXTS = [
    "def retry_upload(raw_bytes, backoff=2.5):",
    "UploadSession > resume upload upload upload",
    "zażółć 漢字 XMLHttpRequest2",
    "a " * 2000 + "uploadFile",
    "the of and " * 300,
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_cosine_is_that_of_the_vectors(text: str) -> None:
    """To four digits: weights of tokens are rounded to 2**-20."""
    wanted = np.dot(LocalEmbedder().embed_query(text), QUESTION)
    assert Nearness(QUESTION).cosine(text) == pytest.approx(wanted, abs=2e-4)


def test_a_text_without_tokens_is_near_to_nothing() -> None:
    """Other scripts, nothing at all."""
    near = Nearness(QUESTION)
    assert [near.cosine(text) for text in ("", "漢字", "\ud800")] == [0.0, 0.0, 0.0]


def test_the_same_text_has_the_same_cosine_again() -> None:
    """What is remembered of tokens does not change what comes later."""
    fresh = [Nearness(QUESTION).cosine(text) for text in TEXTS]
    near = Nearness(QUESTION)
    assert [near.cosine(text) for text in TEXTS[::-1]][::-1] == fresh
    assert [near.cosine(text) for text in TEXTS] == fresh


@given(st.text(max_size=300))
def test_any_text_has_one(text: str) -> None:
    """Between -1 and 1, never an error."""
    assert -1.001 <= Nearness(QUESTION).cosine(text) <= 1.001


def test_more_weight_than_a_lane_holds_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text so long that its sums would run over counts by its beginning."""
    text = " ".join(f"word{n} upload{n} file{n}" for n in range(50))
    whole = Nearness(QUESTION).cosine(text)
    monkeypatch.setattr(nearness, "_MOST_WEIGHT", 40_000)
    part = Nearness(QUESTION).cosine(text)
    assert part not in (0.0, whole)
