"""What a vector store is, and the table that finds one by its name.

In: the settings, the name of a collection, the width of its vectors. Out: a `Store`, or None for `tree`.
Invariant: a row's id is a function of what the row holds (path, blob, what the artifact was made with, number
of the piece), so that equal ids mean equal rows: what a store lacks is known from its ids alone.
"""

import hashlib
import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote

from git_pkb.errors import ConfigError
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.config import StoreConfig

TREE = "tree"

#: provider -> module and class; the class is called with settings, name of the collection, width
PROVIDERS: dict[str, tuple[str, str]] = {
    "turbopuffer": ("git_pkb.store.turbopuffer", "Turbopuffer"),
    "qdrant": ("git_pkb.store.qdrant", "Qdrant"),
}


@value
class Row:
    """One piece as a store keeps it: a unit vector, and where the piece is. `id` is a UUID."""

    id: str
    vector: Sequence[float]
    path: str
    blob: str
    piece: int


@value
class Hit:
    """A piece that a store found: number `piece` of the file at `path` when its content was `blob`."""

    path: str
    blob: str
    piece: int


class Store(Protocol):
    """One collection of rows. Its methods raise ProviderError; all but `ids` may be called from threads."""

    #: For messages: `turbopuffer at https://…`.
    shown: str
    #: Most rows that one `upsert` takes.
    most_rows: int

    def prepare(self) -> None:
        """Make sure that rows can be written."""

    def ids(self) -> Iterator[str]:
        """The id of every row; none when there is no such collection yet."""

    def upsert(self, rows: Sequence[Row]) -> None:
        """Write rows, over those of the same id."""

    def delete(self, ids: Sequence[str]) -> None:
        """Remove rows; one that is not there is no error."""

    def nearest(self, vector: Sequence[float], most: int) -> list[Hit]:
        """The `most` rows with the highest cosine, best first; someone waits for it."""


def open_store(settings: "StoreConfig", collection: str, dims: int) -> Store | None:
    """The store of the settings, None for `tree`; nothing is asked yet. Raises ConfigError."""
    if settings.provider == TREE:
        return None
    if settings.provider not in PROVIDERS:
        known = ", ".join([TREE, *PROVIDERS])
        raise ConfigError(f"unknown store `{settings.provider}`", f"store.provider is one of {known}")
    module, name = PROVIDERS[settings.provider]
    store: Store = getattr(importlib.import_module(module), name)(settings, collection, dims)
    return store


def row_id(path: str, blob: str, made_with: str, piece: int) -> str:
    """The UUID of a row."""
    import uuid

    text = f"{made_with}\0{blob}\0{piece}\0{path}".encode("utf-8", "surrogateescape")
    return str(uuid.UUID(bytes=hashlib.blake2b(text, digest_size=16).digest(), version=5))


def shown_path(path: str) -> str:
    """A path as valid text: `%`, and bytes that are not UTF-8, are quoted. `path_shown` undoes it."""
    if "%" not in path and path.isprintable():
        return path
    return "".join(
        quote(each, errors="surrogateescape") if each == "%" or "\udc80" <= each <= "\udcff" else each
        for each in path
    )


def path_shown(text: str) -> str:
    """The path that `shown_path` made this of."""
    return unquote(text, errors="surrogateescape")
