"""What a merge means for the index: whose rows may be reused, and conflicts that nobody needs to solve.

In: a repository in the middle of a merge, a rebase, a cherry-pick. Out: commits, or settled paths.
Invariant: nothing outside `.pkb` is read or written; an artifact that was settled may be stale, never
damaged.
"""

import os
import re
from typing import TYPE_CHECKING

from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.git import Repository

_ENVIRONMENT = re.compile(r"GITHEAD_([0-9a-f]{40}(?:[0-9a-f]{24})?)")
_SQUASHED = re.compile(rb"^commit ([0-9a-f]{40}(?:[0-9a-f]{24})?)$", re.MULTILINE)
_HEADS = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "REVERT_HEAD")
_STAGES = ("2", "3")  # ours before theirs; a path that has neither is gone


def other_sides(repo: "Repository") -> list[str]:
    """The commits being merged into HEAD, as far as git tells.

    During pre-merge-commit only the environment names them; while conflicts are being resolved, files of
    the git directory do. A revert brings back what the reverted commit's parent has.
    """
    found = [match[1] for name in os.environ if (match := _ENVIRONMENT.fullmatch(name))]
    for name in _HEADS:
        oids = _read(repo, name).decode("ascii", "replace").split()
        found += [f"{oid}^" for oid in oids] if name == "REVERT_HEAD" else oids
    squashed = _SQUASHED.search(_read(repo, "SQUASH_MSG"))
    if squashed:
        found.append(squashed[1].decode())
    commits = (repo.resolve(oid) for oid in dict.fromkeys(found))
    return [commit for commit in commits if commit is not None]


def _read(repo: "Repository", name: str) -> bytes:
    try:
        with open(os.path.join(repo.git_dir, name), "rb") as stream:
            return stream.read()
    except OSError:
        return b""


@value
class Merged:
    """The merge commit `git merge` has just made: its name, its tree, its whole text."""

    commit: str
    tree: str
    text: bytes


def unsigned_merge(repo: "Repository") -> Merged | None:
    """The commit of the merge that is ending, when there is one and it carries no signature.

    `git merge` runs post-merge while MERGE_HEAD is still there; a fast-forward and a squash have none.
    """
    heads = _read(repo, "MERGE_HEAD").decode("ascii", "replace").split()
    commit = repo.head() if heads else None
    if commit is None:
        return None
    text = repo.git("cat-file", "commit", commit)
    header = text.split(b"\n\n", 1)[0].decode("utf-8", "replace").splitlines()
    parents = [line.removeprefix("parent ") for line in header if line.startswith("parent ")]
    signed = any(line.startswith("gpgsig") for line in header)
    if signed or not set(heads) <= set(parents):
        return None
    return Merged(commit, header[0].removeprefix("tree "), text)


def replace_tree(repo: "Repository", merged: Merged, tree: str) -> None:
    """Let HEAD name the same commit with another tree; everything else of it stays, to the byte."""
    if tree == merged.tree:
        return
    text = b"tree " + tree.encode() + b"\n" + merged.text.split(b"\n", 1)[1]
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", input=text).decode().strip()
    repo.git("update-ref", "-m", "merge: index brought in line", "HEAD", commit, merged.commit)


def settle(repo: "Repository") -> list[str]:
    """Take our side of every unmerged path under `.pkb`, else theirs; returns these paths.

    For what no merge driver is asked about: one side deleted the artifact, the other changed it. The next
    hook or reindex makes it what its source is then.
    """
    stages: dict[str, dict[str, str]] = {}
    for record in repo.git("ls-files", "-u", "-z", "--", ".pkb").split(b"\0")[:-1]:
        head, _, raw = record.partition(b"\t")
        mode, oid, stage = head.decode().split(" ")
        stages.setdefault(raw.decode("utf-8", "surrogateescape"), {})[stage] = f"{mode} {oid}"
    if not stages:
        return []
    chosen = {path: next((sides[s] for s in _STAGES if s in sides), None) for path, sides in stages.items()}
    nothing = "0 " + "0" * (64 if repo.object_format == "sha256" else 40)
    lines = [f"{side or nothing} 0\t{path}\0" for path, side in chosen.items()]
    repo.git("update-index", "-z", "--index-info", input="".join(lines).encode("utf-8", "surrogateescape"))
    check_out(repo, list(chosen))
    return list(chosen)


def check_out(repo: "Repository", paths: list[str]) -> None:
    """Bring paths under `.pkb` in the work tree in line with the staging area: written, or removed."""
    raw = [path.encode("utf-8", "surrogateescape") for path in paths]
    listed = b"".join(path + b"\0" for path in raw)
    staged = set(repo.git("ls-files", "-z", "--", ".pkb").split(b"\0"))
    present = b"".join(path + b"\0" for path in raw if path in staged)
    if present:
        repo.git("checkout-index", "--force", "-u", "-z", "--stdin", input=present)
    for path in listed.split(b"\0")[:-1]:
        if path not in staged and path.startswith(b".pkb/") and b".." not in path.split(b"/"):
            try:
                os.remove(os.path.join(os.fsencode(repo.top), path))
            except OSError:
                continue
