"""What an answer is worth: NDCG@10, recall, reciprocal ranks, the bootstrap, cases as they are written."""

import json
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.errors import UsageError
from git_pkb.evaluate import bootstrap, cases, metrics
from git_pkb.evaluate.baseline import Baseline
from git_pkb.evaluate.model import Case, SymbolTarget, Target
from git_pkb.rank.results import FileResult, SymbolResult


def symbol(name, lines=(1, 5), breadcrumb="", kind="function"):
    """A piece as search lists it."""
    return SymbolResult(name, kind, breadcrumb or name, lines, 1.0, "")


def file(path, *symbols):
    """A file as search lists it."""
    return FileResult(path, 1.0, "python", stale=False, summary="", symbols=symbols)


def reference_ndcg(results, wanted, k=10):
    """The benchmark's own definition, written as its script has it."""

    def hit(result, target):
        path, start, end = target
        if not (result[0] == path or result[0].endswith("/" + path) or path.endswith("/" + result[0])):
            return False
        return start is None or any(not (e < start or s > end) for s, e in result[1])

    ranks = [next((i for i, r in enumerate(results[:k], 1) if hit(r, t)), None) for t in wanted]
    dcg = sum(1 / math.log2(i + 1) for i in {r for r in ranks if r})
    return dcg / sum(1 / math.log2(i + 1) for i in range(1, min(k, len(wanted)) + 1))


PATHS = st.sampled_from(["a.py", "src/a.py", "b.py", "src/b/b.py", "c.py", "d/c.py", "e.py"])
SPANS = st.tuples(st.integers(1, 30), st.integers(0, 10)).map(lambda s: (s[0], s[0] + s[1]))


@given(
    st.lists(st.tuples(PATHS, st.lists(SPANS, max_size=3)), max_size=14),
    st.lists(st.tuples(PATHS, st.none() | SPANS), min_size=1, max_size=12),
)
def test_ndcg_is_that_of_the_benchmark(results, wanted):
    """Whatever is found and whatever is wanted, with spans or without: the same number as the script's."""
    answer = [file(path, *(symbol("f", lines) for lines in spans)) for path, spans in results]
    targets = tuple(Target(path, *(span or (None, None))) for path, span in wanted)
    expected = reference_ndcg(results, [(path, *(span or (None, None))) for path, span in wanted])
    assert metrics.ndcg(metrics.file_ranks(answer, targets)) == pytest.approx(expected)


def test_recall_and_reciprocal_rank_stop_at_top_k():
    """A file on rank 3 is not found with `top_k` 2, but counts for NDCG@10 all the same."""
    answer = [file("x.py"), file("y.py"), file("a.py"), file("b.py")]
    case = Case("q", "q", (Target("a.py"), Target("b.py")), top_k=3)
    assert metrics.values(answer, case)["recall"] == 0.5
    assert metrics.values(answer, case)["mrr"] == pytest.approx(1 / 3)
    near = metrics.values(answer, Case("q", "q", (Target("a.py"),), top_k=2))
    assert (near["recall"], near["mrr"]) == (0.0, 0.0)
    assert near["ndcg10"] == pytest.approx(0.5)


def test_symbols_are_ranked_as_they_are_read():
    """From top to bottom, files first, the pieces under each: the second file's first piece is third here."""
    answer = [file("a.py", symbol("one"), symbol("two")), file("b.py", symbol("three"))]
    case = Case("q", "q", (), (SymbolTarget("three"), SymbolTarget("four")))
    found = metrics.values(answer, case)
    third = pytest.approx(1 / 3)
    assert found == {"symbol_recall": 0.5, "symbol_mrr": third, "symbol_mrr_by_score": third}


def test_symbols_are_ranked_by_their_scores_as_well():
    """All files' symbols in one order; of equal scores the one that is read first."""
    scored = [
        replace(symbol(name), score=score) for name, score in (("one", 1.0), ("two", 5.0), ("three", 5.0))
    ]
    answer = [file("a.py", *scored[:2]), file("b.py", scored[2])]
    found = metrics.values(answer, Case("q", "q", (), (SymbolTarget("three"),)))
    assert (found["symbol_mrr"], found["symbol_mrr_by_score"]) == (pytest.approx(1 / 3), 0.5)


def test_a_symbol_expected_by_name_counts_in_the_expected_files():
    """`load` of some other file is not what was asked for."""
    answer = [file("b.py", symbol("load")), file("a.py", symbol("load"))]
    case = Case("q", "q", (Target("a.py"),), (SymbolTarget("load"),))
    assert metrics.values(answer, case)["symbol_mrr"] == 0.5


@pytest.mark.parametrize(
    ("wanted", "hits"),
    [("load", True), ("Config.load", True), ("Config::load", True), ("Other.load", False), ("loads", False)],
)
def test_a_qualified_name_needs_its_scope(wanted, hits):
    """`Config.load` is the `load` inside `Config`, however the language writes it."""
    answer = [file("a.py", symbol("load", breadcrumb="Config > load"))]
    case = Case("q", "q", (), (SymbolTarget(wanted),))
    assert metrics.values(answer, case)["symbol_recall"] == float(hits)


def test_a_piece_may_be_expected_by_its_lines():
    """A section of a document has no name any more once its heading is gone."""
    answer = [file("a.md", symbol("", (1, 9)), symbol("", (10, 20)))]
    case = Case("q", "q", (Target("a.md"),), (SymbolTarget(path="a.md", start=12, end=14),))
    assert metrics.values(answer, case)["symbol_mrr"] == 0.5


def test_metrics_that_do_not_apply_are_missing():
    """A case without symbols has no symbol recall: no zero pulls the mean down."""
    assert set(metrics.values([], Case("q", "q", (Target("a"),)))) == {"ndcg10", "recall", "mrr"}


def test_the_interval_holds_the_mean_and_shrinks_with_more_questions():
    """A known spread: about 1.96 standard errors on both sides, and the same again the next time."""
    draw = random.Random(1)  # noqa: S311 - statistics
    some = [draw.gauss(0.1, 1.0) for _ in range(400)]
    mean, error = sum(some) / 400, 1 / math.sqrt(400)
    low, high = bootstrap.interval(some)
    assert low == pytest.approx(mean - 1.96 * error, abs=0.03)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.03)
    assert bootstrap.interval(some) == (low, high)
    few = bootstrap.interval(some[:25])
    assert few[1] - few[0] > 2 * (high - low)


def test_equal_runs_differ_by_nothing():
    """No differences, no interval."""
    assert bootstrap.interval([0.0] * 30) == (0.0, 0.0)
    assert bootstrap.interval([]) == (0.0, 0.0)


def test_cases_are_read_in_both_formats():
    """The keys of wdpkr and of the benchmark, in one file if need be."""
    text = json.dumps(
        [
            {
                "query": "where is retry",
                "expected_files": ["./src/retry.py"],
                "expected_symbols": ["Retry.run", {"path": "src/retry.py", "start_line": 3, "end_line": 9}],
                "tags": ["net"],
                "top_k": 3,
            },
            {
                "query": "how it works",
                "relevant": ["a.py", {"path": "b.py", "start_line": 1, "end_line": 4}],
                "secondary": ["c.py"],
                "category": "architecture",
            },
            {"query": "Retry", "relevant": ["a.py"]},
        ]
    )
    first, second, third = cases.parse(text)
    assert first == Case(
        "where is retry",
        "where is retry",
        (Target("src/retry.py"),),
        (SymbolTarget("Retry.run"), SymbolTarget(path="src/retry.py", start=3, end=9)),
        ("net",),
        3,
    )
    assert second.files == (Target("a.py"), Target("b.py", 1, 4), Target("c.py"))
    assert (second.tags, second.top_k, third.tags) == (("architecture",), 10, ("symbol",))


def test_a_question_asked_twice_is_two_cases():
    """Comparisons pair cases by id, so ids differ."""
    twice = [{"query": "q", "expected_files": ["a"]}, {"query": "q", "expected_files": ["b"]}]
    assert [case.id for case in cases.parse(json.dumps(twice))] == ["q", "q (2)"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no cases"),
        ('{"results": []}', "holds no cases"),
        ("[1]", "case 1 of cases is not an object"),
        ('[{"question": "q", "expected_files": ["a"]}]', "no `query`, but `question`"),
        ('[{"query": " ", "expected_files": ["a"]}]', "has no `query`"),
        ('[{"query": "q"}]', "expects nothing"),
        ('[{"query": "q", "expected_files": "a.py"}]', "`expected_files` must be a list"),
        ('[{"query": "q", "expected_files": [3]}]', "must hold paths"),
        ('[{"query": "q", "expected_files": ["a"], "top_k": 0}]', "`top_k`"),
        ('[{"query": "q", "expected_symbols": [{}]}]', "must hold names"),
        ('[{"query": "q", "relevant": [{"path": "a", "start_line": "x"}]}]', "lines must be whole numbers"),
    ],
)
def test_a_bad_case_is_named(text, says):
    """Which case it is and what is wrong with it, never a traceback."""
    with pytest.raises(UsageError) as caught:
        cases.parse(text)
    assert says in caught.value.message


LINES = st.tuples(st.integers(1, 99), st.integers(1, 99)) | st.just((None, None))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/."), min_size=1).filter(
    lambda s: s == s.strip()
)
SYMBOLS = st.builds(
    lambda name, path, lines: SymbolTarget(name, path, *lines), NAMES, st.none() | NAMES, LINES
)
CASES = st.builds(
    lambda query, files, symbols, tags, k: Case(query, query, tuple(files), tuple(symbols), tuple(tags), k),
    NAMES,
    st.lists(st.builds(lambda path, lines: Target(path, *lines), NAMES, LINES), min_size=1, max_size=3),
    st.lists(SYMBOLS, max_size=3),
    st.lists(NAMES, max_size=2, unique=True),
    st.integers(1, 20),
)


@given(st.lists(CASES, min_size=1, max_size=4, unique_by=lambda case: case.id))
def test_dumped_cases_are_read_back(written):
    """What the yardsticks write, `git pkb eval` reads as the same questions."""
    assert cases.parse(cases.dump(written)) == written


def test_the_baseline_is_plain_bm25():
    """Against the formula by hand: k1 = 1.2, b = 0.75, whole stemmed words, a rename leaves no trace."""
    index = Baseline()
    index.put("a", "retry retries backoff")
    index.put("b", "backoff timer delay delay delay")
    index.put("c", "nothing here")
    assert index.search("retrying", 5) == ["a"]
    assert index.search("backoff", 5) == ["a", "b"]  # the shorter one first
    assert index.search("back_off retryPolicy", 5) == []  # identifiers are not taken apart
    index.drop("a")
    assert index.search("retry backoff", 5) == ["b"]
    index.put("b", "all new")
    assert index.search("backoff", 5) == []
    assert len(index) == 2
