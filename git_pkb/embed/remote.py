"""What embedders over the network have in common; a provider adds one method, `request`.

In: texts. Out: checked, quantised rows. Invariant: a row is handed out only when the whole answer it came in
had one vector of the right width and of finite numbers for each text that was asked for.

Batches are bounded by count and by tokens (counted to the high side). A batch that is refused as too long is
halved and asked again; a single text that is too long alone is embedded by its beginning.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from git_pkb.embed.quantize import BadVector, concatenate, quantize, unit
from git_pkb.errors import PkbError, ProviderError
from git_pkb.model import Vectors
from git_pkb.net.cost import dollars, price
from git_pkb.net.network import PATIENT, QUICK, Failure, Policy, Service, retrying, run_all
from git_pkb.net.tokencount import by_rule
from git_pkb.net.usage import Usage

if TYPE_CHECKING:
    from array import array

    from git_pkb.config import Config

_SHORTEST = 200  # characters; a text this short is not too long, so the refusal means something else


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider returned: one vector a text, and the tokens it billed (0 when it does not say)."""

    rows: Sequence[Sequence[float]]
    tokens: int


class RemoteEmbedder:
    """Base of the providers."""

    provider: ClassVar[str]
    default_model: ClassVar[str]
    #: Variable of the key unless the settings name another; None when the provider needs no key variable.
    default_key: ClassVar[str | None] = None
    #: Whether asking without a key makes no sense.
    needs_key: ClassVar[bool] = True
    most_texts: int = 128
    most_tokens: int = 100_000

    network = True
    contextual = True
    auto = False

    def __init__(self, config: "Config") -> None:
        settings = config.embedding
        self.model = settings.model or self.default_model
        self.dims = settings.dimensions
        self.dtype = config.index.dtype
        self.timeout = settings.timeout
        self.workers = settings.concurrency
        self.key_variable = settings.apikeyenv or self.default_key
        self.key_named = settings.apikeyenv is not None
        self.paid = True
        self.usage = Usage()
        #: How patiently requests for documents are repeated.
        self.policy: Policy = PATIENT

    @property
    def identity(self) -> str:
        """Provider, model, width, type; characters that mean something here are quoted."""
        return f"{self.provider}:{quoted(self.model)}:{self.dims}:{self.dtype}"

    @property
    def address(self) -> str:
        """Where requests go, for messages."""
        raise NotImplementedError

    def request(self, texts: Sequence[str], timeout: float, *, query: bool) -> Answer:
        """Ask once for vectors of texts that are not blank; raises Failure. Called from several threads."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Import and open the client, before threads need it; raises PkbError when that cannot work."""

    # --- the contract of base.Embedder ---

    def embed(self, texts: Sequence[str]) -> Vectors:
        """All rows, or an error."""
        parts = dict(self.embed_stream(texts))
        return concatenate([parts[start] for start in sorted(parts)], self.dims, self.dtype)

    def embed_stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """Rows by batches, as answers arrive."""
        if not texts:
            return
        self.prepare()
        batches = list(self._batches(texts))

        def ask(batch: range, stop: threading.Event) -> Vectors:
            return self._rows([texts[i] for i in batch], stop)

        for number, vectors in run_all(batches, ask, self.workers):
            yield batches[number].start, vectors

    def embed_query(self, text: str, weights: Mapping[str, float] | None = None) -> "array[float]":  # noqa: ARG002 - weights are for the local model
        """Unit vector of a question; someone waits, so a failure shows within seconds."""
        if not text.strip():
            return unit([0.0] * self.dims)
        self.prepare()
        try:
            answer = retrying(lambda: self.request([text], min(self.timeout, 20.0), query=True), QUICK)
        except Failure as failure:
            raise self.service().explain(failure) from None
        self._count(1, answer.tokens or by_rule(text))
        self._check(answer.rows, 1)
        return unit(answer.rows[0])

    # --- for providers ---

    def key(self) -> str:
        """The key; raises ProviderError when there is none although one is needed or named."""
        value = os.environ.get(self.key_variable, "").strip() if self.key_variable else ""
        if not value and (self.needs_key or self.key_named):
            raise ProviderError(
                f"{self.provider} needs a key, and the environment variable {self.key_variable} is not set",
                f"export {self.key_variable}=…, or name another variable with embedding.apikeyenv",
            )
        return value

    def service(self) -> Service:
        """Who is asked, for messages."""
        return Service(self.provider, self.address, self.key_variable)

    # --- inside ---

    def _batches(self, texts: Sequence[str]) -> Iterator[range]:
        start = tokens = 0
        for i, text in enumerate(texts):
            more = by_rule(text)
            if i > start and (i - start >= self.most_texts or tokens + more > self.most_tokens):
                yield range(start, i)
                start, tokens = i, 0
            tokens += more
        yield range(start, len(texts))

    def _rows(self, texts: Sequence[str], stop: threading.Event) -> Vectors:
        """Rows of one batch; blank texts are not sent and get zero rows."""
        asked = [i for i, text in enumerate(texts) if text.strip()]
        rows: list[Sequence[float]] = [[0.0] * self.dims] * len(texts)
        if asked:
            try:
                found = self._ask([texts[i] for i in asked], stop)
            except Failure as failure:
                raise self.service().explain(failure) from None
            for i, row in zip(asked, found, strict=True):
                rows[i] = row
        return self.quantized(rows)

    def _ask(self, texts: Sequence[str], stop: threading.Event) -> Sequence[Sequence[float]]:
        try:
            answer = retrying(lambda: self.request(texts, self.timeout, query=False), self.policy, stop)
        except Failure as failure:
            if not failure.too_long:
                raise
            if len(texts) > 1:
                middle = len(texts) // 2
                return [*self._ask(texts[:middle], stop), *self._ask(texts[middle:], stop)]
            if len(texts[0]) <= _SHORTEST:
                raise
            return self._ask([texts[0][: len(texts[0]) // 2]], stop)
        self._count(len(texts), answer.tokens or sum(map(by_rule, texts)))
        self._check(answer.rows, len(texts))
        return answer.rows

    def _count(self, texts: int, tokens: int) -> None:
        each, _ = price(self.provider, self.model)
        self.usage.add(texts=texts, tokens=tokens, usd=dollars(each, tokens) if self.paid else 0.0)

    def _check(self, rows: Sequence[Sequence[float]], wanted: int) -> None:
        if len(rows) != wanted:
            raise self.bad_answer(f"{len(rows)} vectors for {wanted} texts")
        self.quantized(rows)

    def quantized(self, rows: Sequence[Sequence[float]]) -> Vectors:
        """Rows as they are stored; raises ProviderError for what cannot be."""
        for row in rows:
            if len(row) != self.dims:
                raise ProviderError(
                    f"{self.provider} ({self.model}) gives vectors of {len(row)} dimensions, "
                    f"the settings say {self.dims}",
                    f"git pkb config set embedding.dimensions {len(row)}",
                )
        try:
            return quantize(rows, self.dims, self.dtype)
        except BadVector as bad:
            raise self.bad_answer(str(bad)) from None

    def bad_answer(self, what: str) -> PkbError:
        """The error for an answer that cannot be used."""
        return ProviderError(
            f"{self.provider} ({self.model}) at {self.address} gave a bad answer: {what}",
            "nothing of it was kept; check embedding.model, or report it to the provider",
        )


def quoted(model: str) -> str:
    """A model's name as part of an identity: printable ASCII, without `+` (which separates parts)."""
    from urllib.parse import quote

    return quote(model, safe="/:@.-_")
