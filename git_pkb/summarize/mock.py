"""A deterministic summarizer for tests, which also writes down what it was asked.

In: passages. Out: their breadcrumb and first words. Invariant: the same passage gives the same summary.
PKB_MOCK_LOG gets one line a call, `summarize 3` or `rollup 1`; PKB_MOCK_FAIL=summarize or rollup makes it
fail. The model `mock-paid` costs a dollar a million tokens.
"""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from git_pkb.errors import ConfigError, ProviderError
from git_pkb.net.tokencount import by_rule
from git_pkb.net.usage import Usage
from git_pkb.summarize.base import Outline, Passage
from git_pkb.summarize.prompts import VERSION, clean

if TYPE_CHECKING:
    from git_pkb.config import Config

MODELS = ("mock-1", "mock-paid")


class MockSummarizer:
    """See the module."""

    provider = "mock"
    network = False

    def __init__(self, config: "Config") -> None:
        self.model = config.summarizer.model or MODELS[0]
        if self.model not in MODELS:
            raise ConfigError(
                f"the mock summarizer has no model `{self.model}`", f"it has {', '.join(MODELS)}"
            )
        self.paid = self.model == "mock-paid"
        self.identity = f"mock:{self.model}:{VERSION}"
        self.usage = Usage()

    def summarize(self, passages: Sequence[Passage]) -> Iterator[tuple[int, str]]:
        """The beginning of each passage."""
        self._record("summarize", len(passages))
        for i, passage in enumerate(passages):
            words = " ".join(passage.text.split()[:8])
            self._spend(passage.text)
            yield i, clean(f"{passage.breadcrumb or passage.language}: {words}") if words else ""

    def roll_up(self, outlines: Sequence[Outline]) -> Iterator[tuple[int, str]]:
        """The number of pieces, and the first summary."""
        self._record("rollup", len(outlines))
        for i, outline in enumerate(outlines):
            summaries = [summary for _, summary in outline.pieces if summary]
            self._spend(" ".join(summaries))
            yield (
                i,
                clean(f"A {outline.language} file of {len(summaries)} parts. {summaries[0]}")
                if summaries
                else "",
            )

    def _spend(self, text: str) -> None:
        tokens = by_rule(text)
        self.usage.add(texts=1, tokens=tokens, output_tokens=1, usd=tokens * 1e-6 if self.paid else 0.0)

    def _record(self, call: str, count: int) -> None:
        if not count:
            return
        if os.environ.get("PKB_MOCK_FAIL") == call:
            raise ProviderError("the mock summarizer was told to fail", "unset PKB_MOCK_FAIL")
        log = os.environ.get("PKB_MOCK_LOG")
        if log:
            with open(log, "a", encoding="ascii") as file:
                file.write(f"{call} {count}\n")
