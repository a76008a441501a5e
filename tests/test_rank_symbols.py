"""Which definitions of a piece are pointed at."""

from collections.abc import Callable
from math import isfinite, log

import pytest

from git_pkb.model import Definition
from git_pkb.rank.query import parse
from git_pkb.rank.symbols import KIND, WEIGHTS, Place, Scorer, extents, most_telling
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


def scorer(question: str, weights: dict[str, float], cosine: Callable[[str], float] | None = None) -> Scorer:
    """For one question whose terms weigh this."""
    tokenizer = Tokenizer()
    return Scorer(parse(question, tokenizer), weights, tokenizer, cosine)


def place(name: str, kind: str = "function", **known: object) -> Place:
    """A definition of which not more is known."""
    return Place(
        **{"name": name, "kind": kind, "scope": "", "says": name, "lines": 3, "size": 60, "piece": 0.0}
        | known
    )


def features(found: Scorer, each: Place) -> dict[str, float]:
    """By name."""
    return dict(zip(WEIGHTS, found.features(each), strict=True))


def test_a_score_is_the_weighted_sum_of_its_features_and_its_kind() -> None:
    """Every feature by hand."""
    weights = {"read": 0.5, "tabl": 0.25, "configur": 0.125, "file": 0.125}
    found = scorer("reads whether the table", weights, lambda text: len(text) / 100)
    each = place(
        "is_config", "constant", scope="Table", says="is_config = read()", lines=2, size=99, piece=0.5
    )
    known = features(found, each)
    assert known == {
        "piece": 0.5,
        "meaning": pytest.approx(len("is_config is_config = read()") / 100),
        "name meaning": pytest.approx(len("Table is_config") / 100),
        "words": 0.75,
        "beginnings": 0.125,
        "lines": pytest.approx(log(3)),
        "size": pytest.approx(log(100)),
        "predicate": 1.0,
        "name": 0.0,
        "mentioned": 0.0,
        "test": 0.0,
    }
    total = sum(WEIGHTS[name] * value for name, value in known.items())
    assert found.score(each) == pytest.approx(total + KIND["constant"])


def test_words_count_in_scope_name_and_signature_once() -> None:
    """A share of the weight, however often a term occurs; none without weights."""
    weights = {"read": 0.5, "tabl": 0.5}
    each = place("read_read", scope="Reader", says="def read_read(read): read")
    assert features(scorer("read a table", weights), each)["words"] == 0.5
    assert features(scorer("read a table", {}), each)["words"] == 0.0


def test_a_word_that_begins_otherwise_than_its_term_counts() -> None:
    """`id_map` is `idmap` as well."""
    assert features(scorer("idmap", {"idmap": 1.0}), place("id_map"))["words"] == 1.0


def test_the_name_of_a_text_has_no_meaning_of_its_own() -> None:
    """A heading, or the definition around a piece, says little."""
    near = scorer("x", {}, lambda _: 0.5)
    values = {
        kind: features(near, place("Usage", kind))["name meaning"] for kind in ("section", "code", "class")
    }
    assert values == {"section": 0.0, "code": 0.0, "class": 0.5}


def test_a_name_among_other_words_waives_what_its_kind_or_a_test_costs() -> None:
    """Who says `MAX_RETRIES` or `test_send` wants it, constant or test or not."""
    found = scorer("where is MAX_RETRIES read by test_send", {})
    assert found.score(place("MAX_RETRIES", "constant")) == found.score(place("MAX_RETRIES", "function"))
    assert features(found, place("test_send"))["test"] == 0.0
    assert features(found, place("test_read"))["test"] == 1.0


def test_what_begins_alike_counts_apart() -> None:
    """`config` for `configuration` and the other way round; equal terms and short ones do not count here."""
    assert features(scorer("x", {"configur": 1.0}), place("load_config"))["beginnings"] == 1.0
    assert features(scorer("x", {"auth": 1.0}), place("authenticate"))["beginnings"] == 1.0
    assert features(scorer("x", {"config": 1.0}), place("load_config"))["beginnings"] == 0.0
    assert features(scorer("x", {"configur": 1.0}), place("co"))["beginnings"] == 0.0


def test_who_types_a_name_gets_what_has_it_whatever_it_is() -> None:
    """A constant asked for by name outweighs a function that only holds it; case counts a little."""
    found = scorer("MAX_RETRIES", {"max": 0.3, "retri": 0.3, "maxretri": 0.4})
    exact, folded, other = (
        place("MAX_RETRIES", "constant"),
        place("maxRetries", "field"),
        place("max_retries_of"),
    )
    assert found.score(exact) > found.score(folded) > found.score(other)
    assert features(found, exact)["name"] == 1.0 > features(found, folded)["name"] > 0.0
    among = features(scorer("where is MAX_RETRIES read", {}), exact)
    assert (among["name"], among["mentioned"]) == (0.0, 1.0)


def test_yes_or_no_is_asked_of_what_answers_it() -> None:
    """`is_open` for whether something is open, in any spelling."""
    asked = scorer("Returns true if the door is open", {"door": 1.0})
    values = {
        name: features(asked, place(name))["predicate"] for name in ("is_open", "isOpen", "open?", "issue")
    }
    assert values == {"is_open": 1.0, "isOpen": 1.0, "open?": 0.0, "issue": 0.0}
    assert features(scorer("opens the door", {"door": 1.0}), place("is_open"))["predicate"] == 0.0


@pytest.mark.parametrize(
    ("name", "scope", "is_one"),
    [
        ("test_send", "", 1.0),
        ("TestSend", "", 1.0),
        ("sends", "tests", 1.0),
        ("testSend", "", 1.0),
        ("tested", "", 0.0),
        ("Testimonial", "", 0.0),
        ("f", "Latest", 0.0),
    ],
)
def test_tests_are_behind_unless_asked_for(name: str, scope: str, is_one: float) -> None:
    """By their names, or by the module around them."""
    each = place(name, scope=scope)
    assert features(scorer("sends a file", {}), each)["test"] == is_one
    assert features(scorer("tests that send a file", {}), each)["test"] == 0.0


def test_a_long_text_is_looked_at_up_to_a_limit() -> None:
    """What stands behind 4,000 characters of a definition does not count, nor does it take time."""
    each = place("f", says="x " * 2000 + "table")
    assert features(scorer("table", {"tabl": 1.0}), each)["words"] == 0.0


@pytest.mark.parametrize(
    "name", ["", "operator<<", "a > b", "\u0644\u063a\u0629", "x" * 5000, "what is this?"]
)
def test_odd_names_have_a_score(name: str) -> None:
    """Headings, operators and generated names are definitions too."""
    assert isfinite(scorer(name or "nothing", {"what": 1.0}, lambda _: 0.5).score(place(name)))


def test_the_telling_line() -> None:
    """The line with most of the weight, the earliest of equals; none when no line has a word."""
    tokenizer = Tokenizer()
    assert most_telling(LINES, {"text": 0.6, "pars": 0.4, "split": 0.1}, tokenizer) == 5
    assert most_telling(LINES, {"text": 1.0}, tokenizer) == 5
    assert most_telling(LINES, {"zzz": 1.0}, tokenizer) is None
    assert most_telling([], {"text": 1.0}, tokenizer) is None
