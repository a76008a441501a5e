"""One score a file: the parts of it, and that looking up as little as possible finds the same files."""

from array import array
from collections.abc import Mapping, Sequence
from math import log, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_index import TinyFile, TinyIndex, TinyPiece

from git_pkb.rank import files as ranking
from git_pkb.rank.files import Candidate, StemRarity, best, provisional, stem_coverage, stem_parts
from git_pkb.rank.lexical import Matches, TermMatch, match_terms, score_pieces
from git_pkb.rank.query import parse
from git_pkb.tokens import Tokenizer

NOWHERE = (array("I"), b"")


class Known:
    """Details written down, and which files were asked for."""

    def __init__(
        self,
        words: Mapping[int, tuple[float, float]] = {},
        content: Mapping[int, float] = {},
        paths: Mapping[int, float] = {},
    ) -> None:
        self.words, self.content, self.paths = words, content, paths
        self.asked: list[int] = []

    def by_words(self, files: Sequence[Candidate]) -> list[tuple[float, float]]:
        """As given, else 0."""
        return [self.words.get(file.id, (0.0, 0.0)) for file in files]

    def by_meaning(self, files: Sequence[Candidate]) -> tuple[Mapping[int, float], Mapping[int, float]]:
        """As given."""
        self.asked += [file.id for file in files]
        return self.content, self.paths


def candidate(
    number: int, path: str = "", *, pieces: int = 1, penalty: float = 0.0, path_share: float = 1.0
) -> Candidate:
    """A file of 900 bytes whose first piece has its own number."""
    return Candidate(number, path or f"{number:03}.py", 900, number, pieces, penalty, path_share)


def words(scores: Sequence[float]) -> Matches:
    """Pieces scored by words alone."""
    return Matches([], 1.0, list(scores))


def test_a_score_is_the_weighted_sum_of_its_features() -> None:
    """Every feature counts with its weight, and the pieces are ordered by words and meaning together."""
    term = TermMatch("x", 2.0, 1.0, *[NOWHERE] * 3, {0: 0.5}, {0: 3.0})
    matches = Matches([term], 4.0, [0.2, 0.5])
    known = Known({0: (0.3, 0.4)}, {0: 0.9, 1: 0.1}, {0: 0.6})
    (found,) = best(matches, [candidate(0, pieces=2, penalty=0.25)], 5, known)
    features = {
        "best piece": 0.5,
        "top pieces": 0.5 + 0.8 * 0.2,
        "stem hit": 2 * 0.5 / 4,
        "folder hit": 2 * 1.0 / 4,
        "size": log(1000),
        "penalty": 0.25,
        "whole file": 0.3,
        "stem cover": 0.4,
        "content": 0.9,
        "path": 0.6,
    }
    assert found.features == pytest.approx(list(features.values()))
    assert [*features, "definition"] == list(ranking.WEIGHTS)
    assert ranking.with_definition(found, 8.0).score == pytest.approx(found.score + 1.6)
    assert found.score == pytest.approx(
        sum(ranking.WEIGHTS[name] * value for name, value in features.items())
    )
    word, meaning = ranking.WEIGHTS["best piece"], ranking.WEIGHTS["content"]
    assert dict(found.pieces) == pytest.approx({0: word * 0.2 + meaning * 0.9, 1: word * 0.5 + meaning * 0.1})
    assert [piece for piece, _ in found.pieces] == [0, 1]


def test_a_path_may_count_in_part() -> None:
    """`path_share` scales all that the path says: hits of stem and folder, coverage, cosine."""
    term = TermMatch("x", 1.0, 1.0, *[NOWHERE] * 3, {0: 1.0}, {0: 1.0})
    known = Known({0: (0.0, 1.0)}, {}, {0: 1.0})
    (whole,), (part,) = (
        best(Matches([term], 1.0, [0.0]), [candidate(0, path_share=share)], 1, known) for share in (1.0, 0.5)
    )
    of_path = sum(ranking.WEIGHTS[name] for name in ("stem hit", "folder hit", "stem cover", "path"))
    assert whole.score - part.score == pytest.approx(0.5 * of_path)


def test_ties_go_by_path() -> None:
    """Equal scores (to six digits) are ordered by path, whatever the order of the ids."""
    files = [candidate(0, "z.py"), candidate(1, "a.py"), candidate(2, "m.py")]
    found = best(words([0.5, 0.5 + 1e-9, 0.5]), files, 2, Known())
    assert [scored.file.path for scored in found] == ["a.py", "m.py"]


def test_equal_pieces_stand_in_order() -> None:
    """Pieces of equal score keep their order in the file."""
    (found,) = best(words([0.1, 0.7, 0.7]), [candidate(0, pieces=3)], 1, Known())
    assert [piece for piece, _ in found.pieces] == [1, 2, 0]


def test_meaning_counts_less_for_a_name() -> None:
    """`dense_share` scales both cosines."""
    known = Known(content={0: 0.5}, paths={0: 0.5})
    (whole,), (part,) = (best(words([0.0]), [candidate(0)], 1, known, share) for share in (1.0, 0.4))
    assert whole.score - part.score == pytest.approx(
        0.3 * (ranking.WEIGHTS["content"] + ranking.WEIGHTS["path"])
    )


def test_meaning_alone() -> None:
    """Without matches only cosines, penalty and size count."""
    found = best(None, [candidate(0), candidate(1)], 2, Known(content={1: 0.4}))
    assert [scored.file.id for scored in found] == [1, 0]


UNIT = st.floats(0, 1, width=32)
COSINE = st.floats(-1, 1, width=32)


@given(st.lists(st.tuples(UNIT, UNIT, UNIT, UNIT, COSINE, COSINE), max_size=80), st.integers(1, 12))
def test_looking_up_few_files_finds_the_same_as_looking_up_all(
    drawn: list[tuple[float, float, float, float, float, float]], most: int
) -> None:
    """The best files and their scores are those one gets by scoring every candidate."""
    files = [candidate(i, penalty=d[1]) for i, d in enumerate(drawn)]
    matches = words([d[0] for d in drawn])
    details = ({i: d[2:4] for i, d in enumerate(drawn)}, {i: d[4] for i, d in enumerate(drawn)})
    paths = {i: d[5] for i, d in enumerate(drawn)}
    few = best(matches, files, most, Known(*details, paths))
    assert few == best(matches, files, len(files) + 1, Known(*details, paths))[:most]


def test_files_that_cannot_win_are_not_looked_up() -> None:
    """Cosines of files far behind are never computed: that is what makes a search quick."""
    known = Known(content=dict.fromkeys(range(200), 0.5))
    best(words([4.0] * 5 + [0.1] * 195), [candidate(i) for i in range(200)], 5, known)
    assert set(range(5)) <= set(known.asked)
    assert len(known.asked) < 30


COUNTS = st.dictionaries(st.sampled_from(["cat", "dog"]), st.integers(1, 5))
FILES = st.lists(
    st.builds(TinyFile, st.lists(st.builds(TinyPiece, COUNTS, COUNTS, COUNTS), max_size=3), COUNTS, COUNTS),
    min_size=1,
    max_size=12,
)


@given(FILES, st.integers(1, 8))
def test_numpy_gives_the_candidates_of_python(files: list[TinyFile], most: int) -> None:
    """In a large repository the first choice of files is the same, ties included."""
    index = TinyIndex(files)
    matches = score_pieces(match_terms(parse("cat dog", Tokenizer()), index), index)
    by_python = provisional(matches, index, most)
    usual, lexical_many = ranking.MANY_PIECES, -1
    try:
        ranking.MANY_PIECES = lexical_many
        assert provisional(matches, index, most) == by_python
    finally:
        ranking.MANY_PIECES = usual


def test_candidates_may_be_limited() -> None:
    """Only allowed files are chosen, only files in which something matches, best first, ties by id."""
    index = TinyIndex([TinyFile([TinyPiece({"cat": n, "x": 5 - n})]) for n in (1, 3, 3, 0, 2)])
    matches = score_pieces(match_terms(parse("cat", Tokenizer()), index), index)
    assert provisional(matches, index, 9) == [1, 2, 4, 0]
    assert provisional(matches, index, 2) == [1, 2]
    assert provisional(matches, index, 9, {0, 3, 4}) == [4, 0]


def test_a_definition_is_raised_by_how_well_it_is_named() -> None:
    """`.2 * exact * kind * (1 + log2(1 + lines) / 8)`; .6 when only case or underscores differ."""
    pieces = [
        TinyPiece(definitions=[("parse_table", "function", 15)]),
        TinyPiece(definitions=[("ParseTable", "constant", 1)]),
        TinyPiece(),
    ]
    index = TinyIndex([TinyFile(pieces)])
    matches = words([0.0] * 3)
    ranking.add_definition_bonus(parse("parse_table", Tokenizer()), matches, index)
    assert matches.scores == pytest.approx([0.2 * (1 + 4 / 8), 0.2 * 0.6 * 0.5 * (1 + 1 / 8), 0.0])
    assert log2(16) == 4


def test_a_capitalised_word_is_a_weak_name() -> None:
    """An ordinary word with a capital that is exactly a definition adds .05."""
    index = TinyIndex([TinyFile([TinyPiece(definitions=[("Router", "class", 9)])])])
    matches = words([0.0])
    ranking.add_definition_bonus(parse("how the Router works", Tokenizer()), matches, index)
    assert matches.scores == pytest.approx([0.05])


def test_two_words_written_as_one() -> None:
    """`path router` raises names and stems `pathrouter` by .1, once, and nothing that is gone."""
    tokenizer = Tokenizer()
    question = parse("path router", tokenizer)
    joined = ranking.joined_terms(question, tokenizer)
    assert joined == ["pathrout"]
    named = {"pathrout": 1}
    files = [
        TinyFile([TinyPiece(name=named)], named),
        TinyFile([TinyPiece()]),
        TinyFile([TinyPiece()], named, live=False),
    ]
    matches = words([0.0] * 3)
    ranking.add_joined_bonus(matches, joined, TinyIndex(files))
    assert matches.scores == pytest.approx([0.1, 0.0, 0.0])
    assert ranking.joined_terms(parse("path router PathRouter", tokenizer), tokenizer) == ["routerpathrout"]


def cover(path: str, question: str, files: Sequence[TinyFile] = ()) -> float:
    """How much of a file's stem a question covers."""
    tokenizer = Tokenizer()
    rarity = StemRarity(TinyIndex(files))
    return stem_coverage(stem_parts(path, tokenizer), parse(question, tokenizer).terms, rarity)


def test_coverage_of_a_stem() -> None:
    """All of it 1, a compound asked for as one 1, half of two equally rare words one half, nothing 0."""
    assert cover("a/path_router.py", "the path of a router") == pytest.approx(1.0)
    assert cover("a/path_router.py", "pathrouter") == 1.0
    assert cover("a/path_router.py", "where is the path") == pytest.approx(0.5)
    assert cover("a/path_router.py", "something else") == 0.0
    assert cover("a/authent.py", "auth") == pytest.approx(0.8 * 4 / 7)
    assert cover("a/aut.py", "authent") == 0.0


def test_rare_parts_of_a_stem_weigh_more() -> None:
    """A word that many stems have says little: `ln(1 + (F - d + .5) / (d + .5)) + .1`."""
    files = [TinyFile([TinyPiece({"x": 1})], {"path": 1}) for _ in range(9)]
    common, rare = (log(1 + (9 - d + 0.5) / (d + 0.5)) + 0.1 for d in (9, 0))
    assert cover("path_router.py", "any router", files) == pytest.approx(rare / (rare + common))
