"""A server on the loopback that speaks the vendors' documented protocols, for tests of the real clients.

In: requests of Voyage's, OpenAI's, Ollama's, Anthropic's and AWS's own clients. Out: answers, or the faults
that a test lined up: statuses with the vendor's own error body, pages of HTML, silence, vectors that are
wrong. Invariant: it refuses what the vendor refuses (keys, unknown models, widths, batches above the
limits), so a test passes only with requests that the vendor would have taken.
"""

import base64
import hashlib
import json
import re
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

KEY = "key-for-tests"
MODELS = {
    "voyage": {"voyage-context-4", "voyage-context-3", "voyage-code-3", "voyage-3.5"},
    "openai": {"text-embedding-3-small", "text-embedding-3-large", "gpt-test"},
    "compatible": {"minilm", "gpt-test"},
    "ollama": {"nomic-embed-text", "all-minilm", "llama3.2"},
    "anthropic": {"claude-haiku-4-5"},
    "bedrock": {
        "cohere.embed-v4:0", "cohere.embed-english-v3", "amazon.titan-embed-text-v2:0",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
    },
}  # fmt: skip
AWS_KINDS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}
CHUNK_CHARACTERS = 400


@dataclass
class Fault:
    """What the next request gets instead of an answer, or how its answer is spoilt."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    spoil: Callable[[Any], Any] | None = None


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Refused(Exception):
    """A request that the vendor does not take."""

    def __init__(self, status: int, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind


class VendorServer(ThreadingHTTPServer):
    """Speaks one vendor's protocol; `faults` are used up by the next requests, `seen` records all."""

    daemon_threads = True

    def __init__(self, vendor: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.vendor = vendor
        self.faults: list[Fault] = []
        self.seen: list[Seen] = []
        self.most_tokens = {"voyage": 120_000}.get(vendor, 300_000)
        self.characters_per_token = 4
        self.width = 256  # of the OpenAI-compatible server, when not asked for another
        self.takes_dimensions = True
        self.running = self.most_running = 0
        self.work = 0.0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it listens, without `/v1`."""
        return f"http://127.0.0.1:{self.server_port}"

    def tokens(self, texts: list[str]) -> int:
        """What this vendor's tokenizer would say."""
        return sum(len(text) // self.characters_per_token + 1 for text in texts)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away (a time limit, Ctrl-C) is no error of the server."""


@contextmanager
def serving(vendor: str) -> Iterator[VendorServer]:
    """A server that runs while the block does."""
    server = VendorServer(vendor)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def vector(text: str, width: int) -> list[float]:
    """A unit vector made from the text."""
    stream = hashlib.shake_128(text.encode("utf-8", "replace")).digest(width)
    values = [byte - 127.5 for byte in stream]
    length = sum(value * value for value in values) ** 0.5
    return [value / length for value in values]


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: VendorServer

    def log_message(self, *_: object) -> None:
        """Tests look at `seen` instead."""

    def do_POST(self) -> None:
        """Answer, refuse or misbehave."""
        server = self.server
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(content or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        with server.lock:
            server.seen.append(Seen(self.path, headers, body))
            fault = server.faults.pop(0) if server.faults else None
            server.running += 1
            server.most_running = max(server.most_running, server.running)
        try:
            time.sleep(server.work)
            if fault is not None:
                time.sleep(fault.delay)
                if fault.body is not None:
                    self._send(fault.status, fault.body, fault.headers)
                    return
                if fault.status != 200:
                    self._refuse(Refused(fault.status, "told to fail"), fault.headers)
                    return
            try:
                answer, extra = self._answer(headers, body)
            except Refused as refused:
                self._refuse(refused, {})
                return
            if fault is not None and fault.spoil is not None:
                answer = fault.spoil(answer)
            self._send(200, json.dumps(answer).encode(), {"Content-Type": "application/json", **extra})
        finally:
            with server.lock:
                server.running -= 1

    def do_PUT(self) -> None:
        """As a POST; who cares looks at `command`."""
        self.do_POST()

    def _answer(self, headers: dict[str, str], body: dict[str, Any]) -> tuple[Any, dict[str, str]]:
        answer: Callable[[dict[str, str], dict[str, Any]], Any] = getattr(self, f"_{self.server.vendor}")
        found = answer(headers, body)
        return found if isinstance(found, tuple) else (found, {})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _refuse(self, refused: Refused, headers: dict[str, str]) -> None:
        vendor, message = self.server.vendor, refused.message
        body: Any
        if vendor == "voyage":
            body = {"detail": message}
        elif vendor == "ollama":
            body = {"error": message}
        elif vendor == "anthropic":
            body = {"type": "error", "error": {"type": refused.kind or "api_error", "message": message}}
        elif vendor == "bedrock":
            kind = refused.kind or AWS_KINDS.get(refused.status, "Unknown")
            headers = {"x-amzn-errortype": kind, **headers}
            body = {"message": message}
        else:
            body = {
                "error": {"message": message, "type": refused.kind or "invalid_request_error", "code": None}
            }
        self._send(refused.status, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})

    def _bearer(self, headers: dict[str, str], *, required: bool = True) -> None:
        given = headers.get("authorization")
        if given is None and not required:
            return
        if given != f"Bearer {KEY}":
            raise Refused(401, "Provided API key is invalid.")

    def _model(self, name: str, status: int = 404) -> None:
        if name not in MODELS[self.server.vendor]:
            raise Refused(status, f"The model `{name}` does not exist or you do not have access to it.")

    # --- Voyage: https://docs.voyageai.com/reference ---

    def _voyage(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        self._bearer(headers)
        self._model(body["model"], 400)
        if body.get("input_type") not in (None, "query", "document"):
            raise Refused(400, "input_type must be null, query or document")
        width = body.get("output_dimension") or 1024
        if width not in (256, 512, 1024, 2048):
            raise Refused(400, f"output_dimension {width} is not supported")
        if self.path == "/v1/contextualizedembeddings":
            return self._voyage_contextual(body, width)
        if self.path != "/v1/embeddings" or body["model"].startswith("voyage-context"):
            raise Refused(400, f"Model {body['model']} is not supported at {self.path}")
        texts = body["input"]
        if not 1 <= len(texts) <= 1000 or not all(texts):
            raise Refused(400, "The input must hold 1 to 1000 texts, none of them empty")
        used = self._voyage_limit(texts, self.server.most_tokens)
        data = [
            {"object": "embedding", "embedding": _packed(vector(text, width)), "index": i}
            for i, text in enumerate(texts)
        ]
        return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": used}}

    def _voyage_contextual(self, body: dict[str, Any], width: int) -> Any:
        if not body["model"].startswith("voyage-context"):
            raise Refused(400, f"Model {body['model']} does not support contextualized embeddings")
        inputs = body["inputs"]
        if not 1 <= len(inputs) <= 1000 or not all(text for each in inputs for text in each):
            raise Refused(400, "inputs must hold 1 to 1000 lists, no text empty")
        auto = body.get("enable_auto_chunking", False)
        limit = self.server.most_tokens if auto else min(32_000, self.server.most_tokens)
        used = self._voyage_limit([text for each in inputs for text in each], limit)
        data = []
        for number, texts in enumerate(inputs):
            if auto and len(texts) != 1:
                raise Refused(400, "auto-chunking expects one string per document")
            chunks = _chunks(texts[0]) if auto else texts
            inner = [
                {"object": "embedding", "embedding": _packed(vector(chunk, width)), "index": i}
                | ({"text": chunk} if auto else {})
                for i, chunk in enumerate(chunks)
            ]
            data.append({"object": "list", "data": inner, "index": number})
        return {
            "object": "list", "data": data, "model": body["model"],
            "usage": {"total_tokens": used}, "chunker_version": "1",
        }  # fmt: skip

    def _voyage_limit(self, texts: list[str], limit: int) -> int:
        used = self.server.tokens(texts)
        if used > limit:
            raise Refused(
                400,
                f"The max allowed tokens per submitted batch is {limit}. Your batch has {used} tokens. "
                "Please lower the number of tokens in the batch.",
            )
        return used

    # --- OpenAI and servers like it: https://platform.openai.com/docs/api-reference ---

    def _openai(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        self._bearer(headers, required=self.server.vendor == "openai")
        self._model(body["model"])
        if self.path == "/v1/chat/completions":
            said = _summary(body["messages"][-1]["content"])
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            return {"id": "c1", "object": "chat.completion", "choices": [choice], "usage": usage}
        if self.path != "/v1/embeddings":
            raise Refused(404, f"Invalid URL (POST {self.path})")
        texts = body["input"]
        if not 1 <= len(texts) <= 2048 or not all(texts):
            raise Refused(400, "'$.input' is invalid.")
        for text in texts:
            if self.server.tokens([text]) > 8192:
                raise Refused(400, "This model's maximum context length is 8192 tokens.")
        used = self.server.tokens(texts)
        if used > self.server.most_tokens:
            raise Refused(400, f"Requested {used} tokens, max {self.server.most_tokens} tokens per request")
        if self.server.vendor == "openai":
            width = body.get("dimensions", 1536)
        else:
            if "dimensions" in body and not self.server.takes_dimensions:
                raise Refused(400, "Model does not support matryoshka representation")
            width = body.get("dimensions", self.server.width)
        data = [
            {"object": "embedding", "embedding": vector(t, width), "index": i} for i, t in enumerate(texts)
        ]
        usage = {"prompt_tokens": used, "total_tokens": used}
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": usage}

    _compatible = _openai

    # --- Ollama: https://github.com/ollama/ollama/blob/main/docs/api.md ---

    def _ollama(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        self._bearer(headers, required=False)
        if body["model"] not in MODELS["ollama"]:
            raise Refused(404, f'model "{body["model"]}" not found, try pulling it first')
        if self.path == "/api/chat":
            if body.get("stream") is not False:
                raise Refused(400, "this server does not stream")
            said = {"role": "assistant", "content": _summary(body["messages"][-1]["content"])}
            return {
                "model": body["model"],
                "message": said,
                "done": True,
                "prompt_eval_count": 90,
                "eval_count": 9,
            }
        if self.path != "/api/embed":
            raise Refused(404, "404 page not found")
        width = body.get("dimensions") or 768
        texts = body["input"]
        rows = [vector(text, width if body["model"] == "nomic-embed-text" else 384) for text in texts]
        return {"model": body["model"], "embeddings": rows, "prompt_eval_count": self.server.tokens(texts)}

    # --- Anthropic: https://docs.claude.com/en/api/messages ---

    def _anthropic(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        if self.path != "/v1/messages" or "anthropic-version" not in headers:
            raise Refused(404, "Not Found", "not_found_error")
        if KEY not in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")):
            raise Refused(401, "invalid x-api-key", "authentication_error")
        if body["model"] not in MODELS["anthropic"]:
            raise Refused(404, f"model: {body['model']}", "not_found_error")
        if "temperature" in body or not 1 <= body["max_tokens"] <= 64_000:
            raise Refused(400, "max_tokens or temperature", "invalid_request_error")
        said = _summary(body["messages"][-1]["content"])
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": said},
            ],
            "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20},
        }  # fmt: skip

    # --- Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference ---

    def _bedrock(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        signed = headers.get("authorization", "")
        if not signed.startswith("AWS4-HMAC-SHA256") or "/bedrock/aws4_request" not in signed:
            raise Refused(403, "Missing Authentication Token", "MissingAuthenticationTokenException")
        if "Credential=expired" in signed:
            raise Refused(
                400, "The security token included in the request is expired", "ExpiredTokenException"
            )
        match = re.fullmatch(r"/model/([^/]+)/(invoke|converse)", self.path)
        model = unquote(match[1]) if match else ""
        if not match or model not in MODELS["bedrock"]:
            raise Refused(400, "The provided model identifier is invalid.")
        if match[2] == "converse":
            said = _summary(body["messages"][-1]["content"][0]["text"])
            message = {"role": "assistant", "content": [{"text": said}]}
            usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
            return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage,
                    "metrics": {"latencyMs": 1}}  # fmt: skip
        if model.startswith("amazon.titan"):
            if set(body) != {"inputText", "dimensions", "normalize"} or body["dimensions"] not in (
                256,
                512,
                1024,
            ):
                raise Refused(400, "Malformed input request")
            return {"embedding": vector(body["inputText"], body["dimensions"]), "inputTextTokenCount": 7}
        texts = body["texts"]
        if not 1 <= len(texts) <= 96 or body["input_type"] not in ("search_document", "search_query"):
            raise Refused(400, "Malformed input request: texts or input_type")
        third = model == "cohere.embed-english-v3"
        if third and (any(len(text) > 2048 for text in texts) or "output_dimension" in body):
            raise Refused(400, "Malformed input request: expected maxLength: 2048")
        width = 1024 if third else body["output_dimension"]
        rows = [vector(text, width) for text in texts]
        answer = {
            "id": "1",
            "embeddings": {"float": rows},
            "response_type": "embeddings_by_type",
            "texts": texts,
        }
        return answer, {"X-Amzn-Bedrock-Input-Token-Count": str(self.server.tokens(texts))}


def _packed(values: list[float]) -> str:
    """Voyage's client asks for base64 of float32."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def _chunks(text: str) -> list[str]:
    """Verbatim, ordered, disjoint stretches, as Voyage's own cutter returns them; blank edges left out."""
    found = []
    for paragraph in re.findall(r"\S(?:.|\n(?!\s*\n))*", text):
        found += [paragraph[i : i + CHUNK_CHARACTERS] for i in range(0, len(paragraph), CHUNK_CHARACTERS)]
    return [each for each in found if each.strip()]


def _summary(message: str) -> str:
    """A summary that shows what it was made from."""
    material = message.partition("<material>\n")[2].rpartition("\n</material>")[0]
    return f"Summary of {len(material)} characters: {' '.join(material.split()[:6])}."
