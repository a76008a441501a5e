"""Which definitions a search points at, and what they do to the order of files."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Ran, Repo

from git_pkb import config
from git_pkb.cache.reader import FileFacts
from git_pkb.evaluate.replay import MovingIndex
from git_pkb.git import discover
from git_pkb.model import Definition, Piece, Record
from git_pkb.rank.files import WEIGHTS, Candidate, Scored
from git_pkb.rank.lexical import Matches
from git_pkb.rank.query import parse
from git_pkb.rank.symbols import WEIGHTS as OF_DEFINITIONS
from git_pkb.rank.symbols import Extent, Place, Scorer
from git_pkb.search import definitions
from git_pkb.search.refresh import current, request_for
from git_pkb.search.searcher import SearchOptions, rank
from git_pkb.search.snapshot import start_status
from git_pkb.tokens import Tokenizer

Pkb = Callable[..., Ran]

#: Two files that say the same words; in one of them they make a definition.
JOINED = """def safe_join(directory, *untrusted):
    if not directory:
        directory = "."
    return directory
"""
SPREAD = '''class Sender:
    """Sends a file from a directory; the path must be safe to join, components are checked elsewhere."""

    directory = "base directory, trusted"
    join = "components of the path"
    untrusted = "untrusted path components"

    def send(self, path):
        return self.directory, path
'''
QUESTION = "safely join untrusted components to a directory"


def found(pkb: Pkb, *args: str, **options: Path) -> list[tuple[str, str, float]]:
    """(path, name, score) of every symbol, as they are listed."""
    results = pkb("search", "--json", *args, **options).json()["results"]
    return [(each["path"], symbol["name"], symbol["score"]) for each in results for symbol in each["symbols"]]


def test_what_is_done_comes_before_what_only_holds_the_words(repo: Repo, pkb: Pkb) -> None:
    """A function whose name the question has is first by its score; fields that repeat it are behind."""
    repo.commit({"a/sender.py": SPREAD, "b/security.py": JOINED}, "both")
    listed = found(pkb, QUESTION)
    assert max(listed, key=lambda item: item[2])[:2] == ("b/security.py", "safe_join")
    of_sender = [name for path, name, _ in listed if path == "a/sender.py"]
    assert set(of_sender[:2]) == {"Sender", "send"}


def test_scores_fall_within_a_file(repo: Repo, pkb: Pkb) -> None:
    """Best first under each file, and `--flat` has all of them by that number."""
    repo.commit({"a/sender.py": SPREAD, "b/security.py": JOINED}, "both")
    listed = found(pkb, QUESTION)
    for _, group in itertools.groupby(listed, key=lambda item: item[0]):
        scores = [score for _, _, score in group]
        assert scores == sorted(scores, reverse=True)
    flat = pkb("search", "--flat", QUESTION).out.splitlines()
    names = [line.split("\t")[0].rsplit(" ", 1)[-1].rsplit(":", 1)[-1] for line in flat]
    assert names == [name for _, name, _ in sorted(listed, key=lambda item: -item[2])]


def test_flat_and_json_exclude_each_other(repo: Repo, pkb: Pkb) -> None:
    """The JSON has the scores to sort by; the hint says so."""
    repo.commit({"a.py": JOINED}, "one")
    ran = pkb("search", "--flat", "--json", "join", code=2)
    assert "sort the symbols" in ran.json()["error"]["hint"]
    assert "-i and --flat" in pkb("search", "-i", "--flat", code=2).err


def test_who_types_a_name_gets_it_even_a_constant(repo: Repo, pkb: Pkb) -> None:
    """A function around the name does not come before the constant itself."""
    text = (
        "pub const MAX_RETRIES: usize = 5;\n\n"
        "pub fn max_retries_of(max: Config) -> usize {\n    max.retries.min(MAX_RETRIES)\n}\n"
    )
    repo.commit({"a.rs": text}, "one")
    assert [name for _, name, _ in found(pkb, "MAX_RETRIES")] == ["MAX_RETRIES", "max_retries_of"]
    assert found(pkb, "how often do retries of a config go to the max")[0][1] == "max_retries_of"


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_fewer_files_are_the_first_of_more(repo: Repo, pkb: Pkb, mode: str) -> None:
    """How many are asked for changes neither the order nor the scores, whatever kinds of files there are."""
    files = {f"pkg{i}/part{i}.py": JOINED.replace("safe", f"safe{'r' * i}") + SPREAD for i in range(14)}
    files |= {f"doc{i}.md": f"# Join {i}\n\nSafely join a directory.\n" for i in range(5)}
    files |= {f"conf{i}.yml": f"join: {i}\ndirectory: trusted\n" for i in range(5)}
    repo.commit(files, "many")
    most = pkb("search", "--json", "-k", "24", "--mode", mode, QUESTION).json()["results"]
    assert len(most) > 17
    for k in (1, 3, 10, 15, 17):
        fewer = pkb("search", "--json", "-k", str(k), "--mode", mode, QUESTION).json()["results"]
        assert fewer == most[:k]
        bare = pkb("search", "--json", "--no-symbols", "-k", str(k), "--mode", mode, QUESTION).json()
        assert [(r["path"], r["score"]) for r in bare["results"]] == [(r["path"], r["score"]) for r in fewer]
    scores = [result["score"] for result in most]
    assert scores == sorted(scores, reverse=True)


def looked(path: str, score: float, best: float | None, kind: str = "function") -> definitions.Looked:
    """A file with one definition of this score, or with none."""
    file = Candidate(0, path, 100, 0, 1, 0.0, 1.0)
    facts = FileFacts(0, path, "", "python", 100, 0, 1, stale=False)
    record = Record(Piece(0, 1, 1, 0, kind, ""), b"", "")
    extent = Extent(Definition("f", kind, 0, 1), 0, 1, 1)
    place = Place("f", kind, "", "f", 1, 1, 0.0)
    found = [definitions.Found(best, place, record, extent, ())] if best is not None else []
    return definitions.Looked(Scored(file, score, (), ()), facts, None, None, found)


def order(pool: list[definitions.Looked], behind: list[definitions.Looked]) -> list[str]:
    """Paths after the files were ordered again; the features before do not matter here."""
    rest = (0.0,) * (len(WEIGHTS) - 2)
    base = [
        replace(f, scored=replace(f.scored, features=(f.scored.score / WEIGHTS["best piece"], *rest)))
        for f in pool + behind
    ]
    result = definitions._ordered(base[: len(pool)], base[len(pool) :])
    scores = [each.scored.score for each in result]
    assert scores == sorted(scores, reverse=True)
    return [each.facts.path for each in result]


def test_a_better_definition_brings_a_file_up() -> None:
    """By .2 of how much better it is."""
    assert order([looked("a", 5.0, 2.0), looked("b", 4.0, 8.0)], []) == ["b", "a"]
    assert order([looked("a", 5.0, 2.0), looked("b", 4.0, 6.0)], []) == ["a", "b"]


def test_what_defines_nothing_keeps_its_place_between_code() -> None:
    """Settings and prose get what is usual, so they stay between code as good as theirs."""
    code = [looked(name, score, 10.0) for name, score in (("a", 6.0), ("b", 5.0), ("c", 4.0))]
    assert order([*code, looked("x.yml", 4.5, None)], []) == ["a", "b", "x.yml", "c"]
    assert order([*code, looked("x.md", 4.5, 0.0, "section")], []) == ["a", "b", "x.md", "c"]


def test_what_is_behind_the_pool_stays_behind() -> None:
    """A file that was not looked into never comes before one that was, however little its definition adds."""
    pool = [looked("a", 5.0, 9.0), looked("b", 4.9, 8.0), looked("c", 4.8, -9.0)]
    assert order(pool, [looked("d", 4.7, 99.0)]) == ["a", "b", "c", "d"]


def test_meaning_that_speaks_against_the_best_does_not_bring_up_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was not looked at is not better than what was, even if that lost by it."""
    by_words = [replace(looked("a", 0.0, float(score)).found[0], score=float(score)) for score in range(20)]
    monkeypatch.setattr(definitions, "_by_words", lambda *_: list(by_words))
    tokenizer = Tokenizer()
    scorer = Scorer(parse("x y", tokenizer), {"x": 1.0}, tokenizer, lambda _: -1.0)
    file = looked("a", 0.0, None)
    matches = Matches([], 1.0, [])
    result = definitions._definitions(file.scored, None, None, matches, scorer)  # type: ignore[arg-type]
    scores = [each.score for each in result]
    assert scores == sorted(scores, reverse=True)
    assert scores[8] == min(scores[:8]) - 1.0


def test_definitions_behind_the_best_by_words_stay_behind(repo: Repo, pkb: Pkb) -> None:
    """Meaning is looked at for eight a file; the others have no more than these, less one."""
    text = "".join(f"def handle_request_{i}(request):\n    return request + {i}\n\n\n" for i in range(14))
    repo.commit({"a.py": text}, "one")
    hybrid = [score for _, _, score in found(pkb, "--symbols-per-file", "14", "handle a request")]
    assert len(hybrid) == 14
    assert hybrid == sorted(hybrid, reverse=True)
    assert max(hybrid[8:]) <= min(hybrid[:8]) - 1.0
    words = [
        score
        for _, _, score in found(pkb, "--symbols-per-file", "14", "--mode", "keyword", "handle a request")
    ]
    assert max(words) - min(words) < 1.0


def test_as_many_pieces_of_prose_as_are_asked_for(repo: Repo, pkb: Pkb) -> None:
    """Only four are read whole, but all are listed."""
    part = "## Rendering part {0}\n\n" + "How the width of a table is rendered in part {0}. " * 30 + "\n\n"
    repo.commit({"a.md": "# Manual\n\n" + "".join(part.format(i) for i in range(9))}, "one")
    assert len(found(pkb, "--symbols-per-file", "9", "rendering the width")) == 9


def test_a_word_whose_stem_begins_otherwise(repo: Repo, pkb: Pkb) -> None:
    """`dying` becomes `die`, `id_map` is `idmap` too."""
    repo.commit({"a.py": "def first_thing(x):\n    pass\n\n\ndef dying_process(x):\n    pass\n"}, "one")
    assert found(pkb, "--mode", "keyword", "dying")[0][1] == "dying_process"
    repo.commit({"a.py": "def first_thing(x):\n    pass\n\n\ndef id_map(x):\n    pass\n"}, "other")
    assert found(pkb, "--mode", "keyword", "idmap")[0][1] == "id_map"


@pytest.mark.parametrize(
    ("lines", "name", "expected"),
    [
        (["@cache", "def render(", "    a,", ") -> int:", "    pass"], "render", "def render( a, ) -> int:"),
        (['@app.route("/render")', "def render():"], "render", "def render():"),
        (["@Override String render(int a) {", "int b = a;"], "render", "@Override String render(int a) {"),
        (["[[nodiscard]] int render() {"], "render", "[[nodiscard]] int render() {"),
        (["#[inline]", "", "fn render() {}"], "render", "fn render() {}"),
        (["@only"], "render", ""),
        ([], "render", ""),
    ],
)  # fmt: skip
def test_the_signature_is_found_behind_annotations(lines: list[str], name: str, expected: str) -> None:
    """Annotations are left out, unless they share the line with what they annotate."""
    assert " ".join(definitions.signature(lines, name)) == expected


def test_a_file_whose_text_is_gone_keeps_its_definitions(repo: Repo, tmp_path: Path, pkb: Pkb) -> None:
    """Names, kinds and lines are those of the artifact; the excerpt stands in for the text."""
    repo.commit({"a/sender.py": SPREAD, "b/security.py": JOINED}, "both")
    clone = tmp_path / "bare"
    repo.git("clone", "--quiet", "--bare", "--no-hardlinks", str(repo.path), str(clone))
    before = found(pkb, QUESTION, cwd=clone)
    blob = repo.git("rev-parse", "HEAD:b/security.py").strip()
    (clone / "objects" / blob[:2] / blob[2:]).unlink()
    results = pkb("search", "--json", "--text", QUESTION, cwd=clone).json()["results"]
    security = next(each for each in results if each["path"] == "b/security.py")
    (symbol,) = security["symbols"]
    assert (symbol["name"], symbol["kind"], symbol["lines"]) == ("safe_join", "function", [1, 4])
    assert "text" not in symbol
    assert ("b/security.py", "safe_join") in [item[:2] for item in before]


def test_the_index_of_a_commit_reads_its_blobs(repo: Repo, tmp_path: Path) -> None:
    """`eval --history` looks into files as they were, also where the work tree's has the same size."""
    commit = repo.commit({"a.py": "def alpha():\n    pass\n"}, "begin")
    repo.write("a.py", "def omega():\n    pass\n")
    found = discover(str(repo.path))
    then = MovingIndex(found, request_for(found, config.load(found)), str(tmp_path / "eval")).at(commit)
    with then.reader:
        assert then.contents(then.reader.files()) == {"a.py": b"def alpha():\n    pass\n"}


def test_meaning_alone_counts_no_words_and_prose_says_all_of_itself(repo: Repo) -> None:
    """In semantic mode no word of a definition counts; a section is looked at beyond its first line."""
    repo.commit(
        {
            "a.md": "# Guide\n\nNothing here.\n\nFar below: join a directory.\n",
            "b.py": JOINED,
            "c.txt": "Nothing.\n\nAt the end.\n",
        },
        "both",
    )
    found = discover(str(repo.path))
    index = current(found, request_for(found, config.load(found)), start_status(found))
    with index.reader:
        ranking = rank(index, QUESTION, SearchOptions(mode="semantic"), Tokenizer())
    assert ranking.scorer is not None
    places = {file.facts.path: file.found[0].place for file in ranking.files}
    known = dict(zip(OF_DEFINITIONS, ranking.scorer.features(places["b.py"]), strict=True))
    assert known["meaning"] > 0.0 == known["words"] == known["piece"]
    assert "Far below" in places["a.md"].says
    assert "At the end" in places["c.txt"].says
