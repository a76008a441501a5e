"""The embedder that comes with the package: no key, no network, the same bytes on every machine.

In: texts. Out: quantised vectors, or the unit vector of a question. The model is a table of 39,999 token
vectors (static/MODEL_CARD.md); a text is the sum of sqrt(count) * scale * row over its distinct tokens.
Invariant: sums are of whole numbers below 2**53, so neither their order nor numpy, BLAS or threads can change
a byte.

Many texts go through numpy. Few (a commit hook embeds one to five pieces) and questions go through Python's
own integers, because importing numpy costs 80 ms: the 256 components of a row lie side by side in one large
integer, eight bytes each, so one multiplication scales a row and one addition adds it.
"""

import math
import mmap
import os
import posixpath
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from git_pkb.embed.quantize import INT8, concatenate, quantize, quantize_array, unit
from git_pkb.embed.wordpiece import Vocabulary, words
from git_pkb.errors import ConfigError
from git_pkb.model import Vectors
from git_pkb.net.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from git_pkb.config import Config

MODEL = "local-1"
DIMS = 256

_FIXED = float(1 << 28)  # weights are whole multiples of 2**-28
_LEAST_WEIGHT = 0.05  # of a word of a question, however common (model README)
_FEW = 200  # texts; up to here Python is done before numpy is imported
_MANY_WORDS = 100  # of a question; beyond, the dictionary of the vocabulary is built after all
_BATCH = 4096  # texts at a time in numpy: 8 MB of sums
_LANE = 8  # bytes a component in the large integer
_BIAS = bytes(i ^ 0x80 for i in range(256))  # int8 to 0..255, so that lanes never borrow
_STATIC = os.path.join(os.path.dirname(__file__), "static")


class Model:
    """The table and its vocabulary, mapped into memory on first use."""

    def __init__(self) -> None:
        offsets = _map("vocab.idx")
        if sys.byteorder == "big":
            swapped = array("I", offsets)
            swapped.byteswap()
            offsets = swapped.tobytes()
        self.vocabulary = Vocabulary(_map("vocab.txt"), offsets)
        self._table = _map("table.i8")
        self._scales = _map("scales.f16")
        self._arrays: tuple[Any, Any] | None = None

    def scale(self, token: int) -> float:
        """What the row of a token is multiplied by."""
        (scale,) = struct.unpack_from("<e", self._scales, 2 * token)
        return float(scale)

    def lifted_row(self, token: int) -> bytes:
        """The row of a token, each component raised by 128: a byte each."""
        row: bytes = self._table[token * DIMS : (token + 1) * DIMS].translate(_BIAS)
        return row

    def sum(self, counts: Mapping[int, float]) -> list[int]:
        """Fixed-point sum over tokens of sqrt(count) * scale * row."""
        total = bias = 0
        lanes = bytearray(DIMS * _LANE)
        for token, count in counts.items():
            weight = round(math.sqrt(count) * self.scale(token) * _FIXED)
            lanes[::_LANE] = self.lifted_row(token)
            total += weight * int.from_bytes(lanes, "little")
            bias += weight * 128
        sums = struct.unpack(f"<{DIMS}Q", total.to_bytes(DIMS * _LANE, "little"))
        return [lane - bias for lane in sums]

    def sums(self, counts: Sequence[Mapping[int, int]]) -> Any:
        """The same for many texts: float64 [len(counts), DIMS] that holds whole numbers."""
        import numpy as np

        if self._arrays is None:
            table = np.frombuffer(self._table, np.int8).reshape(-1, DIMS)
            self._arrays = table, np.frombuffer(self._scales, "<f2").astype(np.float64)
        table, scales = self._arrays
        tokens = np.fromiter((t for c in counts for t in c), np.int64)
        weights = np.fromiter((n for c in counts for n in c.values()), np.float64)
        weights = np.rint(np.sqrt(weights) * scales[tokens] * _FIXED)
        sums = np.empty((len(counts), DIMS))
        start = 0
        for i, count in enumerate(counts):
            end = start + len(count)
            np.dot(weights[start:end], table[tokens[start:end]].astype(np.float64), out=sums[i])
            start = end
        return sums


@cache
def model() -> Model:
    """The model of the package, opened once a process."""
    return Model()


class LocalEmbedder:
    """The default embedder."""

    model = MODEL
    dims = DIMS
    paid = False
    network = False
    contextual = False
    auto = False

    def __init__(self, dtype: str = INT8) -> None:
        self.dtype = dtype
        self.identity = f"{MODEL}:{DIMS}:{dtype}"
        self.usage = Usage()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Quantised rows of documents, in order."""
        return _embed(texts, self.dtype)

    def embed_stream(self, texts: Sequence[str]) -> "Iterator[tuple[int, Vectors]]":
        """All of it at once: nothing here is lost by an interruption that could not be had again for free."""
        if texts:
            yield 0, self.embed(texts)

    def embed_query(self, text: str, weights: Mapping[str, float] | None = None) -> "array[float]":
        """Unit vector of a question, or all zero when no word of it has a token.

        `weights` maps a lower-case word (as `query_words` gives them) to its idf weight over the pieces of
        the index; a word that it lacks counts as 1. Without it all words count alike.
        """
        vocabulary = model().vocabulary
        found = Counter(words(text))
        if len(found) > _MANY_WORDS:
            vocabulary.prepare()
        counts: dict[int, float] = {}
        for word, n in found.items():
            weight = 1.0 if weights is None else max(weights.get(word, 1.0), _LEAST_WEIGHT)
            for token in vocabulary.pieces(word.encode("ascii")):
                counts[token] = counts.get(token, 0.0) + n * weight
        return unit(model().sum(counts))


def open_local(config: "Config") -> LocalEmbedder:
    """The local model as the configuration wants it; raises ConfigError for another model or width."""
    embedding = config.embedding
    if embedding.model not in (None, MODEL):
        raise ConfigError(
            f"the local provider has no model `{embedding.model}`",
            f"leave embedding.model unset, or set it to `{MODEL}`",
        )
    if embedding.dimensions != DIMS:
        raise ConfigError(
            f"the local model has {DIMS} dimensions, not {embedding.dimensions}",
            "leave embedding.dimensions unset",
        )
    return LocalEmbedder(config.index.dtype)


def embed_paths(paths: Sequence[str]) -> Vectors:
    """One int8 row a path: its own term in the score of a file, whatever embeds the content."""
    return _embed([path_text(path) for path in paths], INT8)


def path_text(path: str) -> str:
    """A path as a text: without its extension, `/` as a space."""
    return posixpath.splitext(path)[0].replace("/", " ")


def query_words(text: str) -> list[str]:
    """The words of a question that `embed_query` looks up in its weights, in order, with repeats."""
    return words(text)


def _embed(texts: Sequence[str], dtype: str) -> Vectors:
    vocabulary = model().vocabulary
    if not texts:
        return Vectors(DIMS, dtype, b"", b"")
    vocabulary.prepare()
    if len(texts) <= _FEW and "numpy" not in sys.modules:
        return quantize((model().sum(vocabulary.count(text)) for text in texts), DIMS, dtype)
    parts = []
    for start in range(0, len(texts), _BATCH):
        counts = [vocabulary.count(text) for text in texts[start : start + _BATCH]]
        parts.append(quantize_array(model().sums(counts), dtype))
    return concatenate(parts, DIMS, dtype)


def _map(name: str) -> Any:
    with open(os.path.join(_STATIC, name), "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
