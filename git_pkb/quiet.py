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

from . import __version__
from .mirror.tree import FileSignature

if TYPE_CHECKING:
    from .config import Config
    from .git import Repository

_NAME = "in-line.json"


def fingerprint(
    repo: "Repository",
    config: "Config",
    identity: Sequence[str],
    signatures: Mapping[str, FileSignature],
    strays: Sequence[str],
) -> str:
    """One word for everything that a run of HEAD into the tree depends on."""
    digest = hashlib.blake2b(digest_size=16)
    parts = [__version__, repo.head_at_open or "", *identity]
    parts += [repr(value) for value in (config.exclude, config.include, sorted(config.ext_overrides.items()))]
    for path in (
        os.path.join(repo.common_dir, "info", "attributes"),
        os.path.join(repo.top, ".pkb", "state.toml"),
    ):
        with contextlib.suppress(OSError):
            about = os.stat(path)
            parts.append(f"{about.st_size}.{about.st_mtime_ns}.{about.st_ino}")
    parts += sorted(strays)
    digest.update("\0".join(parts).encode("utf-8", "surrogateescape"))
    # in the order the file system lists them: the same as long as nothing changed
    digest.update("\0".join(signatures).encode("utf-8", "surrogateescape"))
    try:
        digest.update(array("q", chain.from_iterable(signatures.values())))
    except OverflowError:  # inodes of 64 bits
        digest.update(repr(list(signatures.values())).encode())
    return digest.hexdigest()


def recall(folder: str, fingerprint: str) -> tuple[int, int, int] | None:
    """Files, chunks and skipped files of the run with this fingerprint, if it is the one remembered."""
    try:
        with open(os.path.join(folder, _NAME), encoding="ascii") as file:
            found = json.loads(file.read(4096))
        if found["fingerprint"] != fingerprint:
            return None
        return int(found["files"]), int(found["chunks"]), int(found["skipped"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remember(folder: str, fingerprint: str, files: int, chunks: int, skipped: int) -> None:
    """Remember that everything is in line; a cache that cannot be written is done without."""
    path = os.path.join(folder, _NAME)
    text = json.dumps({"fingerprint": fingerprint, "files": files, "chunks": chunks, "skipped": skipped})
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
            file.write(text)
        os.replace(f"{path}.{os.getpid()}", path)
