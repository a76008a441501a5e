"""JSON over HTTP for the small open protocols (OpenAI-compatible, Ollama, stores), with the standard library.

In: an address, a body, headers, a time limit. Out: the object that was answered; raises `Failure`.
Invariant: one request to one host: redirects are not followed, because a redirected request would carry the
key to wherever the answer points; and neither its time nor its size is without bound.
"""

import json
import socket
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from git_pkb.errors import ConfigError
from git_pkb.net.network import Failure, seconds

_LARGEST = 256 * 1024 * 1024  # bytes of one answer
_BLOCK = 64 * 1024
_LOCAL = ("localhost", "127.0.0.1", "::1")


def base_url(value: str, setting: str) -> str:
    """An address as the settings give it, without `/v1` and slashes at its end; raises ConfigError."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(
            f"{setting} must be an http or https address, not `{value}`", "e.g. http://localhost:8080"
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"{setting} must not hold a user name or password",
            f"put the key into an environment variable and name it in {setting.partition('.')[0]}.apikeyenv",
        )
    return value.rstrip("/").removesuffix("/v1").rstrip("/")


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(address).hostname or ""
    return host in _LOCAL or host.startswith("127.")


def post_json(url: str, body: object, headers: Mapping[str, str], timeout: float) -> dict[str, Any]:
    """POST a JSON body and return the JSON object of the answer; `timeout` seconds for all of it."""
    return send_json(url, body, headers, timeout, method="POST")


def send_json(
    url: str, body: object, headers: Mapping[str, str], timeout: float, *, method: str
) -> dict[str, Any]:
    """The same by any method."""
    deadline = time.monotonic() + timeout
    data = json.dumps(body).encode("ascii")
    fields = {**headers, "Content-Type": "application/json", "Accept": "application/json"}
    request = Request(url, data, fields, method=method)  # noqa: S310 - base_url() lets only http and https through
    try:
        with _opener(url).open(request, timeout=timeout) as response:
            content = _read(response, deadline)
    except HTTPError as error:
        with error:
            raise _refused(error, deadline) from None
    except TimeoutError:
        raise Failure(f"no answer within {timeout:g} seconds", transient=True) from None
    except URLError as error:
        late = isinstance(error.reason, TimeoutError)
        said = f"no answer within {timeout:g} seconds" if late else str(error.reason)
        # no such host, or nothing listening on this machine: waiting does not help
        hopeless = isinstance(error.reason, socket.gaierror) or (
            isinstance(error.reason, ConnectionRefusedError) and is_loopback(url)
        )
        raise Failure(said, transient=not hopeless) from None
    except (OSError, HTTPException) as error:
        raise Failure(str(error) or type(error).__name__, transient=True) from None
    return _object(content)


def _opener(url: str) -> OpenerDirector:
    opener = OpenerDirector()
    # a proxy never sees what is meant for this machine
    proxies = ProxyHandler({}) if is_loopback(url) else ProxyHandler()
    for handler in (proxies, HTTPHandler(), HTTPSHandler(), HTTPErrorProcessor(), HTTPDefaultErrorHandler()):
        opener.add_handler(handler)
    return opener


def _read(response: Any, deadline: float) -> bytes:
    blocks: list[bytes] = []
    size = 0
    while block := response.read1(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > _LARGEST:
            raise Failure(f"the answer is larger than {_LARGEST} bytes", transient=False)
        if time.monotonic() > deadline:
            raise TimeoutError
    return b"".join(blocks)


def _object(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except ValueError:
        raise Failure(_beginning(content), transient=False, page=True) from None
    if not isinstance(answer, dict):
        raise Failure(_beginning(content), transient=False, page=True)
    return answer


def _refused(error: HTTPError, deadline: float) -> Failure:
    """What a status above 299 means; the servers differ in where they put their words."""
    retry_after = seconds(error.headers.get("Retry-After"))
    if 300 <= error.code < 400:
        return Failure(f"a redirect to {error.headers.get('Location')}", status=error.code, page=True)
    try:
        content = _read(error, deadline)
    except (OSError, HTTPException, Failure):
        content = b""
    message = _beginning(content) or str(error.reason)
    try:
        said = json.loads(content)
    except ValueError:
        # a page about a missing path or a broken gateway; the status says more than the page
        return Failure(message, status=error.code, retry_after=retry_after)
    for name in ("error", "message", "detail"):
        value = said.get(name) if isinstance(said, dict) else None
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value:
            message = value
            break
    return Failure(message, status=error.code, retry_after=retry_after)


def _beginning(content: bytes) -> str:
    return content[:200].decode("utf-8", "replace").strip()
