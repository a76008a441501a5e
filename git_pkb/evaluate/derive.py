"""A repository made from another one for an evaluation: its files, some of them changed, in one commit.

In: a repository's HEAD and how its questions are made. Out: a new repository in an empty folder, and cases;
both are also what `git pkb eval` reads. Invariant: the repository that is read is not touched, and nothing
of its `.pkb` is taken.
"""

import os
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError
from git_pkb.evaluate import doccomments, headings
from git_pkb.evaluate.model import Case

if TYPE_CHECKING:
    from git_pkb.git import Repository

MOST = 300
_PROSE = (".md", ".mdx", ".markdown")


def docs(repo: "Repository", folder: str, most: int = MOST, below: str = "") -> list[Case]:
    """The docs yardstick: one heading a file removed, which asks for its section."""
    files = contents(repo, below)
    texts = {
        path: content.decode("utf-8", "replace") for path, content in files.items() if path.endswith(_PROSE)
    }
    changed, cases = headings.questions(texts, most)
    write(folder, files | {path: text.encode("utf-8", "surrogatepass") for path, text in changed.items()})
    return cases


def symbols(repo: "Repository", folder: str, most: int = MOST, below: str = "") -> list[Case]:
    """The symbol yardstick: doc comments removed, whose first sentence asks for the definition."""
    files = contents(repo, below)
    source = {path: content for path, content in files.items() if not _is_test(path)}
    changed, cases = doccomments.questions(source, most)
    write(folder, files | changed)
    return cases


def _is_test(path: str) -> bool:
    from git_pkb.evaluate.history import follows

    return follows(path, prose=False)


def contents(repo: "Repository", below: str = "") -> dict[str, bytes]:
    """What HEAD holds below a folder and search would index, by path, as far as it is in this clone."""
    from git_pkb.git.reader import MissingBlob
    from git_pkb.search.snapshot import is_source
    from git_pkb.select import content_skip, name_reason

    reader = repo.reader()
    head = repo.head()
    found = {}
    for path, entry in sorted((reader.tree(head) if head else {}).items()):
        inside = not below or path.startswith(below.strip("/") + "/")
        if not inside or not is_source(entry) or name_reason(path) is not None:
            continue
        try:
            content = reader.blob(entry.oid)
        except MissingBlob:
            continue
        if content_skip(content, path) is None:
            found[path] = content
    return found


def write(folder: str, files: Mapping[str, bytes]) -> None:
    """Make a repository of these files in an empty folder."""
    for path, content in files.items():
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as out:
            out.write(content)
    who = ["-c", "user.name=git pkb eval", "-c", "user.email=eval@localhost", "-c", "core.autocrlf=false"]
    quiet = ["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"]
    for command in (
        ["init", "--quiet"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "--message", "yardstick"],
    ):
        done = subprocess.run(["git", *who, *quiet, *command], cwd=folder, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise PkbError(f"cannot make the repository of the yardstick in {folder}: {said}")
