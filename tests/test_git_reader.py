"""The two object readers give the same values: trees, staging area, blobs, differences, attributes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from conftest import Repo

from git_pkb.git import MissingBlob, ObjectReader, Repository, discover
from git_pkb.git.libgit import LibgitReader
from git_pkb.git.plumbing import PlumbingReader
from git_pkb.model import Entry

ODD_NAMES = ("-dash", "sp ace", 'quo"te', "new\nline", "ünï.py", "la\udcfftin", "src/deep/er/x")


@pytest.fixture(params=["libgit", "plumbing"])
def reading(request: pytest.FixtureRequest) -> Callable[[Repo], ObjectReader]:
    """Opens a repository with one of the two readers."""

    def open_with(repo: Repo) -> ObjectReader:
        found = discover(str(repo.path))
        if request.param == "plumbing":
            return PlumbingReader(found)
        reader = found.reader()
        assert isinstance(reader, LibgitReader)
        return reader

    return open_with


def listed(repo: Repo, *args: str) -> dict[str, Entry]:
    """The entries git itself lists (`ls-tree`), as values."""
    found = {}
    for record in repo.git("ls-tree", "-r", "-z", *args).split("\0"):
        if record:
            head, path = record.split("\t", 1)
            mode, _, oid = head.split(" ")
            found[path] = Entry(path, oid, int(mode, 8))
    return found


def test_tree_is_what_git_lists(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """Every name, mode and object of a commit, also symlinks, executables, submodules and odd bytes."""
    for name in ODD_NAMES:
        repo.write(name, name.encode("utf-8", "surrogateescape"))
    repo.write("run.sh", "#!/bin/sh\n", executable=True)
    (repo.path / "link").symlink_to("run.sh")
    repo.git("add", "-A")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("commit", "-qm", "all kinds")
    reader = reading(repo)
    tree = reader.tree(repo.head())
    assert tree == listed(repo, "HEAD")
    assert tree["la\udcfftin"].is_regular
    assert not tree["link"].is_regular
    assert not tree["sub"].is_regular
    assert reader.tree(repo.git("rev-parse", "HEAD^{tree}")) == tree
    assert reader.index() == tree


def test_subtree(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """Only the paths below a folder; none when it is a file, absent, or only the start of a name."""
    repo.commit({".pkb/index/a.meta": "1", ".pkb/index/b/c.meta": "2", ".pkb/indexes": "3", "file": "4"})
    reader = reading(repo)
    assert reader.subtree(repo.head(), ".pkb/index") == listed(repo, "HEAD", ".pkb/index/")
    assert set(reader.subtree(repo.head(), ".pkb/index")) == {".pkb/index/a.meta", ".pkb/index/b/c.meta"}
    assert reader.subtree(repo.head(), "file") == {}
    assert reader.subtree(repo.head(), "absent/deep") == {}


def test_index_is_what_is_staged(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """The staging area, not the work tree; empty before anything was added."""
    assert reading(repo).index() == {}
    repo.commit({"a": "committed\n"})
    repo.write("a", "staged\n")
    repo.git("add", "a")
    repo.write("a", "only in the work tree\n")
    reader = reading(repo)
    assert reader.blob(reader.index()["a"].oid) == b"staged\n"


def test_index_of_a_conflict(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """Of an unmerged path our side counts, else theirs; deleted on both sides is gone."""
    repo.commit({"both": "0\n", "gone": "0\n" * 20, "theirs": "0\n", "ours": "0\n"})
    repo.branch("other")
    repo.commit(
        {"both": "theirs\n", "theirs": "theirs\n", "ours": None, "moved-there": "0\n" * 20, "gone": None}
    )
    repo.switch("main")
    repo.commit({"both": "ours\n", "theirs": None, "ours": "ours\n", "moved-here": "0\n" * 20, "gone": None})
    repo.merge("other", check=False)
    stages = repo.git("ls-files", "-s", "gone")
    assert stages.split()[2] == "1"  # the premise: only the ancestor is left of it
    reader = reading(repo)
    index = reader.index()
    assert reader.blob(index["both"].oid) == b"ours\n"
    assert reader.blob(index["theirs"].oid) == b"theirs\n"
    assert reader.blob(index["ours"].oid) == b"ours\n"
    assert "gone" not in index


def test_index_without_intended_paths(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """`git add -N` is no content: the path is not in the commit, so it is not in the staging area either."""
    repo.commit({"empty": "", "a": "a\n"})
    repo.write("intended", "text\n")
    repo.git("add", "-N", "intended")
    assert set(reading(repo).index()) == {"empty", "a"}


def test_index_file_of_a_hook(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, reading: Callable[[Repo], ObjectReader]
) -> None:
    """GIT_INDEX_FILE is followed, absolute or relative to the top, also from a subdirectory."""
    repo.commit({"src/a": "a\n"})
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/other-index")
    repo.git("read-tree", "HEAD")
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{repo.blob('src/a')},b")
    monkeypatch.chdir(repo.path / "src")
    found = discover()
    for reader in (found.reader(), PlumbingReader(found)):
        assert set(reader.index()) == {"src/a", "b"}
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert set(reading(repo).index()) == {"src/a"}


def test_blobs(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """Blobs come as committed, not as checked out; their names can be computed; missing ones are named."""
    content = b"a\r\n\0\xff" * 70_000
    repo.write(".gitattributes", "* -text\n")
    repo.commit({"big": content, "empty": b""})
    reader = reading(repo)
    for name, data in (("big", content), ("empty", b"")):
        oid = repo.blob(name)
        assert (reader.blob(oid), reader.blob_size(oid), reader.hash_blob(data)) == (data, len(data), oid)
        assert reader.has(oid)
    absent = "1" * 40
    assert not reader.has(absent)
    with pytest.raises(MissingBlob, match=absent):
        reader.blob(absent)
    assert reader.blob(repo.blob("big")) == content


def test_diff(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """Changed, added, deleted, moved and retyped paths, each with its new entry, in order."""
    old = repo.commit({"same/a": "1", "edit/b": "1", "drop/c": "1", "move": "2", "file": "3", "fold/er": "4"})
    repo.git("mv", "move", "moved")
    repo.git("rm", "-q", "file", "fold/er")
    repo.write("same/run", "5", executable=True)
    new = repo.commit({"edit/b": "changed", "drop/c": None, "file/inner": "3", "fold": "4"})
    (repo.path / "same" / "a").chmod(0o755)
    newer = repo.commit({})
    reader = reading(repo)
    changes = reader.diff(old, new)
    paths = [path for path, _ in changes]
    assert paths == sorted(paths)
    tree = listed(repo, new)
    added = {"same/run", "edit/b", "moved", "file/inner", "fold"}
    assert dict(changes) == {
        **{path: tree[path] for path in added},
        **dict.fromkeys(["drop/c", "move", "file", "fold/er"]),
    }
    assert reader.diff(new, newer) == [("same/a", listed(repo, newer)["same/a"])]
    assert reader.diff(new, new) == []
    assert reader.diff(None, new) == sorted(tree.items())
    trees = [repo.git("rev-parse", f"{rev}^{{tree}}") for rev in (old, new)]
    assert reader.diff(*trees) == changes


def test_unknown_revisions(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """A revision that is not there raises a reported error."""
    from git_pkb.errors import PkbError

    repo.commit({"a": "a\n"})
    with pytest.raises(PkbError):
        reading(repo).tree("1" * 40)


def test_attributes(repo: Repo, reading: Callable[[Repo], ObjectReader]) -> None:
    """Staged attributes files count, by git's own rules, nested ones and macros too."""
    repo.commit(
        {
            ".gitattributes": "*.gen linguist-generated\n*.txt -linguist-generated text\n",
            "vendor/.gitattributes": "[attr]unused x\n* linguist-vendored=yes\n",
            "a.gen": "",
            "b.txt": "",
            "c.py": "",
            "vendor/ü \n.gen": "",
        }
    )
    names = ["linguist-generated", "linguist-vendored"]
    assert reading(repo).attributes(["a.gen", "b.txt", "c.py", "vendor/ü \n.gen"], names) == {
        "a.gen": {"linguist-generated": "set"},
        "b.txt": {"linguist-generated": "unset"},
        "vendor/ü \n.gen": {"linguist-generated": "set", "linguist-vendored": "yes"},
    }


@pytest.mark.parametrize("place", ["info", "user", "configured"])
def test_attributes_outside_the_tree(
    repo: Repo, sealed: Path, place: str, reading: Callable[[Repo], ObjectReader]
) -> None:
    """The clone's, the user's and the configured attributes file count."""
    repo.commit({"a.py": "a\n"})
    targets = {
        "info": repo.path / ".git" / "info" / "attributes",
        "user": sealed / "config" / "git" / "attributes",
        "configured": sealed / "my-attributes",
    }
    if place == "configured":
        repo.git("config", "core.attributesFile", str(targets[place]))
    targets[place].parent.mkdir(parents=True, exist_ok=True)
    targets[place].write_text("*.py linguist-generated\n")
    assert reading(repo).attributes(["a.py"], ["linguist-generated"]) == {
        "a.py": {"linguist-generated": "set"}
    }


def test_attributes_unset_are_cheap(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no attributes file but this program's own names them, git is not asked about many paths."""
    repo.commit(
        {".gitattributes": "*.txt text\n", ".pkb/.gitattributes": "index/** linguist-generated\n", "a": "a"}
    )
    found = discover(str(repo.path))
    asked: list[str] = []
    git = Repository.git

    def spy(self: Repository, *args: str, **options: object) -> bytes:
        asked.append(args[0])
        return git(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Repository, "git", spy)
    many = ["a", *(f"absent{number}" for number in range(60))]
    assert found.reader().attributes(many, ["linguist-generated"]) == {}
    assert "check-attr" not in asked


def test_libgit_reads_what_a_push_keeps_apart(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Objects in a folder that only the environment names are found."""
    repo.commit({"a": "a\n"})
    (tmp_path / "quarantine").mkdir()
    apart = {
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "quarantine"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(repo.path / ".git" / "objects"),
    }
    oid = repo.git("hash-object", "-w", "--stdin", stdin="apart\n", env=apart)
    for name, value in apart.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    reader = discover().reader()
    assert isinstance(reader, LibgitReader)
    assert reader.blob(oid) == b"apart\n"


# -- repositories libgit2 cannot open (git-facts 12a) ----------------------------------------------


def test_a_sha256_repository(new_repo: Callable[..., Repo]) -> None:
    """SHA-256 object names are read over git's plumbing."""
    repo = new_repo("sha256", "--object-format=sha256")
    repo.commit({"a": "a\n", "b/c": "c\n"})
    found = discover(str(repo.path))
    reader = found.reader()
    assert isinstance(reader, PlumbingReader)
    assert reader.tree(repo.head()) == reader.index() == listed(repo, "HEAD")
    assert reader.hash_blob(b"a\n") == repo.blob("a")
    assert found.head_at_open == repo.head()
    found.stage_blobs({"d": b"d\n", "a": None})
    assert set(reader.index()) == {"b/c", "d"}


def test_a_reftable_repository(new_repo: Callable[..., Repo], tmp_path: Path) -> None:
    """References in a reftable are read over git's plumbing."""
    probe = subprocess.run(
        ["git", "init", "-q", "--ref-format=reftable", str(tmp_path / "probe")],
        capture_output=True,
        check=False,
    )
    if probe.returncode:
        pytest.skip("this git (before 2.45) knows no reftable")
    repo = new_repo("reftable", "--ref-format=reftable")
    repo.commit({"a": "a\n"})
    found = discover(str(repo.path))
    assert isinstance(found.reader(), PlumbingReader)
    assert found.reader().tree(repo.head()) == listed(repo, "HEAD")


@pytest.mark.parametrize("kind", ["sparse", "split"])
def test_an_index_libgit_refuses(repo: Repo, kind: str) -> None:
    """A sparse or split index is read whole, objects still come through pygit2."""
    repo.commit({"in/a": "a\n", "out/b": "b\n", "out/deep/c": "c\n"})
    if kind == "sparse":
        repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    else:
        repo.git("update-index", "--split-index")
    import pygit2

    with pytest.raises(pygit2.GitError, match="extension"):
        len(pygit2.Repository(str(repo.path)).index)
    reader = discover(str(repo.path)).reader()
    assert isinstance(reader, LibgitReader)
    assert reader.index() == listed(repo, "HEAD")


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_a_partial_clone_never_fetches(
    new_repo: Callable[..., Repo], tmp_path: Path, object_format: str
) -> None:
    """A blob that a partial clone left out is missing, not fetched, until it is asked for by name."""
    origin = new_repo("origin", f"--object-format={object_format}")
    origin.commit({"a": "a\n", "b": "b\n"})
    origin.git("config", "uploadpack.allowFilter", "true")
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    path = tmp_path / "partial"
    origin.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{origin.path}", str(path))
    partial = Repo(path)
    packs = set((path / ".git" / "objects" / "pack").iterdir())
    found = discover(str(path))
    reader = found.reader()
    tree = reader.tree(partial.head())
    assert set(tree) == {"a", "b"}
    for entry in tree.values():
        assert not reader.has(entry.oid)
        with pytest.raises(MissingBlob):
            reader.blob(entry.oid)
    assert set((path / ".git" / "objects" / "pack").iterdir()) == packs
    assert reader.attributes(["a"], ["linguist-generated"]) == {}
    found.fetch_blobs([tree["a"].oid])
    assert found.reader().blob(tree["a"].oid) == b"a\n"
    assert not found.reader().has(tree["b"].oid)


def test_cat_file_ends_with_its_reader(repo: Repo) -> None:
    """The running git of a plumbing reader ends when the reader goes."""
    repo.commit({"a": "a\n"})
    reader = PlumbingReader(discover(str(repo.path)))
    reader.blob(repo.blob("a"))
    running = reader._batch
    assert running is not None
    assert running.poll() is None
    del reader
    assert running.returncode is not None


def test_an_interrupted_answer_is_not_the_next_one(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an interruption between question and answer, the next blob is the one that was asked for."""
    repo.commit({"a": "first\n", "b": "second\n"})
    reader = PlumbingReader(discover(str(repo.path)))
    assert reader.blob(repo.blob("a")) == b"first\n"
    running = PlumbingReader._running

    class Interrupted:
        """A pipe whose reader is interrupted."""

        def __init__(self, pipe: IO[bytes]) -> None:
            self.close = pipe.close

        def readline(self) -> bytes:
            raise KeyboardInterrupt

    def interrupt(self: PlumbingReader) -> subprocess.Popen[bytes]:
        batch = running(self)
        assert batch.stdout is not None
        batch.stdout = Interrupted(batch.stdout)  # type: ignore[assignment]
        return batch

    monkeypatch.setattr(PlumbingReader, "_running", interrupt)
    with pytest.raises(KeyboardInterrupt):
        reader.blob(repo.blob("a"))
    monkeypatch.setattr(PlumbingReader, "_running", running)
    assert reader.blob(repo.blob("b")) == b"second\n"
