"""Contract of the embedders over the network: the vendors' own clients against a server on the loopback."""

import array
import itertools
import math
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from vendor_server import KEY, Fault, VendorServer, serving, vector

from git_pkb.config import load
from git_pkb.embed import base
from git_pkb.embed.quantize import quantize
from git_pkb.embed.remote import RemoteEmbedder
from git_pkb.errors import ConfigError, ProviderError
from git_pkb.net.network import Policy

#: provider, vendor the server plays, settings; all give 256 dimensions unless they say otherwise
PROVIDERS: dict[str, tuple[str, str, dict[str, object]]] = {
    "voyage contextual": ("voyage", "voyage", {"embedding.model": "voyage-context-4"}),
    "voyage plain": ("voyage", "voyage", {"embedding.model": "voyage-code-3"}),
    "openai": ("openai", "openai", {}),
    "compatible": ("openai-compatible", "compatible", {"embedding.model": "minilm"}),
    "ollama": ("ollama", "ollama", {}),
    "bedrock cohere": ("bedrock", "bedrock", {}),
    "bedrock titan": ("bedrock", "bedrock", {"embedding.model": "amazon.titan-embed-text-v2:0"}),
}
TEXTS = ["def upload(path): ...", "class Matrix: ...", "naïve Größe 漢字 \ud800"]


def opened(server: VendorServer, provider: str, settings: dict[str, object]) -> Any:
    """The embedder of a provider, pointed at the server and impatient."""
    flags = {"embedding.provider": provider, "embedding.baseurl": server.url, "embedding.timeout": 5.0}
    embedder = base.open_embedder(load(None, flags | settings, environment={}))
    assert isinstance(embedder, RemoteEmbedder)
    embedder.policy = Policy(attempts=3, first_wait=0.01, longest_wait=0.02)
    return embedder


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys that the server takes, in the variables of the vendors."""
    for name in ("VOYAGE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(params=sorted(PROVIDERS))
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[VendorServer, Any]]:
    """Each provider with its server."""
    provider, vendor, settings = PROVIDERS[request.param]
    with serving(vendor) as server:
        yield server, opened(server, provider, settings)


def test_documents_become_rows_in_order(pair: tuple[VendorServer, Any]) -> None:
    """Each provider's rows are the vendor's vectors for these texts, in order, at unit length."""
    _, embedder = pair
    rows = embedder.embed(TEXTS)
    prefix = "search_document: " if embedder.provider == "ollama" else ""
    expected = quantize([vector(prefix + text, 256) for text in TEXTS], 256)
    assert rows.scales == expected.scales
    # float32 on the wire may move a component that lies between two steps
    moved = [a - b for a, b in zip(array.array("b", rows.rows), array.array("b", expected.rows), strict=True)]
    assert max(map(abs, moved)) <= 1
    assert (len(rows), rows.dims, rows.dtype) == (3, 256, "int8")
    assert embedder.usage.texts == 3
    assert embedder.usage.tokens > 0
    assert (embedder.usage.usd > 0) == embedder.paid


def test_questions_are_told_from_documents(pair: tuple[VendorServer, Any]) -> None:
    """A question has unit length, and the vendor is told that it is one where it can be told."""
    server, embedder = pair
    question = embedder.embed_query("where do we retry uploads")
    assert math.isclose(sum(x * x for x in question), 1.0, rel_tol=1e-6)
    body = server.seen[-1].body
    if embedder.provider == "voyage":
        assert body["input_type"] == "query"
    elif "input_type" in body:
        assert body["input_type"] == "search_query"
    elif embedder.provider == "ollama":
        assert body["input"] == ["search_query: where do we retry uploads"]


def test_blank_texts_are_not_sent(pair: tuple[VendorServer, Any]) -> None:
    """A blank text gets a zero row and costs nothing; only blank texts make no request at all."""
    server, embedder = pair
    rows = embedder.embed(["  \n", "word", ""])
    assert rows.rows[:256] == rows.rows[512:] == bytes(256)
    assert any(rows.rows[256:512])
    sent = len(server.seen)
    embedder.embed([" "])
    assert list(embedder.embed_query(" ")) == [0.0] * 256
    assert len(server.seen) == sent


def test_many_texts_go_in_batches_and_come_back_in_order(pair: tuple[VendorServer, Any]) -> None:
    """Batches stay within the vendor's limits, and rows stand where their texts stood."""
    server, embedder = pair
    texts = [f"text number {i}" for i in range(230)]
    rows = embedder.embed(texts)
    for i in (0, 117, 229):
        assert rows.rows[256 * i : 256 * (i + 1)] == embedder.embed([texts[i]]).rows
    assert server.most_running <= embedder.workers


@pytest.mark.parametrize("status", [429, 500, 503])
def test_transient_failures_are_retried(pair: tuple[VendorServer, Any], status: int) -> None:
    """One 429, 500 or 503 costs a retry, not the run."""
    server, embedder = pair
    server.faults = [Fault(status, {"Retry-After": "0"}), Fault(status)]
    assert len(embedder.embed(["word"])) == 1
    assert len(server.seen) == 3


def test_lasting_failures_end_the_run(pair: tuple[VendorServer, Any]) -> None:
    """When the retries are used up, the error says so, and no more is asked."""
    server, embedder = pair
    server.faults = [Fault(503)] * 10
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["word"])
    assert "503" in caught.value.message
    assert caught.value.hint
    assert len(server.seen) == 3


def test_a_slow_answer_is_given_up(pair: tuple[VendorServer, Any]) -> None:
    """A request has a time limit; what comes later is not waited for."""
    server, embedder = pair
    embedder.timeout = 0.3
    embedder.policy = Policy(attempts=1)
    server.faults = [Fault(delay=1.0)]
    with pytest.raises(ProviderError, match="cannot be reached"):
        embedder.embed(["word"])


def test_an_unreachable_server_is_named(pair: tuple[VendorServer, Any]) -> None:
    """Nothing listens: the error names the address, and search can go on without vectors."""
    server, embedder = pair
    server.shutdown()
    server.server_close()
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        embedder.embed_query("word")
    assert server.url in caught.value.message


def test_a_refused_key_is_named(pair: tuple[VendorServer, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """401: the message names the variable, never the key; asked once."""
    server, embedder = pair
    if embedder.key_variable is None and embedder.provider != "bedrock":
        pytest.skip("this provider has no key")
    monkeypatch.setenv(embedder.key_variable or "AWS_ACCESS_KEY_ID", "expired")
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["word"])
    assert "refused" in caught.value.message
    assert (embedder.key_variable or "credentials") in caught.value.message
    assert "expired-key" not in caught.value.message
    assert len(server.seen) == 1


def test_a_page_instead_of_json_is_reported(pair: tuple[VendorServer, Any]) -> None:
    """HTML with status 200 (a login page, a wrong address) is no answer."""
    server, embedder = pair
    server.faults = [Fault(200, {"Content-Type": "text/html"}, b"<!doctype html><title>Sign in</title>")]
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["word"])
    assert caught.value.exit_code == 4
    assert caught.value.hint
    assert len(server.seen) == 1


def spoil_rows(answer: Any, change: Any) -> Any:
    """Change the list of vectors of an answer, wherever the vendor puts it."""
    if "embedding" in answer:
        rows = change([answer["embedding"]])
        return {**answer, "embedding": rows[0] if rows else None}
    if "embeddings" in answer:
        found = answer["embeddings"]
        spoilt = {"float": change(found["float"])} if isinstance(found, dict) else change(found)
        return {**answer, "embeddings": spoilt}
    data = answer["data"]
    inner = data[0].get("data", data)
    rows = change([each["embedding"] for each in inner])
    inner[:] = [{**inner[0], "embedding": row, "index": i} for i, row in enumerate(rows)]
    return answer


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("narrow", lambda rows: [[0.5] * 100 for _ in rows]),
        ("too few", lambda rows: rows[:-1]),
        ("not a number", lambda rows: [[math.nan] * 256 for _ in rows]),
        ("infinite", lambda rows: [[math.inf] + [0.1] * 255 for _ in rows]),
        ("null", lambda rows: [[None] * 256 for _ in rows]),
    ],
)
def test_wrong_vectors_are_refused(pair: tuple[VendorServer, Any], name: str, change: Any) -> None:
    """Vectors of another width, too few, or without finite numbers become an error, never rows."""
    server, embedder = pair
    server.faults = [Fault(spoil=lambda answer: spoil_rows(answer, change))]
    with pytest.raises(ProviderError) as caught:
        embedder.embed(["one text"])
    if name == "narrow":
        assert "100" in caught.value.message
        assert "256" in caught.value.message
        assert "embedding.dimensions" in str(caught.value.hint)
    assert caught.value.hint


def test_what_was_answered_is_kept_when_a_later_batch_fails() -> None:
    """Rows of batches that succeeded are handed out before the error of another is raised."""
    with serving("compatible") as server:
        embedder = opened(
            server, "openai-compatible", {"embedding.model": "minilm", "embedding.concurrency": 1}
        )
        embedder.most_texts = 10
        server.faults = [Fault(), Fault(), Fault(), Fault(400)]
        stream = embedder.embed_stream([f"text {i}" for i in range(100)])
        received = [(start, len(rows)) for start, rows in itertools.islice(stream, 3)]
        assert received == [(0, 10), (10, 10), (20, 10)]
        with pytest.raises(ProviderError):
            next(stream)
        assert embedder.usage.texts == 30


def test_a_batch_above_the_token_limit_is_halved() -> None:
    """A vendor that counts more tokens than the rule gets smaller batches until it is content."""
    with serving("voyage") as server:
        server.most_tokens = 500
        embedder = opened(server, "voyage", {"embedding.model": "voyage-code-3"})
        texts = [f"{i} " * 100 for i in range(40)]
        assert len(embedder.embed(texts)) == 40
        assert embedder.usage.texts == 40
        taken = [seen.body["input"] for seen in server.seen if server.tokens(seen.body["input"]) <= 500]
        assert sorted(text for batch in taken for text in batch) == sorted(texts)


def test_a_text_that_is_too_long_alone_is_embedded_by_its_beginning() -> None:
    """A single text above the model's context is cut, not lost."""
    with serving("openai") as server:
        embedder = opened(server, "openai", {})
        text = "word " * 20_000
        rows = embedder.embed([text, "short"])
        taken = [batch for seen in server.seen if server.tokens(batch := seen.body["input"]) <= 8192]
        assert [len(batch) for batch in taken] == [1, 1]
        assert text.startswith(taken[0][0])
        assert len(rows) == 2


def test_openai_compatible_never_gets_the_openai_key() -> None:
    """Without its own variable an OpenAI-compatible server is asked without a key."""
    with serving("compatible") as server:
        embedder = opened(server, "openai-compatible", {"embedding.model": "minilm"})
        embedder.embed(["word"])
        assert all("authorization" not in seen.headers for seen in server.seen)


def test_openai_compatible_uses_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own variable, and the one that the settings name; a named one that is not set is an error."""
    with serving("compatible") as server:
        monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", KEY)
        opened(server, "openai-compatible", {"embedding.model": "minilm"}).embed(["word"])
        assert server.seen[-1].headers["authorization"] == f"Bearer {KEY}"
        named = {"embedding.model": "minilm", "embedding.apikeyenv": "MY_SERVER_KEY"}
        with pytest.raises(ProviderError, match="MY_SERVER_KEY is not set"):
            opened(server, "openai-compatible", named).embed(["word"])
        monkeypatch.setenv("MY_SERVER_KEY", KEY)
        opened(server, "openai-compatible", named).embed(["word"])


def test_a_server_that_takes_no_dimensions_names_its_width() -> None:
    """Wider vectors than the settings say: the error says which number to set, and that number works."""
    with serving("compatible") as server:
        server.width, server.takes_dimensions = 384, False
        with pytest.raises(ProviderError, match="384 dimensions") as caught:
            opened(server, "openai-compatible", {"embedding.model": "minilm"}).embed(["word"])
        assert caught.value.hint == "git pkb config set embedding.dimensions 384"
        wide = opened(server, "openai-compatible", {"embedding.model": "minilm", "embedding.dimensions": 384})
        assert wide.embed(["word"]).dims == 384


def test_redirects_do_not_carry_the_key_away() -> None:
    """A redirect is an error: following it would hand the key to another host."""
    with serving("openai") as server, serving("openai") as other:
        server.faults = [Fault(307, {"Location": f"{other.url}/v1/embeddings"}, b"")]
        with pytest.raises(ProviderError, match="redirect"):
            opened(server, "openai", {}).embed(["word"])
        assert other.seen == []


def test_a_base_url_may_end_in_v1() -> None:
    """`/v1` at the end of the address is taken as meant, not doubled."""
    with serving("compatible") as server:
        settings = {"embedding.model": "minilm", "embedding.baseurl": f"{server.url}/v1/"}
        opened(server, "openai-compatible", settings).embed(["word"])
        assert server.seen[-1].path == "/v1/embeddings"


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "localhost:8080", "http://user:pw@host", "ftp://h"]
)
def test_addresses_that_cannot_be_meant_are_refused(address: str) -> None:
    """Only http and https, without passwords in them."""
    flags = {"embedding.provider": "ollama", "embedding.baseurl": address}
    with pytest.raises(ConfigError, match=r"embedding\.baseurl"):
        base.open_embedder(load(None, flags, environment={}))


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key: an error that names the variable, no request; opening alone needs none (estimates do not)."""
    monkeypatch.delenv("VOYAGE_API_KEY")
    with serving("voyage") as server:
        embedder = opened(server, "voyage", {})
        with pytest.raises(ProviderError, match="VOYAGE_API_KEY is not set"):
            embedder.embed(["word"])
        assert server.seen == []


def test_ollama_says_how_to_get_a_model() -> None:
    """A model that is not there: `ollama pull`."""
    with serving("ollama") as server, pytest.raises(ProviderError) as caught:
        opened(server, "ollama", {"embedding.model": "absent"}).embed(["word"])
    assert "ollama pull" in str(caught.value.hint)


def test_an_aws_profile_that_does_not_exist_is_named() -> None:
    """The profile of the settings is looked for in the AWS configuration, and its absence is an error."""
    with serving("bedrock") as server, pytest.raises(ProviderError, match="no-such-profile") as caught:
        opened(server, "bedrock", {"embedding.awsprofile": "no-such-profile"}).embed(["word"])
    assert "embedding.awsprofile" in str(caught.value.hint)


def test_aws_requests_are_signed_for_the_region_of_the_settings() -> None:
    """The region decides where requests go and what they are signed for; without one it is us-east-1."""
    with serving("bedrock") as server:
        opened(server, "bedrock", {"embedding.awsregion": "eu-west-1"}).embed(["word"])
        opened(server, "bedrock", {}).embed(["word"])
        signed = [seen.headers["authorization"] for seen in server.seen]
        assert "/eu-west-1/bedrock/" in signed[0]
        assert "/us-east-1/bedrock/" in signed[1]


def test_a_missing_extra_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 is no core dependency."""
    monkeypatch.setitem(sys.modules, "boto3", None)
    with serving("bedrock") as server, pytest.raises(ConfigError) as caught:
        opened(server, "bedrock", {}).embed(["word"])
    assert "pip install 'git-pkb[bedrock]'" in str(caught.value.hint)


def test_bedrock_third_generation_of_cohere() -> None:
    """Cohere v3 has one width and takes at most 2,048 characters of a text."""
    with serving("bedrock") as server:
        settings = {"embedding.model": "cohere.embed-english-v3", "embedding.dimensions": 1024}
        embedder = opened(server, "bedrock", settings)
        assert embedder.embed(["word " * 1000]).dims == 1024


@pytest.mark.parametrize(
    "settings",
    [
        {"embedding.provider": "voyage", "embedding.dimensions": 300},
        {"embedding.provider": "bedrock", "embedding.dimensions": 384},
        {"embedding.provider": "bedrock", "embedding.model": "ai21.jamba"},
        {"embedding.provider": "openai-compatible", "embedding.model": "minilm"},
        {"embedding.provider": "openai-compatible", "embedding.baseurl": "http://localhost:1"},
        {"embedding.provider": "local", "embedding.dimensions": 512},
        {"embedding.provider": "local", "embedding.model": "large"},
        {"embedding.provider": "local", "chunking": "auto"},
        {"embedding.provider": "voyage", "embedding.model": "voyage-code-3", "chunking": "auto"},
        {"embedding.provider": "bedrock", "chunking": "auto"},
        {"embedding.provider": "none", "chunking": "auto"},
        {"embedding.provider": "mock", "embedding.model": "unknown"},
        {"embedding.provider": "cohere"},
    ],
)
def test_what_cannot_work_fails_at_start_and_names_the_fix(settings: dict[str, object]) -> None:
    """Combinations that no request could make right are refused when the embedder is opened."""
    with pytest.raises(ConfigError) as caught:
        base.open_embedder(load(None, settings, environment={}))
    assert caught.value.hint


def test_identities_tell_spaces_apart() -> None:
    """Model, width and type are part of an identity; who cuts the text is, but not of the vector space."""

    def identity(**settings: object) -> str:
        flags = {f"embedding.{name}": value for name, value in settings.items()}
        embedder = base.open_embedder(load(None, {"embedding.provider": "voyage", **flags}, environment={}))
        assert embedder is not None
        return embedder.identity

    assert identity() == "voyage:voyage-context-4:256:int8:auto"
    assert base.space(identity()) == "voyage:voyage-context-4:256:int8"
    assert base.space(f"{identity()}+docstring:1") == base.space(identity())
    assert (
        len({base.space(identity()), base.space(identity(dimensions=512)), identity(model="voyage-3.5")}) == 3
    )


def test_none_has_no_embedder() -> None:
    """The provider `none` means keywords alone."""
    assert base.open_embedder(load(None, {"embedding.provider": "none"}, environment={})) is None
    assert base.as_auto(None) is None
