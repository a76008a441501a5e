"""OpenAI, and any server that speaks its `/v1/embeddings`, over plain HTTP.

In: texts. Out: rows. Invariant: the OpenAI key goes to the provider `openai` alone; an OpenAI-compatible
server gets the key of its own variable, or none.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from git_pkb.embed.remote import Answer, RemoteEmbedder
from git_pkb.errors import ConfigError
from git_pkb.net.jsonhttp import base_url, is_loopback, post_json
from git_pkb.net.network import Failure

if TYPE_CHECKING:
    from git_pkb.config import Config

COMPATIBLE_KEY = "OPENAI_COMPATIBLE_API_KEY"


class _Embeddings(RemoteEmbedder):
    """The protocol that both share."""

    default_url: ClassVar[str | None]

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        url = config.embedding.baseurl or self.default_url
        if url is None:
            raise ConfigError(
                "the openai-compatible provider needs the address of its server",
                "set embedding.baseurl, e.g. http://localhost:8080 (without /v1)",
            )
        if not self.model:
            raise ConfigError(
                "the openai-compatible provider needs the name of a model", "set embedding.model"
            )
        self.url = base_url(url, "embedding.baseurl")

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url

    def ask(self, body: dict[str, object], timeout: float) -> Answer:
        """One request for `body["input"]`."""
        key = self.key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = post_json(f"{self.url}/v1/embeddings", body, headers, timeout)
        return Answer(rows_of(answer), _tokens(answer))


class OpenAIEmbedder(_Embeddings):
    """OpenAI itself; its third generation of models gives any width up to its own."""

    provider = "openai"
    default_model = "text-embedding-3-small"
    default_key = "OPENAI_API_KEY"
    default_url = "https://api.openai.com"
    most_texts = 512
    most_tokens = 250_000

    def request(self, texts: Sequence[str], timeout: float, *, query: bool) -> Answer:  # noqa: ARG002 - one kind of input
        """Vectors of texts."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.model.startswith("text-embedding-3"):
            body["dimensions"] = self.dims
        return self.ask(body, timeout)


class OpenAICompatibleEmbedder(_Embeddings):
    """Another server.

    Whether it takes `dimensions` is its own affair: it is asked for them only when its vectors turn out wider
    than the settings say.
    """

    provider = "openai-compatible"
    default_model = ""
    default_key = COMPATIBLE_KEY
    default_url = None
    needs_key = False
    most_texts = 64
    most_tokens = 50_000

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        self.paid = not is_loopback(self.url)
        self._narrow = False

    def request(self, texts: Sequence[str], timeout: float, *, query: bool) -> Answer:  # noqa: ARG002 - one kind of input
        """Vectors of texts."""
        body: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if not self._narrow:
            answer = self.ask(body, timeout)
            if not answer.rows or len(answer.rows[0]) <= self.dims:
                return answer
            wide = answer
            try:
                answer = self.ask({**body, "dimensions": self.dims}, timeout)
            except Failure as failure:
                if failure.transient or failure.status not in (400, 422):
                    raise
                return wide  # of the wrong width: the caller says what to set
            self._narrow = len(answer.rows) > 0 and len(answer.rows[0]) == self.dims
            return answer
        return self.ask({**body, "dimensions": self.dims}, timeout)


def rows_of(answer: dict[str, Any]) -> list[list[float]]:
    """The vectors of an answer in the order of the texts; raises Failure for another shape."""
    data = answer.get("data")
    if not isinstance(data, list) or not all(
        isinstance(each, dict) and isinstance(each.get("embedding"), list) for each in data
    ):
        raise Failure(f"no embeddings in the answer: {str(answer)[:200]}", transient=False, page=True)
    numbers = [each.get("index", i) for i, each in enumerate(data)]
    if sorted(map(str, numbers)) != sorted(map(str, range(len(data)))):
        raise Failure(f"embeddings numbered {str(numbers)[:100]}", transient=False, page=True)
    rows = {int(number): each["embedding"] for number, each in zip(numbers, data, strict=True)}
    return [rows[i] for i in range(len(rows))]


def _tokens(answer: dict[str, Any]) -> int:
    usage = answer.get("usage")
    value = (usage.get("total_tokens") or usage.get("prompt_tokens")) if isinstance(usage, dict) else 0
    return value if isinstance(value, int) and value > 0 else 0
