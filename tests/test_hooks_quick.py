"""The hook looks at what differs from a tree known to be in line, and comes to what a whole look would."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import Calls, module, own_status, problems, set_up

PKB = Callable[..., Ran]
NOTE = "in-line-staged.json"


@pytest.fixture(params=["local", "mock"])
def hooked(request: pytest.FixtureRequest, repo: Repo, pkb: PKB) -> Repo:
    """A repository with hooks and a commit of many files."""
    set_up(repo, pkb, provider=request.param)
    files = {f"src/m{number}.py": module(**{f"f{number}": "0"}) for number in range(9)}
    repo.commit({**files, "two.py": module(one="0", two="0"), "notes.md": "# Notes\n\nText.\n"})
    return repo


def note(repo: Repo) -> Path:
    """Where the tree is noted."""
    return repo.path / ".git/pkb" / NOTE


def noted(repo: Repo) -> str:
    """The tree that is noted."""
    return str(json.loads(note(repo).read_text())["tree"])


def right(repo: Repo) -> None:
    """The index of HEAD matches HEAD; status is silent about `.pkb`."""
    assert problems(repo) == []
    assert own_status(repo) == ""


def edit(repo: Repo) -> None:
    """One function of two changes."""
    repo.write("two.py", module(one="0", two="changed"))


def add(repo: Repo) -> None:
    """A file comes."""
    repo.write("new/file.py", module(new="1"))


def copy(repo: Repo) -> None:
    """A file with the content of another comes."""
    repo.write("copy.py", repo.read("two.py"))


def rename(repo: Repo) -> None:
    """A file goes by another name."""
    repo.git("mv", "two.py", "elsewhere.py")


def rename_and_edit(repo: Repo) -> None:
    """A file goes by another name, with another function."""
    repo.git("mv", "two.py", "elsewhere.py")
    repo.write("elsewhere.py", module(one="0", two="changed"))


def delete(repo: Repo) -> None:
    """A file goes."""
    repo.git("rm", "-q", "two.py")


def make_executable(repo: Repo) -> None:
    """Only the mode of a file changes."""
    (repo.path / "two.py").chmod(0o755)


def make_link(repo: Repo) -> None:
    """A file becomes a symbolic link."""
    (repo.path / "two.py").unlink()
    (repo.path / "two.py").symlink_to("src/m1.py")


def make_binary(repo: Repo) -> None:
    """A file becomes one that is not indexed."""
    repo.write("two.py", b"\0\1\2")


def twin(repo: Repo) -> None:
    """A name comes that differs only in case from another."""
    repo.write("TWO.py", module(twin="1"))


def odd_name(repo: Repo) -> None:
    """A name that git would quote comes."""
    repo.write('ü n\n"i".py', module(odd="1"))


def exclude_by_attribute(repo: Repo) -> None:
    """An attribute takes files out that did not change."""
    repo.write(".gitattributes", "src/*.py linguist-generated\n")


def exclude_by_setting(repo: Repo) -> None:
    """A setting takes files out that did not change."""
    repo.git("config", "pkb.exclude", "src")


def spoil_an_artifact(repo: Repo) -> None:
    """Somebody staged an artifact of another file."""
    repo.write(".pkb/index/src/m1.py.meta", (repo.path / ".pkb/index/src/m2.py.meta").read_bytes())


def lose_an_artifact(repo: Repo) -> None:
    """Somebody staged the removal of an artifact."""
    repo.git("rm", "-q", ".pkb/index/src/m1.py.vec")


def leave_a_stray(repo: Repo) -> None:
    """Somebody staged an artifact of no file."""
    repo.write(".pkb/index/gone.py.vec", b"stray")


def skip_hooks(repo: Repo) -> None:
    """Commits went by without the hook."""
    for number in range(3):
        repo.write(f"src/m{number}.py", module(**{f"f{number}": "by"}))
        repo.git("commit", "-qam", "by", "--no-verify")


CHANGES = [
    edit, add, copy, rename, rename_and_edit, delete, make_executable, make_link, make_binary, twin, odd_name,
    exclude_by_attribute, spoil_an_artifact, lose_an_artifact, leave_a_stray, skip_hooks,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("hooked", ["local"], indirect=True)
def test_quick_equals_whole(hooked: Repo, change: Callable[[Repo], None]) -> None:
    """The commit's tree is the same, to the byte, whether the hook looked at a part or at everything."""
    base = hooked.head()

    def committed(*, whole: bool) -> str:
        hooked.git("reset", "-q", "--hard", base)
        hooked.git("clean", "-fdq")
        kept = note(hooked).read_bytes()
        if whole:
            note(hooked).unlink()
        change(hooked)
        edit_beside(hooked)
        hooked.commit()
        assert own_status(hooked) == ""
        note(hooked).write_bytes(kept)
        return hooked.git("rev-parse", "HEAD^{tree}")

    assert committed(whole=False) == committed(whole=True)


def edit_beside(repo: Repo) -> None:
    """An ordinary edit in the same commit."""
    repo.write("src/m8.py", module(f8="beside"))


def test_the_tree_is_noted_once(hooked: Repo) -> None:
    """The first commit notes its tree; small commits leave the note alone, and are right."""
    tree = noted(hooked)
    assert tree == hooked.git("rev-parse", "HEAD^{tree}")
    for number in range(4):
        hooked.commit({f"src/m{number}.py": module(**{f"f{number}": "again"})})
        right(hooked)
    hooked.commit({"src/m0.py": None, "src/other.py": module(other="1")})
    right(hooked)
    if hooked.git("config", "pkb.embedding.provider") == "local":
        assert noted(hooked) == tree


def test_many_changes_note_a_new_tree(hooked: Repo) -> None:
    """What differs by much would be looked at again and again: the tree is noted anew."""
    tree = noted(hooked)
    for start in (0, 30):
        hooked.commit({f"many/{n}.py": module(**{f"g{n}": "1"}) for n in range(start, start + 30)})
        right(hooked)
    assert noted(hooked) != tree


@pytest.mark.parametrize("hooked", ["local"], indirect=True)
def test_other_settings_look_at_everything(hooked: Repo) -> None:
    """A setting that changes what is indexed takes out files that did not change."""
    exclude_by_setting(hooked)
    hooked.commit({"two.py": module(one="1")})
    assert not [path for path in hooked.tracked() if path.startswith(".pkb/index/src/")]


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"tree": "' + b"0" * 40 + b'"}', b"garbage", None])
def test_a_note_that_cannot_be_used(hooked: Repo, damage: bytes | None) -> None:
    """Damaged, or naming a tree that is gone, it counts as none."""
    if damage is None:
        text = json.loads(note(hooked).read_text())
        note(hooked).write_text(json.dumps(text | {"tree": "1" * 40}))
    else:
        note(hooked).write_bytes(damage)
    hooked.commit({"two.py": module(one="changed")})
    right(hooked)
    assert noted(hooked) == hooked.git("rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("hooked", ["mock"], indirect=True)
def test_a_copy_costs_nothing(hooked: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new file with the content of one that did not change takes its vectors over."""
    log = tmp_path / "calls.log"
    monkeypatch.setenv("PKB_MOCK_LOG", str(log))
    copy(hooked)
    hooked.commit()
    assert Calls(log).texts() == 0
    right(hooked)


@pytest.mark.parametrize("hooked", ["local"], indirect=True)
def test_nothing_heavy_is_loaded(hooked: Repo) -> None:
    """A quick look loads neither pygit2 nor numpy, nor what the command line and value classes would cost."""
    hooked.write("two.py", module(one="0", two="changed"))
    hooked.git("add", "two.py")
    code = (
        "import sys; from git_pkb.cli import main; code = main(['hook', 'pre-commit']);"
        "print(code, {'pygit2', 'numpy', 'argparse', 'dataclasses', 'tomllib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=hooked.path, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout == "0 set()\n"
    hooked.git("commit", "-qm", "x", "--no-verify")
    right(hooked)
