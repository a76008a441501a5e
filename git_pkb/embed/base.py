"""What an embedder is, and the table that finds one by its name.

In: the configuration. Out: an `Embedder`, or None for the provider `none`. Invariant: only the module of the
provider that is asked for is imported, and no vendor's client before its first request.

Who writes artifacts asks in this order:

    embedder = open_embedder(config)                 # fails at start for a combination that cannot work
    chunker = as_auto(embedder)                      # not None: text files go whole to `embed_auto`
    for start, rows in embedder.embed_stream(texts): # rows for texts[start : start + len(rows)]
        ...write them...                             # what was paid for is written before more is asked for
    for number, auto in chunker.embed_auto(contents):  # text files: spans and rows of contents[number]
        ...

Both streams yield in the order in which answers arrive. When a request fails for good, or on Ctrl-C, they
first yield what other requests had under way, then raise; so a caller that stores each item loses nothing.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from git_pkb.errors import ConfigError
from git_pkb.model import Vectors
from git_pkb.net.usage import Usage
from git_pkb.slotted import value

if TYPE_CHECKING:
    from array import array

    from git_pkb.config import Config

AUTO, MANUAL = "auto", "manual"


class Embedder(Protocol):
    """Turns texts into quantised vectors of one vector space."""

    #: Recorded in artifacts and compared; printable ASCII without spaces: `local-1:256:int8`,
    #: `voyage:voyage-context-4:256:int8:auto`. Its `space()` says whose vectors may be compared.
    identity: str
    #: Its name for people and for the table of prices.
    model: str
    dims: int
    dtype: str
    #: Whether asking costs money; whether it leaves this machine's process.
    paid: bool
    network: bool
    #: Whether the breadcrumb belongs into the embedded text (models that read) or the content alone (local).
    contextual: bool
    #: Whether text files go whole to `embed_auto` (see `as_auto`).
    auto: bool
    #: What was asked so far, for progress and the closing line.
    usage: Usage

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Rows of documents in order, all or an error: for few texts. Raises ProviderError."""

    def embed_stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """Rows of documents as answers arrive: (index of the first text, its and the following rows)."""

    def embed_query(self, text: str, weights: Mapping[str, float] | None = None) -> "array[float]":
        """Doubles of unit length, or all zero. `weights` (lower-case word -> idf) is for the local model."""


@value
class AutoPieces:
    """How a provider cut one text: spans in characters, ordered and disjoint, and one row for each.

    The spans need not cover the text: what lies between or around them was left out by the provider (blank
    lines, as a rule) and belongs to no piece. `key_material` is what the rows depend on beyond the text of
    their pieces: put it into their reuse keys, so that an edit anywhere in the file makes all of them new.
    """

    spans: tuple[tuple[int, int], ...]
    vectors: Vectors
    key_material: bytes


@runtime_checkable
class AutoEmbedder(Embedder, Protocol):
    """An embedder that also decides where texts are cut."""

    def embed_auto(self, contents: Sequence[str]) -> Iterator[tuple[int, AutoPieces]]:
        """Whole text files in: (index of the file, its pieces) as answers arrive. Raises ProviderError.

        Blank files give no pieces and cost nothing.
        """


#: provider -> module and class; the class is called with the configuration
PROVIDERS: dict[str, tuple[str, str]] = {
    "local": ("git_pkb.embed.local", "open_local"),
    "voyage": ("git_pkb.embed.voyage", "VoyageEmbedder"),
    "bedrock": ("git_pkb.embed.bedrock", "BedrockEmbedder"),
    "openai": ("git_pkb.embed.openai", "OpenAIEmbedder"),
    "openai-compatible": ("git_pkb.embed.openai", "OpenAICompatibleEmbedder"),
    "ollama": ("git_pkb.embed.ollama", "OllamaEmbedder"),
    "mock": ("git_pkb.embed.mock", "MockEmbedder"),
}
NONE = "none"


def open_embedder(config: "Config") -> Embedder | None:
    """The embedder of the configuration, None for `none`; raises ConfigError for what cannot work."""
    provider = config.embedding.provider
    if provider != NONE and provider not in PROVIDERS:
        known = ", ".join([*PROVIDERS, NONE])
        raise ConfigError(f"unknown embedding provider `{provider}`", f"embedding.provider is one of {known}")
    chunking_of(config)
    if provider == NONE:
        return None
    module, name = PROVIDERS[provider]
    embedder: Embedder = getattr(importlib.import_module(module), name)(config)
    return embedder


def as_auto(embedder: Embedder | None) -> AutoEmbedder | None:
    """The same embedder when it is to cut text files itself, else None."""
    if embedder is not None and embedder.auto and isinstance(embedder, AutoEmbedder):
        return embedder
    return None


def chunking_of(config: "Config") -> str:
    """Who cuts text: `auto` (the provider) or `manual`; unset means `auto` where the model can.

    Raises ConfigError for `auto` with a model that cannot.
    """
    provider, model = config.embedding.provider, config.embedding.model
    can = (provider == "voyage" and (model is None or model.startswith("voyage-context-"))) or (
        provider == "mock" and model == "mock-context"
    )
    if config.chunking is None:
        return AUTO if can else MANUAL
    if config.chunking == AUTO and not can:
        asked = f"{provider} ({model})" if model else provider
        raise ConfigError(
            f'chunking = "auto" needs a model that cuts text itself, which {asked} does not',
            'set chunking = "manual", or embedding.provider = "voyage" with a voyage-context-* model',
        )
    return config.chunking


def space(identity: str) -> str:
    """The vector space of an identity: vectors of equal spaces may be compared, whoever cut the pieces."""
    embedding = identity.partition("+")[0]
    return embedding.removesuffix(":auto")
