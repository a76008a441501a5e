"""Hooks that never hurt: whatever breaks, one line, and the commit goes through; strict mode blocks."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import module, problems, set_up

from git_pkb.hooks.hookfile import HOOKS, hook_file, is_ours, stub_file

PKB = Callable[..., Ran]


@pytest.fixture
def hooked(repo: Repo, pkb: PKB) -> Repo:
    """A repository with hooks and one commit."""
    set_up(repo, pkb)
    repo.commit({"a.py": module(alpha="0")})
    return repo


def commit(repo: Repo, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Commit a change and keep what was said."""
    repo.write("a.py", module(alpha=str(time.monotonic_ns())))
    repo.git("add", "a.py")
    return subprocess.run(
        ["git", "commit", "-qm", "change"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
    )


def breakage(repo: Repo, kind: str, tmp_path: Path) -> dict[str, str]:
    """Break something; gives the environment to commit with."""
    if kind == "tool missing":
        folder = tmp_path / "bin"
        folder.mkdir()
        for tool in ("git", "sh"):
            path = os.environ["PATH"].split(os.pathsep)
            found = next(Path(p) / tool for p in path if (Path(p) / tool).exists())
            (folder / tool).symlink_to(found)
        return {"PATH": str(folder)}
    if kind == "provider down":
        return {"PKB_MOCK_FAIL": "embed"}
    if kind == "settings wrong":
        repo.git("config", "pkb.embedding.provider", "nonsense")
    elif kind == "pkb is a file":
        repo.git("rm", "-rqf", ".pkb")
        subprocess.run(["rm", "-rf", ".pkb"], cwd=repo.path, check=True)
        repo.write(".pkb", "a file\n")
    elif kind == "pkb is a symlink":
        subprocess.run(["rm", "-rf", ".pkb"], cwd=repo.path, check=True)
        (tmp_path / "elsewhere").mkdir()
        (repo.path / ".pkb").symlink_to(tmp_path / "elsewhere")
    elif kind == "newer format":
        repo.write(".pkb/state.toml", "format = 999\n")
    elif kind == "too slow":
        repo.git("config", "pkb.hookTimeout", "0.000001")
    return {}


KINDS = [
    "tool missing",
    "provider down",
    "settings wrong",
    "pkb is a file",
    "pkb is a symlink",
    "newer format",
    "too slow",
]


@pytest.mark.parametrize("kind", KINDS)
def test_one_line_and_the_commit_goes_through(hooked: Repo, tmp_path: Path, kind: str) -> None:
    """Each breakage is said in one line; the commit is made, and the sources in it are right."""
    done = commit(hooked, breakage(hooked, kind, tmp_path))
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "git pkb" in done.stderr
    assert hooked.git("show", "HEAD:a.py") == hooked.read("a.py").rstrip("\n")
    assert not list(tmp_path.glob("elsewhere/*"))


@pytest.mark.parametrize("kind", KINDS)
def test_strict_blocks(hooked: Repo, tmp_path: Path, kind: str) -> None:
    """With pkb.hookStrict the same breakage stops the commit."""
    hooked.git("config", "pkb.hookStrict", "true")
    head = hooked.head()
    done = commit(hooked, breakage(hooked, kind, tmp_path))
    assert done.returncode != 0
    assert hooked.head() == head


def test_the_next_commit_repairs(hooked: Repo) -> None:
    """What a failing provider left stale, the next commit brings in line."""
    commit(hooked, {"PKB_MOCK_FAIL": "embed"})
    assert problems(hooked) != []
    commit(hooked)
    assert problems(hooked) == []


def test_a_held_lock_of_the_staging_area(hooked: Repo) -> None:
    """When another process takes index.lock while the hook runs, that is said in one line.

    git itself refuses to commit while the lock is held, so the lock is taken by a hook that runs before ours.
    """
    former = hooked.path / ".git" / "hooks" / "pre-commit"
    former.write_text('#!/bin/sh\ntouch "$(git rev-parse --git-dir)/index.lock"\n')
    former.chmod(0o755)
    done = commit(hooked)
    (hooked.path / ".git" / "index.lock").unlink(missing_ok=True)
    assert [
        line for line in done.stderr.splitlines() if line.startswith("git pkb: ") and "index.lock" in line
    ]


def test_a_held_lock_of_another_run(hooked: Repo) -> None:
    """While another git pkb writes the index, the hook waits briefly, then skips with one line."""
    import fcntl

    with (hooked.path / ".git" / "pkb" / "lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = commit(hooked)
    assert done.returncode == 0
    assert "another git pkb" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_index(hooked: Repo) -> None:
    """A `.pkb` that cannot be written is said in one line."""
    subprocess.run(["chmod", "-R", "a-w", ".pkb"], cwd=hooked.path, check=True)
    try:
        done = commit(hooked)
    finally:
        subprocess.run(["chmod", "-R", "u+w", ".pkb"], cwd=hooked.path, check=True)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1


def test_a_full_disk(hooked: Repo) -> None:
    """When nothing can be written any more (files of at most 0 bytes), one line, and it gives way."""
    hooked.write("a.py", module(alpha="full"))
    hooked.git("add", "a.py")
    done = subprocess.run(
        ["sh", "-c", "trap '' XFSZ; ulimit -f 0; exec git-pkb hook pre-commit"],
        cwd=hooked.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    commit(hooked)
    assert problems(hooked) == []


@pytest.mark.parametrize("value", ["1", "true"])
def test_skip(hooked: Repo, value: str) -> None:
    """GIT_PKB_SKIP leaves the index alone without a word; 0 does not."""
    done = commit(hooked, {"GIT_PKB_SKIP": value})
    assert (done.returncode, done.stderr) == (0, "")
    assert problems(hooked) != []
    commit(hooked, {"GIT_PKB_SKIP": "0"})
    assert problems(hooked) == []


def test_a_cost_above_the_cap_of_hooks(hooked: Repo) -> None:
    """A run that would cost more than pkb.hookMaxCost is skipped with one line, and nothing is spent."""
    hooked.git("config", "pkb.embedding.model", "mock-paid")
    hooked.git("config", "pkb.hookMaxCost", "0.0000001")
    done = commit(hooked)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    assert "0.0" in done.stderr or "cost" in done.stderr


def test_an_unknown_hook_does_no_harm(pkb: PKB) -> None:
    """A name this version does not know ends 0."""
    assert "pre-merge-commit" in pkb("hook", "pre-merge-commit").err


def test_outside_of_a_repository(tmp_path: Path, pkb: PKB) -> None:
    """A hook called where there is no repository ends 0 with one line."""
    (tmp_path / "nowhere").mkdir()
    ran = pkb("hook", "pre-commit", cwd=tmp_path / "nowhere")
    assert len(ran.err.splitlines()) == 1


def test_after_a_commit_nothing_heavy_is_loaded(hooked: Repo) -> None:
    """post-commit with nothing to heal loads neither pygit2 nor numpy, and no settings."""
    code = (
        "import sys; from git_pkb.cli import main; main(['hook', 'post-commit']);"
        "print({'pygit2', 'numpy', 'git_pkb.config'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=hooked.path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


def test_this_repositorys_own_hooks_are_the_generated_ones() -> None:
    """The tracked hooks/ holds what `install-hooks --shared` would write."""
    folder = Path(__file__).parent.parent / "hooks"
    assert {path.name: path.read_text() for path in folder.iterdir()} == {n: hook_file(n) for n in HOOKS}
    assert all(os.access(path, os.X_OK) for path in folder.iterdir())


def test_hook_files_are_recognised() -> None:
    """Own files and stubs are known by a line of theirs, whatever folder the former hooks are in."""
    odd = '/srv/it\'s "odd" $HOME/hooks/pre-push'
    assert is_ours(hook_file("pre-commit", odd))
    assert is_ours(stub_file(odd))
    assert not is_ours("#!/bin/sh\necho git pkb hook pre-commit\n")
    for text in (hook_file("pre-commit", odd), stub_file(odd), *(hook_file(name) for name in HOOKS)):
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)


def test_former_hooks_in_an_odd_folder(new_repo: Callable[..., Repo], pkb: PKB, tmp_path: Path) -> None:
    """Quotes, spaces and dollar signs in the path of the repository do not break the stubs."""
    repo = new_repo('it\'s "odd" $HOME `x`')
    hook = repo.path / ".git" / "hooks" / "commit-msg"
    hook.write_text(f"#!/bin/sh\necho ran >> '{tmp_path}/log'\n")
    hook.chmod(0o755)
    set_up(repo, pkb)
    repo.commit({"a.py": module(alpha="0")})
    assert (tmp_path / "log").read_text() == "ran\n"
    assert problems(repo) == []
