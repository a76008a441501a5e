"""Merges in a clone with the hooks: no conflict under `.pkb` for a person, rows of either side reused."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import Calls, module, own_status, problems, set_up

PKB = Callable[..., Ran]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls of the mock embedder."""
    log = tmp_path / "calls.log"
    monkeypatch.setenv("PKB_MOCK_LOG", str(log))
    return Calls(log)


@pytest.fixture
def hooked(repo: Repo, pkb: PKB) -> Repo:
    """A repository with hooks and one commit: a module of four functions, and another file."""
    set_up(repo, pkb)
    repo.commit({"m.py": module(one="0", two="0", three="0", four="0"), "other.py": module(other="0")})
    return repo


def unmerged(repo: Repo, *paths: str) -> list[str]:
    """The paths git lists as unmerged."""
    listed = repo.git("ls-files", "-u", "-z", "--", *paths).split("\0")
    return sorted({record.split("\t", 1)[1] for record in listed if record})


def right(repo: Repo) -> None:
    """The index of HEAD matches HEAD, nothing is unmerged, status is silent about `.pkb`."""
    assert problems(repo) == []
    assert unmerged(repo) == []
    assert own_status(repo) == ""


def fork(repo: Repo, theirs: dict[str, str | None], ours: dict[str, str | None]) -> None:
    """A branch `theirs` and new work on main."""
    repo.branch("theirs")
    repo.commit(theirs, "theirs")
    repo.switch("main")
    repo.commit(ours, "ours")


def test_different_functions_of_one_file(hooked: Repo, calls: Calls) -> None:
    """The merge commit of a clean merge is right at once, and every row comes from a side."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    calls.texts()
    hooked.merge("theirs")
    right(hooked)
    assert hooked.status() == ""
    assert calls.texts() == 0


def test_the_same_function(hooked: Repo, calls: Calls) -> None:
    """Only the source is in conflict; when a person has solved it, the commit is right."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="theirs", four="0")},
        {"m.py": module(one="ours", two="0", three="0", four="ours")},
    )
    calls.texts()
    hooked.merge("theirs", check=False)
    assert unmerged(hooked) == ["m.py"]
    hooked.write("m.py", module(one="both", two="0", three="theirs", four="ours"))
    hooked.git("add", "m.py")
    hooked.git("commit", "-q", "--no-edit")
    right(hooked)
    assert hooked.status() == ""
    assert calls.texts() == 1


def test_one_renames_and_one_edits(hooked: Repo, calls: Calls) -> None:
    """The edit follows the rename, with the rows of the edit."""
    hooked.branch("theirs")
    hooked.git("mv", "m.py", "renamed.py")
    hooked.commit({}, "renamed")
    hooked.switch("main")
    hooked.commit({"m.py": module(one="ours", two="0", three="0", four="0")})
    calls.texts()
    hooked.merge("theirs")
    right(hooked)
    assert "renamed.py" in hooked.tracked()
    assert calls.texts() == 0


def test_one_renames_with_an_edit_and_one_edits(hooked: Repo, calls: Calls) -> None:
    """Rename and edit on one side, edit on the other: nothing of `.pkb` is left to a person."""
    hooked.branch("theirs")
    hooked.git("mv", "m.py", "renamed.py")
    hooked.commit({"renamed.py": module(one="theirs", two="0", three="0", four="0")})
    hooked.switch("main")
    hooked.commit({"m.py": module(one="0", two="0", three="0", four="ours")})
    calls.texts()
    hooked.merge("theirs", check=False)
    assert unmerged(hooked) == []
    if hooked.git("rev-parse", "-q", "--verify", "MERGE_HEAD", check=False):
        hooked.git("commit", "-q", "--no-edit")
    right(hooked)
    assert calls.texts() == 0


@pytest.mark.parametrize("deleter", ["theirs", "ours"])
@pytest.mark.parametrize("kept", [True, False])
def test_one_deletes_and_one_edits(hooked: Repo, deleter: str, kept: bool) -> None:
    """The source is for a person to decide; `.pkb` follows the decision by itself."""
    edit = {"m.py": module(one="edited", two="0", three="0", four="0")}
    fork(hooked, *(({"m.py": None}, edit) if deleter == "theirs" else (edit, {"m.py": None})))
    hooked.merge("theirs", check=False)
    assert unmerged(hooked) == ["m.py"]
    hooked.git(*(["add", "m.py"] if kept else ["rm", "-q", "m.py"]))
    hooked.git("commit", "-q", "--no-edit")
    right(hooked)
    assert ("m.py" in hooked.tracked()) == kept
    assert hooked.status() == ""


def test_both_add_the_same_file(hooked: Repo, calls: Calls) -> None:
    """The same file added with different content conflicts once, in the source."""
    fork(hooked, {"new.py": module(new="theirs", a="t")}, {"new.py": module(new="ours", a="t")})
    calls.texts()
    hooked.merge("theirs", check=False)
    assert unmerged(hooked) == ["new.py"]
    hooked.write("new.py", module(new="theirs", a="t"))
    hooked.git("add", "new.py")
    hooked.git("commit", "-q", "--no-edit")
    right(hooked)
    assert calls.texts() == 0


def test_both_add_the_same_content(hooked: Repo) -> None:
    """The same content added on both sides merges without anything to do."""
    fork(hooked, {"new.py": module(new="same")}, {"new.py": module(new="same")})
    hooked.merge("theirs")
    right(hooked)


def test_octopus(hooked: Repo, calls: Calls) -> None:
    """Three heads in one merge."""
    for name in ("one", "two", "three"):
        hooked.branch(name, "main")
        hooked.commit({f"{name}.py": module(**{name: name}), "m.py": module(**_changed(name))})
        hooked.switch("main")
    calls.texts()
    hooked.merge("one", "two", "three")
    assert len(hooked.git("rev-list", "--parents", "-n1", "HEAD").split()) == 5
    right(hooked)
    assert calls.texts() == 0


def _changed(name: str) -> dict[str, str]:
    return {each: (name if each == name else "0") for each in ("one", "two", "three", "four")}


def test_squash(hooked: Repo, calls: Calls) -> None:
    """A squash merge is an ordinary commit afterwards; the rows of the branch are reused."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0"), "new.py": module(new="theirs")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    calls.texts()
    hooked.git("merge", "--squash", "theirs")
    assert unmerged(hooked) == []
    hooked.git("commit", "-qm", "squashed")
    right(hooked)
    assert hooked.status() == ""
    assert calls.texts() == 0


def test_fast_forward_and_no_ff(hooked: Repo, calls: Calls) -> None:
    """A fast-forward and a forced merge commit of it need no work."""
    hooked.branch("theirs")
    hooked.commit({"m.py": module(one="theirs", two="0", three="0", four="0")})
    hooked.switch("main")
    calls.texts()
    hooked.merge("theirs")
    right(hooked)
    hooked.git("reset", "-q", "--hard", "HEAD^")
    hooked.git("merge", "-q", "--ff-only", "theirs")
    right(hooked)
    assert calls.texts() == 0


def test_rebase(hooked: Repo, calls: Calls) -> None:
    """A rebase never stops for `.pkb`; what its commits left stale is repaired by the next commit."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    hooked.switch("theirs")
    calls.texts()
    hooked.git("rebase", "-q", "main")
    assert unmerged(hooked) == []
    assert hooked.status() == ""
    hooked.commit({"after.py": module(after="0")})
    right(hooked)
    assert calls.texts() <= 2  # the new file, and at most the row that only the other side had


def test_rebase_with_a_conflict(hooked: Repo) -> None:
    """A rebase that stops for a source goes on when that is solved."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="ours", two="0", three="0", four="0")},
    )
    hooked.switch("theirs")
    hooked.git("rebase", "-q", "main", check=False)
    assert unmerged(hooked) == ["m.py"]
    hooked.write("m.py", module(one="both", two="0", three="0", four="0"))
    hooked.git("add", "m.py")
    hooked.git("rebase", "--continue")
    assert hooked.status() == ""
    hooked.commit({"after.py": module(after="0")})
    right(hooked)


@pytest.mark.parametrize("command", ["cherry-pick", "revert"])
def test_cherry_pick_and_revert(hooked: Repo, command: str) -> None:
    """Neither stops for `.pkb`; the next commit makes right what no hook saw."""
    first = {"m.py": module(one="theirs", two="0", three="0", four="0")}
    second = {"m.py": module(one="0", two="0", three="0", four="ours")}
    if command == "cherry-pick":
        fork(hooked, first, second)
        hooked.git("cherry-pick", "theirs")
    else:
        hooked.commit(first)
        hooked.commit({"m.py": module(one="theirs", two="0", three="0", four="ours")})
        hooked.git("revert", "--no-edit", "HEAD^")
    assert hooked.git("show", "HEAD:m.py") == module(one="0" if command == "revert" else "theirs", two="0",
                                                      three="0", four="ours").rstrip("\n")  # fmt: skip
    assert hooked.status() == ""
    hooked.commit({"after.py": module(after="0")})
    right(hooked)


@pytest.mark.parametrize("command", ["cherry-pick", "revert"])
def test_cherry_pick_and_revert_with_a_conflict(hooked: Repo, command: str) -> None:
    """A person solves the source alone and commits."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="ours", two="0", three="0", four="0")},
    )
    if command == "revert":
        hooked.commit({"m.py": module(one="later", two="0", three="0", four="0")})
        hooked.git("revert", "--no-edit", "HEAD^", check=False)
    else:
        hooked.git("cherry-pick", "theirs", check=False)
    assert unmerged(hooked) == ["m.py"]
    hooked.write("m.py", module(one="solved", two="0", three="0", four="0"))
    hooked.git("add", "m.py")
    hooked.git("commit", "-q", "--no-edit")
    right(hooked)


def test_stash_pop(hooked: Repo) -> None:
    """A stash with a changed index comes back over new commits without a conflict in `.pkb`."""
    hooked.write("m.py", module(one="stashed", two="0", three="0", four="0"))
    hooked.git("add", "m.py")
    hooked.git("stash", "-q")
    hooked.commit({"m.py": module(one="0", two="0", three="0", four="ours")})
    hooked.git("stash", "pop", "--quiet")
    assert unmerged(hooked) == []
    hooked.git("commit", "-qam", "popped")
    right(hooked)
    assert hooked.status() == ""


def test_stash_pop_of_artifacts(hooked: Repo, pkb: PKB) -> None:
    """Artifacts that were staged when stashed do not conflict when they come back either."""
    hooked.write("m.py", module(one="stashed", two="0", three="0", four="0"))
    hooked.git("add", "m.py")
    pkb("reindex", "--staged")
    hooked.git("stash", "-q")
    hooked.commit({"m.py": module(one="0", two="0", three="0", four="ours")})
    hooked.git("stash", "pop", "--quiet")
    assert unmerged(hooked) == []
    hooked.git("commit", "-qam", "popped")
    right(hooked)
    assert hooked.status() == ""


def test_apply(hooked: Repo) -> None:
    """`git apply --index` of a source patch is committed like any change."""
    hooked.write("m.py", module(one="patched", two="0", three="0", four="0"))
    patch = hooked.git("diff", "m.py") + "\n"
    hooked.git("checkout", "-q", "m.py")
    hooked.git("apply", "--index", "-", stdin=patch)
    hooked.git("commit", "-qm", "applied")
    right(hooked)
    assert hooked.status() == ""


def test_am_with_three_way(hooked: Repo) -> None:
    """`git am --3way` of a patch with artifacts falls back to a merge without a conflict in `.pkb`."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    patch = hooked.git("format-patch", "--stdout", "--binary", "-1", "theirs") + "\n"
    hooked.git("am", "--3way", stdin=patch)
    assert unmerged(hooked) == []
    hooked.commit({"after.py": module(after="0")})
    right(hooked)


def test_pull(hooked: Repo, tmp_path: Path, pkb: PKB) -> None:
    """A pull that merges is a merge like any other."""
    hooked.git("clone", "-q", str(hooked.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    set_up(clone, pkb)
    hooked.commit({"m.py": module(one="upstream", two="0", three="0", four="0")})
    clone.commit({"m.py": module(one="0", two="0", three="0", four="here")})
    clone.git("pull", "-q", "--no-rebase", "--no-edit")
    right(clone)
    assert clone.status() == ""


def test_without_the_driver_reindex_solves_it(hooked: Repo, tmp_path: Path, pkb: PKB, calls: Calls) -> None:
    """In a clone without hooks artifacts conflict, and `git pkb reindex --staged` solves all of it."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0"), "other.py": None},
        {"m.py": module(one="0", two="0", three="0", four="ours"), "other.py": module(other="ours")},
    )
    hooked.git("clone", "-q", str(hooked.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    clone.git("config", "pkb.embedding.provider", "mock")
    calls.texts()
    clone.merge("origin/theirs", check=False)
    assert ".pkb/index/m.py.vec" in unmerged(clone)
    clone.git("rm", "-q", "other.py")
    pkb("reindex", "--staged", cwd=clone.path)
    assert unmerged(clone) == []
    clone.git("commit", "-q", "--no-edit")
    right(clone)
    assert calls.texts() == 0
    assert clone.status() == ""


def test_the_driver_without_the_tool(hooked: Repo, tmp_path: Path) -> None:
    """Where the tool has gone from PATH the driver still keeps our side, without a conflict."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    bare_path = tmp_path / "bin"
    bare_path.mkdir()
    for tool in ("git", "sh", "grep"):
        found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
        (bare_path / tool).symlink_to(found)
    hooked.git("merge", "-q", "--no-edit", "theirs", env={"PATH": str(bare_path)})
    assert unmerged(hooked) == []
    hooked.commit({"after.py": module(after="0")})
    right(hooked)


def test_the_merge_commit_keeps_everything_else(hooked: Repo) -> None:
    """Parents, author, dates and message of the merge commit are git's; ORIG_HEAD leads back."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    ours = hooked.head()
    who = {"GIT_AUTHOR_NAME": "Bob", "GIT_AUTHOR_DATE": "2002-02-02T02:02:02+0200"}
    hooked.git("merge", "-q", "-m", "A subject\n\nand a body,\n\n# all of it", "theirs", env=who)
    right(hooked)
    assert hooked.git("show", "-s", "--format=%P%n%an%n%aI%n%B") == "\n".join(
        [
            f"{ours} {hooked.git('rev-parse', 'theirs')}",
            "Bob",
            "2002-02-02T02:02:02+02:00",
            "A subject\n\nand a body,\n\n# all of it",
        ]
    )
    assert hooked.git("rev-parse", "ORIG_HEAD") == ours
    assert hooked.git("rev-parse", "-q", "--verify", "MERGE_HEAD", check=False) == ""


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not on PATH")
def test_a_signed_merge_commit_stays_as_it_is(hooked: Repo, tmp_path: Path) -> None:
    """A signature is never broken: the index is one commit late, and status is clean."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    hooked.git("config", "gpg.format", "ssh")
    hooked.git("config", "user.signingKey", str(key))
    hooked.git("config", "commit.gpgSign", "true")
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    hooked.merge("theirs")
    assert "gpgsig" in hooked.git("cat-file", "commit", "HEAD")
    assert [line[:4] for line in problems(hooked)] == ["m.py"]
    assert hooked.status() == ""
    hooked.commit({"after.py": module(after="0")})
    right(hooked)


def test_uncommitted_merges_are_ordinary_commits(hooked: Repo, calls: Calls) -> None:
    """`merge --no-commit`, then a commit of one's own."""
    fork(
        hooked,
        {"m.py": module(one="theirs", two="0", three="0", four="0")},
        {"m.py": module(one="0", two="0", three="0", four="ours")},
    )
    calls.texts()
    hooked.git("merge", "-q", "--no-commit", "theirs")
    hooked.git("commit", "-q", "--no-edit")
    right(hooked)
    assert hooked.status() == ""
    assert calls.texts() == 0
