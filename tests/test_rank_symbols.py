"""Which definitions of a piece are pointed at."""

import pytest

from git_pkb.model import Definition
from git_pkb.rank.query import parse
from git_pkb.rank.symbols import LineCounts, extents, score_definitions
from git_pkb.tokens import Tokenizer


def spans(definitions: list[Definition], lines: int) -> dict[str, tuple[int, int]]:
    """Name -> its lines."""
    return {e.definition.name: (e.first, e.end) for e in extents(definitions, lines)}


def test_a_comment_belongs_to_the_definition_below_it() -> None:
    """A definition reaches from the end of the one before on its level to its own end."""
    definitions = [Definition("a", "function", 2, 3), Definition("b", "function", 8, 2)]
    assert spans(definitions, 12) == {"a": (0, 5), "b": (5, 10)}


def test_members_stand_inside_their_class() -> None:
    """The first member begins after the line that opens the class, the next after the first."""
    definitions = [
        Definition("C", "class", 1, 9),
        Definition("m", "method", 3, 2, "C"),
        Definition("n", "method", 7, 2, "C"),
        Definition("f", "function", 11, 1),
    ]
    assert spans(definitions, 12) == {"C": (0, 10), "m": (2, 5), "n": (5, 9), "f": (10, 12)}


def test_a_definition_that_reaches_beyond_the_piece_ends_with_it() -> None:
    """Lines of a definition are those of the whole file; the piece may hold only its beginning."""
    assert spans([Definition("C", "class", 0, 500)], 10) == {"C": (0, 10)}


def test_no_lines_of_a_definition_count_as_one() -> None:
    """A damaged artifact may say 0 lines; the definition still has a place."""
    assert spans([Definition("x", "constant", 3, 0)], 5) == {"x": (0, 4)}


LINES = [
    "# Sends a file again.",
    "def retry(client):",
    "    return client.send()",
    "",
    "# Reads a table.",
    "def parse(text):",
    "    return text.split()",
]
BOTH = [Definition("retry", "function", 1, 2), Definition("parse", "function", 5, 2)]


def scores(question: str, weights: dict[str, float]) -> list[float]:
    """Of both definitions."""
    tokenizer = Tokenizer()
    counts = LineCounts(LINES, weights, tokenizer)
    return score_definitions(
        extents(BOTH, len(LINES)), counts, parse(question, tokenizer), weights, tokenizer
    )


def test_the_definition_whose_lines_hold_the_words_wins() -> None:
    """A comment above counts like the body."""
    retry, parse_score = scores("reads a table", {"tabl": 0.7, "read": 0.3})
    assert retry == 0.0 < parse_score


def test_the_exact_name_adds_one() -> None:
    """Who asks for a name gets it: 1 more when it is exact, .4 when only case differs."""
    without, exact, folded = (scores(q, {})[1] for q in ("something else", "parse", "PARSE"))
    assert (without, exact, folded) == (0.0, 1.0, 0.4)


def test_a_score_by_hand() -> None:
    """`tf = n / (.25 + .75 size / 40) + 4 names`, saturated at 1.5."""
    size = len("Reads a table def parse text return text split".split())
    tf = 1 / (0.25 + 0.75 * size / 40) + 4
    assert scores("nothing", {"pars": 1.0})[1] == pytest.approx(tf / (1.5 + tf))


def test_the_telling_line() -> None:
    """The line with most of the weight, the earliest of equals; none when no line has a word."""
    tokenizer = Tokenizer()
    weights = {"text": 0.6, "pars": 0.4, "split": 0.1}
    assert LineCounts(LINES, weights, tokenizer).most_telling(weights) == 5
    assert LineCounts(LINES, {"text": 1.0}, tokenizer).most_telling({"text": 1.0}) == 5
    assert LineCounts(LINES, {"zzz": 1.0}, tokenizer).most_telling({"zzz": 1.0}) is None
    assert LineCounts([], weights, tokenizer).most_telling(weights) is None
