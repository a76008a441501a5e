"""What `install-hooks` changed in a clone, so that `uninstall-hooks` can put it back byte for byte.

In: the git directory. Out: a `Record`, kept in `<common git dir>/pkb/hooks.json`. Invariant: derived from
nothing and tracked nowhere; without it, uninstalling still takes out everything that carries our marks.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.git import Repository


@dataclass(slots=True)
class Record:
    """What one installation did.

    `kind`: where the hooks went (see managers.py); `path`: that folder or file; `former`: the folder whose
    hooks run through stubs; `files`: for each edited file its text before (None: absent) and after;
    `settings`: for each key of git's configuration its value before (None: unset) and after.
    """

    kind: str
    path: str
    former: str = ""
    files: dict[str, tuple[str | None, str]] = field(default_factory=dict)
    settings: dict[str, tuple[str | None, str]] = field(default_factory=dict)

    @property
    def folder_set(self) -> str:
        """The folder this installation made `core.hooksPath`, empty when it left that alone."""
        return self.path if "core.hooksPath" in self.settings else ""


def record_path(repo: "Repository") -> str:
    """Where the record lies."""
    return os.path.join(repo.common_dir, "pkb", "hooks.json")


def load(repo: "Repository") -> Record | None:
    """The record, or None when there is none or it cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        with open(record_path(repo), encoding="utf-8") as stream:
            data = json.load(stream)
        files = {path: (before, after) for path, (before, after) in data["files"].items()}
        settings = {key: (before, after) for key, (before, after) in data["settings"].items()}
        return Record(data["kind"], data["path"], data["former"], files, settings)
    return None


def save(repo: "Repository", record: Record) -> None:
    """Write the record."""
    path = record_path(repo)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(f"{path}.new", "w", encoding="utf-8") as stream:
        json.dump(asdict(record), stream, indent=1)
    os.replace(f"{path}.new", path)


def remove(repo: "Repository") -> None:
    """Drop the record, and its folder if nothing else is in it."""
    with contextlib.suppress(OSError):
        os.remove(record_path(repo))
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(record_path(repo)))


def read_text(path: str) -> str | None:
    """A file's text exactly as it stands, or None when there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def write_text(path: str, text: str, *, executable: bool) -> None:
    """Write a file exactly; a new one is made executable on request, another keeps its mode."""
    new = not os.path.exists(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
        stream.write(text)
    if new and executable:
        os.chmod(path, 0o777 & ~_umask())


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
