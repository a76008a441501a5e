"""Pieces by words, against values worked out by hand from the formulas of the module."""

from collections.abc import Sequence
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_index import TinyFile, TinyIndex, TinyPiece

from git_pkb.rank import lexical
from git_pkb.rank.lexical import Matches, match_terms, score_files, score_pieces
from git_pkb.rank.query import Question, parse
from git_pkb.tokens import Tokenizer


def ask(text: str) -> Question:
    """The question of a text."""
    return parse(text, Tokenizer())


def scores(files: Sequence[TinyFile], text: str) -> list[float]:
    """What each piece gets."""
    index = TinyIndex(files)
    return list(score_pieces(match_terms(ask(text), index), index).scores)


def plain(*bodies: dict[str, int]) -> list[TinyFile]:
    """Files of one piece each."""
    return [TinyFile([TinyPiece(body)]) for body in bodies]


def test_one_term_in_bodies() -> None:
    """The score is tf / (1.5 + tf), tf = n / (1 - .75 + .75 len / avglen); T is the one weight."""
    found = scores(plain({"cat": 1, "dog": 3}, {"cat": 2}, {"dog": 6}), "cat")
    # lengths 4, 2, 6: average 4; tf = 1 / 1, then 2 / (.25 + .75 / 2)
    assert found == pytest.approx([1 / 2.5, 3.2 / 4.7, 0.0])


def test_two_terms_share_the_score_by_rarity_and_place() -> None:
    """Each weighs w = idf^.8 / (1 + .15 n), and s is the mean of the terms' parts weighted by w."""
    found = scores(plain({"cat": 1, "dog": 1}, {"dog": 2}), "cat dog")
    cat = log(1 + (2 - 1 + 0.5) / 1.5) ** 0.8
    dog = log(1 + (2 - 2 + 0.5) / 2.5) ** 0.8 / 1.15
    assert found == pytest.approx([(cat + dog) / 2.5 / (cat + dog), dog * (2 / 3.5) / (cat + dog)])


def test_a_repeated_word_counts_twice_at_most() -> None:
    """The weight of a term grows with its count in the question, up to two."""
    index = TinyIndex(plain({"cat": 1, "dog": 1}, {"eel": 2}))
    once, twice, thrice = (
        match_terms(ask(q), index)[0].weight for q in ("cat dog", "cat cat dog", "cat cat cat dog")
    )
    assert twice == pytest.approx(2 * once)
    assert thrice == twice


def test_an_unknown_term_has_half_its_weight() -> None:
    """A word that is nowhere lowers every score alike, but by half of what its rarity would say."""
    index = TinyIndex(plain({"cat": 1}, {"dog": 1}))
    known, unknown = match_terms(ask("cat zzz"), index)
    assert known.weight == pytest.approx(log(1 + 1.5 / 1.5) ** 0.8)
    assert unknown.weight == pytest.approx(0.5 * log(1 + 2.5 / 0.5) ** 0.8 / 1.15)


def test_fields_add_up_before_saturation() -> None:
    """Comments count 1.5, names 3, the stem 3, a folder 1, each normalised in its own way."""
    piece = TinyPiece({"cat": 1}, {"cat": 1}, {"cat": 1})
    other = TinyPiece({"dog": 1}, {"dog": 1}, {"dog": 1})
    files = [TinyFile([piece], {"cat": 1}, {"cat": 1}), TinyFile([other], {"dog": 1}, {"dog": 1})]
    tf = 1 + 1.5 + 3 + 3 + 1
    assert scores(files, "cat") == pytest.approx([tf / (1.5 + tf), 0.0])


def test_a_prefix_counts_in_names_and_paths_at_a_discount() -> None:
    """`auth` finds the name `authent` (4 of 7 letters) as .8 * 4/7 of a count, not in bodies."""
    files = [TinyFile([TinyPiece({"authent": 1}, {}, {"authent": 1})]), TinyFile([TinyPiece({"dog": 1})])]
    share = 0.8 * 4 / 7
    norm = 0.5 + 0.5 * 1 / 0.5  # names: length 1, average 1/2
    tf = 3 * share / norm
    assert scores(files, "auth") == pytest.approx([tf / (1.5 + tf), 0.0])


def test_a_term_is_found_by_its_own_beginning() -> None:
    """`authent` finds the stem `auth`, but not `aut`, which is less than half of it."""
    files = [TinyFile([TinyPiece({"x": 1})], {"auth": 1}), TinyFile([TinyPiece({"x": 1})], {"aut": 1})]
    tf = 3 * 0.8 * 4 / 7
    assert scores(files, "authent") == pytest.approx([tf / (1.5 + tf), 0.0])


def test_at_most_forty_expansions() -> None:
    """Of many longer names the first forty in order count."""
    files = [TinyFile([TinyPiece({}, {}, {f"abcd{i:02}": 1})]) for i in range(60)]
    assert [score > 0 for score in scores(files, "abcd")] == [True] * 40 + [False] * 20


def test_a_whole_file_sums_the_counts_of_its_pieces() -> None:
    """Counts and lengths are added over the pieces; averages are per file."""
    index = TinyIndex(
        [TinyFile([TinyPiece({"cat": 1}), TinyPiece({"cat": 2, "dog": 1})]), *plain({"dog": 4})]
    )
    terms = match_terms(ask("cat"), index)
    found = score_files(terms, sum(t.weight for t in terms), index, {0: (0, 2), 1: (2, 1)})
    # lengths 4 and 4 with an average of 4: tf = 3
    assert found == pytest.approx({0: 3 / 4.5, 1: 0.0})


def test_names_by_prefix_count_in_whole_files() -> None:
    """What a prefix finds in names is part of the file's score, too."""
    index = TinyIndex([TinyFile([TinyPiece({"x": 1}, {}, {"authent": 1})])])
    terms = match_terms(ask("auth"), index)
    tf = 3 * 0.8 * 4 / 7
    assert score_files(terms, terms[0].weight, index, {0: (0, 1)}) == pytest.approx({0: tf / (1.5 + tf)})


COUNTS = st.dictionaries(
    st.sampled_from(["cat", "cats", "catalog", "dog", "doge"]), st.integers(1, 9), max_size=4
)
PIECES = st.builds(TinyPiece, COUNTS, COUNTS, COUNTS)
FILES = st.lists(
    st.builds(TinyFile, st.lists(PIECES, max_size=3), COUNTS, COUNTS, st.sampled_from([True, True, False])),
    min_size=1,
    max_size=6,
)


@given(FILES, st.sampled_from(["cat", "dog cat", "catalog of dogs", "doge cat cat"]))
def test_numpy_gives_the_scores_of_python(files: list[TinyFile], text: str) -> None:
    """Large repositories are summed by numpy: the scores agree to nine digits."""
    index = TinyIndex(files)
    by_python, by_numpy = (_scored(index, text, many) for many in (False, True))
    assert list(by_numpy.scores) == pytest.approx(list(by_python.scores), abs=1e-9)


def _scored(index: TinyIndex, text: str, many: bool) -> Matches:
    usual, lexical.MANY_PIECES = lexical.MANY_PIECES, -1 if many else 1 << 60
    try:
        return score_pieces(match_terms(ask(text), index), index)
    finally:
        lexical.MANY_PIECES = usual


@given(FILES, st.sampled_from(["cat", "dog cat"]))
def test_dead_files_change_nothing(files: list[TinyFile], text: str) -> None:
    """Scores are those of an index that never held what is gone, and what is gone scores nothing."""
    index = TinyIndex(files)
    alive = TinyIndex([file for file in files if file.live] or [TinyFile([])])
    living = [p for p, file in enumerate(index.piece_file) if files[file].live]
    found = score_pieces(match_terms(ask(text), index), index).scores
    assert sum(found) == pytest.approx(sum(found[p] for p in living))
    expected = score_pieces(match_terms(ask(text), alive), alive).scores
    assert [found[p] for p in living] == pytest.approx(list(expected), abs=1e-9)
