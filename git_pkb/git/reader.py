"""What the rest of the program may read from a repository's objects, whoever reads them.

In: object names and revisions. Out: `Entry` values and bytes. Invariant: reading never fetches and never
writes; an object that is not here raises `MissingBlob`, whatever the reader.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from git_pkb.errors import PkbError
from git_pkb.model import Entry


class MissingBlob(PkbError):
    """An object is not in this clone (a partial clone, or a damaged one); `oid` names it."""

    code = "missing-object"

    def __init__(self, oid: str) -> None:
        super().__init__(
            f"object {oid} is not in this clone", "fetch it, or index where the clone is complete"
        )
        self.oid = oid


class ObjectReader(Protocol):
    """Trees, staging area and blobs; two implementations: `libgit.py` and `plumbing.py`."""

    def tree(self, rev: str) -> dict[str, Entry]:
        """All paths of a commit or tree."""

    def subtree(self, rev: str, prefix: str) -> dict[str, Entry]:
        """The paths of a commit or tree below the folder `prefix`; `{}` when it is not there."""

    def index(self) -> dict[str, Entry]:
        """The staging area (`GIT_INDEX_FILE`, else the usual one) as it would be committed.

        Of an unmerged path our side counts, else theirs; a path that is only intended to be added does not.
        """

    def blob(self, oid: str) -> bytes:
        """The content of a blob; raises `MissingBlob`."""

    def blob_size(self, oid: str) -> int:
        """The size of a blob in bytes; raises `MissingBlob`."""

    def has(self, oid: str) -> bool:
        """Whether the object is in this clone."""

    def diff(self, old: str | None, new: str) -> list[tuple[str, Entry | None]]:
        """The paths in which `new` differs from `old`, each with its new entry (None: deleted)."""

    def hash_blob(self, data: bytes) -> str:
        """The object name `data` would have as a blob; nothing is written."""

    def attributes(self, paths: Sequence[str], names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """For each path the attributes among `names` that are set: path -> name -> `set`, `unset` or a value.

        Paths without any are left out.
        """
