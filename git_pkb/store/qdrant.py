"""Qdrant over its REST API: https://api.qdrant.tech (1.10 or newer, for its query endpoint).

In: rows and questions. Out: ids and hits. A collection is made with the width of the vectors before its first
row. Invariant: every write waits until it is applied, so what `reindex` reported is what a search finds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from git_pkb.errors import ProviderError
from git_pkb.store.base import Hit, Row, shown_path
from git_pkb.store.remote import HttpStore

_PAGE = 10_000
_DELETED_AT_ONCE = 10_000
_DIGITS = 7  # of a component: what float32 keeps
_ABSENT: dict[str, Any] = {"result": None}


class Qdrant(HttpStore):
    """See the module."""

    provider = "qdrant"
    default_url = "http://localhost:6333"
    default_key = "QDRANT_API_KEY"
    needs_key = False

    def headers(self, key: str) -> Mapping[str, str]:
        """Its own header; a server of one's own may need none."""
        return {"api-key": key} if key else {}

    def prepare(self) -> None:
        """Make the collection unless it is there."""
        if self._scroll(None, 1) is not None:
            return
        body = {"vectors": {"size": self.dims, "distance": "Cosine"}}
        try:
            self.ask("PUT", self._path(), body)
        except ProviderError:
            if self._scroll(None, 1) is None:  # else another run made it at the same moment
                raise

    def ids(self) -> Iterator[str]:
        """Pages, each from where the last one says."""
        offset: object = None
        while True:
            page = self._scroll(offset, _PAGE)
            if page is None:
                return
            try:
                found = [str(point["id"]) for point in page["points"]]
                following = page.get("next_page_offset")
            except (TypeError, KeyError, AttributeError):
                raise self.bad_answer(page) from None
            yield from found
            if following is None:
                return
            if following == offset:
                raise self.bad_answer("the same page of ids again")
            offset = following

    def upsert(self, rows: Sequence[Row]) -> None:
        """Points with their payload."""
        points = [
            {
                "id": row.id,
                "vector": [round(each, _DIGITS) for each in row.vector],
                "payload": {"path": shown_path(row.path), "blob": row.blob, "piece": row.piece},
            }
            for row in rows
        ]
        self.ask("PUT", self._path("/points?wait=true"), {"points": points})

    def delete(self, ids: Sequence[str]) -> None:
        """By id."""
        for at in range(0, len(ids), _DELETED_AT_ONCE):
            part = list(ids[at : at + _DELETED_AT_ONCE])
            self.ask("POST", self._path("/points/delete?wait=true"), {"points": part})

    def nearest(self, vector: Sequence[float], most: int) -> list[Hit]:
        """By the collection's cosine."""
        body = {"query": list(vector), "limit": most, "with_payload": True}
        answer = self.ask("POST", self._path("/points/query"), body, quick=True, absent=_ABSENT)
        if answer is _ABSENT:
            raise self.no_collection()
        result = answer.get("result")
        points = result.get("points") if isinstance(result, dict) else None
        return self.hits(points, lambda point: point["payload"])

    def _scroll(self, offset: object, most: int) -> Any:
        """A page of ids; None when there is no such collection."""
        body: dict[str, Any] = {"limit": most, "with_payload": False, "with_vector": False}
        if offset is not None:
            body["offset"] = offset
        answer = self.ask("POST", self._path("/points/scroll"), body, absent=_ABSENT)
        if answer is not _ABSENT and answer.get("result") is None:
            raise self.bad_answer(answer)
        return answer["result"]

    def _path(self, rest: str = "") -> str:
        return f"/collections/{self.collection}{rest}"
