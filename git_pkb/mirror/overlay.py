"""Artifacts that are not committed: a folder of the cache, by blob and language.

In: artifacts as bytes. Out: the same. Invariant: an entry is whole or absent; nothing here is tracked, and
losing it costs only the embedding.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator

from git_pkb.mirror.names import META, VEC
from git_pkb.mirror.tree import Found

_NAME = re.compile(r"([0-9a-f]{38}|[0-9a-f]{62})\.([a-z0-9_+#.-]{1,40})\.meta")


class Overlay:
    """The folder `overlay` of a cache folder: `ab/cdef….<language>.meta` and `.vec`."""

    def __init__(self, cache_folder: str) -> None:
        self.folder = os.path.join(cache_folder, "overlay")

    @staticmethod
    def stem(blob: str, language: str) -> str:
        """Name of an entry inside the folder, without suffix."""
        return f"{blob[:2]}/{blob[2:]}.{language}"

    def get(self, blob: str, language: str) -> tuple[bytes, bytes | None] | None:
        """Both halves of an entry as stored, or None. Check them with `format.load`."""
        return self.read(self.stem(blob, language))

    def read(self, stem: str) -> tuple[bytes, bytes | None] | None:
        """The same by stem."""
        path = os.path.join(self.folder, stem)
        try:
            with open(path + META, "rb") as file:
                meta = file.read()
        except OSError:
            return None
        try:
            with open(path + VEC, "rb") as file:
                return meta, file.read()
        except OSError:
            return meta, None

    def put(self, blob: str, language: str, meta: bytes, vec: bytes | None) -> None:
        """Store an entry; raises OSError."""
        path = os.path.join(self.folder, self.stem(blob, language))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if vec is None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path + VEC)
        else:
            _replace(path + VEC, vec)
        _replace(path + META, meta)

    def scan(self) -> Iterator[Found]:
        """Every entry with its signatures; `path` is its stem."""
        for folder in _names(self.folder):
            if len(folder) != 2:
                continue
            signatures = {}
            with contextlib.suppress(OSError), os.scandir(os.path.join(self.folder, folder)) as entries:
                for entry in entries:
                    about = entry.stat(follow_symlinks=False)
                    signatures[entry.name] = (about.st_size, about.st_mtime_ns, about.st_ino)
            for name, signature in signatures.items():
                if _NAME.fullmatch(name):
                    stem = f"{folder}/{name[: -len(META)]}"
                    yield Found(stem, stem, signature, signatures.get(name[: -len(META)] + VEC))

    def prune(self, live: Iterable[str]) -> int:
        """Remove the entries whose blob is not `live` when they have become the greater part; how many went.

        Another branch may want them again, so they stay until then.
        """
        blobs = set(live)
        dead = [
            found.stem for found in self.scan() if found.stem[:2] + found.stem[3:].split(".")[0] not in blobs
        ]
        if len(dead) <= 2 * len(blobs) + 1000:
            return 0
        for stem in dead:
            for suffix in (META, VEC):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self.folder, stem + suffix))
        return len(dead)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(data)
    os.replace(temporary, path)
