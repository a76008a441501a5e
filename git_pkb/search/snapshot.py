"""What the work tree holds now, and how it differs from HEAD.

In: a repository. Out: a `WorkTree`: HEAD, and the paths that `git status` says differ from it, with enough of
their stat to tell the next search that nothing moved. Invariant: git's own status decides what is changed and
what is ignored; `.pkb` is left out; nothing is written (`--no-optional-locks`).

`git status` runs beside the rest of a search: 13 ms for 5,000 files.
"""

import os
import stat
from typing import TYPE_CHECKING

from git_pkb.model import MODE_REGULAR, Entry
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.git import Child, Repository

#: mtime in ns, size in bytes, ctime in ns; equal signatures mean equal content, as for git's index. The last
#: moves even when a tool puts the mtime back (`cp -p`, `touch -r`, an archive unpacked over the file).
Signature = tuple[int, int, int]


@value
class WorkTree:
    """HEAD (None when unborn) and what differs from it: path -> signature, None where the file is gone."""

    head: str | None
    changed: dict[str, Signature | None]


#: What `read_status` understands the answer to; paths in it are from the top, wherever it is asked.
STATUS = (
    "--no-optional-locks", "-c", "core.quotePath=false", "status", "--porcelain=v2", "--branch", "-z",
    "--untracked-files=all", "--ignore-submodules=all", "--no-renames", "--no-ahead-behind",
    "--", ":/", ":(exclude,top).pkb",
)  # fmt: skip


def start_status(repo: "Repository") -> "Child | None":
    """Start asking git what changed; None for a bare repository."""
    return repo.start(*STATUS) if repo.workdir is not None else None


def read_status(repo: "Repository", process: "Child | None") -> WorkTree:
    """Collect the answer; when git refuses, the work tree counts as unchanged."""
    if process is None:
        return WorkTree(repo.head(), {})
    output, _ = process.communicate()
    if process.returncode or repo.workdir is None:
        return WorkTree(repo.head(), {})
    head, paths = parse_status(output)
    return WorkTree(head, {path: signature(repo.workdir, path) for path in paths})


def parse_status(output: bytes) -> tuple[str | None, list[str]]:
    """HEAD and the changed paths of `git status --porcelain=v2 --branch -z --no-renames`."""
    head: str | None = None
    paths = []
    for record in output.split(b"\0"):
        kind = record[:2]
        if record.startswith(b"# branch.oid "):
            oid = record[13:].decode("ascii")
            head = None if oid == "(initial)" else oid
        elif kind == b"1 ":
            paths.append(os.fsdecode(record.split(b" ", 8)[8]))
        elif kind == b"u ":
            paths.append(os.fsdecode(record.split(b" ", 10)[10]))
        elif kind == b"? " and not record.endswith(b"/"):  # a nested repository is listed as a folder
            paths.append(os.fsdecode(record[2:]))
    return head, paths


def signature(workdir: str, path: str) -> Signature | None:
    """Mtime, size and ctime of a regular file, None when there is none."""
    try:
        found = os.lstat(os.path.join(workdir, path))
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ctime_ns


def read_file(workdir: str, path: str) -> bytes | None:
    """Content of a regular file of the work tree; None when it cannot be read or is behind a link."""
    try:
        descriptor = os.open(os.path.join(workdir, path), _READ)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as source:
            return source.read()
    except OSError:
        return None
    finally:
        os.close(descriptor)


# never through a link at the end of the path, never waiting for whoever writes a FIFO
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def entries_at(repo: "Repository", head: str, paths: list[str]) -> dict[str, Entry]:
    """Entries of some paths at a commit: in one process for few paths, from the whole tree for many."""
    if len(paths) > 200:
        tree = repo.reader().tree(head)
        return {path: tree[path] for path in paths if path in tree}
    if not paths:
        return {}
    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    listed = repo.git("ls-tree", "-z", "--full-tree", "-r", head, "--", *paths, env=literal)
    found = {}
    for record in listed.split(b"\0"):
        if record:
            facts, path = record.split(b"\t", 1)
            mode, _, oid = facts.split(b" ")
            found[os.fsdecode(path)] = Entry(os.fsdecode(path), oid.decode("ascii"), int(mode, 8))
    return {path: found[path] for path in paths if path in found}


def changed_between(repo: "Repository", old: str, new: str) -> dict[str, Entry | None] | None:
    """Paths that differ between two commits (None: gone there); None when the old one is no longer here."""
    try:
        output = repo.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new, "--")
    except Exception:
        return None
    fields = output.split(b"\0")
    found: dict[str, Entry | None] = {}
    for facts, raw in zip(fields[::2], fields[1::2], strict=False):
        path = os.fsdecode(raw)
        _, mode, _, oid, state = facts.lstrip(b":").split(b" ")
        gone = state == b"D"
        found[path] = None if gone else Entry(path, oid.decode("ascii"), int(mode, 8))
    return found


def is_source(entry: Entry) -> bool:
    """Whether an entry can be indexed at all: a regular file outside `.pkb`."""
    return entry.is_regular and entry.path != ".pkb" and not entry.path.startswith(".pkb/")


def worktree_entry(path: str, oid: str) -> Entry:
    """An entry for a file that git has not stored."""
    return Entry(path, oid, MODE_REGULAR | 0o644)
