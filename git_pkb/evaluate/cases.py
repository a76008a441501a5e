"""Questions from a file: wdpkr's format, and that of the retrieval benchmark.

In: JSON, a list of objects (or an object with `cases`). Out: `Case`s. Raises UsageError that names the case
and what is wrong with it. Invariant: what `dump` writes, `parse` reads as the same cases.

    {"query": …, "expected_files": ["src/a.py"], "expected_symbols": ["Config.load"], "tags": ["auth"],
     "top_k": 5}
    {"query": …, "relevant": ["src/a.py", {"path": …, "start_line": 3, "end_line": 9}], "secondary": […],
     "category": …}

A symbol may also be an object of `name`, `path`, `start_line`, `end_line`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from git_pkb.errors import UsageError
from git_pkb.evaluate.model import DEFAULT_TOP_K, Case, SymbolTarget, Target

_FORMAT = "a case is an object with `query` and `expected_files` (or `relevant`)"
_KNOWN = frozenset(
    "id query expected_files expected_symbols tags top_k relevant secondary category".split()
)  # fmt: skip


def read(path: str) -> list[Case]:
    """The cases in a file."""
    try:
        with open(path, encoding="utf-8") as source:
            text = source.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"cannot read {path}: {reason}") from None
    return parse(text, path)


def parse(text: str, name: str = "cases") -> list[Case]:
    """The cases in a text; `name` is for messages."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{name} is not JSON: {error}") from None
    items = data.get("cases") if isinstance(data, dict) else data
    if not isinstance(items, list) or not items:
        raise UsageError(f"{name} holds no cases", "it must be a list; " + _FORMAT)
    seen: dict[str, int] = {}
    cases = []
    for number, item in enumerate(items, 1):
        case = _case(item, f"case {number} of {name}")
        seen[case.id] = seen.get(case.id, 0) + 1
        if seen[case.id] > 1:
            case = _renamed(case, f"{case.id} ({seen[case.id]})")
        cases.append(case)
    return cases


def dump(cases: Iterable[Case]) -> str:
    """The cases as JSON that `parse` reads."""
    items = []
    for case in cases:
        item: dict[str, Any] = {"id": case.id, "query": case.query}
        item["expected_files"] = [_plain(t) if t.start is None else _object(t, None) for t in case.files]
        item["expected_symbols"] = [
            symbol.name
            if symbol.name and not symbol.path and symbol.start is None
            else _object(symbol, symbol.name)
            for symbol in case.symbols
        ]
        items.append({**item, "tags": list(case.tags), "top_k": case.top_k})
    return json.dumps(items, indent=1, ensure_ascii=False) + "\n"


def _plain(target: Target) -> str:
    return target.path


def _object(target: Target | SymbolTarget, name: str | None) -> dict[str, Any]:
    fields = {"name": name, "path": target.path, "start_line": target.start, "end_line": target.end}
    return {key: value for key, value in fields.items() if value is not None}


def _renamed(case: Case, name: str) -> Case:
    return Case(name, case.query, case.files, case.symbols, case.tags, case.top_k)


def _case(item: Any, where: str) -> Case:
    if not isinstance(item, dict):
        raise UsageError(f"{where} is not an object", _FORMAT)
    unknown = sorted(set(item) - _KNOWN)
    if "query" not in item and unknown:
        raise UsageError(f"{where} has no `query`, but `{unknown[0]}`", _FORMAT)
    query = item.get("query")
    if not isinstance(query, str) or not query.strip():
        raise UsageError(f"{where} has no `query`", _FORMAT)
    files = [
        *_targets(item, "expected_files", where),
        *_targets(item, "relevant", where),
        *_targets(item, "secondary", where),
    ]
    symbols = [_symbol(each, where) for each in _list(item, "expected_symbols", where)]
    if not files and not symbols:
        raise UsageError(f"{where} expects nothing: {query[:60]!r}", _FORMAT)
    top_k = item.get("top_k")
    top_k = DEFAULT_TOP_K if top_k is None else top_k
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 1:
        raise UsageError(f"{where}: `top_k` must be a whole number from 1")
    name = item.get("id", query)
    return Case(str(name), query, tuple(files), tuple(symbols), _tags(item, query, where), top_k)


def _tags(item: Mapping[str, Any], query: str, where: str) -> tuple[str, ...]:
    """The tags; the benchmark's category counts as one, guessed as its script does where it is missing."""
    tags = [str(tag) for tag in _list(item, "tags", where)]
    if item.get("category"):
        tags.append(str(item["category"]))
    elif "relevant" in item and not tags:
        words = query.strip()
        architecture = words.lower().startswith("how ")
        tags.append("symbol" if " " not in words else "architecture" if architecture else "semantic")
    return tuple(dict.fromkeys(tags))


def _list(item: Mapping[str, Any], key: str, where: str) -> Sequence[Any]:
    value = item.get(key)
    value = [] if value is None else value
    if not isinstance(value, list):
        raise UsageError(f"{where}: `{key}` must be a list")
    return value


def _targets(item: Mapping[str, Any], key: str, where: str) -> list[Target]:
    found = []
    for value in _list(item, key, where):
        if isinstance(value, str) and value:
            found.append(Target(_normal(value)))
        elif isinstance(value, dict) and isinstance(value.get("path"), str):
            found.append(Target(_normal(value["path"]), *_span(value, where)))
        else:
            raise UsageError(f"{where}: `{key}` must hold paths, or objects with `path`")
    return found


def _symbol(value: Any, where: str) -> SymbolTarget:
    if isinstance(value, str) and value.strip():
        return SymbolTarget(name=value.strip())
    if isinstance(value, dict):
        name, path = value.get("name"), value.get("path")
        start, end = _span(value, where)
        if (
            (name is None or isinstance(name, str))
            and (path is None or isinstance(path, str))
            and (name or start)
        ):
            return SymbolTarget(name, _normal(path) if path else None, start, end)
    raise UsageError(
        f"{where}: `expected_symbols` must hold names, or objects with `name` or `path` and lines"
    )


def _span(value: Mapping[str, Any], where: str) -> tuple[int | None, int | None]:
    lines = value.get("start_line"), value.get("end_line")
    if any(line is not None and (not isinstance(line, int) or isinstance(line, bool)) for line in lines):
        raise UsageError(f"{where}: lines must be whole numbers")
    start, end = lines
    return (start, end) if start is not None else (None, None)


def _normal(path: str) -> str:
    return path.removeprefix("./").strip("/")
