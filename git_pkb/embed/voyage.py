"""Voyage AI, through its own client; the only provider that cuts text files itself.

In: texts. Out: rows; for whole text files also where their pieces lie. Models named voyage-context-* answer
at the contextualized endpoint: a text alone in its list is embedded by itself (code pieces, questions), a
whole file is cut by the model and each piece embedded in the light of all others. Other models answer at the
plain endpoint. Invariant: the client's own retries are off, the shared policy decides.
"""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from git_pkb.embed.base import AUTO, AutoPieces, chunking_of
from git_pkb.embed.remote import Answer, RemoteEmbedder
from git_pkb.embed.windows import Misplaced, Window, merge, place, windows
from git_pkb.errors import ConfigError
from git_pkb.model import Vectors
from git_pkb.net.jsonhttp import base_url
from git_pkb.net.network import Failure, retrying, run_all, seconds
from git_pkb.net.tokencount import by_rule

if TYPE_CHECKING:
    from git_pkb.config import Config

DEFAULT_URL = "https://api.voyageai.com"
CONTEXTUAL = "voyage-context-"
WIDTHS = (256, 512, 1024, 2048)
_FIXED_WIDTH = {"voyage-3": 1024, "voyage-3-lite": 512, "voyage-law-2": 1024, "voyage-finance-2": 1024}

WINDOW = 100_000  # tokens; the endpoint takes 120,000 over all inputs of a request
OVERLAP = 10_000
_SMALLEST_WINDOW = 1_000
_MOST_FILES = 200  # in one request; the endpoint takes 1,000
_PLAIN_CONTEXTUAL = 30_000  # tokens; the endpoint takes 32,000 over all inputs without auto-chunking


class VoyageEmbedder(RemoteEmbedder):
    """See the module."""

    provider = "voyage"
    default_model = "voyage-context-4"
    default_key = "VOYAGE_API_KEY"
    most_texts = 1_000
    most_tokens = 100_000

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        self.url = base_url(config.embedding.baseurl or DEFAULT_URL, "embedding.baseurl")
        self.auto = chunking_of(config) == AUTO
        self.at_once = self.model.startswith(CONTEXTUAL)
        if self.at_once:
            self.most_tokens = _PLAIN_CONTEXTUAL
        allowed = (_FIXED_WIDTH[self.model],) if self.model in _FIXED_WIDTH else WIDTHS
        if self.dims not in allowed:
            raise ConfigError(
                f"{self.model} has no vectors of {self.dims} dimensions",
                f"set embedding.dimensions to {' or '.join(map(str, allowed))}",
            )
        self._client: Any = None

    @property
    def identity(self) -> str:
        """Auto-chunking is part of it: it decides where pieces end and what their vectors know."""
        return super().identity + (":auto" if self.auto else "")

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url

    def prepare(self) -> None:
        """Open the client; importing it takes half a second."""
        if self._client is None:
            key = self.key()
            from voyageai.client import Client

            self._client = Client(key, max_retries=0, timeout=self.timeout, base_url=f"{self.url}/v1")

    def request(self, texts: Sequence[str], timeout: float, *, query: bool) -> Answer:
        """Vectors of texts that stand alone."""
        kind = "query" if query else "document"
        width = None if self.model in _FIXED_WIDTH else self.dims
        if self.at_once:
            found = self._call(
                timeout,
                "contextualized_embed",
                inputs=[[text] for text in texts],
                model=self.model,
                input_type=kind,
                output_dimension=width,
            )
            return Answer([row for each in found.results for row in each.embeddings], found.total_tokens)
        found = self._call(
            timeout, "embed", texts=list(texts), model=self.model, input_type=kind, output_dimension=width
        )
        return Answer(found.embeddings, found.total_tokens)

    def embed_auto(self, contents: Sequence[str]) -> Iterator[tuple[int, AutoPieces]]:
        """Whole text files; windows of several share a request, a file is ready with its last window."""
        self.prepare()
        parts: list[tuple[int, Window]] = []
        waiting: dict[int, int] = {}
        for number, content in enumerate(contents):
            if not content.strip():
                yield number, AutoPieces((), Vectors(self.dims, self.dtype, b"", b""), b"")
                continue
            cut = windows(content, by_rule, WINDOW, OVERLAP)
            parts += [(number, window) for window in cut]
            waiting[number] = len(cut)
        found: dict[int, list[_Answered]] = {}

        def ask(group: range, stop: threading.Event) -> list[list["_Answered"]]:
            asked = [(contents[number], window) for number, window in (parts[i] for i in group)]
            try:
                return self._cut(asked, stop)
            except Failure as failure:
                raise self.service().explain(failure) from None

        groups = list(_groups([by_rule(window.text(contents[number])) for number, window in parts]))
        for group_number, answers in run_all(groups, ask, self.workers):
            for i, answered in zip(groups[group_number], answers, strict=True):
                number = parts[i][0]
                found.setdefault(number, []).extend(answered)
                waiting[number] -= 1
                if not waiting[number]:
                    yield number, self._assemble(contents[number], found.pop(number))

    def _cut(self, asked: Sequence[tuple[str, Window]], stop: threading.Event) -> list[list["_Answered"]]:
        """Ask for windows together; halves of them, or of the one window, when that is too much."""

        def once() -> Any:
            return self._call(
                self.timeout,
                "contextualized_embed",
                inputs=[[window.text(content)] for content, window in asked],
                model=self.model,
                input_type="document",
                output_dimension=self.dims,
                enable_auto_chunking=True,
            )

        try:
            answer = retrying(once, self.policy, stop)
        except Failure as failure:
            if not failure.too_long:
                raise
            if len(asked) > 1:
                middle = len(asked) // 2
                return [*self._cut(asked[:middle], stop), *self._cut(asked[middle:], stop)]
            content, window = asked[0]
            limit = by_rule(window.text(content)) // 2
            if limit < _SMALLEST_WINDOW:
                raise
            smaller = windows(content, by_rule, limit, limit // 10, (window.start, window.end))
            return [[each for part in smaller for each in self._cut([(content, part)], stop)[0]]]
        texts = sum(len(each.embeddings) for each in answer.results)
        self._count(texts, answer.total_tokens or sum(by_rule(w.text(c)) for c, w in asked))
        if len(answer.results) != len(asked):
            raise self.bad_answer(f"{len(answer.results)} files for {len(asked)}")
        return [
            [self._answered(content, window, result)]
            for (content, window), result in zip(asked, answer.results, strict=True)
        ]

    def _answered(self, content: str, window: Window, result: Any) -> "_Answered":
        texts, rows = result.chunk_texts, result.embeddings
        if not texts or len(texts) != len(rows):
            raise self.bad_answer(f"{len(texts or ())} piece texts for {len(rows)} vectors")
        try:
            return _Answered(window, place(window, content, texts), self.quantized(rows))
        except Misplaced as misplaced:
            raise self.bad_answer(str(misplaced)) from None

    def _assemble(self, content: str, answers: list["_Answered"]) -> AutoPieces:
        answers.sort(key=lambda each: each.window.start)
        kept = merge(content, [each.window for each in answers], [each.found for each in answers])
        if not kept:
            raise self.bad_answer("no piece holds any of the text")
        scales, rows = [], []
        for number, piece in kept:
            vectors = answers[number].vectors
            width = vectors.row_bytes
            scales.append(vectors.scales[4 * piece.row : 4 * piece.row + 4])
            rows.append(vectors.rows[width * piece.row : width * (piece.row + 1)])
        return AutoPieces(
            tuple((piece.start, piece.end) for _, piece in kept),
            Vectors(self.dims, self.dtype, b"".join(scales), b"".join(rows)),
            hashlib.sha256(content.encode("utf-8", "replace")).digest(),
        )

    def _call(self, timeout: float, method: str, **arguments: Any) -> Any:
        """One call of the client; its exceptions become Failures."""
        import voyageai.error as errors

        client = self._client
        if timeout != self.timeout:
            from voyageai.client import Client

            client = Client(self.key(), max_retries=0, timeout=timeout, base_url=f"{self.url}/v1")
        try:
            return getattr(client, method)(**arguments)
        except (errors.Timeout, errors.APIConnectionError) as error:
            raise Failure(_words(error), transient=True) from None
        except errors.VoyageError as error:
            status = error.http_status
            page = not isinstance(error.json_body, dict) and (status is None or status < 400)
            raise Failure(
                _words(error),
                status=None if page else status,
                retry_after=seconds(_header(error.headers, "Retry-After")),
                page=page,
            ) from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # the client reads the fields of an answer without looking: JSON of another shape ends here
            raise Failure(f"an answer of another shape ({error})", transient=False, page=True) from None


class _Answered:
    """A window with its answer: where its pieces lie, and their rows."""

    __slots__ = ("found", "vectors", "window")

    def __init__(self, window: Window, found: list[Any], vectors: Vectors) -> None:
        self.window, self.found, self.vectors = window, found, vectors


def _groups(sizes: Sequence[int]) -> Iterator[range]:
    """Windows that share a request: at most WINDOW tokens and _MOST_FILES of them, in order."""
    start = total = 0
    for i, size in enumerate(sizes):
        if i > start and (total + size > WINDOW or i - start >= _MOST_FILES):
            yield range(start, i)
            start, total = i, 0
        total += size
    if sizes:
        yield range(start, len(sizes))


def _words(error: Exception) -> str:
    message = getattr(error, "user_message", None) or str(error)
    body = getattr(error, "http_body", None)
    return f"{message} {body}" if body and message not in body and body not in message else message


def _header(headers: Any, name: str) -> object:
    for key, value in dict(headers or {}).items():
        if str(key).lower() == name.lower():
            return value
    return None
