"""turbopuffer over its HTTP API: https://turbopuffer.com/docs/write and /docs/query.

In: rows and questions. Out: ids and hits. A namespace comes into being with its first row. Ids are of the
store's type UUID; path and blob are kept without an index, for nothing is filtered by them. Invariant: pages
of ids end with the first page that is not full, as the documentation of exports has it.
"""

import base64
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from git_pkb.store.base import Hit, Row, shown_path
from git_pkb.store.remote import HttpStore

_PAGE = 10_000  # rows one query may return
_DELETED_AT_ONCE = 10_000
_SCHEMA: dict[str, Any] = {
    "id": "uuid",
    "path": {"type": "string", "filterable": False},
    "blob": {"type": "string", "filterable": False},
    "piece": {"type": "int", "filterable": False},
}
_ABSENT: dict[str, Any] = {"rows": None}


class Turbopuffer(HttpStore):
    """See the module."""

    provider = "turbopuffer"
    default_url = "https://gcp-us-central1.turbopuffer.com"
    default_key = "TURBOPUFFER_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """A bearer token."""
        return {"Authorization": f"Bearer {key}"}

    def prepare(self) -> None:
        """Nothing to do: the first row makes the namespace."""

    def ids(self) -> Iterator[str]:
        """Pages in the order of ids, each after the last one's end."""
        last: str | None = None
        while True:
            body: dict[str, Any] = {"rank_by": ["id", "asc"], "top_k": _PAGE, "include_attributes": False}
            if last is not None:
                body["filters"] = ["id", "Gt", last]
            rows = self.ask("POST", self._path("/query"), body, absent=_ABSENT).get("rows")
            if rows is None:
                return
            try:
                page = [str(row["id"]) for row in rows]
            except (TypeError, KeyError):
                raise self.bad_answer(rows) from None
            if page and page[-1] == last:
                raise self.bad_answer("the same page of ids again")
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1]

    def upsert(self, rows: Sequence[Row]) -> None:
        """Rows with their vectors as the documented base64 of little-endian float32: a third of the bytes."""
        body = {
            "upsert_rows": [
                {
                    "id": row.id,
                    "vector": base64.b64encode(struct.pack(f"<{self.dims}f", *row.vector)).decode("ascii"),
                    "path": shown_path(row.path),
                    "blob": row.blob,
                    "piece": row.piece,
                }
                for row in rows
            ],
            "distance_metric": "cosine_distance",
            "schema": _SCHEMA,
        }
        self.ask("POST", self._path(), body)

    def delete(self, ids: Sequence[str]) -> None:
        """By id."""
        for at in range(0, len(ids), _DELETED_AT_ONCE):
            self.ask("POST", self._path(), {"deletes": list(ids[at : at + _DELETED_AT_ONCE])})

    def nearest(self, vector: Sequence[float], most: int) -> list[Hit]:
        """By cosine distance."""
        body = {
            "rank_by": ["vector", "ANN", list(vector)],
            "top_k": most,
            "include_attributes": ["path", "blob", "piece"],
        }
        answer = self.ask("POST", self._path("/query"), body, quick=True, absent=_ABSENT)
        if answer is _ABSENT:
            raise self.no_collection()
        return self.hits(answer.get("rows"), lambda row: row)

    def _path(self, rest: str = "") -> str:
        return f"/v2/namespaces/{self.collection}{rest}"
