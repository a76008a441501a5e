"""The folder `.pkb` on disk: whole files, no way out of it, no litter."""

import os

import pytest

from git_pkb.errors import CannotWrite
from git_pkb.mirror.tree import INDEX, Tree, pair, scan, scan_entries, walk
from git_pkb.model import Entry


def names_in(folder):
    """What a folder holds."""
    return sorted(entry.name for entry in folder.iterdir())


def test_written_files_are_found_with_their_signature(tmp_path):
    """What is written is listed by its source, with the signature that tells it from the next version."""
    tree = Tree(str(tmp_path))
    tree.write(f"{INDEX}/src/a.py.vec", b"v")
    tree.write(f"{INDEX}/src/a.py.meta", b"m")
    listing = scan(str(tmp_path))
    found = listing.found["src/a.py"]
    assert (found.stem, found.meta, listing.strays) == (
        f"{INDEX}/src/a.py",
        tree.signature(f"{INDEX}/src/a.py.meta"),
        [],
    )
    tree.write(f"{INDEX}/src/a.py.meta", b"n")
    assert scan(str(tmp_path)).found["src/a.py"].meta != found.meta


def test_non_utf8_names_are_escaped_on_disk(tmp_path):
    """A source whose name is no UTF-8 has an artifact that any file system can hold."""
    tree = Tree(str(tmp_path))
    from git_pkb.mirror.tree import meta_name

    name = meta_name("caf\udce9/x\n.py")
    tree.write(name, b"m")
    assert name.isascii()
    assert list(scan(str(tmp_path)).found) == ["caf\udce9/x\n.py"]


def test_removing_takes_the_empty_folders_along(tmp_path):
    """No empty folder stays behind, and none that is still used goes."""
    tree = Tree(str(tmp_path))
    for name in ("a/b/c/x.meta", "a/y.meta"):
        tree.write(f"{INDEX}/{name}", b"m")
    assert tree.remove(f"{INDEX}/a/b/c/x.meta")
    assert names_in(tmp_path / INDEX / "a") == ["y.meta"]
    assert not tree.remove(f"{INDEX}/a/b/c/x.meta")
    tree.write(f"{INDEX}/a/b/z.meta", b"m")  # the folder is made again
    assert tree.read(f"{INDEX}/a/b/z.meta") == b"m"


@pytest.mark.parametrize("place", [".pkb", ".pkb/index", ".pkb/index/sub"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_nothing_is_written_through_a_link_or_over_a_file(tmp_path, place, kind):
    """`.pkb` or a folder in it that is not a real folder is refused, and what it points at stays empty."""
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    elsewhere.mkdir()
    at = top / place
    at.parent.mkdir(parents=True)
    if kind == "link":
        at.symlink_to(elsewhere)
    else:
        at.write_text("mine")
    with pytest.raises(CannotWrite):
        Tree(str(top)).write(f"{INDEX}/sub/a.meta", b"m")
    assert list(elsewhere.iterdir()) == []
    if place != ".pkb/index/sub":
        with pytest.raises(CannotWrite):
            walk(str(top))


def test_links_in_the_index_are_not_read(tmp_path):
    """A link named like an artifact is a stray, and writing replaces the link, not what it points at."""
    secret = tmp_path / "secret"
    secret.write_text("keep")
    folder = tmp_path / "top" / INDEX
    folder.mkdir(parents=True)
    (folder / "a.meta").symlink_to(secret)
    top = str(tmp_path / "top")
    assert scan(top).strays == [f"{INDEX}/a.meta"]
    tree = Tree(top)
    with pytest.raises(OSError, match="symbolic link"):
        tree.read(f"{INDEX}/a.meta")
    tree.write(f"{INDEX}/a.meta", b"m")
    assert secret.read_text() == "keep"
    assert tree.read(f"{INDEX}/a.meta") == b"m"


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    """When the disk fails in the middle, the former artifact is whole and nothing half written remains."""
    tree = Tree(str(tmp_path))
    tree.write(f"{INDEX}/a.meta", b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(CannotWrite, match="No space left"):
        tree.write(f"{INDEX}/a.meta", b"new")
    assert names_in(tmp_path / INDEX) == ["a.meta"]
    assert tree.read(f"{INDEX}/a.meta") == b"old"


def test_own_files_come_first_and_keep_what_a_person_added(tmp_path):
    """`.gitignore` and `.gitattributes` are completed, never overwritten, and not touched when complete."""
    (tmp_path / ".pkb").mkdir()
    (tmp_path / ".pkb" / ".gitignore").write_text("mine")
    tree = Tree(str(tmp_path))
    assert tree.prepare() == [".pkb/.gitignore", ".pkb/.gitattributes"]
    assert (tmp_path / ".pkb" / ".gitignore").read_text().startswith("mine\n!/index/**\n/cache/\n")
    assert tree.prepare() == []


def test_leftovers_of_a_killed_run_are_cleared(tmp_path):
    """Temporary files go; files of somebody else stay."""
    tree = Tree(str(tmp_path))
    tree.write(f"{INDEX}/a.meta", b"m")
    (tmp_path / INDEX / ".git-pkb-123.tmp").write_bytes(b"half")
    (tmp_path / INDEX / "notes.tmp").write_bytes(b"mine")
    tree.clear_temporaries(scan(str(tmp_path)).strays)
    assert names_in(tmp_path / INDEX) == ["a.meta", "notes.tmp"]


def test_halves_without_a_partner_are_strays():
    """A `.vec` alone is litter; a `.meta` alone is an artifact to look at."""
    listing = pair({f"{INDEX}/a.vec": "1", f"{INDEX}/b.meta": "2", f"{INDEX}/%zz.meta": "3"})
    assert sorted(listing.strays) == [f"{INDEX}/%zz.meta", f"{INDEX}/a.vec"]
    assert listing.found["b"].vec is None


def test_entries_of_git_list_alike():
    """The staging area gives the same listing with blobs for signatures; links in it do not count."""
    entries = {
        f"{INDEX}/a.meta": Entry(f"{INDEX}/a.meta", "1" * 40, 0o100644),
        f"{INDEX}/a.vec": Entry(f"{INDEX}/a.vec", "2" * 40, 0o100644),
        f"{INDEX}/b.meta": Entry(f"{INDEX}/b.meta", "3" * 40, 0o120000),
    }
    found = scan_entries(entries).found
    assert list(found) == ["a"]
    assert (found["a"].meta, found["a"].vec) == ("1" * 40, "2" * 40)
