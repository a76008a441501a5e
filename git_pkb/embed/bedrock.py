"""Amazon Bedrock: the embedding models of Cohere and Titan.

In: texts. Out: rows. The body of a request is the model maker's, so the model's name decides: Cohere takes up
to 96 texts and tells documents from questions, Titan takes one text. Inference profiles (`us.cohere.…`) and
ARNs are passed on as they are. Invariant: region and profile come from the settings, credentials from AWS.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from git_pkb.embed.remote import Answer, RemoteEmbedder
from git_pkb.errors import ConfigError
from git_pkb.net import aws
from git_pkb.net.jsonhttp import base_url
from git_pkb.net.network import Failure

if TYPE_CHECKING:
    from git_pkb.config import Config

_COHERE_4_WIDTHS = (256, 512, 1024, 1536)
_TITAN_2_WIDTHS = (256, 512, 1024)
_COHERE_3_CHARACTERS = 2_048
_TITAN_CHARACTERS = 50_000


class BedrockEmbedder(RemoteEmbedder):
    """See the module."""

    provider = "bedrock"
    default_model = "cohere.embed-v4:0"
    needs_key = False

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        settings = config.embedding
        self.key_variable, self.key_named = None, False
        self.region, self.profile = settings.awsregion, settings.awsprofile
        self.url = base_url(settings.baseurl, "embedding.baseurl") if settings.baseurl else None
        self.titan = "titan-embed-text" in self.model
        self.third = "cohere.embed-english-v3" in self.model or "cohere.embed-multilingual-v3" in self.model
        if not self.titan and "cohere.embed" not in self.model and not self.model.startswith("arn:"):
            raise ConfigError(
                f"git-pkb does not know how to ask Bedrock's `{self.model}` for embeddings",
                "set embedding.model to cohere.embed-v4:0 or amazon.titan-embed-text-v2:0",
            )
        widths = (1024,) if self.third else _TITAN_2_WIDTHS if self.titan else _COHERE_4_WIDTHS
        if self.dims not in widths:
            raise ConfigError(
                f"{self.model} has no vectors of {self.dims} dimensions",
                f"set embedding.dimensions to {' or '.join(map(str, widths))}",
            )
        self._client: Any = None

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url or f"AWS region {self.region or aws.DEFAULT_REGION}"

    def prepare(self) -> None:
        """Open the client."""
        if self._client is None:
            self._client = aws.open_client(self.region, self.profile, self.url, self.timeout, "embedding")

    def _batches(self, texts: Sequence[str]) -> Iterator[range]:
        most = 1 if self.titan else 96
        for batch in super()._batches(texts):
            yield from (batch[i : i + most] for i in range(0, len(batch), most))

    def request(self, texts: Sequence[str], timeout: float, *, query: bool) -> Answer:  # noqa: ARG002 - the client has its own
        """Vectors of texts."""
        if self.titan:
            rows, tokens = [], 0
            for text in texts:  # one, but for an unusual caller
                answer, billed = self._invoke(
                    {"inputText": text[:_TITAN_CHARACTERS], "dimensions": self.dims, "normalize": True}
                )
                rows.append(answer.get("embedding"))
                tokens += int(answer.get("inputTextTokenCount") or 0) or billed
            return Answer(_checked(rows), tokens)
        body: dict[str, object] = {
            "texts": [text[:_COHERE_3_CHARACTERS] for text in texts] if self.third else list(texts),
            "input_type": "search_query" if query else "search_document",
            "embedding_types": ["float"],
        }
        if not self.third:
            body["output_dimension"] = self.dims
            body["truncate"] = "RIGHT"
        answer, billed = self._invoke(body)
        found = answer.get("embeddings")
        return Answer(_checked(found.get("float") if isinstance(found, dict) else found), billed)

    def _invoke(self, body: dict[str, object]) -> tuple[dict[str, Any], int]:
        response = aws.call(
            lambda: self._client.invoke_model(
                modelId=self.model,
                body=json.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
        )
        content = aws.call(lambda: response["body"].read())
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        billed = str(headers.get("x-amzn-bedrock-input-token-count", ""))
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise Failure(content[:200].decode("utf-8", "replace"), transient=False, page=True)
        return answer, int(billed) if billed.isdigit() else 0


def _checked(rows: Any) -> list[list[float]]:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise Failure(f"no embeddings in the answer: {str(rows)[:200]}", transient=False, page=True)
    return rows
