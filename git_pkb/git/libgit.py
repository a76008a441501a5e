"""The object reader over libgit2: trees, staging area and blobs; the only importer of pygit2.

In: a `Repository`. Out: `Entry` values and bytes. Invariant: what libgit2 does not know (SHA-256 names,
reftable, sparse and split indexes) is answered by `plumbing.py` instead, with the same values.

Trees are read as raw objects and taken apart here: 39,000 entries take 0.1 s (as long as iterating pygit2's
own tree objects), with names as git's bytes and modes as they stand.
"""

import os
import re
from collections.abc import Iterator, Sequence

import pygit2
from pygit2.enums import Option, RepositoryOpenFlag
from pygit2.ffi import C, ffi

from git_pkb.git.attributes import check_attributes
from git_pkb.git.hashing import blob_name
from git_pkb.git.plumbing import PlumbingReader
from git_pkb.git.reader import MissingBlob, ObjectReader
from git_pkb.git.repository import Repository, decode
from git_pkb.model import Entry

#: An entry of a raw tree object: mode in octal, name, 20 bytes of object name.
_TREE_ENTRY = re.compile(rb"(\d+) ([^\0]+)\0(.{20})", re.DOTALL)
_FOLDER = b"40000"

#: Of git's index format: where a flag word keeps the stage, two of the stages, and an extended flag.
_STAGE_SHIFT, _ANCESTOR, _THEIRS, _INTENT_TO_ADD = 12, 1, 3, 1 << 13


def open_reader(repo: Repository) -> ObjectReader:
    """Open `repo` with pygit2, or over git's plumbing when libgit2 cannot."""
    # git has let us in already (`discover`), with the user's own safe.directory.
    pygit2.option(Option.SET_OWNER_VALIDATION, False)
    try:
        opened = pygit2.Repository(repo.git_dir, RepositoryOpenFlag.NO_SEARCH)
        _add_alternates(opened, repo)
    except pygit2.GitError:
        return PlumbingReader(repo)
    return LibgitReader(repo, opened)


class _Index(pygit2.Index):
    """An index that can fail to open: pygit2's own then prints an AttributeError from its `__del__`."""

    _index = ffi.NULL


def _add_alternates(opened: pygit2.Repository, repo: Repository) -> None:
    """Make libgit2 see the object folders that the environment adds (a push under way has one)."""
    folders = [repo.env.get("GIT_OBJECT_DIRECTORY", "")]
    folders += repo.env.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "").split(os.pathsep)
    for folder in filter(None, folders):
        path = os.path.join(repo.top, folder)
        if os.path.isdir(path):
            opened.odb.add_disk_alternate(path)


class LibgitReader:
    """`ObjectReader` over pygit2."""

    def __init__(self, repo: Repository, opened: pygit2.Repository) -> None:
        self._repo = repo
        self._git = opened

    def tree(self, rev: str) -> dict[str, Entry]:
        """See `ObjectReader`."""
        return dict(self._walk("", self._tree_of(rev)))

    def subtree(self, rev: str, prefix: str) -> dict[str, Entry]:
        """See `ObjectReader`."""
        tree = self._tree_of(rev)
        for name in prefix.split("/"):
            mode, tree = self._children(tree).get(name.encode("utf-8", "surrogateescape"), (b"", ""))
            if mode != _FOLDER:
                return {}
        return dict(self._walk(prefix + "/", tree))

    def index(self) -> dict[str, Entry]:
        """See `ObjectReader`."""
        try:
            return self._index_entries()
        except (pygit2.GitError, AttributeError):
            # Sparse ('sdir') or split ('link'); or a pygit2 whose insides have changed, see below.
            return PlumbingReader(self._repo).index()

    def _index_entries(self) -> dict[str, Entry]:
        """The staging area by libgit2's own structures.

        pygit2's `IndexEntry` takes three times as long (15,000 entries: 65 ms, not 25) and lacks the flags:
        without them a conflict's sides and a path that is only intended cannot be told. Opened by path,
        because `Repository.index` ignores GIT_INDEX_FILE, and with FROM_ENV looks for a relative one in the
        current folder.
        """
        index = _Index(self._repo.index_file)
        get, string, buffer = C.git_index_get_byindex, ffi.string, ffi.buffer
        entries: dict[str, Entry] = {}
        for number in range(len(index)):
            item = get(index._index, number)
            stage = item.flags >> _STAGE_SHIFT & 3
            if item.flags_extended & _INTENT_TO_ADD or stage == _ANCESTOR:
                continue
            path = string(item.path).decode("utf-8", "surrogateescape")
            if stage != _THEIRS or path not in entries:
                entries[path] = Entry(path, buffer(item.id.id)[:].hex(), item.mode)
        return entries

    def blob(self, oid: str) -> bytes:
        """See `ObjectReader`."""
        return self._read(oid)

    def blob_size(self, oid: str) -> int:
        """See `ObjectReader`."""
        return len(self._read(oid))

    def has(self, oid: str) -> bool:
        """See `ObjectReader`."""
        return oid in self._git

    def diff(self, old: str | None, new: str) -> list[tuple[str, Entry | None]]:
        """See `ObjectReader`."""
        if old is None:
            return sorted(self.tree(new).items())
        found = dict(self._differences("", self._tree_of(old), self._tree_of(new)))
        return sorted(found.items())

    def hash_blob(self, data: bytes) -> str:
        """See `ObjectReader`."""
        return blob_name(data, "sha1")

    def attributes(self, paths: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
        """See `ObjectReader`."""
        return check_attributes(self._repo, self, paths, names)

    def _tree_of(self, rev: str) -> str:
        """The tree a commit, tag or tree names."""
        try:
            return str(self._git.revparse_single(rev).peel(pygit2.Tree).id)
        except KeyError:
            raise MissingBlob(rev) from None

    def _read(self, oid: str) -> bytes:
        try:
            return self._git.read(oid)[1]
        except KeyError:
            raise MissingBlob(oid) from None

    def _children(self, tree: str) -> dict[bytes, tuple[bytes, str]]:
        """The entries of one tree object: name -> (mode, object name)."""
        return {name: (mode, oid.hex()) for mode, name, oid in _TREE_ENTRY.findall(self._read(tree))}

    def _walk(self, prefix: str, tree: str) -> Iterator[tuple[str, Entry]]:
        """All paths of a tree, each with its entry."""
        pending = [(prefix, tree)]
        while pending:
            folder, oid = pending.pop()
            for mode, name, child in _TREE_ENTRY.findall(self._read(oid)):
                path = folder + decode(name)
                if mode == _FOLDER:
                    pending.append((path + "/", child.hex()))
                else:
                    yield path, Entry(path, child.hex(), int(mode, 8))

    def _differences(self, prefix: str, old: str, new: str) -> Iterator[tuple[str, Entry | None]]:
        """The paths that differ between two trees; equal subtrees are not opened.

        A path that turns from file to folder, or back, is deleted on one side and new on the other.
        """
        pending = [(prefix, old, new)]
        while pending:
            folder, left, right = pending.pop()
            if left == right:
                continue
            before = self._children(left) if left else {}
            after = self._children(right) if right else {}
            for name in before.keys() | after.keys():
                was, now = before.get(name, (b"", "")), after.get(name, (b"", ""))
                if was == now:
                    continue
                path = folder + decode(name)
                if _FOLDER in (was[0], now[0]):
                    pending.append(
                        (path + "/", was[1] if was[0] == _FOLDER else "", now[1] if now[0] == _FOLDER else "")
                    )
                if now[0] and now[0] != _FOLDER:
                    yield path, Entry(path, now[1], int(now[0], 8))
                elif was[0] and was[0] != _FOLDER:
                    yield path, None
