"""What changed since the cache was written: git's words read right, odd names included."""

import os
from pathlib import Path

import pytest
from conftest import Repo
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.git import discover
from git_pkb.search.snapshot import (
    changed_between,
    entries_at,
    parse_status,
    read_file,
    read_status,
    signature,
    start_status,
)

ODD = [
    "a b.py",
    'quote".py',
    "new\nline.py",
    "-dash.py",
    "größe.py",
    "tab\t.py",
    "1 .M N...py",
    "? x",
    "dir/ü ü.py",
]
OID = "1" * 40
NAMES = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1).filter(
    lambda name: not name.endswith("/")
)


@given(st.lists(st.tuples(st.sampled_from("1u?"), NAMES), unique_by=lambda item: item[1]))
def test_any_name_is_read_from_a_status(entries: list[tuple[str, str]]) -> None:
    """Names may hold spaces, line breaks and what looks like another record."""
    before = {
        "1": f"1 .M N... 100644 100644 100644 {OID} {OID} ",
        "u": f"u UU N... 100644 100644 100644 100644 {OID} {OID} {OID} ",
        "?": "? ",
    }
    records = [f"# branch.oid {OID}", "# branch.head main", *(before[kind] + name for kind, name in entries)]
    output = b"".join(record.encode() + b"\0" for record in records)
    assert parse_status(output) == (OID, [name for _, name in entries])


def test_an_unborn_branch_has_no_head() -> None:
    """Before the first commit there is no HEAD, but there may be files."""
    assert parse_status(b"# branch.oid (initial)\0# branch.head main\0? a.py\0") == (None, ["a.py"])


def test_a_nested_repository_is_passed_over() -> None:
    """Git lists a repository inside the work tree as a folder: it is not walked into."""
    assert parse_status(b"? inner/\0? a.py\0") == (None, ["a.py"])


@pytest.mark.parametrize("name", ODD)
def test_status_of_a_real_repository(repo: Repo, name: str) -> None:
    """A changed, a new and a deleted file, each with its signature; what is ignored or ours is not there."""
    repo.commit({name: "1\n", "gone.py": "x\n", "same.py": "y\n", ".gitignore": "*.log\n"})
    repo.write(name, "22\n")
    repo.write("new " + name.replace("/", ""), "3\n")
    repo.write("a.log")
    repo.write(".pkb/cache/x", "ours\n")
    (repo.path / "gone.py").unlink()
    opened = discover(os.fspath(repo.path))
    tree = read_status(opened, start_status(opened))
    assert tree.head == repo.head()
    assert set(tree.changed) == {name, "new " + name.replace("/", ""), "gone.py"}
    assert tree.changed["gone.py"] is None
    assert tree.changed[name] == signature(os.fspath(repo.path), name)


def test_status_from_a_folder_speaks_of_the_whole_tree(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked from below, git still gives paths from the top: a search asks before it knows where it is."""
    from git_pkb.git import Early
    from git_pkb.search.snapshot import STATUS

    repo.commit({"sub/a.py": "1\n", "b.py": "1\n"})
    repo.write("sub/a.py", "2\n")
    repo.write("b.py", "2\n")
    monkeypatch.chdir(repo.path / "sub")
    early = Early(*STATUS)
    opened = early.repository()
    assert (opened.prefix, opened.workdir) == ("sub/", os.fspath(repo.path))
    assert set(read_status(opened, early.beside).changed) == {"sub/a.py", "b.py"}


def test_settings_asked_early_are_those_of_git(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pkb.*` read beside the status is what git says, once; later questions are asked anew."""
    from git_pkb.git import Early

    repo.git("config", "pkb.search.k", "7")
    monkeypatch.chdir(repo.path)
    opened = Early("status").repository()
    assert opened.config() == {"pkb.search.k": "7"}
    repo.git("config", "pkb.search.k", "8")
    assert opened.config() == {"pkb.search.k": "8"}


def test_what_changed_between_commits(repo: Repo) -> None:
    """New, changed, renamed and deleted paths, each with what it holds now."""
    files = {name: f"{i}\n" for i, name in enumerate(ODD)}
    old = repo.commit({**files, "moved.py": "m\n"})
    repo.git("mv", "moved.py", "elsewhere.py")
    new = repo.commit({ODD[0]: "new\n", ODD[2]: None, "sub/added.py": "a\n"})
    opened = discover(os.fspath(repo.path))
    found = changed_between(opened, old, new)
    assert found is not None
    blobs = {path: entry and entry.oid for path, entry in found.items()}
    assert blobs == {
        ODD[0]: repo.blob(ODD[0]),
        ODD[2]: None,
        "sub/added.py": repo.blob("sub/added.py"),
        "elsewhere.py": repo.blob("elsewhere.py"),
        "moved.py": None,
    }
    assert changed_between(opened, new, new) == {}


def test_a_commit_that_is_gone(repo: Repo) -> None:
    """After a prune the old commit cannot be compared: the caller starts from the whole tree."""
    opened = discover(os.fspath(repo.path))
    assert changed_between(opened, OID, repo.commit({"a.py": "1\n"})) is None


@pytest.mark.parametrize("many", [False, True])
def test_entries_at_a_commit(repo: Repo, many: bool) -> None:
    """Few paths are asked for by name, as they are written; many are read from the whole tree; alike."""
    names = [*ODD, "*.py", "[a].py"]
    head = repo.commit({name: f"{name}\n" for name in [*names, "ax.py", "a.py"]})
    opened = discover(os.fspath(repo.path))
    found = entries_at(opened, head, [*names, "missing.py", *(f"no{i}" for i in range(300 * many))])
    assert {path: entry.oid for path, entry in found.items()} == {name: repo.blob(name) for name in names}


def test_a_link_is_not_read(tmp_path: Path) -> None:
    """A work-tree file is read only where it is a file: nothing outside is reached through a link."""
    (tmp_path / "secret").write_text("s")
    (tmp_path / "top").mkdir()
    (tmp_path / "top/link").symlink_to(tmp_path / "secret")
    (tmp_path / "top/folder").mkdir()
    os.mkfifo(tmp_path / "top/fifo")
    top = os.fspath(tmp_path / "top")
    assert [read_file(top, name) for name in ("link", "folder", "fifo", "missing", "nul\0l")] == [None] * 5
    assert [signature(top, name) for name in ("link", "folder", "fifo", "missing", "nul\0l")] == [None] * 5
