"""Installing beside what is there, twice, and back again: what ran before goes on running."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import module, own_status, problems, set_up

from git_pkb.git import discover
from git_pkb.hooks.displaced import displaced

PKB = Callable[..., Ran]


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def snapshot(repo: Repo) -> dict[str, tuple[bytes, int]]:
    """Every file that installing could touch: the work tree, the configuration, the hooks; with modes."""
    found = {}
    for folder in (repo.path, repo.path / ".git" / "hooks"):
        for path in folder.rglob("*"):
            if path.is_file() and not {".git", "cache"} & set(path.relative_to(folder).parts):
                found[str(path)] = path.read_bytes(), path.stat().st_mode
    config = repo.path / ".git" / "config"
    return {**found, str(config): (config.read_bytes(), config.stat().st_mode)}


def commits_right(repo: Repo) -> None:
    """A commit with the hooks on carries its index and leaves a clean status."""
    repo.commit({"a.py": module(alpha=repo.git("rev-list", "--count", "--all"))})
    assert problems(repo) == []
    assert own_status(repo) == ""


def test_into_a_repository_with_nothing(repo: Repo, pkb: PKB) -> None:
    """A folder inside the git directory, said in a line together with what the index adds."""
    ran = pkb("install-hooks")
    assert repo.git("config", "core.hooksPath") == str(repo.path / ".git" / "pkb" / "hooks")
    assert repo.git("config", "merge.pkb.driver").startswith("git pkb merge-driver %O %A %B %P")
    assert "default-branch" in ran.out
    assert ran.err == ""
    commits_right(repo)
    assert displaced(discover(str(repo.path))) == []


def test_twice_and_back(repo: Repo, pkb: PKB) -> None:
    """A second run writes nothing; uninstalling gives back every byte; doing that again says so."""
    script(repo.path / ".git" / "hooks" / "commit-msg", "exit 0")
    before = snapshot(repo)
    pkb("install-hooks")
    own = repo.path / ".git" / "pkb" / "hooks"
    first = {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in own.iterdir()}
    config = (repo.path / ".git" / "config").read_bytes()
    pkb("install-hooks")
    assert {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in own.iterdir()} == first
    assert (repo.path / ".git" / "config").read_bytes() == config
    pkb("uninstall-hooks")
    assert snapshot(repo) == before
    assert not own.exists()
    assert "no hooks" in pkb("uninstall-hooks").out


def test_a_former_merge_driver_comes_back(repo: Repo, pkb: PKB) -> None:
    """A `merge.pkb` of somebody else is there again after uninstalling."""
    repo.git("config", "merge.pkb.driver", "mine %A")
    before = snapshot(repo)
    pkb("install-hooks")
    pkb("install-hooks")
    pkb("uninstall-hooks")
    assert snapshot(repo) == before


def test_a_setting_made_since_stays(repo: Repo, pkb: PKB) -> None:
    """What somebody set after the installation is not touched by uninstalling."""
    pkb("install-hooks")
    repo.git("config", "core.hooksPath", "elsewhere")
    pkb("uninstall-hooks")
    assert repo.git("config", "core.hooksPath") == "elsewhere"


def test_hooks_that_were_active_go_on(repo: Repo, pkb: PKB, tmp_path: Path) -> None:
    """Every hook of .git/hooks keeps running with the same arguments, stdin and exit code; samples do not."""
    log = tmp_path / "log"
    hooks = repo.path / ".git" / "hooks"
    script(hooks / "pre-commit", f'echo pre-commit "$#" >> {log}')
    script(hooks / "commit-msg", f'echo commit-msg "$(basename "$1")" >> {log}')
    script(hooks / "pre-push", f'echo pre-push "$1" "$(cat)" >> {log}; exit 3')
    script(hooks / "post-commit", f"echo post-commit >> {log}")
    (hooks / "post-checkout").write_text("#!/bin/sh\necho not executable\n")
    set_up(repo, pkb)
    stubs = {path.name for path in (repo.path / ".git" / "pkb" / "hooks").iterdir()}
    assert stubs == {"pre-commit", "post-commit", "post-merge", "post-index-change", "commit-msg", "pre-push"}
    commits_right(repo)
    assert log.read_text().splitlines() == ["pre-commit 0", "commit-msg COMMIT_EDITMSG", "post-commit"]
    log.unlink()
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    repo.git("remote", "add", "there", str(remote))
    failed = subprocess.run(
        ["git", "push", "-q", "there", "main"], cwd=repo.path, capture_output=True, check=False
    )
    assert failed.returncode != 0
    zeros = "0" * 40
    assert log.read_text() == f"pre-push there refs/heads/main {repo.head()} refs/heads/main {zeros}\n"


def test_a_former_hook_can_still_refuse(repo: Repo, pkb: PKB) -> None:
    """A pre-commit hook that fails stops the commit, as before."""
    set_up(repo, pkb)
    commits_right(repo)
    script(repo.path / ".git" / "hooks" / "pre-commit", "echo no >&2; exit 1")
    head = repo.head()
    repo.write("a.py", "x = 1\n")
    repo.git("commit", "-qam", "refused", check=False)
    assert repo.head() == head


def test_a_former_hook_that_stages_is_indexed(repo: Repo, pkb: PKB) -> None:
    """A formatter that runs before and stages what it rewrote: the artifact is of what is committed."""
    script(repo.path / ".git" / "hooks" / "pre-commit", "echo '# formatted' >> a.py && git add a.py")
    set_up(repo, pkb)
    repo.commit({"a.py": module(alpha="one")})
    assert repo.git("show", "HEAD:a.py").endswith("# formatted")
    assert problems(repo) == []
    assert repo.status() == ""


def test_global_hooks_path(repo: Repo, pkb: PKB, tmp_path: Path) -> None:
    """Hooks of a global core.hooksPath go on through stubs; the global setting is not touched."""
    script(tmp_path / "global" / "commit-msg", f"echo ran >> {tmp_path}/log")
    script(tmp_path / "global" / "pre-commit", f"echo ran >> {tmp_path}/log")
    repo.git("config", "--global", "core.hooksPath", str(tmp_path / "global"))
    before = snapshot(repo)
    set_up(repo, pkb)
    commits_right(repo)
    assert (tmp_path / "log").read_text() == "ran\nran\n"
    assert repo.git("config", "--global", "core.hooksPath") == str(tmp_path / "global")
    script(tmp_path / "global" / "pre-push", "exit 0")
    assert any("pre-push" in line for line in displaced(discover(str(repo.path))))
    pkb("install-hooks")
    assert displaced(discover(str(repo.path))) == []
    pkb("uninstall-hooks")
    repo.git("config", "--remove-section", "pkb.embedding")
    assert {path: kept for path, kept in snapshot(repo).items() if path in before} == before


@pytest.mark.parametrize("place", ["tracked", "outside"])
def test_hooks_path_of_somebody_else(repo: Repo, pkb: PKB, tmp_path: Path, place: str) -> None:
    """A folder somebody has set stays set: our lines go into it, or are printed when it is outside."""
    folder = tmp_path / "outside" if place == "outside" else repo.path / "githooks"
    script(folder / "pre-commit", f"echo ran >> {tmp_path}/log")
    value = str(folder) if place == "outside" else "githooks"
    repo.git("config", "core.hooksPath", value)
    repo.git("config", "pkb.embedding.provider", "mock")
    before = snapshot(repo)
    ran = pkb("install-hooks")
    pkb("install-hooks")
    assert repo.git("config", "core.hooksPath") == value
    if place == "tracked":
        commits_right(repo)
        assert repo.status() == ""
        assert (tmp_path / "log").read_text() == "ran\n"
        assert repo.read("githooks/pre-commit").count("git pkb hook pre-commit") == 1
        (repo.path / "a.py").unlink()
    else:
        assert f"in {folder}/pre-commit: if command -v git-pkb" in ran.out
        assert "git pkb" not in (folder / "pre-commit").read_text()
    pkb("uninstall-hooks")
    left = {path: kept for path, kept in snapshot(repo).items() if "/.pkb/" not in path}
    assert left == before


@pytest.mark.parametrize("text", ["#!/usr/bin/env python3\nprint()\n", "#!/bin/sh\nexec make check\n"])
def test_a_script_that_cannot_be_appended_to(repo: Repo, pkb: PKB, text: str) -> None:
    """A hook in another language, or one that ends by itself, is left alone; the line is printed."""
    repo.git("config", "core.hooksPath", "githooks")
    repo.write("githooks/pre-commit", text, executable=True)
    assert "githooks/pre-commit: if command -v" in pkb("install-hooks").out
    assert repo.read("githooks/pre-commit") == text


def test_shared(repo: Repo, pkb: PKB, tmp_path: Path) -> None:
    """`--shared` points at the tracked hooks/, which another clone uses with the same command."""
    set_up(repo, pkb, "--shared")
    assert repo.git("config", "core.hooksPath") == "hooks"
    commits_right(repo)
    assert {"hooks/pre-commit", "hooks/post-commit", "hooks/post-merge"} <= set(repo.tracked())
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    before = snapshot(clone)
    pkb("install-hooks", "--shared", cwd=clone.path)
    clone.git("config", "pkb.embedding.provider", "mock")
    assert clone.status() == ""
    commits_right(clone)
    clone.git("worktree", "add", "-q", str(tmp_path / "worktree"), "-b", "other")
    commits_right(Repo(tmp_path / "worktree"))
    clone.git("worktree", "remove", "--force", str(tmp_path / "worktree"))
    clone.git("reset", "-q", "--hard", "origin/main")
    clone.git("config", "--remove-section", "pkb.embedding")
    pkb("uninstall-hooks", cwd=clone.path)
    assert snapshot(clone) == before


def test_shared_does_not_hide_hooks(repo: Repo, pkb: PKB) -> None:
    """`--shared` refuses where it would switch off a hook of .git/hooks."""
    script(repo.path / ".git" / "hooks" / "commit-msg", "exit 0")
    ran = pkb("install-hooks", "--shared", code=2)
    assert "commit-msg" in ran.err
    assert repo.git("config", "core.hooksPath", check=False) == ""


def test_from_own_to_shared_and_back(repo: Repo, pkb: PKB) -> None:
    """Changing one's mind takes the other setup out."""
    before = snapshot(repo)
    pkb("install-hooks")
    pkb("install-hooks", "--shared")
    assert not (repo.path / ".git" / "pkb" / "hooks").exists()
    pkb("install-hooks")
    assert not (repo.path / "hooks").exists() or not list((repo.path / "hooks").iterdir())
    pkb("uninstall-hooks")
    assert snapshot(repo) == before


def test_a_hook_another_tool_puts_beside_ours(repo: Repo, pkb: PKB) -> None:
    """What git-lfs and its like write into the hooks folder survives a second run and uninstalling."""
    pkb("install-hooks")
    script(repo.path / ".git" / "pkb" / "hooks" / "pre-push", "echo lfs")
    pkb("install-hooks")
    usual = repo.path / ".git" / "hooks" / "pre-push"
    assert usual.read_text() == "#!/bin/sh\necho lfs\n"
    script(repo.path / ".git" / "pkb" / "hooks" / "post-checkout", "echo lfs")
    pkb("uninstall-hooks")
    assert (repo.path / ".git" / "hooks" / "post-checkout").read_text() == "#!/bin/sh\necho lfs\n"
    assert usual.exists()


def test_without_its_record_uninstall_still_finds_ours(repo: Repo, pkb: PKB) -> None:
    """The record is a convenience: files and settings are recognised by themselves."""
    before = snapshot(repo)
    pkb("install-hooks")
    (repo.path / ".git" / "pkb" / "hooks.json").unlink()
    pkb("uninstall-hooks")
    assert snapshot(repo) == before


def test_displaced_by_another_hooks_path(repo: Repo, pkb: PKB) -> None:
    """When something else takes core.hooksPath later, that is noticed and said with the way back."""
    pkb("install-hooks")
    repo.git("config", "core.hooksPath", ".husky/_")
    [line] = displaced(discover(str(repo.path)))
    assert ".husky/_" in line
    assert "install-hooks" in line


def test_displaced_by_a_moved_repository(repo: Repo, pkb: PKB, tmp_path: Path) -> None:
    """A repository that was moved has lost its absolute hooks folder; installing again mends it."""
    set_up(repo, pkb)
    repo.path.rename(tmp_path / "moved")
    moved = Repo(tmp_path / "moved")
    assert displaced(discover(str(moved.path))) != []
    pkb("install-hooks", cwd=moved.path)
    assert displaced(discover(str(moved.path))) == []
    commits_right(moved)


def test_in_a_linked_worktree(repo: Repo, pkb: PKB, tmp_path: Path) -> None:
    """Installed from a linked worktree, the hooks serve all of them."""
    repo.commit({"x": "x\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "other")
    other = Repo(tmp_path / "other")
    set_up(other, pkb)
    commits_right(repo)
    commits_right(other)


def test_a_bare_repository_is_refused(new_repo: Callable[..., Repo], pkb: PKB) -> None:
    """There is nothing to hook into without commits of one's own."""
    assert "bare" in pkb("install-hooks", cwd=new_repo("bare.git", "--bare").path, code=2).err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable(repo: Repo, pkb: PKB) -> None:
    """A git directory that cannot be written ends in exit code 74 and names the file."""
    (repo.path / ".git").chmod(0o555)
    try:
        assert ".git" in pkb("install-hooks", code=74).err
    finally:
        (repo.path / ".git").chmod(0o755)


def test_a_hooks_folder_that_cannot_be_made(repo: Repo, pkb: PKB) -> None:
    """A file where the folder should be ends in exit code 74; nothing is set."""
    (repo.path / ".git" / "pkb").write_text("a file\n")
    ran = pkb("install-hooks", code=74)
    assert "cannot write" in ran.err
    assert repo.git("config", "core.hooksPath", check=False) == ""
