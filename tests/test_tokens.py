"""Words of code and prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.tokens import Tokenizer, words


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("PathRouter", ("path", "router", "pathrout")),
        ("path_router", ("path", "router", "pathrout")),
        ("HTTPServer2", ("http", "server2", "httpserver2")),
        ("running", ("run",)),
        ("__init__", ("init",)),
        ("x" * 65, ()),
        ("Größe", ("grösse",)),
    ],
)
def test_terms_of_a_word(word: str, terms: tuple[str, ...]) -> None:
    """An identifier gives its stemmed parts, then their compound; `path_router` and `PathRouter` agree."""
    assert Tokenizer().terms(word) == terms


def test_scripts_without_spaces_give_characters_and_pairs() -> None:
    """A run of Han gives every character and every pair, so that any part of it can be found."""
    assert Tokenizer().terms("日本語") == ("日", "本", "語", "日本", "本語")


def test_composed_and_decomposed_letters_are_the_same_word() -> None:
    """An accent typed as a second character finds the word written with one."""
    tokenizer = Tokenizer()
    assert tokenizer.terms("cafe\u0301s") == tokenizer.terms("caf\u00e9s")


@given(st.text(max_size=300))
def test_counting_a_text_counts_the_terms_of_its_words(text: str) -> None:
    """`count` is the sum over words of `terms`, whatever the text."""
    tokenizer = Tokenizer()
    expected: dict[str, int] = {}
    for word in words(text):
        for term in tokenizer.terms(word):
            expected[term] = expected.get(term, 0) + 1
    assert tokenizer.count(text) == expected
