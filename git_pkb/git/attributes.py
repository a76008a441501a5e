"""Which paths carry attributes such as `linguist-generated`, by git's own rules.

In: paths and attribute names. Out: path -> name -> value, only those that are set. Invariant: git itself
matches the patterns (`git check-attr --cached`); a repository in which no attributes file names any of them
is not asked about more than a few.
"""

import os
from collections.abc import Sequence

from git_pkb.git.reader import MissingBlob, ObjectReader
from git_pkb.git.repository import Repository, decode, encode

#: This program's own attributes file speaks of nothing outside `.pkb/`.
_OWN = ".pkb/.gitattributes"
_MACRO = b"[attr]"
#: Up to so many paths, asking takes no longer than finding out whether there is anything to ask.
_FEW = 50


def check_attributes(
    repo: Repository, reader: ObjectReader, paths: Sequence[str], names: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return, for each of `paths`, those attributes of `names` that the staged attributes files set."""
    if not paths:
        return {}
    if len(paths) > _FEW and not _mentioned(repo, reader, [name.encode() for name in names]):
        return {}
    # Asked from inside `.git`, there is no work tree, and unlike in a bare one git minds: any folder will
    # do, because `--cached` looks into none.
    inside = (f"--work-tree={repo.git_dir}",) if repo.workdir is None and not repo.bare else ()
    out = repo.git(
        *inside, "check-attr", "--cached", "--stdin", "-z", *names,
        input=b"".join(encode(path) + b"\0" for path in paths),
    )  # fmt: skip
    fields = out.split(b"\0")[:-1]
    found: dict[str, dict[str, str]] = {}
    for raw, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        if value != b"unspecified":
            found.setdefault(decode(raw), {})[name.decode()] = decode(value)
    return found


def _mentioned(repo: Repository, reader: ObjectReader, names: list[bytes]) -> bool:
    """Whether any attributes file in force names one of `names`, or a macro that could stand for one."""
    return any(
        any(name in text for name in names) or _MACRO in text for text in _attribute_texts(repo, reader)
    )


def _attribute_texts(repo: Repository, reader: ObjectReader) -> list[bytes]:
    """The contents of all attributes files git would read: staged, clone's, user's, system's."""
    texts = []
    listed = repo.git("ls-files", "-s", "-z", "--full-name", "--", ":(top,glob)**/.gitattributes")
    for record in listed.split(b"\0")[:-1]:
        head, _, raw = record.partition(b"\t")
        if decode(raw) != _OWN:
            try:
                texts.append(reader.blob(head.decode().split(" ")[1]))
            except MissingBlob:
                continue  # git could not read it either without fetching
    for file in _attribute_files(repo):
        try:
            with open(file, "rb") as stream:
                texts.append(stream.read())
        except OSError:
            continue
    return texts


def _attribute_files(repo: Repository) -> list[str]:
    """The attributes files outside the tree: of this clone, of the user, of the system."""
    named = decode(repo.git("config", "--type=path", "--get", "core.attributesFile", check=False)).strip()
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return [
        os.path.join(repo.common_dir, "info", "attributes"),
        named or os.path.join(home, "git", "attributes"),
        "/etc/gitattributes",
    ]
