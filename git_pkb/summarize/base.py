"""What a summarizer is, and the table that finds one by its name.

In: the configuration. Out: a `Summarizer`, or None for `none`. Invariant: a summary is a function of
language, breadcrumb and text alone, never of the path, so that it can be kept with the blob; and `identity`
changes with the model and with every word of the instructions.

Both methods yield (index, summary) in the order in which answers arrive; when one fails for good, and on
Ctrl-C, what is under way is yielded first. A summary is one line without control characters, or `""` when
there is nothing to say (then the text itself is embedded).
"""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from git_pkb.errors import ConfigError
from git_pkb.net.usage import Usage

if TYPE_CHECKING:
    from git_pkb.config import Config


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece to be summarized, with the path of its symbol or of its headings."""

    language: str
    breadcrumb: str
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A file to be rolled up: breadcrumb and summary of each of its pieces, in order."""

    language: str
    pieces: tuple[tuple[str, str], ...]


class Summarizer(Protocol):
    """Describes code and prose in words."""

    #: printable ASCII without spaces: `anthropic:claude-haiku-4-5:5f1c22ab`
    identity: str
    provider: str
    model: str
    paid: bool
    network: bool
    #: What was asked so far, for progress and the closing line.
    usage: Usage

    def summarize(self, passages: Sequence[Passage]) -> Iterator[tuple[int, str]]:
        """One or two sentences for each passage."""

    def roll_up(self, outlines: Sequence[Outline]) -> Iterator[tuple[int, str]]:
        """One or two sentences for each file."""


PROVIDERS: dict[str, tuple[str, str]] = {
    "anthropic": ("git_pkb.summarize.anthropic", "AnthropicSummarizer"),
    "openai-compatible": ("git_pkb.summarize.openai", "OpenAICompatibleSummarizer"),
    "ollama": ("git_pkb.summarize.ollama", "OllamaSummarizer"),
    "bedrock": ("git_pkb.summarize.bedrock", "BedrockSummarizer"),
    "docstring": ("git_pkb.summarize.docstring", "DocstringSummarizer"),
    "mock": ("git_pkb.summarize.mock", "MockSummarizer"),
}
NONE = "none"


def open_summarizer(config: "Config") -> Summarizer | None:
    """The summarizer of the configuration, None for `none`; raises ConfigError for what cannot work."""
    provider = config.summarizer.provider
    if provider == NONE:
        return None
    if provider not in PROVIDERS:
        known = ", ".join([*PROVIDERS, NONE])
        raise ConfigError(f"unknown summarizer `{provider}`", f"summarizer.provider is one of {known}")
    module, name = PROVIDERS[provider]
    summarizer: Summarizer = getattr(importlib.import_module(module), name)(config)
    return summarizer
