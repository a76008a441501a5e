"""What stores over HTTP have in common: the key, retries, errors one can act on, answers that are checked.

In: requests of one store's protocol. Out: its answers. Invariant: the key is read when a request is made, and
goes to the configured address alone.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from git_pkb.errors import ProviderError
from git_pkb.net.jsonhttp import base_url, send_json
from git_pkb.net.network import PATIENT, QUICK, Failure, Policy, Service, retrying
from git_pkb.store.base import Hit, path_shown

if TYPE_CHECKING:
    from git_pkb.config import StoreConfig

_WRITE_SECONDS, _QUERY_SECONDS = 120.0, 5.0
_NUMBERS_A_REQUEST = 256_000  # about 6 MB where vectors are decimal numbers


class HttpStore:
    """Base of the stores."""

    provider: ClassVar[str]
    default_url: ClassVar[str]
    default_key: ClassVar[str]
    #: Whether asking without a key makes no sense.
    needs_key: ClassVar[bool] = True

    def __init__(self, settings: "StoreConfig", collection: str, dims: int) -> None:
        self.collection, self.dims = collection, dims
        self.url = base_url(settings.baseurl or self.default_url, "store.baseurl")
        self.key_variable = settings.apikeyenv or self.default_key
        self.key_named = settings.apikeyenv is not None
        self.most_rows = max(1, _NUMBERS_A_REQUEST // dims)
        self.shown = f"{self.provider} at {self.url}"
        #: How patiently writes are repeated.
        self.policy: Policy = PATIENT

    def headers(self, key: str) -> Mapping[str, str]:
        """How the key is sent."""
        raise NotImplementedError

    def ask(
        self, method: str, path: str, body: object, *, quick: bool = False, absent: Any = None
    ) -> dict[str, Any]:
        """One request, repeated while that can help. `absent`: the answer where there is no collection."""
        key = os.environ.get(self.key_variable, "").strip()
        if not key and (self.needs_key or self.key_named):
            raise ProviderError(
                f"{self.provider} needs a key, and the environment variable {self.key_variable} is not set",
                f"export {self.key_variable}=…, or name another variable with store.apikeyenv",
            )
        seconds = _QUERY_SECONDS if quick else _WRITE_SECONDS
        try:
            return retrying(
                lambda: send_json(self.url + path, body, self.headers(key), seconds, method=method),
                QUICK if quick else self.policy,
            )
        except Failure as failure:
            if failure.status == 404 and absent is not None:
                found: dict[str, Any] = absent
                return found
            raise self._explain(failure) from None

    def no_collection(self) -> ProviderError:
        """The error of a question before there are rows."""
        return ProviderError(
            f"{self.shown} has no vectors of this repository by this model (`{self.collection}`)",
            "write them: git pkb reindex",
        )

    def hits(self, rows: Any, payload: Callable[[dict[str, Any]], Any]) -> list[Hit]:
        """Hits from an answer; `payload` finds the attributes in a row. Raises ProviderError."""
        try:
            found = [payload(row) for row in rows]
            hits = [Hit(path_shown(each["path"]), each["blob"], each["piece"]) for each in found]
        except (TypeError, KeyError, AttributeError):
            raise self.bad_answer(rows) from None
        if not all(isinstance(hit.blob, str) and type(hit.piece) is int and hit.piece >= 0 for hit in hits):
            raise self.bad_answer(rows)
        return hits

    def bad_answer(self, what: object) -> ProviderError:
        """The error for an answer that cannot be used."""
        return ProviderError(
            f"{self.shown} gave an answer that cannot be used: {str(what)[:200]}",
            "is this the right address? It is set by store.baseurl",
        )

    def _explain(self, failure: Failure) -> ProviderError:
        """The error for a request that failed for good."""
        said = Service(self.provider, self.url, self.key_variable, "store").explain(failure)
        hint = said.hint
        if failure.status in (401, 403):
            hint = f"check that the key in {self.key_variable} may read and write; store.apikeyenv names it"
        elif failure.status == 404:
            words = " ".join(failure.message.split())[:200]
            return ProviderError(f"{self.shown} does not know this address: {words}", "check store.baseurl")
        elif failure.status is not None and failure.status < 500 and failure.status not in (402, 408, 429):
            hint = "check store.baseurl and store.namespace"
        return ProviderError(said.message, hint)
