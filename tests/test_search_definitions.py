"""Which definitions a search points at, and what they do to the order of files."""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from conftest import Ran, Repo

from git_pkb import config
from git_pkb.git import discover
from git_pkb.search.refresh import current, request_for
from git_pkb.search.snapshot import start_status

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


def found(pkb: Pkb, *args: str) -> list[tuple[str, str, float]]:
    """(path, name, score) of every symbol, as they are listed."""
    results = pkb("search", "--json", *args).json()["results"]
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
    """How many are asked for does not change their order, nor what is pointed at."""
    repo.commit(
        {f"pkg{i}/part{i}.py": JOINED.replace("safe", f"safe{'r' * i}") + SPREAD for i in range(12)}, "many"
    )
    ten = found(pkb, "-k", "10", "--mode", mode, QUESTION)
    three = found(pkb, "-k", "3", "--mode", mode, QUESTION)
    assert three == ten[: len(three)]
    assert len({path for path, _, _ in three}) == 3


def test_settings_and_prose_keep_their_place_between_code(repo: Repo, pkb: Pkb) -> None:
    """What defines nothing is not pushed behind by what defines much."""
    workflow = (
        "name: release\non: push\njobs:\n  publish:\n    steps:\n      - run: publish and sign a release\n"
    )
    code = "".join(f"def step_{i}(release):\n    return release + {i}\n\n\n" for i in range(20))
    repo.commit({".github/workflows/release.yml": workflow, "src/steps.py": code}, "both")
    assert found(pkb, "publish and sign a release in the github workflow")[0][0] == (
        ".github/workflows/release.yml"
    )


def test_a_file_that_is_gone_from_the_clone_still_has_its_place(repo: Repo, pkb: Pkb) -> None:
    """Without the text the pieces of the artifact stand for themselves."""
    repo.commit({"a/sender.py": SPREAD, "b/security.py": JOINED}, "both")
    pkb("reindex")
    repo.git("add", "-A")
    repo.git("commit", "-m", "index")
    blob = repo.git("rev-parse", "HEAD:b/security.py").strip()
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    (repo.path / "b" / "security.py").unlink()
    ran = pkb("search", "--json", QUESTION)
    assert json.loads(ran.out)["results"]


def test_the_index_of_a_commit_reads_its_blobs(repo: Repo) -> None:
    """`eval --history` looks into files as they were, also where the work tree's has the same size."""
    repo.commit({"a.py": "def alpha():\n    pass\n"}, "begin")
    index = discover(str(repo.path))
    now = current(index, request_for(index, config.load(index)), start_status(index))
    with now.reader:
        facts = now.reader.files()
        repo.write("a.py", "def omega():\n    pass\n")
        then = replace(now, committed=True)
        assert then.contents(facts) == {"a.py": b"def alpha():\n    pass\n"}
        assert now.contents(facts) == {"a.py": b"def omega():\n    pass\n"}
