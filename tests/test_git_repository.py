"""`discover` and `Repository`: where a repository is, its settings, its staging area."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Repo

from git_pkb.errors import Locked, NotARepository
from git_pkb.git import GitError, Repository, discover
from git_pkb.git import process as git_process
from git_pkb.git import repository as git_repository


@pytest.fixture
def opened(repo: Repo) -> Repository:
    """The repository of `repo` with one commit."""
    repo.commit({"a.py": "a = 1\n", "src/b.py": "b = 2\n"})
    return discover(str(repo.path))


def test_discover_from_a_subdirectory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a subdirectory the top, the git directory and the prefix are known."""
    head = repo.commit({"src/deep/b.py": "b\n"})
    monkeypatch.chdir(repo.path / "src" / "deep")
    found = discover()
    assert found.workdir == str(repo.path)
    assert found.git_dir == found.common_dir == str(repo.path / ".git")
    assert (found.prefix, found.bare, found.object_format) == ("src/deep/", False, "sha1")
    assert found.head() == found.head_at_open == head


def test_discover_in_a_folder_with_a_line_break_and_latin_1(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder whose name holds a line break and bytes that are not UTF-8 is a prefix like any other."""
    folder = repo.path / "odd\nna\udcefme"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert discover().prefix == "odd\nna\udcefme/"


def test_discover_through_a_symlink(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder reached through a symlink finds the real top."""
    (repo.path / "src").mkdir()
    (tmp_path / "link").symlink_to(repo.path / "src")
    monkeypatch.chdir(tmp_path / "link")
    assert discover().workdir == str(repo.path)


def test_discover_uses_one_process(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a repository starts git once."""
    calls = []
    run = git_process.run
    monkeypatch.setattr(git_process, "run", lambda *args: calls.append(args) or run(*args))
    discover(str(repo.path))
    assert len(calls) == 1


def test_discover_on_an_unborn_branch(repo: Repo) -> None:
    """Before the first commit there is no head, but a branch."""
    found = discover(str(repo.path))
    assert found.head() is None
    assert found.head_at_open is None
    assert found.current_branch() == "main"


def test_discover_a_bare_repository(new_repo: Callable[..., Repo]) -> None:
    """A bare repository has no work tree."""
    found = discover(str(new_repo("bare.git", "--bare").path))
    assert (found.bare, found.workdir, found.prefix) == (True, None, "")


def test_discover_inside_the_git_directory(repo: Repo) -> None:
    """Inside `.git` there is a repository that is not bare, and no work tree."""
    found = discover(str(repo.path / ".git"))
    assert (found.bare, found.workdir) == (False, None)


def test_discover_a_linked_worktree(repo: Repo, tmp_path: Path) -> None:
    """A linked worktree has its own git directory and shares the common one."""
    repo.commit({"a": "a\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "other"))
    found = discover(str(tmp_path / "other"))
    assert found.workdir == str(tmp_path / "other")
    assert found.git_dir == str(repo.path / ".git" / "worktrees" / "other")
    assert found.common_dir == str(repo.path / ".git")


def test_discover_honours_git_dir_and_work_tree(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative GIT_DIR and GIT_WORK_TREE count, and children at the top still mean the same repository."""
    head = repo.commit({"src/a": "a\n"})
    monkeypatch.setenv("GIT_DIR", "../.git")
    monkeypatch.setenv("GIT_WORK_TREE", "..")
    monkeypatch.chdir(repo.path / "src")
    found = discover()
    assert (found.workdir, found.prefix) == (str(repo.path), "src/")
    assert found.head() == head
    monkeypatch.setenv("GIT_DIR", str(repo.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repo.path))
    monkeypatch.chdir(tmp_path)
    found = discover()
    assert (found.workdir, found.prefix, found.head()) == (str(repo.path), "", head)


def test_a_named_repository_ignores_the_environment(
    repo: Repo, new_repo: Callable[..., Repo], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start folder names its repository even inside a hook of another one."""
    repo.commit({"a": "a\n"})
    other = new_repo("other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    found = discover(str(repo.path))
    assert found.workdir == str(repo.path)
    assert set(found.reader().index()) == {"a"}


def test_not_a_repository(tmp_path: Path) -> None:
    """Outside of a repository git's reason and a hint are given, with exit code 2."""
    with pytest.raises(NotARepository, match="not a git repository") as caught:
        discover(str(tmp_path))
    assert caught.value.exit_code == 2
    assert "git init" in str(caught.value.hint)


def test_a_start_that_is_no_folder(tmp_path: Path) -> None:
    """A start that does not exist is said to be no folder."""
    with pytest.raises(NotARepository, match="is not a folder"):
        discover(str(tmp_path / "missing"))


def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder that was deleted under the process is named as the trouble."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(NotARepository, match="no longer exists"):
        discover()


def test_a_repository_of_another_user(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git's refusal of a foreign owner is passed on with the command that allows it."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(NotARepository, match="dubious ownership") as caught:
        discover(str(repo.path))
    assert "git config --global --add safe.directory" in str(caught.value.hint)


def test_git_missing(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without git on PATH the error says so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git was not found") as caught:
        discover(str(repo.path))
    assert caught.value.exit_code == 2


def test_importing_the_package_is_light() -> None:
    """Opening a repository loads neither pygit2 nor numpy."""
    code = "import sys, git_pkb.git; print({'pygit2', 'numpy', 'subprocess'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_config_reads_pkb_keys(opened: Repository, repo: Repo) -> None:
    """All `pkb.*` settings come with lower-case keys, the last value, and `true` for a key without one."""
    repo.git("config", "pkb.Embedding.baseUrl", "http://one\nline two")
    repo.git("config", "--add", "pkb.hookStrict", "false")
    with (repo.path / ".git" / "config").open("a") as stream:
        stream.write("[pkb]\n\thookStrict\n[pkbother]\n\tx = 1\n")
    assert opened.config() == {"pkb.embedding.baseurl": "http://one\nline two", "pkb.hookstrict": "true"}


def test_config_is_set_and_unset(opened: Repository, repo: Repo) -> None:
    """A key is set once, over several old values, and removed; removing it again is no error."""
    repo.git("config", "--add", "pkb.a", "1")
    repo.git("config", "--add", "pkb.a", "2")
    opened.set_config("pkb.a", "3")
    assert opened.config() == {"pkb.a": "3"}
    opened.unset_config("pkb.a")
    opened.unset_config("pkb.a")
    assert opened.config() == {}


def test_branches(opened: Repository, repo: Repo) -> None:
    """The current branch, none when detached; the default one from origin/HEAD, else main or master."""
    repo.branch("topic")
    assert opened.current_branch() == "topic"
    assert opened.default_branch() == "main"
    repo.git("update-ref", "refs/remotes/origin/trunk", "HEAD")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert opened.default_branch() == "trunk"
    repo.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    repo.git("branch", "-m", "main", "master")
    assert opened.default_branch() == "master"
    repo.git("branch", "-D", "master")
    assert opened.default_branch() is None
    repo.git("checkout", "-q", "--detach")
    assert opened.current_branch() is None


def test_resolve(opened: Repository, repo: Repo) -> None:
    """A revision gives its commit, what names none gives None, also with a leading dash."""
    repo.git("tag", "-a", "-m", "tag", "v1")
    assert opened.resolve("v1") == repo.head()
    assert opened.resolve("nope") is None
    assert opened.resolve("--all") is None


def test_git_path_follows_core_hookspath(opened: Repository, repo: Repo) -> None:
    """The hooks folder is where git says; `pkb` lies in the worktree's git directory, as git says too."""
    repo.git("config", "core.hooksPath", "my-hooks")
    assert opened.git_path("hooks") == str(repo.path / "my-hooks")
    assert opened.git_path("pkb/cache.db") == str(repo.path / ".git" / "pkb" / "cache.db")
    assert repo.git("rev-parse", "--git-path", "pkb/cache.db") == ".git/pkb/cache.db"


def test_stage_adds_changes_and_removes(opened: Repository, repo: Repo) -> None:
    """Staging takes new, changed and vanished paths, ignored ones and odd names too."""
    names = ["-dash", "sp ace", 'quo"te', "new\nline", "ünï", "la\udcfftin"]
    for name in names:
        repo.write(name, name.encode("utf-8", "surrogateescape"))
    repo.write(".gitignore", "*\n")
    repo.write("a.py", "changed\n")
    (repo.path / "src" / "b.py").unlink()
    opened.stage(["a.py", "src/b.py", "never-was", *names])
    staged = repo.git("diff", "--cached", "--name-status", "-z", "--no-renames").split("\0")
    found = dict(zip(staged[1::2], staged[::2], strict=False))
    assert found == {"a.py": "M", "src/b.py": "D", **dict.fromkeys(names, "A")}


def test_stage_replaces_a_file_by_a_folder(opened: Repository, repo: Repo) -> None:
    """A path that turned from file to folder is staged as it is now."""
    (repo.path / "a.py").unlink()
    repo.write("a.py/inner", "x\n")
    opened.stage(["a.py/inner"])
    assert repo.git("ls-files").splitlines() == ["a.py/inner", "src/b.py"]


def test_stage_honours_git_index_file(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a hook the staging area of GIT_INDEX_FILE is written, and the usual one on request."""
    repo.commit({"a": "a\n"})
    repo.write("b", "b\n")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other-index"))
    repo.git("read-tree", "HEAD")
    monkeypatch.chdir(repo.path)
    hooked = discover()
    hooked.stage(["b"])
    assert set(hooked.reader().index()) == {"a", "b"}
    assert set(hooked.without_index_file().reader().index()) == {"a"}


def test_stage_blobs_leaves_the_work_tree(opened: Repository, repo: Repo) -> None:
    """Contents go into the staging area alone, bytes as given; None removes a path."""
    repo.git("config", "core.autocrlf", "true")
    opened.stage_blobs({".pkb/x.vec": b"a\r\nb\0", "ü\udcff": b"", "src/b.py": None, "not-there": None})
    assert set(opened.reader().index()) == {".pkb/x.vec", "ü\udcff", "a.py"}
    assert opened.git("cat-file", "blob", ":.pkb/x.vec") == b"a\r\nb\0"
    assert not (repo.path / ".pkb").exists()
    assert (repo.path / "src" / "b.py").exists()


def test_a_lock_that_goes_away_is_waited_for(opened: Repository, repo: Repo) -> None:
    """A lock held for a moment by another process only delays staging."""
    lock = repo.path / ".git" / "index.lock"
    lock.touch()
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()
    repo.write("a.py", "new\n")
    opened.stage(["a.py"])
    timer.join()
    assert repo.git("diff", "--cached", "--name-only") == "a.py"


def test_a_lock_that_stays_is_an_error(
    opened: Repository, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that is never given back ends in exit code 75 and the name of the file."""
    monkeypatch.setattr(git_repository, "LOCK_WAITS", (0.01,))
    (repo.path / ".git" / "index.lock").touch()
    repo.write("a.py", "new\n")
    with pytest.raises(Locked, match=r"index\.lock") as caught:
        opened.stage(["a.py"])
    assert caught.value.exit_code == 75


def test_spawn_runs_beside(opened: Repository, repo: Repo) -> None:
    """A spawned git is collected later."""
    repo.write("new", "x\n")
    running = opened.spawn("status", "--porcelain", "-z")
    out, err = running.communicate()
    assert (out, err, running.returncode) == (b"?? new\0", b"", 0)


def test_reading_status_takes_no_lock(opened: Repository, repo: Repo) -> None:
    """A status beside a commit writes nothing, so that the commit never finds a lock of ours."""
    repo.write("a.py", repo.read("a.py"))
    before = (repo.path / ".git" / "index").read_bytes()
    os.utime(repo.path / "a.py", (1, 1))
    opened.git("status", "--porcelain")
    assert (repo.path / ".git" / "index").read_bytes() == before


def test_git_errors_carry_gits_words(opened: Repository) -> None:
    """A git that fails raises with its first line."""
    with pytest.raises(GitError, match=r"git cat-file failed: Not a valid object name nope"):
        opened.git("cat-file", "-t", "nope")
    assert opened.git("rev-parse", "--verify", "-q", "nope", check=False) == b""


def test_a_child_elsewhere_sees_no_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment for a child that works elsewhere names no repository, and keeps everything else."""
    known = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )
    names = known.stdout.split()
    for name in names:
        monkeypatch.setenv(name, "x")
    left = git_process.unlocated(os.environ)
    kept = {name for name in names if name in left}
    assert kept == {name for name in names if "CONFIG" in name or "REPLACE" in name}
    assert left["HOME"] == os.environ["HOME"]
