"""Whether there is anything to do at all: the answer to most runs, without opening the object store.

In: what a run of HEAD depends on (commit, settings, versions) and the signatures of all artifacts. Out: the
counts of the last run that ended with everything in line, or None. Invariant: only a run that left nothing to
do is remembered, and any change of a file, the commit, a setting or the program makes the memory useless.
"""

import contextlib
import hashlib
import json
import os
from array import array
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from git_pkb import __version__
from git_pkb.location import cache_dir
from git_pkb.mirror.tree import FileSignature
from git_pkb.select import RULES

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.index.plan import Identity
    from git_pkb.index.recipe import Recipe

Walked = tuple[Mapping[str, FileSignature], Sequence[str]]

_NAME = "in-line.json"


class InLine:
    """The memory of one repository with these settings. What is passed as `walked` comes from `tree.walk`."""

    def __init__(self, repo: "Repository", config: "Config", recipe: "Recipe") -> None:
        self._repo, self._config, self._identity = repo, config, recipe.identity

    def recall(self, walked: Walked) -> tuple[int, int, int] | None:
        """Files, chunks and skipped files of the run that is remembered, when nothing has changed since."""
        try:
            with open(self._path(), encoding="ascii") as file:
                found = json.loads(file.read(4096))
            if found["fingerprint"] != self._fingerprint(*walked):
                return None
            return int(found["files"]), int(found["chunks"]), int(found["skipped"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def remember(self, walked: Walked, counts: tuple[int, int, int]) -> None:
        """Remember that everything is in line; a cache that cannot be written is done without."""
        path = self._path()
        found = {"fingerprint": self._fingerprint(*walked)}
        text = json.dumps(found | dict(zip(("files", "chunks", "skipped"), counts, strict=True)))
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
                file.write(text)
            os.replace(f"{path}.{os.getpid()}", path)

    def _path(self) -> str:
        return os.path.join(cache_dir(self._repo), _NAME)

    def _fingerprint(self, signatures: Mapping[str, FileSignature], strays: Sequence[str]) -> str:
        """One word for everything that a run of HEAD into the tree depends on."""
        repo, identity = self._repo, self._identity
        digest = hashlib.blake2b(digest_size=16)
        parts = [repo.head_at_open or "", *settings_of(repo, self._config, identity)]
        parts += [_stat(os.path.join(repo.top, ".pkb", "state.toml")), *sorted(strays)]
        digest.update("\0".join(parts).encode("utf-8", "surrogateescape"))
        # in the order the file system lists them: the same as long as nothing changed
        digest.update("\0".join(signatures).encode("utf-8", "surrogateescape"))
        try:
            digest.update(array("q", chain.from_iterable(signatures.values())))
        except OverflowError:  # inodes of 64 bits
            digest.update(repr(list(signatures.values())).encode())
        return digest.hexdigest()


def settings_of(repo: "Repository", config: "Config", identity: "Identity") -> list[str]:
    """Everything besides content and artifacts that decides what is in line."""
    values = (config.exclude, config.include, sorted(config.ext_overrides.items()))
    attributes = _stat(os.path.join(repo.common_dir, "info", "attributes"))
    return [__version__, identity.cutter, identity.model, RULES, *map(repr, values), attributes]


def _stat(path: str) -> str:
    """How a file is recognised without reading it; empty when there is none."""
    try:
        about = os.stat(path)
    except OSError:
        return ""
    return f"{about.st_size}.{about.st_mtime_ns}.{about.st_ino}"
