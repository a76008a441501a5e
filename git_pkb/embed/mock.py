"""A deterministic embedder for tests, which also writes down what it was asked.

In: texts. Out: vectors from hashes of their words, so that texts with common words are near each other.
Invariant: the same text gives the same vector anywhere. Models: `mock-1` (the default), `mock-context` (cuts
text files itself, at blank lines) and `mock-paid` (costs a dollar a million tokens).

PKB_MOCK_LOG names a file that gets one line a call, `embed 3` or `auto 2` or `query 1`: tests count the calls
of other processes by it. PKB_MOCK_FAIL makes `embed`, `auto` or `query` fail; `embed:2` only from the third
call of a process on.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from git_pkb.embed.base import AUTO, AutoPieces, chunking_of
from git_pkb.embed.quantize import quantize, unit
from git_pkb.errors import ConfigError, ProviderError
from git_pkb.model import Vectors
from git_pkb.net.usage import Usage

if TYPE_CHECKING:
    from array import array

    from git_pkb.config import Config

MODELS = ("mock-1", "mock-context", "mock-paid")
USD_PER_TOKEN = 1e-6
_BATCH = 16
_WORD = re.compile(r"[^\W_]+")
_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")


class MockEmbedder:
    """See the module."""

    network = False

    def __init__(self, config: "Config") -> None:
        model = config.embedding.model or MODELS[0]
        if model not in MODELS:
            raise ConfigError(f"the mock provider has no model `{model}`", f"it has {', '.join(MODELS)}")
        self.model = model
        self.dims = config.embedding.dimensions
        self.dtype = config.index.dtype
        self.auto = chunking_of(config) == AUTO
        self.contextual = True
        self.paid = model == "mock-paid"
        self.identity = f"mock:{model}:{self.dims}:{self.dtype}" + (":auto" if self.auto else "")
        self.usage = Usage()
        self._calls: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Rows of documents in order."""
        if texts:
            self._record("embed", texts)
        return self._rows(texts)

    def embed_stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """In batches of 16, each a call."""
        for start in range(0, len(texts), _BATCH):
            yield start, self.embed(texts[start : start + _BATCH])

    def embed_auto(self, contents: Sequence[str]) -> Iterator[tuple[int, AutoPieces]]:
        """Paragraphs of each text; a row depends on its paragraph alone, though a caller cannot know."""
        for number, content in enumerate(contents):
            spans = tuple(match.span() for match in _PARAGRAPH.finditer(content))
            if spans:
                self._record("auto", [content])
            rows = self._rows([content[start:end] for start, end in spans])
            yield number, AutoPieces(spans, rows, hashlib.sha256(content.encode()).digest())

    def embed_query(self, text: str, weights: Mapping[str, float] | None = None) -> "array[float]":  # noqa: ARG002 - the contract
        """Unit vector of a question."""
        self._record("query", [text])
        return unit(self._vector(text))

    def _rows(self, texts: Sequence[str]) -> Vectors:
        return quantize((self._vector(text) for text in texts), self.dims, self.dtype)

    def _vector(self, text: str) -> list[int]:
        total = [0] * self.dims
        for word in _WORD.findall(text.lower()):
            stream = hashlib.shake_128(word.encode("utf-8", "replace")).digest(self.dims)
            total = [a + b - 128 for a, b in zip(total, stream, strict=True)]
        return total

    def _record(self, call: str, texts: Sequence[str]) -> None:
        done = self._calls.get(call, 0)
        failing, _, after = os.environ.get("PKB_MOCK_FAIL", "").partition(":")
        if failing == call and done >= int(after or 0):
            raise ProviderError("the mock provider was told to fail", "unset PKB_MOCK_FAIL")
        self._calls[call] = done + 1
        tokens = sum((len(text.encode("utf-8", "replace")) + 2) // 3 for text in texts)
        self.usage.add(texts=len(texts), tokens=tokens, usd=tokens * USD_PER_TOKEN if self.paid else 0.0)
        log = os.environ.get("PKB_MOCK_LOG")
        if log:
            with open(log, "a", encoding="ascii") as file:
                file.write(f"{call} {len(texts)}\n")
