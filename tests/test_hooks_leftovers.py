"""What hooks, runs by hand and history edits leave behind: nothing that surprises in `git status`."""

import os
import subprocess
from collections.abc import Callable

import pytest
from conftest import Ran, Repo
from hooked import module, own_status, problems, set_up

PKB = Callable[..., Ran]


def files(word: str, count: int = 40) -> dict[str, str]:
    """Many small modules."""
    return {f"src/m{number}.py": module(**{f"f{number}": word}) for number in range(count)}


def commit_with(repo: Repo, env: dict[str, str]) -> str:
    """Commit everything with some more environment; what was said."""
    repo.git("add", "--all")
    done = subprocess.run(
        ["git", "commit", "-qm", "change"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize("first", [True, False], ids=["first commit", "later commit"])
def test_what_a_failing_provider_had_finished_is_committed(repo: Repo, pkb: PKB, first: bool) -> None:
    """The finished part is in the commit, nothing of `.pkb` is left over, the next commit completes it."""
    set_up(repo, pkb)
    if not first:
        repo.commit(files("old"))
    for path, content in files("new").items():
        repo.write(path, content)
    said = commit_with(repo, {"PKB_MOCK_FAIL": "embed:1"})
    assert "told to fail" in said
    assert own_status(repo) == ""
    wrong = problems(repo)
    assert 0 < len(wrong) < 40
    repo.commit({"other.py": module(other="1")})
    assert problems(repo) == []
    assert own_status(repo) == ""


@pytest.mark.parametrize("seconds", ["0.02", "0.1", "0.2", "0.3", "0.5"])
@pytest.mark.parametrize("first", [True, False], ids=["first commit", "later commit"])
def test_whenever_the_time_is_up(repo: Repo, pkb: PKB, seconds: str, first: bool) -> None:
    """After a timeout at any moment the status is silent about `.pkb`, and the next commit completes."""
    set_up(repo, pkb)
    if not first:
        repo.commit(files("old"))
    repo.git("config", "pkb.hookTimeout", seconds)
    for path, content in files("new").items():
        repo.write(path, content)
    commit_with(repo, {})
    assert own_status(repo) == ""
    repo.git("config", "--unset", "pkb.hookTimeout")
    repo.commit({"other.py": module(other="1")})
    assert problems(repo) == []
    assert own_status(repo) == ""


def test_a_timeout_of_a_partial_commit(repo: Repo, pkb: PKB) -> None:
    """`commit --only` has a staging area of its own: it is left in order as well."""
    set_up(repo, pkb)
    repo.commit(files("old"))
    for path, content in files("new").items():
        repo.write(path, content)
    env = {**os.environ, "PKB_MOCK_FAIL": "embed:1"}
    subprocess.run(["git", "commit", "-qm", "x", "--only", "src"], cwd=repo.path, check=True, env=env)
    assert own_status(repo) == ""
    assert 0 < len(problems(repo)) < 40


def test_reindex_by_hand_then_a_commit_of_other_files(repo: Repo, pkb: PKB) -> None:
    """The next commit takes the artifacts along; the marker in state.toml waits for `commit -a`."""
    set_up(repo, pkb)
    repo.commit({"a.py": module(alpha="0"), "b.py": module(beta="0")})
    repo.write("a.py", module(alpha="by"))
    repo.git("commit", "-qam", "by", "--no-verify")
    pkb("reindex")
    assert {line[3:] for line in own_status(repo).splitlines()} == {
        ".pkb/state.toml", ".pkb/index/a.py.meta", ".pkb/index/a.py.vec"
    }  # fmt: skip
    repo.write("b.py", module(beta="1"))
    repo.git("add", "b.py")
    repo.git("commit", "-qm", "b")
    assert problems(repo) == []
    assert repo.status() == " M .pkb/state.toml"
    repo.git("commit", "-qam", "marker")
    assert repo.status() == ""
    assert pkb("reindex").out.startswith("up to date")
    assert repo.status() == ""


def test_the_first_reindex_by_hand_then_a_commit(repo: Repo, pkb: PKB) -> None:
    """An index that was never committed is, with the first commit that the hook sees."""
    repo.commit({"a.py": module(alpha="0"), "b.py": module(beta="0")})
    repo.git("config", "pkb.embedding.provider", "mock")
    pkb("reindex")
    assert "?? .pkb/index/a.py.meta" in own_status(repo)
    set_up(repo, pkb)
    repo.write("b.py", module(beta="1"))
    repo.git("commit", "-qam", "b")
    assert problems(repo) == []
    assert own_status(repo) in ("", " M .pkb/state.toml", "?? .pkb/state.toml")
    repo.git("add", ".pkb")
    repo.git("commit", "-qm", "rest", "--allow-empty")
    assert repo.status() == ""


@pytest.mark.parametrize("way", ["cherry-pick", "revert", "rebase"])
def test_history_edits_are_healed_by_amending(repo: Repo, pkb: PKB, way: str) -> None:
    """What git does without pre-commit leaves the tip stale and the status clean; amending it is the mend."""
    set_up(repo, pkb)
    repo.commit({"a.py": module(one="0", two="0"), "b.py": module(beta="0")})
    repo.branch("side")
    repo.commit({"a.py": module(one="0", two="side")})
    repo.switch("main")
    repo.commit({"a.py": module(one="main", two="0")})
    if way == "cherry-pick":
        repo.git("cherry-pick", "side")
    elif way == "revert":
        repo.commit({"a.py": module(one="main", two="more")})
        repo.git("revert", "--no-edit", "HEAD~1")
    else:
        repo.switch("side")
        repo.git("rebase", "-q", "main")
    assert repo.status() == ""
    assert problems(repo) != []
    repo.git("commit", "-q", "--amend", "--no-edit")
    assert problems(repo) == []
    assert repo.status() == ""
