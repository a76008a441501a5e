"""Vector stores and a knowledge base on the loopback, speaking their documented protocols.

In: requests of the stores' REST APIs, and of boto3 for Bedrock's knowledge bases. Out: answers over rows that
are kept in memory, or the faults of vendor_server.py. Invariant: it refuses what the service refuses (keys,
names, unknown fields, widths that differ, pages that are too large).
"""

import base64
import json
import re
import struct
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vendor_server import AWS_KINDS, KEY, Handler, Refused, VendorServer

PAGE = 10_000


class StoreServer(VendorServer):
    """`collections`: name -> id -> (vector, attributes); `widths`: name -> width of its vectors."""

    def __init__(self, vendor: str) -> None:
        super().__init__(vendor)
        self.RequestHandlerClass = StoreHandler
        self.collections: dict[str, dict[str, tuple[list[float], dict[str, Any]]]] = {}
        self.widths: dict[str, int] = {}
        self.page = PAGE
        self.documents: dict[str, list[dict[str, Any]]] = {}  # knowledge base -> results, best first

    def rows(self) -> dict[str, dict[str, Any]]:
        """Attributes of all rows, by id, of the one collection there is."""
        (rows,) = self.collections.values()
        return {name: about for name, (_, about) in rows.items()}


@contextmanager
def serving_store(vendor: str) -> Iterator[StoreServer]:
    """A server that runs while the block does."""
    server = StoreServer(vendor)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def cosine(a: list[float], b: list[float]) -> float:
    """Of two vectors, 0 where one of them is zero."""
    lengths = sum(x * x for x in a) * sum(x * x for x in b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths**0.5 if lengths else 0.0


class StoreHandler(Handler):
    """One connection."""

    server: StoreServer

    def _refuse(self, refused: Refused, headers: dict[str, str]) -> None:
        kind = AWS_KINDS.get(refused.status, "Unknown")
        body: Any = {
            "turbopuffer": {"status": "error", "error": refused.message},
            "qdrant": {"status": {"error": refused.message}, "time": 0.0},
            "knowledge": {"message": refused.message},
        }[self.server.vendor]
        headers = {"Content-Type": "application/json", "x-amzn-errortype": kind, **headers}
        self._send(refused.status, json.dumps(body).encode(), headers)

    def _only(self, body: dict[str, Any], *names: str) -> None:
        unknown = set(body) - set(names)
        if unknown:
            raise Refused(400, f"unknown fields: {sorted(unknown)}")

    # --- turbopuffer: https://turbopuffer.com/docs ---

    def _turbopuffer(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        self._bearer(headers)
        match = re.fullmatch(r"/v2/namespaces/([A-Za-z0-9_.-]{1,128})(/query)?", self.path)
        if not match or self.command != "POST":
            raise Refused(404, f"no route {self.command} {self.path}")
        return self._puffer_query(match[1], body) if match[2] else self._puffer_write(match[1], body)

    def _puffer_write(self, name: str, body: dict[str, Any]) -> Any:
        self._only(body, "upsert_rows", "deletes", "distance_metric", "schema")
        given = body.get("upsert_rows", [])
        rows = self.server.collections.get(name)
        if rows is None and not given:
            raise Refused(404, f"namespace '{name}' was not found")
        if given and (body["distance_metric"], body["schema"]["id"]) != ("cosine_distance", "uuid"):
            raise Refused(400, "distance_metric or type of id")
        vectors = []
        for row in given:
            raw = base64.b64decode(row["vector"], validate=True)
            vectors.append(list(struct.unpack(f"<{len(raw) // 4}f", raw)))
            uuid.UUID(row["id"])
        self._width(name, vectors)
        rows = self.server.collections.setdefault(name, {})
        for row, vector in zip(given, vectors, strict=True):
            rows[row["id"]] = (vector, {k: v for k, v in row.items() if k not in ("id", "vector")})
        for each in body.get("deletes", []):
            rows.pop(each, None)
        return {"status": "OK", "message": "OK", "rows_affected": len(given), "billing": {}}

    def _width(self, name: str, vectors: list[list[float]]) -> None:
        width = self.server.widths.setdefault(name, len(vectors[0])) if vectors else 0
        if any(len(vector) != width for vector in vectors):
            raise Refused(400, f"vectors must have {width} dimensions")

    def _puffer_query(self, name: str, body: dict[str, Any]) -> Any:
        self._only(body, "rank_by", "top_k", "filters", "include_attributes")
        rows = self.server.collections.get(name)
        if rows is None:
            raise Refused(404, f"namespace '{name}' was not found")
        if not 1 <= body["top_k"] <= PAGE:
            raise Refused(400, "top_k must be between 1 and 10000")
        most = min(body["top_k"], self.server.page)
        if body["rank_by"] == ["id", "asc"]:
            after = body["filters"][2] if "filters" in body else ""
            if "filters" in body and body["filters"][:2] != ["id", "Gt"]:
                raise Refused(400, "filters")
            found = [{"id": each} for each in sorted(rows) if each > after][:most]
            return {"rows": found, "billing": {}, "performance": {}}
        field, how, vector = body["rank_by"]
        if (field, how, len(vector)) != ("vector", "ANN", self.server.widths[name]):
            raise Refused(400, "rank_by")
        near = sorted(rows, key=lambda each: (-cosine(rows[each][0], vector), each))[:most]
        found = [{"id": each, "$dist": 1 - cosine(rows[each][0], vector), **rows[each][1]} for each in near]
        return {"rows": found, "billing": {}, "performance": {}}

    # --- Qdrant: https://api.qdrant.tech ---

    def _qdrant(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        if headers.get("api-key") != KEY:
            raise Refused(401, "Must provide an API key or an Authorization bearer token")
        match = re.fullmatch(r"/collections/([A-Za-z0-9_.-]{1,255})(/points\S*)?", self.path)
        if not match:
            raise Refused(404, "no route")
        name, action = match[1], (self.command, match[2] or "")
        if action == ("PUT", ""):
            if name in self.server.collections:
                raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
            if body["vectors"]["distance"] != "Cosine":
                raise Refused(400, "distance")
            self.server.widths[name] = body["vectors"]["size"]
            self.server.collections[name] = {}
            return {"result": True, "status": "ok", "time": 0.0}
        rows = self.server.collections.get(name)
        if rows is None:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        result: Any = {"operation_id": 1, "status": "completed"}
        if action == ("PUT", "/points?wait=true"):
            self._width(name, [point["vector"] for point in body["points"]])
            for point in body["points"]:
                self._only(point, "id", "vector", "payload")
                rows[str(uuid.UUID(point["id"]))] = (point["vector"], point["payload"])
        elif action == ("POST", "/points/delete?wait=true"):
            for each in body["points"]:
                rows.pop(each, None)
        elif action == ("POST", "/points/scroll"):
            self._only(body, "limit", "offset", "with_payload", "with_vector")
            left = [each for each in sorted(rows) if each >= body.get("offset", "")]
            most = min(body["limit"], self.server.page)
            following = left[most] if len(left) > most else None
            result = {"points": [{"id": each} for each in left[:most]], "next_page_offset": following}
        elif action == ("POST", "/points/query"):
            self._only(body, "query", "limit", "with_payload", "with_vector")
            wanted = body["query"]["nearest"] if isinstance(body["query"], dict) else body["query"]
            if len(wanted) != self.server.widths[name]:
                raise Refused(400, "Wrong input: Vector dimension error")
            near = sorted(rows, key=lambda each: (-cosine(rows[each][0], wanted), each))
            result = {
                "points": [
                    {"id": each, "version": 1, "score": cosine(rows[each][0], wanted)}
                    | ({"payload": rows[each][1]} if body.get("with_payload") else {})
                    for each in near[: body["limit"]]
                ]
            }
        else:
            raise Refused(404, "no route")
        return {"result": result, "status": "ok", "time": 0.0}

    # --- Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Retrieve.html ---

    def _knowledge(self, headers: dict[str, str], body: dict[str, Any]) -> Any:
        signed = headers.get("authorization", "")
        if not signed.startswith("AWS4-HMAC-SHA256") or "/bedrock/aws4_request" not in signed:
            raise Refused(403, "Missing Authentication Token")
        match = re.fullmatch(r"/knowledgebases/([0-9a-zA-Z]{1,10})/retrieve", self.path)
        if not match:
            raise Refused(400, "knowledgeBaseId")
        if match[1] not in self.server.documents:
            raise Refused(404, f"Knowledge Base with id {match[1]} does not exist")
        self._only(body, "retrievalQuery", "retrievalConfiguration")
        most = body["retrievalConfiguration"]["vectorSearchConfiguration"]["numberOfResults"]
        if not body["retrievalQuery"]["text"] or not 1 <= most <= 100:
            raise Refused(400, "retrievalQuery or numberOfResults")
        return {"retrievalResults": self.server.documents[match[1]][:most]}
