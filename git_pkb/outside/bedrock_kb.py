"""Bedrock Knowledge Bases: AWS cuts, embeds and keeps the documents; here they are only asked.

In: one entry of `search.knowledgeBases`, a question. Out: passages best first. Raises PkbError. Credentials
come from the AWS chain and need `bedrock:Retrieve`. Invariant: an answer is data from elsewhere: what has no
text or no place is left out, and nothing in it is taken for a path.
"""

from typing import TYPE_CHECKING, Any

from git_pkb.errors import ProviderError
from git_pkb.net import aws
from git_pkb.net.network import QUICK, Failure, retrying
from git_pkb.outside.fusion import Passage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from git_pkb.config import KnowledgeBase

_MOST = 100  # passages the service gives at once
_LONGEST = 20_000  # characters of a question
_SHOWN = 200  # characters of the service's own words that a message repeats


def name_of(base: "KnowledgeBase") -> str:
    """What to call it in messages."""
    return f"knowledge base {base.label} ({base.id})" if base.label else f"knowledge base {base.id}"


def retrieve(base: "KnowledgeBase", question: str, most: int, timeout: float) -> list[Passage]:
    """Its best passages for a question."""
    client = aws.open_client(
        base.region or None,
        base.profile or None,
        None,
        timeout,
        "search.knowledgeBases",
        service="bedrock-agent-runtime",
        prefix="",
    )
    wanted = {"vectorSearchConfiguration": {"numberOfResults": max(1, min(most, _MOST))}}

    def request() -> Any:
        return aws.call(
            lambda: client.retrieve(
                knowledgeBaseId=base.id,
                retrievalQuery={"text": question[:_LONGEST]},
                retrievalConfiguration=wanted,
            )
        )

    try:
        answer = retrying(request, QUICK)
    except Failure as failure:
        raise _explained(base, failure) from None
    found = [_passage(base, each) for each in answer.get("retrievalResults", ())]
    return [passage for passage in found if passage is not None]


def _explained(base: "KnowledgeBase", failure: Failure) -> ProviderError:
    said = " ".join(failure.message.split())[:_SHOWN]
    if failure.status in (401, 403):
        hint = "the credentials need bedrock:Retrieve; is `profile` right?"
    elif failure.status in (400, 404):
        hint = f"are `id` and `region` right? It was asked in {base.region or 'the default region'}"
    else:
        hint = None
    return ProviderError(said, hint)


def _passage(base: "KnowledgeBase", result: "Mapping[str, Any]") -> Passage | None:
    text = result.get("content", {}).get("text") or ""
    uri = _uri(result)
    if not text.strip() or not uri:
        return None
    return Passage(uri, base.label or base.id, text, float(result.get("score") or 0.0))


def _uri(result: "Mapping[str, Any]") -> str:
    """Where the document is: each kind of source has its own field, the metadata have it for all."""
    for place in result.get("location", {}).values():
        if isinstance(place, dict):
            for name in ("uri", "url", "id"):
                if isinstance(place.get(name), str) and place[name]:
                    return str(place[name])
    return str(result.get("metadata", {}).get("x-amz-bedrock-kb-source-uri") or "")
