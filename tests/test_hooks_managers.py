"""Beside husky, lefthook and pre-commit, really installed: before ours, after ours, really committing.

A manager that is not on PATH is skipped with that reason; CI installs all three.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import module, own_status, problems

from git_pkb.git import discover
from git_pkb.hooks.displaced import displaced
from git_pkb.hooks.edits import into_lefthook, into_pre_commit, into_script, without_block

PKB = Callable[..., Ran]


def installed(program: str) -> bool:
    """Whether a manager is on PATH, or beside this interpreter as a package of the development group."""
    return (
        shutil.which(program, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        is not None
    )


needs_husky = pytest.mark.skipif(not installed("husky"), reason="husky is not on PATH")
needs_lefthook = pytest.mark.skipif(not installed("lefthook"), reason="lefthook is not on PATH")
needs_pre_commit = pytest.mark.skipif(not installed("pre-commit"), reason="pre-commit is not on PATH")

LEFTHOOK = """\
# ours
pre-commit:
  commands:
    format:
      run: echo '# formatted' >> a.py && git add a.py
    last: { run: echo ran >> log }
pre-push:
  jobs:
    - run: true
"""
PRE_COMMIT = """\
# ours
repos:
- repo: local
  hooks:
  - id: ran
    name: ran
    entry: sh -c 'echo ran >> log'
    language: system
    always_run: true
    pass_filenames: false
# the end
fail_fast: false
"""


@pytest.fixture
def plain(repo: Repo) -> Repo:
    """A repository with one commit, the mock embedder, and an ignored log."""
    repo.git("config", "pkb.embedding.provider", "mock")
    repo.commit({".gitignore": "log\nnode_modules/\n", "a.py": module(alpha="0"), "b.py": module(beta="0")})
    return repo


def run(repo: Repo, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a manager."""
    done = subprocess.run(command, cwd=repo.path, capture_output=True, text=True, check=False)
    if check and done.returncode:
        pytest.fail(f"{command} exited {done.returncode}: {done.stdout}{done.stderr}")
    return done


def commits_right(repo: Repo, word: str) -> None:
    """Plain, partial and `--only` commits are right, clean, and have run the manager's own hooks."""
    log = repo.path / "log"
    log.unlink(missing_ok=True)
    repo.commit({"a.py": module(alpha=word)})
    assert problems(repo) == []
    assert repo.status() == ""
    repo.write("a.py", module(alpha=f"{word} staged"))
    repo.git("add", "a.py")
    repo.write("b.py", module(beta=f"{word} unstaged"))
    repo.git("commit", "-qm", "partial")
    assert problems(repo) == []
    assert repo.status() == " M b.py"
    repo.git("commit", "-qm", "only", "b.py")
    assert problems(repo) == []
    assert repo.status() == ""
    assert log.read_text() == "ran\n" * 3
    assert displaced(discover(str(repo.path))) == []


# -- husky -----------------------------------------------------------------------------------------


@needs_husky
def test_husky_first(plain: Repo, pkb: PKB) -> None:
    """Husky's setting stays; our line is in .husky/pre-commit, which husky does not write again."""
    run(plain, "husky")
    plain.write(".husky/pre-commit", "echo ran >> log\n")
    plain.commit({}, "husky")
    (plain.path / "log").unlink()
    before = plain.read(".husky/pre-commit")
    pkb("install-hooks")
    pkb("install-hooks")
    assert plain.git("config", "core.hooksPath") == ".husky/_"
    assert plain.read(".husky/pre-commit").startswith(before)
    assert plain.read(".husky/pre-commit").count("git pkb hook pre-commit") == 1
    commits_right(plain, "one")
    run(plain, "husky")
    commits_right(plain, "two")
    pkb("uninstall-hooks")
    assert plain.read(".husky/pre-commit") == before
    assert plain.git("config", "core.hooksPath") == ".husky/_"
    assert not (plain.path / ".husky" / "post-commit").exists()


@needs_husky
def test_husky_later(plain: Repo, pkb: PKB) -> None:
    """Husky silently takes the setting: that is noticed, and a second run moves over to husky's file."""
    pkb("install-hooks")
    run(plain, "husky")
    plain.write(".husky/pre-commit", "echo ran >> log\n")
    assert ".husky/_" in displaced(discover(str(plain.path)))[0]
    pkb("install-hooks")
    assert plain.git("config", "core.hooksPath") == ".husky/_"
    assert not (plain.path / ".git" / "pkb" / "hooks").exists()
    plain.commit({}, "husky")
    commits_right(plain, "one")


# -- lefthook --------------------------------------------------------------------------------------


@needs_lefthook
@pytest.mark.parametrize("installed", ["before", "after"])
def test_lefthook(plain: Repo, pkb: PKB, installed: str) -> None:
    """A command in lefthook.yml that runs last, so that what a formatter staged is indexed."""
    plain.write("lefthook.yml", LEFTHOOK)
    plain.git("add", "lefthook.yml")
    plain.git("commit", "-qm", "lefthook")
    if installed == "before":
        run(plain, "lefthook", "install")
    pkb("install-hooks")
    pkb("install-hooks")
    if installed == "after":
        run(plain, "lefthook", "install")
    assert plain.git("config", "core.hooksPath", check=False) == ""
    plain.commit({}, "our entry")
    plain.write("a.py", module(alpha="one"))
    plain.git("add", "a.py")
    plain.git("commit", "-qm", "formatted")
    assert plain.git("show", "HEAD:a.py").endswith("# formatted")
    assert problems(plain) == []
    assert plain.status() == ""
    assert displaced(discover(str(plain.path))) == []
    pkb("uninstall-hooks")
    assert plain.read("lefthook.yml") == LEFTHOOK


@needs_lefthook
def test_lefthook_stages_after_all_commands(plain: Repo, pkb: PKB) -> None:
    """What `stage_fixed` stages is staged after our command: one commit late, the next one repairs."""
    fixing = LEFTHOOK.replace(" && git add a.py", "\n      stage_fixed: true")
    plain.write("lefthook.yml", fixing)
    pkb("install-hooks")
    run(plain, "lefthook", "install")
    plain.commit({"a.py": module(alpha="one")})
    assert [line[:4] for line in problems(plain)] == ["a.py"]
    plain.write("lefthook.yml", plain.read("lefthook.yml").replace("echo '# formatted' >> a.py", "'true'"))
    plain.commit({"b.py": module(beta="one")})
    assert problems(plain) == []
    assert plain.status() == ""


@needs_lefthook
def test_lefthook_later(plain: Repo, pkb: PKB) -> None:
    """With our setting lefthook refuses to install; running ours again makes room for it."""
    pkb("install-hooks")
    plain.write("lefthook.yml", LEFTHOOK.replace("echo '# formatted' >> a.py && git add a.py", "'true'"))
    assert run(plain, "lefthook", "install", check=False).returncode != 0
    pkb("install-hooks")
    run(plain, "lefthook", "install")
    plain.commit({}, "lefthook")
    commits_right(plain, "one")


# -- the pre-commit framework ----------------------------------------------------------------------


@needs_pre_commit
@pytest.mark.parametrize("installed", ["before", "after"])
def test_pre_commit(plain: Repo, pkb: PKB, installed: str) -> None:
    """A local hook in .pre-commit-config.yaml; whole, partial and `--only` commits."""
    plain.write(".pre-commit-config.yaml", PRE_COMMIT)
    plain.git("add", ".pre-commit-config.yaml")
    plain.git("commit", "-qm", "pre-commit")
    if installed == "before":
        run(plain, "pre-commit", "install")
    assert "git add .pre-commit-config.yaml" in pkb("install-hooks").out
    pkb("install-hooks")
    if installed == "after":
        run(plain, "pre-commit", "install")
    plain.commit({}, "our entry")
    commits_right(plain, "one")
    pkb("uninstall-hooks")
    assert plain.read(".pre-commit-config.yaml") == PRE_COMMIT
    assert not (plain.path / ".git" / "hooks" / "post-commit").exists()


@needs_pre_commit
@pytest.mark.parametrize("only", [False, True])
def test_pre_commit_with_unstaged_artifacts(plain: Repo, pkb: PKB, only: bool) -> None:
    """Artifacts with unstaged changes, which the framework stashes and restores, do not refuse the commit."""
    plain.write(".pre-commit-config.yaml", PRE_COMMIT)
    pkb("install-hooks")
    run(plain, "pre-commit", "install")
    plain.commit({}, "pre-commit")
    plain.write("a.py", module(alpha="unseen"))
    plain.git("commit", "-qam", "no hook", "--no-verify")
    pkb("reindex")
    assert " M .pkb/index/a.py.meta" in plain.status().splitlines()
    plain.write("a.py", module(alpha="seen"))
    plain.git("add", "a.py")
    plain.git("commit", "-qm", "seen", *(["a.py"] if only else []))
    assert "seen" in plain.git("show", "HEAD:a.py")
    assert problems(plain) == []
    assert [line for line in own_status(plain).splitlines() if "state.toml" not in line] == []
    assert not [line for line in plain.git("ls-files", "-v").splitlines() if line[0].islower()]


@needs_pre_commit
def test_pre_commit_later(plain: Repo, pkb: PKB) -> None:
    """With our setting pre-commit refuses to install; running ours again makes room for it."""
    pkb("install-hooks")
    plain.write(".pre-commit-config.yaml", PRE_COMMIT)
    assert run(plain, "pre-commit", "install", check=False).returncode != 0
    pkb("install-hooks")
    run(plain, "pre-commit", "install")
    plain.commit({}, "pre-commit")
    commits_right(plain, "one")


@needs_pre_commit
def test_pre_commit_hooks_file(plain: Repo, tmp_path: Path) -> None:
    """The repository itself can be named in a .pre-commit-config.yaml: its hooks file is valid and runs."""
    source = Repo(tmp_path / "tool")
    source.path.mkdir()
    source.git("init", "-q")
    here = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
    assert "language: python" in here.read_text()
    # as installed from the repository, but with the program of this checkout instead of a new environment
    source.commit(
        {".pre-commit-hooks.yaml": here.read_text().replace("language: python", "language: system")}
    )
    plain.write(
        ".pre-commit-config.yaml",
        f"default_install_hook_types: [pre-commit, post-commit, post-merge]\n"
        f"repos:\n- repo: {source.path}\n  rev: {source.head()}\n"
        "  hooks:\n  - id: git-pkb\n  - id: git-pkb-after-commit\n  - id: git-pkb-after-merge\n",
    )
    run(plain, "pre-commit", "validate-manifest", str(here))
    run(plain, "pre-commit", "install")
    plain.commit({"a.py": module(alpha="one")})
    assert problems(plain) == []
    assert plain.status() == ""
    plain.write("b.py", module(beta="one"))
    plain.git("commit", "-qm", "only", "b.py")
    assert problems(plain) == []
    assert plain.status() == ""


# -- editing their files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pre-commit:\n  commands:\n    a:\n      run: x\n", "    zz-git-pkb:\n"),
        ("pre-commit:\n  jobs:\n    - run: x\n\npre-push:\n  jobs: []\n", "    - name: git-pkb\n"),
        ("pre-commit:\n  jobs:\n  - run: x\n", "  - name: git-pkb\n"),
        ("pre-push:\n  commands: {}\n", "pre-commit:\n  commands:\n    zz-git-pkb:\n"),
        ("", "pre-commit:\n  commands:\n    zz-git-pkb:\n"),
    ],
)
def test_lefthook_entries(text: str, expected: str) -> None:
    """The entry goes where its kind is, with the indent that is there; taking it out gives the text back."""
    edited = into_lefthook(text)
    assert edited is not None
    assert expected in edited
    assert without_block(edited) == text
    assert into_lefthook(edited) == edited


@pytest.mark.parametrize(
    "text", ["pre-commit: {commands: {}}\n", '"pre-commit":\n  commands:\n', "pre-commit:\n  piped: true\n"]
)
def test_lefthook_files_that_are_left_alone(text: str) -> None:
    """Where it is not clear how to add an entry, nothing is written."""
    assert into_lefthook(text) is None


@pytest.mark.parametrize(
    "text",
    [
        PRE_COMMIT,
        "repos:\n  - repo: meta\n    hooks:\n      - id: identity\n",
        "fail_fast: true\nrepos:\n- repo: meta\n\n\nexclude: x\n",
    ],
)
def test_pre_commit_entries(text: str) -> None:
    """The entry is the last of the list, with the indent that is there; taking it out gives the text back."""
    edited = into_pre_commit(text)
    assert edited is not None
    assert without_block(edited) == text
    assert into_pre_commit(edited) == edited
    indent = "  " if "  - repo" in text else ""
    assert f"\n{indent}- repo: local\n{indent}  hooks:\n{indent}    - id: git-pkb-pre-commit\n" in edited


@pytest.mark.parametrize("text", ["repos: []\n", "exclude: x\n", ""])
def test_pre_commit_files_that_are_left_alone(text: str) -> None:
    """Where there is no list to add to, nothing is written."""
    assert into_pre_commit(text) is None


def test_script_edits() -> None:
    """A line at the end of a shell script; a missing line feed at its end is minded."""
    edited = into_script("npm test", "pre-commit")
    assert edited is not None
    assert edited.startswith("npm test\n# >>> git pkb >>>\n")
    assert into_script(edited, "pre-commit") == edited
    assert into_script("#!/usr/bin/env node\n", "pre-commit") is None
