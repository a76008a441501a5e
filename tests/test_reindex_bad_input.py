"""Whatever a repository holds, a run ends with an index, a listed skip, or a clear refusal."""

import os
import sqlite3
import subprocess

import pytest
from indexed import Calls, snapshot, source

from git_pkb.mirror.tree import meta_name

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n"


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The mock model instead of the local one, counted."""
    return Calls(tmp_path / "calls", monkeypatch)


def skipped(pkb):
    """Path -> reason."""
    found = pkb("stats", "--skipped", "--json").json()["skipped"]
    return {each["path"]: each["reason"] for each in found}


def test_not_a_repository(pkb, tmp_path):
    """Exit 2, with a hint."""
    ran = pkb("reindex", cwd=tmp_path, code=2)
    assert ran.err.startswith("error: ")
    assert "hint: " in ran.err


def test_a_bare_repository(pkb, new_repo):
    """Exit 2: there is nowhere to write."""
    bare = new_repo("bare.git", "--bare")
    assert "bare repository" in pkb("reindex", cwd=bare.path, code=2).err


def test_no_commit_yet(repo, pkb):
    """HEAD is unborn: said, nothing written, exit 0; what is staged can be indexed."""
    repo.write("a.py", source("one"))
    ran = pkb("reindex")
    assert "no commit yet" in ran.err
    assert not (repo.path / ".pkb").exists()
    repo.git("add", "a.py")
    assert pkb("reindex", "--staged", "--json").json()["files_added"] == 1


def test_an_unborn_branch_keeps_the_index(repo, pkb):
    """`git switch --orphan` names no commit: nothing is touched."""
    repo.commit({"a.py": source("one")})
    pkb("reindex")
    repo.commit()
    repo.git("checkout", "--quiet", "--orphan", "new")
    before = snapshot(repo.path)
    assert "no commit yet" in pkb("reindex").err
    assert snapshot(repo.path) == before


def test_contents_of_every_kind(repo, pkb):
    """Binary, huge, minified, LFS: listed with the reason. Empty, BOM, CRLF, Latin-1: indexed."""
    repo.commit(
        {
            "empty.py": "",
            "bom.md": b"\xef\xbb\xbf# Title\r\n\r\ntext\r\n",
            "latin.txt": b"caf\xe9 au lait\n",
            "utf16.txt": "text".encode("utf-16"),
            "data.bin2": b"\0\1\2" * 50,
            "huge.txt": b"line\n" * 300_000,
            "app.js": b"x" * 20_000,
            "lfs.csv": LFS,
            "cr.txt": b"one\rtwo\r",
            "nul_later.c": b"int x;\n" * 2000 + b"\0",
        }
    )
    report = pkb("reindex", "--json").json()
    assert skipped(pkb) == {
        "app.js": "a line longer than 10 kB (minified or generated)",
        "data.bin2": "binary",
        "huge.txt": "larger than 1 MB",
        "lfs.csv": "Git LFS pointer",
        "utf16.txt": "binary",
    }
    assert (report["files_added"], report["files_skipped"]) == (5, 5)
    again = pkb("reindex", "--json").json()
    assert (again["files_added"], again["files_skipped"]) == (0, 5)
    assert pkb("check").code == 0


def test_names_of_every_kind(repo, pkb):
    """Spaces, quotes, line feeds, dashes, non-ASCII, non-UTF-8, long, colliding: each has its artifact."""
    names = [
        b"with space.py", b"quo\"te'.py", b"new\nline.py", b"-dash.py", "été/日本.py".encode(), b"caf\xe9.py",
        b"a", b"a.meta", b"b.meta/x.py", b"b", b"README", b"readme", b"100%.py", b"tab\t.py", b"x" * 250,
        b"y" * 240 + b".py", b"sub/" + b"\xff" * 100 + b".py",
    ]  # fmt: skip
    for number, name in enumerate(names):
        repo.write(os.fsdecode(name), f"word_{number} = {number}\n")
    repo.commit()
    report = pkb("reindex", "--json").json()
    assert (report["files_added"], report["files_skipped"]) == (len(names), 0)
    for name in names:
        if name not in (b"README", b"readme"):
            assert (repo.path / meta_name(name.decode("utf-8", "surrogateescape"))).is_file()
    assert pkb("reindex", "--json").json()["files_added"] == 0
    repo.commit()
    assert repo.status() == ""
    assert pkb("check").code == 0
    repo.git("rm", "-q", "README", "b.meta/x.py")
    repo.commit()
    assert pkb("reindex", "--json").json()["files_removed"] == 2
    assert (repo.path / ".pkb/index/readme.meta").is_file()
    assert pkb("check").code == 0


def test_links_and_submodules(repo, new_repo, pkb):
    """Not followed, listed."""
    other = new_repo("other")
    other.commit({"inner.py": source("inner")})
    repo.write("a.py", source("one"))
    (repo.path / "link.py").symlink_to("a.py")
    (repo.path / "dangling").symlink_to("/nowhere")
    repo.git("submodule", "--quiet", "add", str(other.path), "sub")
    repo.commit()
    assert pkb("reindex", "--json").json()["files_added"] == 2  # a.py and .gitmodules
    assert skipped(pkb) == {"dangling": "symbolic link", "link.py": "symbolic link", "sub": "submodule"}


def test_a_file_becomes_a_folder_and_back(repo, pkb):
    """On one branch `x` is a file, on the other a folder; each run leaves exactly its artifacts."""
    repo.commit({"x": "word\n", "keep.py": source("keep")})
    repo.branch("folder")
    repo.git("rm", "-q", "x")
    repo.commit({"x/inner.py": source("inner"), "x.meta/deep.py": source("deep")})
    for branch, names in (
        ("main", {"x.meta", "x.vec", "keep.py.meta", "keep.py.vec"}),
        ("folder", None),
        ("main", {"x.meta", "x.vec", "keep.py.meta", "keep.py.vec"}),
    ):
        repo.switch(branch)
        pkb("reindex")
        if names is not None:
            assert set(snapshot(repo.path)) == names
        assert pkb("check").code == 0


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("half", ["meta", "vec"])
@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda d: d[: len(d) // 2], lambda _: b"foreign\n" * 3, lambda d: d + b"\0", None],
)
def test_damaged_artifacts_are_made_anew(repo, pkb, half, damage):
    """Truncated, foreign, swapped or missing halves: noticed, rewritten, the others not touched."""
    repo.commit({"a.py": source("one"), "b.py": source("two", "three")})
    pkb("reindex")
    good = snapshot(repo.path)
    path = repo.path / ".pkb" / "index" / f"b.py.{half}"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()))
    report = pkb("reindex", "--json").json()
    assert report["files_added"] + report["files_changed"] == 1
    assert snapshot(repo.path) == good


@pytest.mark.usefixtures("calls")
def test_a_pair_that_does_not_match_is_made_anew(repo, pkb):
    """The vectors of another file, with another number of rows."""
    repo.commit({"a.py": source("one"), "b.py": source("two", "three")})
    pkb("reindex")
    good = snapshot(repo.path)
    (repo.path / ".pkb/index/a.py.vec").write_bytes(good["b.py.vec"])
    assert pkb("reindex", "--json").json()["files_changed"] == 1
    assert snapshot(repo.path) == good


@pytest.mark.parametrize("where", ["state", "meta", "vec"])
def test_a_newer_format_is_not_overwritten(repo, pkb, where):
    """Exit 2, the hint says to upgrade, and not a byte is changed."""
    repo.commit({"a.py": source("one")})
    pkb("reindex")
    if where == "state":
        path = repo.path / ".pkb/state.toml"
        path.write_text(path.read_text().replace("format = 1", "format = 2"))
    else:
        path = repo.path / f".pkb/index/a.py.{where}"
        old, new = (b"git-pkb 1", b"git-pkb 2") if where == "meta" else (b"format\x01", b"format\x02")
        path.write_bytes(path.read_bytes().replace(old, new))
    repo.commit({"a.py": source("two")})
    before = snapshot(repo.path)
    for options in ((), ("--staged",), ("--full",)):
        ran = pkb("reindex", *options, code=2)
        assert "upgrade" in ran.err
    assert snapshot(repo.path) == before


@pytest.mark.parametrize("kind", ["file", "link", "index link"])
def test_a_pkb_that_is_no_folder(repo, pkb, tmp_path, kind):
    """A file or a symbolic link in its place is refused with exit 74, and what it points at stays empty."""
    repo.commit({"a.py": source("one")})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "file":
        repo.write(".pkb", "mine")
    elif kind == "link":
        (repo.path / ".pkb").symlink_to(elsewhere)
    else:
        (repo.path / ".pkb").mkdir()
        (repo.path / ".pkb" / "index").symlink_to(elsewhere)
    ran = pkb("reindex", code=74)
    assert "hint: " in ran.err
    assert list(elsewhere.iterdir()) == []


def test_a_read_only_pkb(repo, pkb):
    """Exit 74, and what was there is as it was."""
    repo.commit({"a.py": source("one")})
    pkb("reindex")
    repo.commit({"b.py": source("two")})
    before = snapshot(repo.path)
    index = repo.path / ".pkb" / "index"
    if os.geteuid() == 0:  # permissions do not bind root: the immutable flag does
        if subprocess.run(["chattr", "+i", index], capture_output=True, check=False).returncode:
            pytest.skip("neither permissions nor flags can make a folder read-only here")
    else:
        index.chmod(0o555)
    try:
        ran = pkb("reindex", code=74)
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", index], check=True)
        else:
            index.chmod(0o755)
    assert "cannot write" in ran.err
    assert snapshot(repo.path) == before


def test_a_second_writer_waits_and_says_who(repo, pkb):
    """While another run holds the lock: exit 75, naming its process."""
    from git_pkb.git import discover
    from git_pkb.lock import writer_lock

    repo.commit({"a.py": source("one")})
    with writer_lock(discover(str(repo.path))):
        ran = pkb("reindex", code=75)
    assert f"process {os.getpid()}" in ran.err
    assert pkb("reindex").code == 0


def test_a_killed_writer_leaves_no_lock(repo, pkb):
    """The lock ends with its process, whatever file it leaves."""
    repo.commit({"a.py": source("one")})
    (repo.path / ".git" / "pkb").mkdir()
    (repo.path / ".git" / "pkb" / "lock").write_text("process 1\n")
    assert pkb("reindex").code == 0


def test_nothing_that_can_be_indexed(repo, pkb):
    """Reported, not passed off as success."""
    repo.commit({"a.png": b"\0", "b.lock": "x\n"})
    assert "none of 2 tracked files" in pkb("reindex").err


@pytest.mark.usefixtures("calls")
def test_a_partial_clone_lists_what_is_not_here(repo, pkb):
    """Without --fetch nothing is fetched and the rest is indexed; with it one request brings the rest."""
    repo.commit({"a.py": source("one"), "b.py": source("two")})
    repo.commit({"a.py": source("three")})
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = repo.path.parent / "partial"
    repo.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repo.path}", clone)
    report = pkb("reindex", "--json", cwd=clone).json()
    assert (report["files_added"], report["files_skipped"]) == (0, 2)
    report = pkb("reindex", "--fetch", "--json", cwd=clone).json()
    assert (report["files_added"], report["files_skipped"]) == (2, 0)


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("options", [("--object-format=sha256",), ()])
def test_repositories_that_pygit2_refuses(new_repo, pkb, options):
    """SHA-256 names and a split staging area: the same index, by git's own plumbing."""
    other = new_repo("other", *options)
    if not options:
        other.git("config", "core.splitIndex", "true")
    other.commit({"a.py": source("one"), "tool": "#!/bin/sh\necho\n"})
    other.write("b.py", source("two"))
    other.git("add", "b.py")
    assert pkb("reindex", "--staged", "--json", cwd=other.path).json()["files_added"] == 3
    other.commit()
    assert other.status() == ""
    assert pkb("reindex", "--json", cwd=other.path).json()["files_added"] == 0
    assert pkb("check", cwd=other.path).code == 0


def test_a_linked_worktree_starts_from_its_tree(repo, pkb, calls):
    """Another worktree of a commit with artifacts embeds nothing."""
    repo.commit({"a.py": source("one")})
    pkb("reindex")
    repo.commit()
    repo.git("worktree", "add", "--quiet", "../tree", "-b", "other")
    calls.take()
    report = pkb("reindex", "--json", cwd=repo.path.parent / "tree").json()
    assert (report["files_added"], report["files"], calls.take()) == (0, 1, 0)


@pytest.mark.usefixtures("calls")
def test_a_hostile_cache_is_not_believed(repo, pkb):
    """Remembered tables that are not ours are read anew, without an error."""
    repo.commit({"a.py": source("one")})
    pkb("reindex")
    cache = repo.path / ".pkb" / "cache"
    cache.mkdir(exist_ok=True)
    for name in ("artifacts-files.json", "artifacts-blobs.json", "in-line.json", "skips.json"):
        for content in (
            "[]",
            '{"version": 1, "shared": 3, "rows": {"x": [1]}}',
            "\x00",
            '{"rules": "1", "reasons": 4}',
        ):
            (cache / name).write_text(content)
            assert pkb("reindex", "--json").json()["files_changed"] == 0


def test_a_pipe_in_place_of_an_artifact_keeps_nobody_waiting(repo, pkb):
    """A named pipe in place of an artifact or the state counts as absent: check says so, all of them end."""
    repo.commit({"a.py": "def a():\n    return 1\n"})
    pkb("reindex")
    for name in (".pkb/index/a.py.meta", ".pkb/state.toml"):
        (repo.path / name).unlink()
        os.mkfifo(repo.path / name)
    assert "a.py" in pkb("check", code=1).out
    pkb("stats")
    pkb("reindex", code=None)


def test_a_cache_that_was_committed_is_not_believed(repo, pkb):
    """Whatever a stranger puts where a cache might be, search answers from the files and changes nothing."""
    repo.commit({"a.py": "def greet():\n    return 1\n"})
    pkb("reindex")
    pkb("search", "greet")
    repo.commit({}, "index")
    pkb("search", "greet")
    cache = repo.path / ".git/pkb"
    for place in (".pkb/cache", ".pkb"):
        for file in cache.glob("cache.*"):
            repo.write(f"{place}/{file.name}", file.read_bytes())
    with sqlite3.connect(repo.path / ".pkb/cache/cache.db") as stranger:
        stranger.execute("UPDATE files SET path = ?", (b"../../etc/passwd",))
    stranger.close()
    repo.git("add", "--force", ".pkb")
    repo.git("commit", "--quiet", "-m", "a gift")
    clone = repo.path.parent / "clone"
    repo.git("clone", "--quiet", str(repo.path), str(clone))
    assert [each["path"] for each in pkb("search", "--json", "greet", cwd=clone).json()["results"]] == [
        "a.py"
    ]
    assert repo.git("-C", str(clone), "status", "--porcelain") == ""
