"""What a question is taken for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.rank.query import Question, parse
from git_pkb.tokens import Tokenizer


def ask(text: str) -> Question:
    """The question of a text."""
    return parse(text, Tokenizer())


def test_terms_keep_order_and_count() -> None:
    """Distinct terms in the order of the question, with how often each occurs; stop words are dropped."""
    question = ask("the upload of an upload to retries")
    assert question.terms == ("upload", "retri")
    assert question.counts == (2, 1)
    assert question.words == ("upload", "upload", "retries")


def test_a_compound_adds_its_parts_and_itself() -> None:
    """`PathRouter` asks for path, router and both as one."""
    assert ask("PathRouter").terms == ("path", "router", "pathrout")


def test_a_stop_word_alone_is_a_name() -> None:
    """Without a space nothing is dropped: somebody may look for `with`."""
    assert ask("with").terms == ("with",)
    assert ask("with the").terms == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parse_table", ("parse_table",)),
        ("where is ConfigParser used", ("ConfigParser",)),
        ("std::vector::push_back in use", ("std::vector::push_back", "push_back")),
        ("a->b.c", ("a->b.c", "c")),
        ("how does os.path.join work", ("os.path.join", "join")),
        ("plain words only", ()),
        ("empty? or even!", ()),
        ("empty?", ("empty?",)),
    ],
)
def test_identifiers(text: str, expected: tuple[str, ...]) -> None:
    """The whole question when it is one word, else what looks like code, each with its last component."""
    assert ask(text).identifiers == expected


def test_capitalised_words_are_a_weaker_hint() -> None:
    """Ordinary words with a capital may be names, stop words at the start of a sentence are not."""
    assert ask("The Router of Flask").capitalised == ("Router", "Flask")


@pytest.mark.parametrize(
    ("text", "tests", "docs"),
    [
        ("test the parser", True, False),
        ("Mocking a clock", True, False),
        ("README example", False, True),
        ("x", False, False),
    ],
)
def test_what_a_question_is_about(text: str, tests: bool, docs: bool) -> None:
    """A question that says test or docs is about such files."""
    assert (ask(text).about_tests, ask(text).about_docs) == (tests, docs)


@given(st.text(max_size=2000))
def test_anything_can_be_asked(text: str) -> None:
    """Whatever the text, terms are distinct, counted, and at most 64."""
    question = ask(text)
    assert len(question.terms) == len(set(question.terms)) == len(question.counts) <= 64
    assert all(n > 0 for n in question.counts)
    assert len(question.identifiers) <= 2 * 64
