"""Many blobs become artifacts: spread over processes where the embedder is this machine's own.

In: items one after another. Out: encoded artifacts as they are finished. Invariant: the bytes are the same
with one process or many; at most a few batches are in memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from git_pkb.index.produce import Encoded, Item, Row, encode, stream
from git_pkb.index.recipe import Recipe, open_recipe
from git_pkb.slotted import value
from git_pkb.workers import batches, processes, spread

if TYPE_CHECKING:
    from git_pkb.config import Config

_MANY_FILES = 150  # below, starting processes costs more than it brings
_BATCH_FILES, _BATCH_BYTES = 64, 1_000_000


def encoded(
    items: Iterable[Item], recipe: Recipe, config: "Config", *, expected: int, known: dict[bytes, Row]
) -> Iterator[Encoded]:
    """Index all items; `expected` is about how many there are."""
    count = processes()
    if recipe.cheap and expected >= _MANY_FILES and count > 1:
        for part in spread(batches(items, _BATCH_FILES, _BATCH_BYTES), _Maker(config), count):
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
