"""JSON for programs: one object on one line, the schema's version first.

In: results or plain values. Out: text. Invariant: the output is valid UTF-8 and valid JSON whatever bytes are
in paths and queries; a path that is not UTF-8 is shown lossy and comes with `path_bytes` in base64.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from git_pkb.rank.results import FileResult, SearchResults, SymbolResult

SCHEMA = 1
SCORE_DIGITS = 6


def dump(fields: Mapping[str, object]) -> str:
    """One object with `schema` first; strings anywhere in it are made valid UTF-8."""
    whole = {"schema": SCHEMA, **fields}
    return json.dumps(_valid(whole), ensure_ascii=False, allow_nan=False) + "\n"


def path_fields(path: str) -> dict[str, str]:
    """`path`, and `path_bytes` when git's bytes are not UTF-8."""
    raw = path.encode("utf-8", "surrogateescape")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        import base64

        return {"path": lossy(path), "path_bytes": base64.b64encode(raw).decode("ascii")}
    return {"path": path}


def lossy(text: str) -> str:
    """Replace what is not UTF-8 by U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def search(results: SearchResults) -> str:
    """The answer to a query, as design section 8 gives it."""
    return dump(
        {
            "query": results.query,
            "indexed_commit": results.indexed_commit,
            "mode": results.mode,
            "warnings": list(results.warnings),
            "stale_files": results.stale_files,
            "results": [_file(file) for file in results.results],
        }
    )


def _file(file: FileResult) -> dict[str, object]:
    return {
        **path_fields(file.path),
        "score": round(file.score, SCORE_DIGITS),
        "language": file.language,
        "stale": file.stale,
        "summary": file.summary,
        "symbols": [_symbol(symbol) for symbol in file.symbols],
    }


def _symbol(symbol: SymbolResult) -> dict[str, object]:
    fields = {
        "name": symbol.name,
        "kind": symbol.kind,
        "breadcrumb": symbol.breadcrumb,
        "lines": list(symbol.lines),
        "score": round(symbol.score, SCORE_DIGITS),
        "excerpt": symbol.excerpt,
        "summary": symbol.summary,
    }
    return fields if symbol.text is None else {**fields, "text": symbol.text}


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else lossy(value)
    if isinstance(value, Mapping):
        return {_valid(name): _valid(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_valid(each) for each in value]
    return value
