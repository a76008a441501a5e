"""Every way of committing leaves a right index in the commit and a clean status; real git, real hooks."""

import os
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
    """A repository with hooks and a first commit of two files."""
    set_up(repo, pkb)
    repo.commit(
        {"a.py": module(alpha="one"), "src/b.py": module(beta="one"), "notes.md": "# Notes\n\nText.\n"}
    )
    return repo


def right(repo: Repo) -> None:
    """The index of HEAD matches HEAD, and status is silent about `.pkb`."""
    assert problems(repo) == []
    assert own_status(repo) == ""


def test_first_commit(hooked: Repo) -> None:
    """The first commit carries the index of its files, and the files that keep the cache out."""
    right(hooked)
    assert hooked.status() == ""
    assert {".pkb/.gitignore", ".pkb/.gitattributes", ".pkb/state.toml"} <= set(hooked.tracked())


def test_plain_commit_indexes_only_what_changed(hooked: Repo, calls: Calls) -> None:
    """A changed function is embedded, its neighbours and the other files are not."""
    hooked.commit({"two.py": module(first="one", second="one")})
    assert calls.texts() == 2
    hooked.commit({"two.py": module(first="one", second="changed")})
    assert calls.texts() == 1
    right(hooked)
    assert hooked.status() == ""


def test_commit_all(hooked: Repo) -> None:
    """`commit -a` works on a lock file as staging area."""
    hooked.write("a.py", module(alpha="changed"))
    hooked.git("commit", "-qam", "all")
    right(hooked)
    assert hooked.status() == ""


def test_amend(hooked: Repo) -> None:
    """`--amend` replaces the artifacts together with the files."""
    hooked.write("a.py", module(alpha="amended"))
    hooked.git("commit", "-qa", "--amend", "--no-edit")
    right(hooked)
    assert hooked.git("rev-list", "--count", "HEAD") == "1"


def test_amend_of_the_message_alone(hooked: Repo) -> None:
    """An amend that changes no file changes no artifact."""
    tree = hooked.git("rev-parse", "HEAD^{tree}")
    hooked.git("commit", "-q", "--amend", "-m", "other words")
    assert hooked.git("rev-parse", "HEAD^{tree}") == tree
    assert hooked.status() == ""


def test_patch_commit_takes_the_staged_half(hooked: Repo) -> None:
    """`commit -p` indexes the staged blob; the unstaged half stays where it was."""
    hooked.write("a.py", "# top\n" + module(alpha="one") + "# bottom\n")
    hooked.git("commit", "-q", "-p", "-m", "half", stdin="y\nn\n")
    right(hooked)
    assert hooked.git("show", "HEAD:a.py").startswith("# top")
    assert "# bottom" not in hooked.git("show", "HEAD:a.py")
    assert hooked.status() == " M a.py"
    assert hooked.read("a.py").endswith("# bottom\n")


def test_staged_and_unstaged_changes_of_other_files(hooked: Repo) -> None:
    """What is not committed stays staged or unstaged, and its artifacts stay those of HEAD."""
    hooked.write("a.py", module(alpha="staged"))
    hooked.git("add", "a.py")
    hooked.write("a.py", module(alpha="unstaged"))
    hooked.write("src/b.py", module(beta="unstaged"))
    hooked.git("commit", "-qm", "staged half")
    right(hooked)
    assert hooked.status() == " M a.py\n M src/b.py"


@pytest.mark.parametrize("form", [("--only", "a.py"), ("a.py",), ("--", "a.py")])
def test_commit_only_a_path(hooked: Repo, form: tuple[str, ...]) -> None:
    """`commit PATH` leaves other staged changes staged, and the usual staging area in line with HEAD."""
    hooked.write("src/b.py", module(beta="staged"))
    hooked.git("add", "src/b.py")
    hooked.write("a.py", module(alpha="only"))
    hooked.git("commit", "-qm", "only", *form)
    right(hooked)
    assert hooked.status() == "M  src/b.py"
    hooked.git("commit", "-qm", "the rest")
    right(hooked)
    assert hooked.status() == ""


def test_commit_only_a_new_and_a_deleted_path(hooked: Repo) -> None:
    """`commit PATH` of a deletion takes the artifacts away, in the commit and in the staging area."""
    (hooked.path / "a.py").unlink()
    hooked.git("commit", "-qm", "only", "--", "a.py")
    right(hooked)
    assert hooked.status() == ""
    assert not [name for name in hooked.tracked() if "a.py" in name]


def test_commit_include(hooked: Repo) -> None:
    """`commit --include` takes staged and named paths."""
    hooked.write("src/b.py", module(beta="staged"))
    hooked.git("add", "src/b.py")
    hooked.write("a.py", module(alpha="included"))
    hooked.git("commit", "-qm", "both", "--include", "a.py")
    right(hooked)
    assert hooked.status() == ""


def test_empty_commit(hooked: Repo) -> None:
    """`--allow-empty` stays empty."""
    tree = hooked.git("rev-parse", "HEAD^{tree}")
    hooked.git("commit", "-q", "--allow-empty", "-m", "nothing")
    assert hooked.git("rev-parse", "HEAD^{tree}") == tree
    right(hooked)


def test_commit_from_a_subdirectory(hooked: Repo) -> None:
    """A commit from below the top is indexed like any other."""
    hooked.write("src/b.py", module(beta="from below"))
    subprocess.run(["git", "commit", "-qam", "below"], cwd=hooked.path / "src", check=True)
    right(hooked)
    assert hooked.status() == ""


@pytest.mark.parametrize("only", [False, True])
def test_commit_in_a_linked_worktree(hooked: Repo, tmp_path: Path, only: bool) -> None:
    """A linked worktree has its own staging area; the main one stays as it is."""
    hooked.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    other = Repo(tmp_path / "other")
    other.write("a.py", module(alpha="elsewhere"))
    other.git("commit", "-qm", "elsewhere", *(["a.py"] if only else ["-a"]))
    right(other)
    assert other.status() == ""
    assert hooked.status() == ""


def test_commit_inside_a_submodule(hooked: Repo, new_repo: Callable[..., Repo], pkb: PKB) -> None:
    """A submodule has hooks of its own; the outer repository does not walk into it."""
    inner = new_repo("inner")
    inner.commit({"inner.py": module(inner="one")})
    hooked.git("submodule", "--quiet", "add", str(inner.path), "sub")
    hooked.commit({}, "submodule")
    right(hooked)
    assert not [name for name in hooked.tracked() if name.startswith(".pkb/index/sub/")]
    sub = Repo(hooked.path / "sub")
    set_up(sub, pkb)
    sub.commit({"inner.py": module(inner="two")})
    right(sub)
    assert sub.status() == ""
    hooked.git("commit", "-qam", "pointer")
    right(hooked)
    assert hooked.status() == ""


def test_commit_with_git_dir_and_work_tree(hooked: Repo, tmp_path: Path) -> None:
    """With GIT_DIR and GIT_WORK_TREE set, from anywhere, the right repository is indexed."""
    hooked.write("a.py", module(alpha="from afar"))
    subprocess.run(
        ["git", f"--git-dir={hooked.path}/.git", f"--work-tree={hooked.path}", "commit", "-qam", "afar"],
        cwd=tmp_path,
        check=True,
    )
    right(hooked)
    assert hooked.status() == ""


def test_a_hook_of_one_repository_leaves_others_alone(
    hooked: Repo, new_repo: Callable[..., Repo], pkb: PKB
) -> None:
    """A commit that a hook makes in another repository lands there, with its own index."""
    other = new_repo("other")
    set_up(other, pkb)
    other.write("o.py", module(other="one"))
    other.git("add", "o.py")
    hook = hooked.path / ".git" / "hooks" / "pre-commit"
    hook.write_text(
        "#!/bin/sh\nunset $(git rev-parse --local-env-vars)\n"
        f'git -C "{other.path}" commit -qm "from a hook"\n'
    )
    hook.chmod(0o755)
    hooked.commit({"a.py": module(alpha="two")})
    right(hooked)
    right(other)
    assert other.status() == ""


def test_commit_at_a_rebase_stop(hooked: Repo) -> None:
    """A commit made while a rebase has stopped to edit is indexed."""
    hooked.commit({"a.py": module(alpha="two")})
    hooked.commit({"src/b.py": module(beta="two")})
    editor = {"GIT_SEQUENCE_EDITOR": "sed -i.bak -e '1s/^pick/edit/'"}
    hooked.git("rebase", "-q", "-i", "HEAD~2", env=editor)
    hooked.write("a.py", module(alpha="edited", extra="new"))
    hooked.git("commit", "-qa", "--amend", "--no-edit")
    right(hooked)
    hooked.git("rebase", "--continue")
    right(hooked)
    assert hooked.status() == ""


def test_commit_that_only_deletes(hooked: Repo) -> None:
    """The artifacts of deleted files go with them, in the commit and from the work tree."""
    hooked.commit({"a.py": None})
    right(hooked)
    assert not (hooked.path / ".pkb" / "index" / "a.py.meta").exists()
    hooked.git("rm", "-q", "-r", "src", "notes.md")
    hooked.git("commit", "-qm", "every file")
    right(hooked)
    assert not [name for name in hooked.tracked() if name.startswith(".pkb/index/")]


def test_commit_that_only_renames(hooked: Repo, calls: Calls) -> None:
    """A rename moves the artifact and embeds nothing."""
    hooked.git("mv", "a.py", "moved.py")
    hooked.git("mv", "src", "lib")
    hooked.git("commit", "-qm", "moved")
    right(hooked)
    assert hooked.status() == ""
    assert calls.texts() == 0


def test_commit_that_only_changes_a_mode(hooked: Repo, calls: Calls) -> None:
    """A file that becomes executable keeps its artifact."""
    before = hooked.blob(".pkb/index/a.py.meta")
    (hooked.path / "a.py").chmod(0o755)
    hooked.git("commit", "-qam", "mode")
    right(hooked)
    assert hooked.blob(".pkb/index/a.py.meta") == before
    assert calls.texts() == 0


def test_file_that_becomes_a_folder_or_a_symlink(hooked: Repo) -> None:
    """A path that is a file and then a folder, or a link, has the artifacts of what it is."""
    (hooked.path / "a.py").unlink()
    (hooked.path / "notes.md").unlink()
    (hooked.path / "notes.md").symlink_to("src/b.py")
    hooked.commit({"a.py/inner.py": module(inner="one")})
    assert not [name for name in hooked.tracked() if name.startswith(".pkb/index/notes.md")]
    assert own_status(hooked) == ""
    assert [name for name in hooked.tracked() if name.startswith(".pkb/index/a.py/inner.py")]


def test_odd_names(hooked: Repo) -> None:
    """Names with spaces, quotes, line breaks, leading dashes and bytes that are no UTF-8 are committed."""
    names = ["-dash.py", "sp ace.py", 'quo"te.py', "new\nline.py", "ünï.py", "la\udcfftin.py"]
    hooked.commit({name: module(**{f"f{n}": "one"}) for n, name in enumerate(names)})
    right(hooked)
    assert hooked.status() == ""
    hooked.commit({name: module(**{f"f{n}": "two"}) for n, name in enumerate(names)})
    right(hooked)


def test_the_work_tree_is_left_alone(hooked: Repo) -> None:
    """Source files keep their bytes and their time, also with line-ending conversion."""
    hooked.git("config", "core.autocrlf", "true")
    file = hooked.write("crlf.py", module(crlf="one").replace("\n", "\r\n"))
    os.utime(file, ns=(10**18, 10**18))
    hooked.git("add", "crlf.py")
    hooked.git("commit", "-qm", "crlf")
    right(hooked)
    assert file.stat().st_mtime_ns == 10**18
    assert b"\r\n" in file.read_bytes()
    assert own_status(hooked) == ""


def test_after_no_verify_the_next_commit_repairs(hooked: Repo) -> None:
    """`--no-verify` leaves the index behind; the next commit brings it in line."""
    hooked.write("a.py", module(alpha="unverified"))
    hooked.git("commit", "-qam", "no hook", "--no-verify")
    assert [line for line in problems(hooked) if line.startswith("a.py")]
    hooked.commit({"src/b.py": module(beta="two")})
    right(hooked)


def test_reindex_before_the_commit_is_taken_up(hooked: Repo, pkb: PKB) -> None:
    """Artifacts that a manual reindex left in the work tree do not get in the way of the hook."""
    hooked.write("a.py", module(alpha="unverified"))
    hooked.git("commit", "-qam", "no hook", "--no-verify")
    pkb("reindex")
    assert own_status(hooked) != ""
    hooked.commit({"src/b.py": module(beta="two")})
    right(hooked)
    assert hooked.status() == ""


def test_aborted_commits_leave_no_trace(hooked: Repo) -> None:
    """A commit that is given up after the hook, then another one: both right."""
    hooked.write("a.py", module(alpha="given up"))
    hooked.git("commit", "-q", "--only", "a.py", env={"GIT_EDITOR": "false"}, check=False)
    assert "given up" not in hooked.git("show", "HEAD:a.py")
    hooked.git("checkout", "-q", "--", "a.py")
    hooked.write("src/b.py", module(beta="two"))
    hooked.git("commit", "-qam", "b")
    right(hooked)
    assert hooked.status() == ""


def test_intended_paths_are_not_indexed(hooked: Repo) -> None:
    """`git add -N` without content commits nothing, and no artifact."""
    hooked.write("intended.py", module(intended="one"))
    hooked.git("add", "-N", "intended.py")
    hooked.write("a.py", module(alpha="two"))
    hooked.git("commit", "-qm", "a", "--", "a.py")
    right(hooked)


@pytest.mark.parametrize("kind", ["sha256", "reftable", "sparse", "split"])
def test_repositories_libgit_cannot_open(
    new_repo: Callable[..., Repo], pkb: PKB, kind: str, tmp_path: Path
) -> None:
    """SHA-256, reftable, a sparse and a split index: commits with the hook on are right there too."""
    options = {"sha256": ["--object-format=sha256"], "reftable": ["--ref-format=reftable"]}.get(kind, [])
    probe = subprocess.run(
        ["git", "init", "-q", *options, str(tmp_path / "probe")], capture_output=True, check=False
    )
    if probe.returncode:
        pytest.skip("this git (before 2.45) knows no reftable")
    repo = new_repo(kind, *options)
    set_up(repo, pkb)
    repo.commit(
        {"in/a.py": module(alpha="one"), "out/b.py": module(beta="one"), "out/c.py": module(gamma="one")}
    )
    if kind == "sparse":
        repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    if kind == "split":
        repo.git("update-index", "--split-index")
    repo.write("in/a.py", module(alpha="two"))
    repo.git("commit", "-qam", "two")
    right(repo)
    assert repo.status() == ""
    repo.write("in/a.py", module(alpha="three"))
    repo.git("commit", "-qm", "three", "in/a.py")
    right(repo)
    assert repo.status() == ""
