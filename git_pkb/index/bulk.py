"""Many blobs become artifacts: spread over processes where the embedder is this machine's own.

In: items one after another. Out: encoded artifacts as they are finished. Invariant: the bytes are the same
with one process or many; at most a few batches are in memory.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from git_pkb.index.produce import Encoded, Item, Row, encode, stream
from git_pkb.index.recipe import Recipe, open_recipe
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.config import Config

_MANY_FILES = 150  # below, starting processes costs more than it brings
_BATCH_FILES, _BATCH_BYTES = 64, 1_000_000
_MOST_PROCESSES = 8


def encoded(
    items: Iterable[Item], recipe: Recipe, config: "Config", *, expected: int, known: dict[bytes, Row]
) -> Iterator[Encoded]:
    """Index all items; `expected` is about how many there are."""
    processes = min(_processors(), _MOST_PROCESSES)
    if recipe.cheap and expected >= _MANY_FILES and processes > 1:
        from git_pkb.workers import spread

        for part in spread(_batches(items), _Maker(config), processes):
            yield from part
    else:
        yield from map(encode, stream(items, recipe, known))


@value
class _Maker:
    """Makes the worker of one process."""

    config: "Config"

    def __call__(self) -> "_Worker":
        return _Worker(open_recipe(self.config))


@value
class _Worker:
    recipe: Recipe

    def segment(self, items: Sequence[Item]) -> list[Encoded]:
        """One batch."""
        return [encode(made) for made in stream(items, self.recipe)]


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.content)
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
