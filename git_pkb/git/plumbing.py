"""The object reader over git's own plumbing, for repositories libgit2 cannot open.

In: a `Repository`. Out: the same values as `libgit.py`. Invariant: at most one `git cat-file --batch` is kept
running, and in a partial clone it is never asked for an object that would have to be fetched.
"""

import subprocess
import weakref
from collections.abc import Iterator, Sequence

from git_pkb.git import process
from git_pkb.git.attributes import check_attributes
from git_pkb.git.hashing import blob_name
from git_pkb.git.reader import MissingBlob
from git_pkb.git.repository import Repository, decode
from git_pkb.model import Entry


class PlumbingReader:
    """`ObjectReader` over git subprocesses."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._batch: subprocess.Popen[bytes] | None = None
        self._local: frozenset[bytes] | None = None
        self._partial: bool | None = None

    def tree(self, rev: str) -> dict[str, Entry]:
        """See `ObjectReader`."""
        return {entry.path: entry for entry in self._list(rev)}

    def subtree(self, rev: str, prefix: str) -> dict[str, Entry]:
        """See `ObjectReader`."""
        return {entry.path: entry for entry in self._list(rev, prefix + "/")}

    def _list(self, rev: str, *folders: str) -> Iterator[Entry]:
        listed = self._repo.git(
            "ls-tree",
            "-r",
            "-z",
            "--full-tree",
            "--end-of-options",
            rev,
            *(["--", *folders] if folders else []),
        )
        for record in listed.split(b"\0")[:-1]:
            head, _, raw = record.partition(b"\t")
            mode, _kind, oid = head.decode().split(" ")
            path = decode(raw)
            yield Entry(path, oid, int(mode, 8))

    def index(self) -> dict[str, Entry]:
        """See `ObjectReader`."""
        entries: dict[str, Entry] = {}
        for record in self._repo.git("ls-files", "-s", "-z", "--full-name").split(b"\0")[:-1]:
            head, _, raw = record.partition(b"\t")
            mode, oid, stage = head.decode().split(" ")
            path = decode(raw)
            if stage != "1" and not (stage == "3" and path in entries):
                entries[path] = Entry(path, oid, int(mode, 8))
        return _drop_intended(self._repo, entries)

    def blob(self, oid: str) -> bytes:
        """See `ObjectReader`."""
        if not self._may_ask(oid):
            raise MissingBlob(oid)
        try:
            return self._ask(oid)
        except MissingBlob:
            raise
        except BaseException:  # a timeout, Ctrl-C: the rest of the answer would be taken for the next one
            self.close()
            raise

    def _ask(self, oid: str) -> bytes:
        batch = self._running()
        stdin, stdout = batch.stdin, batch.stdout
        if stdin is None or stdout is None:
            raise process.GitError("git cat-file has no pipes")
        stdin.write(oid.encode() + b"\n")
        stdin.flush()
        answer = stdout.readline().split()
        if len(answer) != 3:  # "<oid> missing", or nothing at all when git ended
            if not answer:
                self.close()
            raise MissingBlob(oid)
        if answer[0] != oid.encode():
            raise process.GitError(f"git cat-file was asked for {oid} and answered {answer[0].decode()}")
        size = int(answer[2])
        data = stdout.read(size)
        stdout.read(1)
        if len(data) != size:
            self.close()
            raise MissingBlob(oid)
        return data

    def blob_size(self, oid: str) -> int:
        """See `ObjectReader`."""
        return len(self.blob(oid))

    def has(self, oid: str) -> bool:
        """See `ObjectReader`."""
        if not self._may_ask(oid):
            return False
        answer = self._repo.git("cat-file", "--batch-check", input=oid.encode() + b"\n")
        return not answer.endswith(b" missing\n")

    def diff(self, old: str | None, new: str) -> list[tuple[str, Entry | None]]:
        """See `ObjectReader`."""
        if old is None:
            return sorted(self.tree(new).items())
        out = self._repo.git("diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", old, new, "--")
        fields = out.split(b"\0")[:-1]
        found: dict[str, Entry | None] = {}
        for head, raw in zip(fields[::2], fields[1::2], strict=True):
            _old_mode, mode, _old_oid, oid, _status = head.decode().removeprefix(":").split(" ")
            path = decode(raw)
            if int(mode, 8):
                found[path] = Entry(path, oid, int(mode, 8))
            else:
                found.setdefault(path, None)
        return sorted(found.items())

    def hash_blob(self, data: bytes) -> str:
        """See `ObjectReader`."""
        return blob_name(data, self._repo.object_format)

    def attributes(self, paths: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
        """See `ObjectReader`."""
        return check_attributes(self._repo, self, paths, names)

    def close(self) -> None:
        """End the running `git cat-file`, if there is one."""
        if self._batch is not None:
            _end(self._batch)
            self._batch = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._batch is None:
            self._batch = process.popen(
                ["cat-file", "--batch"], self._repo.top, self._repo.env, stdin=subprocess.PIPE
            )
            weakref.finalize(self, _end, self._batch)
        return self._batch

    def _may_ask(self, oid: str) -> bool:
        """Whether asking git for `oid` cannot start a fetch.

        `GIT_NO_LAZY_FETCH` would do from git 2.45 on; before, git dies on an object it may not fetch, so the
        objects that are here are listed once (a partial clone that libgit2 cannot open is rare).
        """
        if self._partial is None:
            pattern = r"^(extensions\.partialclone|remote\..*\.promisor)$"
            self._partial = bool(self._repo.config_matching(pattern))
        if not self._partial:
            return True
        if self._local is None:
            listed = self._repo.git(
                "cat-file", "--batch-all-objects", "--batch-check=%(objectname)", "--unordered", "--buffer"
            )
            self._local = frozenset(bytes.fromhex(line.decode()) for line in listed.split())
        return bytes.fromhex(oid) in self._local


def _end(batch: subprocess.Popen[bytes]) -> None:
    """Let a `git cat-file` end by closing its input."""
    for pipe in (batch.stdin, batch.stdout):
        if pipe is not None:
            pipe.close()
    batch.wait()


def _drop_intended(repo: Repository, entries: dict[str, Entry]) -> dict[str, Entry]:
    """Take out of a staging area's entries the paths of `git add --intent-to-add`: a commit leaves them out.

    Such an entry names the empty blob, which is how one that needs asking is found.
    """
    empty = blob_name(b"", repo.object_format)
    suspects = [path for path, entry in entries.items() if entry.oid == empty]
    if suspects and repo.workdir:
        out = repo.git("diff-files", "-z", "--name-only", "--diff-filter=A", "--ignore-submodules=all")
        for path in out.split(b"\0")[:-1]:
            entries.pop(decode(path), None)
    return entries
