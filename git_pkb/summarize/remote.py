"""What summarizers that ask a language model have in common; a provider adds one method, `complete`.

In: passages, outlines. Out: summaries as they arrive. Invariant: long material goes in parts whose summaries
are summarized, so that no request is larger than LONGEST, and a file of any size has one roll-up.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeVar

from git_pkb.errors import ProviderError
from git_pkb.net.cost import dollars, price
from git_pkb.net.network import PATIENT, Failure, Policy, Service, retrying, run_all
from git_pkb.net.tokencount import by_rule
from git_pkb.net.usage import Usage
from git_pkb.summarize.base import Outline, Passage
from git_pkb.summarize.prompts import FILE, LONGEST, MERGE, PART, PIECE, VERSION, clean, parts, prompt

if TYPE_CHECKING:
    from git_pkb.config import Config

_T = TypeVar("_T")

#: Tokens an answer may have: two sentences, and room for a model that thinks first.
MOST_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Written:
    """An answer: its text and the tokens read and written (0 when the provider does not say)."""

    text: str
    read: int = 0
    written: int = 0


class RemoteSummarizer:
    """Base of the providers."""

    provider: ClassVar[str]
    default_model: ClassVar[str]
    default_key: ClassVar[str | None] = None
    needs_key: ClassVar[bool] = True

    network = True

    def __init__(self, config: "Config") -> None:
        settings = config.summarizer
        self.model = settings.model or self.default_model
        self.key_variable = settings.apikeyenv or self.default_key
        self.key_named = settings.apikeyenv is not None
        self.timeout = config.embedding.timeout
        self.workers = config.embedding.concurrency
        self.paid = True
        self.usage = Usage()
        self.policy: Policy = PATIENT

    @property
    def identity(self) -> str:
        """Provider, model, and version of the instructions."""
        from urllib.parse import quote

        return f"{self.provider}:{quote(self.model, safe='/:@.-_')}:{VERSION}"

    @property
    def address(self) -> str:
        """Where requests go, for messages."""
        raise NotImplementedError

    def complete(self, message: str) -> Written:
        """Ask the model once; raises Failure. Called from several threads."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Open the client, before threads need it; raises PkbError when that cannot work."""

    def finish(self) -> None:
        """Close what `prepare` opened."""

    def service(self) -> Service:
        """Who is asked, for messages."""
        return Service(self.provider, self.address, self.key_variable, "summarizer")

    def key(self) -> str:
        """The key; raises ProviderError when there is none although one is needed or named."""
        value = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        if not value and (self.needs_key or self.key_named):
            raise ProviderError(
                f"{self.provider} needs a key, and the environment variable {self.key_variable} is not set",
                f"export {self.key_variable}=…, or name another variable with summarizer.apikeyenv",
            )
        return value

    def summarize(self, passages: Sequence[Passage]) -> Iterator[tuple[int, str]]:
        """A summary of each passage."""
        return self._run(passages, self._passage, lambda passage: bool(passage.text.strip()))

    def roll_up(self, outlines: Sequence[Outline]) -> Iterator[tuple[int, str]]:
        """A summary of each file from those of its pieces."""
        return self._run(outlines, self._outline, lambda outline: any(s for _, s in outline.pieces))

    # --- inside ---

    def _run(
        self, items: Sequence[_T], one: Callable[[_T, threading.Event], str], says: Callable[[_T], bool]
    ) -> Iterator[tuple[int, str]]:
        asked = []
        for i, item in enumerate(items):
            if says(item):
                asked.append(i)
            else:
                yield i, ""
        if not asked:
            return
        self.prepare()

        def ask(i: int, stop: threading.Event) -> str:
            try:
                return one(items[i], stop)
            except Failure as failure:
                raise self.service().explain(failure) from None

        try:
            for number, summary in run_all(asked, ask, self.workers):
                yield asked[number], summary
        finally:
            self.finish()

    def _passage(self, passage: Passage, stop: threading.Event) -> str:
        language, where = passage.language, passage.breadcrumb
        cut = parts(passage.text)
        if len(cut) == 1:
            return self._ask(prompt(PIECE.format(language=language), passage.text, where), stop)
        summaries = [
            self._ask(prompt(PART.format(number=i, count=len(cut), language=language), part, where), stop)
            for i, part in enumerate(cut, 1)
        ]
        return self._merge(summaries, MERGE.format(language=language), stop)

    def _outline(self, outline: Outline, stop: threading.Event) -> str:
        lines = [f"{where}: {summary}" if where else summary for where, summary in outline.pieces if summary]
        if len(lines) == 1:
            return next(summary for _, summary in outline.pieces if summary)
        return self._merge(lines, FILE.format(language=outline.language), stop)

    def _merge(self, lines: list[str], instruction: str, stop: threading.Event) -> str:
        """One summary of many lines: in groups first, while they are more than one request holds."""
        while len(groups := _groups(lines)) > 1:
            lines = [self._ask(prompt(instruction, "\n".join(group)), stop) for group in groups]
        return self._ask(prompt(instruction, "\n".join(groups[0])), stop)

    def _ask(self, message: str, stop: threading.Event) -> str:
        answer = retrying(lambda: self.complete(message), self.policy, stop)
        read = answer.read or by_rule(message)
        written = answer.written or by_rule(answer.text)
        each, _ = price(self.provider, self.model, writes=True)
        usd = dollars(each, read, written) if self.paid else 0.0
        self.usage.add(texts=1, tokens=read, output_tokens=written, usd=usd)
        return clean(answer.text)


def _groups(lines: Sequence[str]) -> list[list[str]]:
    """Lines in groups of at most LONGEST characters; a group has at least two lines, so that merging ends."""
    groups: list[list[str]] = [[]]
    size = 0
    for line in lines:
        if len(groups[-1]) >= 2 and size + len(line) > LONGEST:
            groups.append([])
            size = 0
        groups[-1].append(line)
        size += len(line) + 1
    return groups


def text_of(value: object) -> str:
    """The text of an answer; raises Failure when there is none where the protocol puts it."""
    if not isinstance(value, str):
        raise Failure(f"no text in the answer: {str(value)[:200]}", transient=False, page=True)
    return value


def number_of(value: object) -> int:
    """A token count of an answer, 0 when it is missing."""
    return value if isinstance(value, int) and value > 0 else 0
