"""A repository's past as questions, and the index that moves through it."""

import json
import os
import subprocess
from types import SimpleNamespace

import pytest

from git_pkb import config as settings
from git_pkb.evaluate import history, message, replay
from git_pkb.git import discover
from git_pkb.search.refresh import request_for
from git_pkb.tokens import Tokenizer


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("feat(router)!: resume downloads that were cut off (#123)", "resume downloads that were cut off"),
        ("[core] Resume downloads\n\nFixes #12, closes gh-13", "Resume downloads"),
        ("Resume downloads\n\nSigned-off-by: A <a@b.c>\nCo-authored-by: B <b@c.d>", "Resume downloads"),
        ("JIRA-12: Resume downloads", "Resume downloads"),
        ("Resume downloads, see https://example.org/x and 0a1b2c3d4e5f", "Resume downloads, see and"),
        ("Resume downloads\n\n* one\n* two\n\n    pasted output\n```\ncode\n```\nend",
         "Resume downloads one two end"),
        ("✨ :sparkles: Resume downloads", "Resume downloads"),
        ("Resume downloads\n\n(cherry picked from commit 0123456789abcdef)", "Resume downloads"),
        ("Fix: broken resume\n\nFixes the case in which a server closes early.",
         "broken resume Fixes the case in which a server closes early"),
        ("fix #7", ""),
    ],
)  # fmt: skip
def test_a_message_is_cleaned(written, asked):
    """What only git people read goes, what says something about the change stays."""
    assert message.question(written) == asked


def commit(text="resume downloads that were cut off", changed=(("M", "src/net.py"),), **more):
    """A commit as the log tells it."""
    fields = {"id": "c", "parent": "p", "author": "Ada", "email": "ada@example.org"}
    return history.Commit(**{**fields, **more}, message=text, changed=tuple(changed))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (commit(parent=None), "the first commit"),
        (commit(author="dependabot[bot]"), "made by a bot"),
        (commit(email="49699333+renovate[bot]@users.noreply.github.com"), "made by a bot"),
        (commit('Revert "resume downloads that were cut off"'), "a revert"),
        (commit("Resume downloads again\n\nThis reverts commit 0123."), "a revert"),
        (commit("Merge branch 'x' into y"), "a merge"),
        (commit(changed=[("M", f"src/{n}.py") for n in range(11)]), "changes more than 10 files"),
        (commit("fix typo"), "says too little"),
        (commit("wip"), "says too little"),
        (commit("Bump version to 1.2.3 for the release"), "says too little"),
        (commit("Update development dependencies of the project"), "says too little"),
        (commit(changed=[("A", "src/net.py")]), "only adds files"),
        (commit(changed=[("M", "tests/test_net.py")]), "only touches tests, docs or lock files"),
        (commit(changed=[("M", "README.md"), ("M", "poetry.lock"), ("M", "src/net_test.go")]),
         "only touches tests, docs or lock files"),
        (commit("resume the net after an error"), "names a file it changes"),
        (commit("resume nets after an error"), "names a file it changes"),
        (commit("let path routers resume", [("M", "src/PathRouter.java")]), "names a file it changes"),
        (commit("let the path router resume", [("M", "src/path_router.py")]), "names a file it changes"),
        (commit("read pyproject.toml again", [("M", "pyproject.toml")]), "names a file it changes"),
    ],
)  # fmt: skip
def test_commits_that_make_no_question(made, why):
    """Each kind that is left out, by its reason."""
    assert history.ask_about(made, Tokenizer()) == why


def test_answers_are_the_changed_sources():
    """Tests and change logs follow a change: answers only when all files are asked for; new files never."""
    modified = ("src/net.py", "tests/test_net.py", "CHANGES.rst")
    changed = [*(("M", path) for path in modified), ("A", "src/new.py"), ("D", "src/old.py")]
    made = commit("resume downloads that were cut off", changed)
    assert history.ask_about(made, Tokenizer()).targets == ("src/net.py", "src/old.py")
    every = history.ask_about(made, Tokenizer(), all_files=True)
    assert every.targets == (*modified, "src/old.py")


def test_prose_is_an_answer_where_most_files_are_prose(repo):
    """A vault of notes has no code to look for."""
    assert history.ask_about(commit(changed=[("M", "guide/net.md")]), Tokenizer(), prose=True).targets == (
        "guide/net.md",
    )
    repo.commit({"a.md": "# A\n", "b.md": "# B\n", "c.py": "x = 1\n"})
    assert history.mostly_prose(discover(str(repo.path)))
    repo.commit({"d.py": "x = 1\n", "e.py": "x = 1\n"})
    assert not history.mostly_prose(discover(str(repo.path)))


def module(name, says, value):
    """A module with one function."""
    return f"def {name}():\n    '''{says}'''\n    return {value}\n"


def net(value):
    """The module that downloads."""
    return module("fetch", "Download over a socket.", value)


def disk(value):
    """The module that writes."""
    return module("save", "Write blocks to storage.", value)


def story(repo):
    """Four suitable commits, one of them on a side branch, with noise between them."""
    repo.commit({"net.py": net(1), "disk.py": disk(1)}, "start")
    repo.commit({"net.py": net(2)}, "limit how long a socket may download")
    repo.branch("side")
    repo.commit({"disk.py": disk(2)}, "write full blocks to storage only")
    repo.switch("main")
    repo.commit({"README.md": "words\n"}, "say more about the program in words")
    repo.merge("side")
    repo.commit({"net.py": None, "wire.py": net(3)}, "download over one socket at a time")
    repo.commit({"wire.py": net(4), "a.png": b"\0"}, "count what sockets download every minute")


def test_history_is_read_oldest_first_and_merges_are_left_out(repo):
    """The questions in the order in which they arose, each with its parent, the reasons counted."""
    story(repo)
    past = history.choose(discover(str(repo.path)), 10)
    assert [question.query for question in past.questions] == [
        "limit how long a socket may download",
        "write full blocks to storage only",
        "download over one socket at a time",
        "count what sockets download every minute",
    ]
    assert [question.targets for question in past.questions] == [
        ("net.py",),
        ("disk.py",),
        ("net.py",),
        ("wire.py",),
    ]
    for question in past.questions:
        assert repo.git("rev-parse", f"{question.commit}^") == question.parent
    assert past.left_out == {"only adds files": 1, "the first commit": 1}


def test_the_newest_questions_are_taken(repo):
    """Git is stopped as soon as there are enough."""
    story(repo)
    past = history.choose(discover(str(repo.path)), 2)
    assert [question.targets for question in past.questions] == [("net.py",), ("wire.py",)]


def test_a_path_that_is_not_utf8_and_a_message_with_strange_bytes(repo):
    """Whatever the log holds is read, and names the same path that the tree has."""
    name = os.fsdecode(b"caf\xe9.py")
    repo.commit({name: "x = 1\n"})
    repo.write(name, "x = 2\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--file", "-", stdin=b"pour \x1e hot \x1f water over beans \xe9")
    (question,) = history.choose(discover(str(repo.path)), 5).questions
    assert question.targets == (name,)
    assert "water over beans" in question.query


def test_each_question_is_asked_of_the_parent(repo):
    """A file that is gone today is found where it was; BM25 and all three modes answer."""
    story(repo)
    there = discover(str(repo.path))
    past = history.choose(there, 10)
    report = replay.replay(
        there, request_for(there, settings.load(there)), past, str(repo.path / ".git" / "t")
    )
    assert report.runs == ("hybrid", "keyword", "semantic", "bm25")
    third = report.asked[2]
    assert third.expected == ("net.py",)
    for run in report.runs:
        assert "net.py" in third.outcomes[run].found
        assert "wire.py" not in third.outcomes[run].found
    assert "wire.py" in report.asked[3].outcomes["hybrid"].found


def test_the_moving_index_equals_one_made_at_once(repo, tmp_path):
    """Whether the index walked to a commit or was made there, the same files hold the same blobs."""
    story(repo)
    there = discover(str(repo.path))
    request = request_for(there, settings.load(there))
    moving = replay.MovingIndex(there, request, str(tmp_path / "moving"))
    commits = repo.git("rev-list", "--reverse", "--topo-order", "HEAD").split()
    for number, each in enumerate(commits):
        fresh = replay.MovingIndex(there, request, str(tmp_path / f"fresh-{number}"))
        with moving.at(each).reader as walked, fresh.at(each).reader as made:
            assert files_of(walked) == files_of(made)
            assert files_of(walked) == tree_of(repo, each)


def files_of(reader):
    """Path and blob of everything that is indexed."""
    return {file.path: file.blob for file in reader.files()}


def tree_of(repo, commit_id):
    """Path and blob of everything in a commit that is text."""
    listed = (line.split(None, 3) for line in repo.git("ls-tree", "-r", commit_id).splitlines())
    return {path: oid for _, _, oid, path in listed if not path.endswith(".png")}


def test_each_step_reads_only_what_changed(repo, tmp_path, monkeypatch):
    """One changed file, one file cut: the rest of the index stays as it is."""
    from git_pkb.search import refresher

    for n in range(8):
        repo.commit({f"file{n}.py": f"value = {n}\n"})
    repo.commit({"file3.py": "value = 33\n"}, "change a single value in there")
    there = discover(str(repo.path))
    moving = replay.MovingIndex(there, request_for(there, settings.load(there)), str(tmp_path / "moving"))
    moving.at(repo.git("rev-parse", "HEAD^")).reader.__exit__()
    cut = []
    jobs = refresher.Refresher._jobs

    def watched(self, entries):
        for job in jobs(self, entries):
            cut.append(job.path)
            yield job

    monkeypatch.setattr(refresher.Refresher, "_jobs", watched)
    moving.at(repo.head()).reader.__exit__()
    assert cut == ["file3.py"]


def test_a_provider_that_costs_money_is_not_asked(repo):
    """History is measured with the local model then, and the report says so."""
    there = discover(str(repo.path))
    request = request_for(there, settings.load(there))
    paid = SimpleNamespace(paid=True, network=True, usage=None, identity="paid:1", dims=4, dtype="int8")
    from dataclasses import replace

    costly = replace(request, recipe=replace(request.recipe, embedder=paid))
    free, warnings = replay.free(costly)
    assert free.recipe.embedder is not None
    assert not free.recipe.embedder.paid
    assert "local model" in warnings[0]
    assert replay.free(request) == (request, ())


def test_eval_history_leaves_the_user_cache_and_the_work_tree_alone(repo, pkb):
    """Asking the past changes neither `git status` nor the index that search reads; a second run agrees."""
    story(repo)
    pkb("search", "storage", "--json")
    cache = repo.path / ".git" / "pkb" / "cache.db"
    before = cache.read_bytes()
    first = pkb("eval", "--history", "--json").json()
    assert cache.read_bytes() == before
    assert repo.status() == ""
    assert first["questions"] == 4
    assert set(first["runs"]) == {"hybrid", "keyword", "semantic", "bm25"}
    assert {c["other"] for c in first["comparisons"]} == {"keyword", "semantic", "bm25"}
    assert pkb("eval", "--history", "--json").json() == first


def test_eval_history_without_an_embedder(repo, pkb):
    """With the provider `none` there are words alone, and plain BM25 to compare with."""
    story(repo)
    result = pkb("eval", "--history", "--json", env={"GIT_PKB_EMBEDDING_PROVIDER": "none"}).json()
    assert list(result["runs"]) == ["keyword", "bm25"]


def test_eval_history_in_a_bare_and_in_a_shallow_repository(repo, pkb, tmp_path):
    """What is there is asked; the edge of a shallow clone counts as the first commit."""
    story(repo)
    subprocess.run(["git", "clone", "--quiet", "--bare", repo.path, tmp_path / "bare"], check=True)
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=3", repo.path.as_uri(), tmp_path / "shallow"], check=True
    )
    bare = pkb("eval", "--history", "--json", cwd=tmp_path / "bare").json()
    assert bare["questions"] == 4
    shallow = pkb("eval", "--history", "--json", cwd=tmp_path / "shallow").json()
    assert 0 < shallow["questions"] < 4


def test_eval_history_without_anything_to_ask(repo, pkb):
    """No commit at all is a usage error; a past without a suitable commit is `nothing`, exit 1."""
    assert pkb("eval", "--history", "--json", code=2).json()["error"]["code"] == "usage"
    repo.commit({"a.py": "x = 1\n"})
    found = json.loads(pkb("eval", "--history", "5", "--json", code=1).out)
    assert (found["questions"], found["left_out"]) == (0, {"the first commit": 1})
