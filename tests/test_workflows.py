"""The workflows that keep branches, or everything, out of the tracked tree: the overlay serves them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import Calls, module, own_status, set_up

PKB = Callable[..., Ran]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls of the mock embedder."""
    log = tmp_path / "calls.log"
    monkeypatch.setenv("PKB_MOCK_LOG", str(log))
    return Calls(log)


@pytest.fixture
def local(repo: Repo, pkb: PKB) -> Repo:
    """A repository with hooks whose index is never tracked, and one commit."""
    set_up(repo, pkb)
    repo.git("config", "pkb.index.write", "local")
    repo.commit({"m.py": module(one="0", two="0", three="0"), "other.py": module(other="0")})
    return repo


def test_a_commit_embeds_only_what_changed(local: Repo, calls: Calls) -> None:
    """In the workflow `local` unchanged pieces of a changed file keep their vectors; nothing is tracked."""
    calls.texts()
    local.commit({"m.py": module(one="0", two="changed", three="0")})
    assert calls.texts() == 1
    assert [path for path in local.tracked() if path.startswith(".pkb")] == []
    assert local.status() == ""


def test_a_pull_embeds_only_what_changed(local: Repo, pkb: PKB, calls: Calls) -> None:
    """What came by a pull is made from what this clone had before it, however many commits came."""
    clone = Repo(local.path.parent / "clone")
    local.git("clone", "--quiet", str(local.path), str(clone.path))
    clone.git("config", "pkb.embedding.provider", "mock")
    clone.git("config", "pkb.index.write", "local")
    pkb("reindex", cwd=clone.path)
    for number in range(60):
        local.git("commit", "-q", "--allow-empty", "--no-verify", "-m", str(number))
    local.commit({"m.py": module(one="0", two="0", three="changed")})
    calls.texts()
    clone.git("pull", "--quiet")
    pkb("reindex", cwd=clone.path)
    assert calls.texts() == 1


def test_a_merge_embeds_nothing_that_either_side_had_here(local: Repo, calls: Calls) -> None:
    """With both branches indexed in this clone, their merge asks for nothing."""
    local.branch("theirs")
    local.commit({"m.py": module(one="theirs", two="0", three="0")})
    local.switch("main")
    local.commit({"m.py": module(one="0", two="0", three="ours")})
    calls.texts()
    local.merge("theirs")
    assert calls.texts() == 0
    assert local.status() == ""


def test_branches_of_default_branch_leave_the_index_alone(repo: Repo, pkb: PKB, calls: Calls) -> None:
    """On a branch artifacts go into the overlay; merged into main, they land in the tree without a call."""
    set_up(repo, pkb)
    repo.git("config", "pkb.index.write", "default-branch")
    repo.commit({"m.py": module(one="0", two="0"), "other.py": module(other="0")})
    tracked = {path: repo.blob(path) for path in repo.tracked() if path.startswith(".pkb/")}
    assert ".pkb/index/m.py.vec" in tracked
    calls.texts()
    repo.branch("topic")
    repo.commit({"m.py": module(one="topic", two="0")})
    assert calls.texts() == 1
    assert {path: repo.blob(path) for path in repo.tracked() if path.startswith(".pkb/")} == tracked
    repo.switch("main")
    repo.commit({"other.py": module(other="main")})
    calls.texts()
    repo.merge("topic")
    assert calls.texts() == 0
    assert pkb("check").out.endswith("all sound and in line with HEAD\n")
    assert own_status(repo) == ""
