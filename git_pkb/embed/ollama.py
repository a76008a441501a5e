"""Ollama, a server for local models, over its own protocol (`/api/embed`).

In: texts. Out: rows. Invariant: costs nothing; no key unless the settings name one (for a proxy before it).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from git_pkb.embed.remote import Answer, RemoteEmbedder
from git_pkb.errors import PkbError, ProviderError
from git_pkb.net.jsonhttp import base_url, post_json
from git_pkb.net.network import Failure, Service

if TYPE_CHECKING:
    from git_pkb.config import Config

DEFAULT_URL = "http://localhost:11434"
#: What these models were trained to see before a document and before a question (from their model cards).
PREFIXES = {
    "nomic-embed-text": ("search_document: ", "search_query: "),
    "mxbai-embed-large": ("", "Represent this sentence for searching relevant passages: "),
}


class OllamaEmbedder(RemoteEmbedder):
    """See the module."""

    provider = "ollama"
    default_model = "nomic-embed-text"
    needs_key = False
    most_texts = 32
    most_tokens = 16_000

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        self.url = base_url(config.embedding.baseurl or DEFAULT_URL, "embedding.baseurl")
        self.paid = False

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url

    def request(self, texts: Sequence[str], timeout: float, *, query: bool) -> Answer:
        """Vectors of texts; the server cuts off what its model cannot hold."""
        key = self.key()
        prefix = PREFIXES.get(self.model.partition(":")[0], ("", ""))[query]
        answer = post_json(
            f"{self.url}/api/embed",
            {
                "model": self.model,
                "input": [prefix + text for text in texts],
                "truncate": True,
                "dimensions": self.dims,
            },
            {"Authorization": f"Bearer {key}"} if key else {},
            timeout,
        )
        rows = answer.get("embeddings")
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise Failure(f"no embeddings in the answer: {str(answer)[:200]}", transient=False, page=True)
        tokens = answer.get("prompt_eval_count")
        return Answer(rows, tokens if isinstance(tokens, int) else 0)

    def service(self) -> Service:
        """Who is asked, with Ollama's own advice."""
        return _Ollama(self.provider, self.address, self.key_variable)


class _Ollama(Service):
    """Says how to start the server and how to get a model."""

    def explain(self, failure: Failure) -> PkbError:
        """The error for a request that failed for good."""
        if failure.status is None and not failure.page:
            return ProviderError(
                f"Ollama cannot be reached at {self.address}: {failure.message}",
                "start it with `ollama serve`, or set the address of another machine as baseurl",
            )
        if failure.status == 404:
            return ProviderError(
                f"Ollama at {self.address} does not have this model: {failure.message}",
                "get it with `ollama pull MODEL`, or name another as model",
            )
        return Service.explain(self, failure)
