"""`git pkb eval`: tables, JSON, comparisons and the chart, through the command."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from git_pkb.evaluate import report
from git_pkb.evaluate.model import Asked, Outcome, Report
from git_pkb.output.evalplot import page
from git_pkb.output.evaltable import table
from git_pkb.output.terminal import Terminal

CASES = [
    {
        "query": "download over a socket",
        "expected_files": ["src/net.py"],
        "expected_symbols": ["fetch"],
        "tags": ["net"],
        "top_k": 3,
    },
    {"query": "write blocks to storage", "expected_files": ["src/disk.py"], "tags": ["disk", "io"]},
    {"query": "where a recipe for soup is cooked", "expected_files": ["src/gone.py"], "tags": ["net"]},
]


@pytest.fixture
def project(repo):
    """Three small modules, and cases about them, one of which cannot be answered."""
    repo.commit(
        {
            "src/net.py": "def fetch(url):\n    '''Download over a socket.'''\n    return open_socket(url)\n",
            "src/disk.py": "def save(block):\n    '''Write blocks to storage.'''\n    storage.write(block)\n",
            "src/log.py": "def note(line):\n    '''Tell what happened.'''\n    print(line)\n"
            + "x = 1\n" * 200,
            "cases.json": json.dumps(CASES),
        }
    )
    return repo


@pytest.mark.usefixtures("project")
def test_the_table_and_its_numbers(pkb):
    """Means over all questions and per tag; a missing answer counts as not found and is named on stderr."""
    ran = pkb("eval", "cases.json")
    lines = ran.out.splitlines()
    assert lines[0] == "3 questions from cases.json"
    metrics = (
        "NDCG@10",
        "recall@k",
        "MRR",
        "symbol recall",
        "symbol MRR",
        "symbol MRR by score",
        "returned/read",
    )
    assert re.split(r"\s{2,}", lines[2].strip()) == ["questions", *metrics]
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:]}
    assert rows["hybrid"][:4] == ["3", "0.667", "0.667", "0.667"]
    assert rows["hybrid"][4:7] == ["1.000", "1.000", "1.000"]
    assert rows["disk"] == [*"1 1.000 1.000 1.000".split(), rows["disk"][-1]]
    assert rows["net"][:4] == ["2", "0.500", "0.500", "0.500"]
    assert "expected, but not in the index: src/gone.py" in ran.err


@pytest.mark.usefixtures("project")
def test_the_object_and_its_numbers(pkb):
    """One object: per run the means, per case what was found and how many tokens it took."""
    result = pkb("eval", "cases.json", "--json", "--mode", "keyword").json()
    assert result["schema"] == 1
    assert list(result["runs"]) == ["keyword"]
    overall = result["runs"]["keyword"]["overall"]
    assert set(overall) == {
        "ndcg10",
        "recall",
        "mrr",
        "symbol_recall",
        "symbol_mrr",
        "symbol_mrr_by_score",
        "compression",
    }
    assert result["runs"]["keyword"]["tags"]["net"]["questions"] == 2
    first = result["cases"][0]
    assert first["expected"] == ["src/net.py"]
    assert first["runs"]["keyword"]["found"][0] == "src/net.py"
    tokens = [case["runs"]["keyword"] for case in result["cases"]]
    ratio = sum(t.get("tokens_returned", 0) for t in tokens) / sum(t.get("tokens_read", 0) for t in tokens)
    assert overall["compression"] == pytest.approx(ratio, abs=1e-6)


@pytest.mark.usefixtures("project")
def test_the_answers_are_those_of_search(pkb):
    """What eval scores is what `git pkb search` prints, in every mode."""
    for mode in ("hybrid", "semantic", "keyword"):
        scored = pkb("eval", "cases.json", "--json", "--mode", mode).json()
        for case in scored["cases"]:
            shown = pkb("search", case["query"], "-k", "10", "--mode", mode, "--json", code=None).json()
            assert case["runs"][mode]["found"] == [each["path"] for each in shown["results"]]


@pytest.mark.usefixtures("project")
def test_a_second_mode_is_compared(pkb):
    """Both runs side by side, and the differences with intervals; plain BM25 on request."""
    result = pkb("eval", "cases.json", "--compare", "keyword", "--baseline", "--json").json()
    assert list(result["runs"]) == ["hybrid", "keyword", "bm25"]
    whole = [c for c in result["comparisons"] if c["metric"] == "ndcg10" and c["tag"] is None]
    assert [(c["run"], c["other"], c["questions"]) for c in whole] == [
        ("hybrid", "keyword", 3),
        ("hybrid", "bm25", 3),
    ]
    for c in whole:
        assert c["difference"] == pytest.approx(c["value"] - c["other_value"], abs=2e-6)
        assert c["interval"][0] <= c["difference"] <= c["interval"][1]
    assert "symbol_recall" not in result["runs"]["bm25"]["overall"]
    assert "hybrid against keyword" in pkb("eval", "cases.json", "--compare", "keyword").out


def test_a_former_result_is_compared(project, pkb):
    """The same questions then and now: a change for the worse shows as a negative difference."""
    (project.path / "before.json").write_text(pkb("eval", "cases.json", "--json").out)
    same = pkb("eval", "cases.json", "--compare", "before.json", "--json").json()
    assert {(c["difference"], *c["interval"]) for c in same["comparisons"]} == {(0.0, 0.0, 0.0)}
    assert {c["other"] for c in same["comparisons"]} == {"former hybrid"}
    project.commit({"src/net.py": None})
    worse = pkb("eval", "cases.json", "--compare", "before.json", "--json").json()
    by_metric = {c["metric"]: c for c in worse["comparisons"] if c["tag"] is None}
    assert by_metric["recall"]["difference"] == pytest.approx(-1 / 3, abs=1e-5)


def test_a_former_result_of_other_questions(project, pkb):
    """Questions that both have are compared, and a line says how many; none in common is an error."""
    (project.path / "before.json").write_text(pkb("eval", "cases.json", "--json").out)
    (project.path / "some.json").write_text(json.dumps(CASES[:2]))
    ran = pkb("eval", "some.json", "--compare", "before.json")
    assert "compared over the 2 questions that before.json has as well" in ran.err
    (project.path / "new.json").write_text(json.dumps([{"query": "new", "expected_files": ["src/net.py"]}]))
    assert "has none of these questions" in pkb("eval", "new.json", "--compare", "before.json", code=2).err


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "give a file of cases, or --history"),
        (("cases.json", "--history"), "give a file of cases, or --history"),
        (("--history", "0"), "at least 1"),
        (("cases.json", "--all-files"), "--all-files is about --history"),
        (("missing.json",), "cannot read missing.json"),
        (("src/net.py",), "src/net.py is not JSON"),
        (("cases.json", "--compare", "missing.json"), "cannot read missing.json"),
        (("cases.json", "--compare", "cases.json"), "is not the output of `git pkb eval --json`"),
        (("cases.json", "--compare", "src/net.py"), "is not the output of `git pkb eval --json`"),
        (("cases.json", "--compare", "hybrid"), "both are hybrid"),
    ],
)
def test_wrong_usage(pkb, arguments, says):
    """Exit 2 and a sentence, before anything is indexed."""
    assert says in pkb("eval", *arguments, code=2).err


@pytest.mark.usefixtures("project")
def test_the_poorest_answers_are_listed(pkb):
    """What was asked, wanted and found, the worst first."""
    out = pkb("eval", "cases.json", "--worst", "1").out
    assert re.search(r"0\.000  where a recipe for soup is cooked\n +wanted src/gone\.py\n +found  ", out)
    assert "download over a socket" not in out


def test_the_chart_is_one_file_that_stands_alone(project, pkb):
    """Well-formed SVG with a bar for each run; nothing is fetched, no script runs."""
    pkb("eval", "cases.json", "--compare", "keyword", "--plot", "chart.html")
    text = (project.path / "chart.html").read_text()
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 4
    bars = ElementTree.fromstring(drawings[0])  # noqa: S314 - our own output
    assert len(bars.findall("{*}rect")) == 2 * 6
    assert "<script" not in text
    assert not re.findall(r"(?:\bsrc=|href|url\(|@import)", text)
    assert pkb("eval", "cases.json", "--plot", "no/such/folder.html", code=74).err.startswith(
        "error: cannot write"
    )


def test_texts_in_the_chart_and_the_table_are_made_safe():
    """A tag or a name cannot bring markup or escape sequences along."""
    evil = "<img src=x onerror=alert(1)>\x1b[31m"
    asked = Asked("i", evil, (evil,), ("a",), {"hybrid": Outcome({"ndcg10": 0.5, "recall": 1.0, "mrr": 0.5})})
    result = Report(evil, ("hybrid",), (asked,))
    assert "<img" not in page(result)
    assert "\x1b" not in table(result, Terminal(), worst=1)


def test_a_report_survives_json():
    """What `fields` wrote, `parse` gives back as far as comparisons need it."""
    asked = Asked("i", "q", ("t",), ("a",), {"hybrid": Outcome({"ndcg10": 0.25}, ("a", "b"))})
    result = Report("cases", ("hybrid",), (asked,))
    assert report.parse(json.loads(json.dumps(report.fields(result))), "x") == result


def test_empty_questions_and_odd_ones_are_scored(project, pkb):
    """Stop words, another script, a stack trace, quotes: an answer or none, never a traceback."""
    odd = [
        "the of",
        "日本語の検索",
        "a \"quoted' OR 1=1; --",
        "Traceback (most recent call last):\n  File x",
        "*" * 10000,
    ]
    (project.path / "odd.json").write_text(
        json.dumps([{"query": q, "relevant": ["src/net.py"]} for q in odd])
    )
    assert pkb("eval", "odd.json", "--json").json()["questions"] == len(odd)
