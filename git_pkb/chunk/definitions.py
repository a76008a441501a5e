"""The definitions of a syntax tree: names, kinds, extents and nesting.

In: a tree, its grammar's query and the content. Out: `Found` values in the order of the file, outer before
inner. Invariant: a parent comes before its children and holds them; no two names start at the same byte.
"""

import re

import tree_sitter

from git_pkb.chunk.layout import Lines
from git_pkb.slotted import mutable

TYPES = frozenset({"class", "struct", "interface", "trait", "impl", "enum"})
CALLABLES = frozenset({"function", "method"})
VALUES = frozenset({"constant", "variable", "field"})
#: Kinds that say more come first where one name was found twice.
_TELLING = {
    "function": 0,
    "method": 0,
    "class": 0,
    "struct": 0,
    "interface": 0,
    "enum": 0,
    "macro": 0,
    "type": 1,
}

_SEPARATOR = re.compile(r"::|[.:/\\]")
_TEMPLATE = re.compile(r"<[^<>]*>")
_OPERATOR = re.compile(r"\boperator\b.*", re.DOTALL)
_HEADER_END = re.compile(rb"[{\n]|\bdo\b|\bwhere\b|,\s*\w+:\s*\w+:")
#: Lines that belong to the definition below them although the grammar has them beside it.
_PREFIX_LINE = {
    "rust": re.compile(rb"[ \t]*#\["),
    "javascript": re.compile(rb"[ \t]*@\w"),
    "typescript": re.compile(rb"[ \t]*@\w"),
    "tsx": re.compile(rb"[ \t]*@\w"),
}
#: Languages in which one function is written as several equations or clauses.
_CLAUSES = frozenset({"haskell", "elixir", "erlang", "elm", "purescript"})
_WORDS = frozenset(
    b"class def defp defmodule defmacro defmacrop defprotocol defimpl defguard defdelegate fn func "
    b"function fun impl struct enum union trait interface module mod namespace type typealias typedef "
    b"object protocol extension actor record implementation macro macro_rules const static let var "
    b"val data newtype instance sub package contract library event modifier message service rpc given "
    b"test mixin local defn defn- defun property delegate concept define procedure table view index "
    b"trigger sequence schema abstract annotation input fragment query mutation subscription scalar "
    b"directive oneof exception end callback opaque final ".split()
)
_NOT_LABELS = frozenset({b"abstract", b"static", b"final", b"local", b"property", b"end"})
#: Words that stand before a group of definitions, not before each.
_UNSAID = {
    ("go", "type"): "type",
    ("go", "struct"): "type",
    ("go", "interface"): "type",
    ("go", "constant"): "const",
    ("go", "variable"): "var",
    ("ocaml", "function"): "let",
    ("ocaml", "constant"): "let",
}
_WORD = re.compile(rb"[A-Za-z_]+-?")
_MAX_NAME = 120


@mutable
class Found:
    """One definition.

    `start` and `end` are its extent in bytes, `node_start` where its node starts: they differ where
    attributes stand beside the node. `label` is how a breadcrumb shows it; `parent` the index of the
    definition around it, or -1; `joined`: several clauses became one.
    """

    start: int
    end: int
    name_start: int
    name: str
    kind: str
    qualifier: str
    label: str
    node_start: int
    parent: int = -1
    scope: str = ""
    joined: bool = False


def find(tree: tree_sitter.Tree, query: tree_sitter.Query, lines: Lines, language: str) -> list[Found]:
    """All definitions of the tree."""
    content = lines.content
    best: dict[int, tuple[tuple[int, int, int], Found]] = {}
    for index, captures in tree_sitter.QueryCursor(query).matches(tree.root_node):
        found = _read(captures, content, language)
        if found is None:
            continue
        rank = (_TELLING.get(found.kind, 2), found.start - found.end, index)
        known = best.get(found.name_start)
        if known is None or rank < known[0]:
            best[found.name_start] = (rank, found)
    ordered = sorted((found for _, found in best.values()), key=lambda found: (found.start, -found.end))
    nested = _nest(ordered, language)
    prefix = _PREFIX_LINE.get(language)
    if prefix is not None:
        for found in nested:
            _take_prefix_lines(found, prefix, lines)
    return nested


def _read(captures: dict[str, list[tree_sitter.Node]], content: bytes, language: str) -> Found | None:
    """One match as a definition."""
    node = name_node = None
    kind = qualifier = ""
    qualified = False
    end = 0
    for capture, nodes in captures.items():
        if capture == "name":
            name_node = nodes[0]
        elif capture == "path":
            name_node, qualified = nodes[0], True
        elif capture == "declarator":
            name_node, qualified = _declared(nodes[0]), True
        elif capture == "scope":
            qualifier = _text(nodes[0], content)
        elif capture == "end":
            end = nodes[0].end_byte
        elif capture[0] != "_":
            node, kind = nodes[0], capture
    if node is None or name_node is None:
        return None
    name_start = name_node.start_byte
    start = node.start_byte
    raw = _text(name_node, content)
    if language == "hcl":
        # `resource "a" "b"` is a.b, `variable "v"` v, `locals` locals.
        raw = ".".join(_hcl_labels(node, content)) or raw
    name = raw
    if qualified:
        name, qualifier = _split(raw, language)
    name = name.strip().strip("\"'`").lstrip(":$") or raw
    if not name or name == "_" or "\n" in name:
        return None
    if kind == "variable" and len(name) > 1 and name.isupper():
        kind = "constant"
    refine = _REFINE.get(language)
    if refine is not None:
        kind = refine(kind, captures, content)
    label = _label(node, content, name_start, kind, raw, qualifier, language)
    return Found(start, max(end, node.end_byte), name_start, name[:_MAX_NAME], kind, qualifier, label, start)


def _refine_zig(kind: str, captures: dict[str, list[tree_sitter.Node]], content: bytes) -> str:
    """A constant whose value is a container is that container."""
    if kind != "constant":
        return kind
    match = _ZIG_CONTAINER.match(content, captures["name"][0].end_byte)
    return {b"struct": "struct", b"enum": "enum", b"union": "struct"}.get(match[1], "type") if match else kind


def _refine_elixir(kind: str, captures: dict[str, list[tree_sitter.Node]], content: bytes) -> str:
    """The macro that defines tells the kind."""
    return _ELIXIR_KINDS.get(_text(captures["_kw"][0], content), kind)


_ZIG_CONTAINER = re.compile(
    rb"\s*=\s*(?:(?:extern|packed)\s*(?:\([^)\n]*\)\s*)?)?(struct|enum|union|opaque)\b"
)
_ELIXIR_KINDS = {
    "defimpl": "impl",
    "defprotocol": "interface",
    "defmacro": "macro",
    "defmacrop": "macro",
    "defguard": "macro",
    "defguardp": "macro",
    "callback": "prototype",
    "macrocallback": "prototype",
}
_REFINE = {"zig": _refine_zig, "elixir": _refine_elixir}


def _text(node: tree_sitter.Node, content: bytes) -> str:
    return content[node.start_byte : min(node.end_byte, node.start_byte + 4 * _MAX_NAME)].decode(
        "utf-8", "replace"
    )


def _declared(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name inside a C declarator: through pointers, arrays, parentheses and parameter lists."""
    for _ in range(32):
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in {
            "parenthesized_declarator",
            "reference_declarator",
            "attributed_declarator",
        }:
            inner = next((child for child in node.named_children if "comment" not in child.type), None)
        if inner is None:
            return node
        node = inner
    return None


def _split(raw: str, language: str) -> tuple[str, str]:
    """A qualified name as `(name, qualifier with dots)`."""
    operator = ""
    if language in {"cpp", "cuda"}:
        match = _OPERATOR.search(raw)
        if match:
            operator, raw = " ".join(match[0].split()), raw[: match.start()]
        for _ in range(4):
            raw = _TEMPLATE.sub("", raw)
    parts = [part.strip().strip("\"'`") for part in _SEPARATOR.split(raw)]
    parts = [part for part in parts if part and part != "prototype"]
    if operator:
        parts.append(operator)
    if not parts:
        return raw, ""
    if parts[0] in {"module", "exports", "this", "self"} and len(parts) > 1:
        del parts[0]
    if parts[0] == "exports" and len(parts) > 1:
        del parts[0]
    return parts[-1], ".".join(parts[:-1])


def _hcl_labels(node: tree_sitter.Node, content: bytes) -> list[str]:
    return [_text(child, content).strip('"') for child in node.children[1:4] if child.type == "string_lit"]


def _label(
    node: tree_sitter.Node,
    content: bytes,
    name_start: int,
    kind: str,
    raw: str,
    qualifier: str,
    language: str,
) -> str:
    """How the definition is written in a breadcrumb: its word in the language, and its name."""
    start = node.start_byte
    if kind == "impl" or language == "hcl":
        match = _HEADER_END.search(content, start, start + 300)
        header = content[start : match.start() if match else start + 80].decode("utf-8", "replace")
        if language == "rust":
            header = re.sub(r"^(?:unsafe )?impl\s*<.*?>\s", "impl ", _angle_free(header))
        return " ".join(header.split())[:_MAX_NAME]
    if kind in VALUES:
        head = content[max(start, name_start - 40) : name_start]
    else:
        head = content[max(start, name_start - 160) : name_start]
    head = head[head.rfind(b"\n") + 1 :] if kind not in {"function", "method"} else head
    words = [word for word in _WORD.findall(head.lower() if language == "sql" else head) if word in _WORDS]
    words = [word for word in words if word not in _NOT_LABELS or (word == b"local" and language == "bash")]
    if words and words[-1] == b"define":
        words[-1] = b"#define"
    shown = " ".join(raw.split())[:_MAX_NAME]
    if language == "go" and qualifier:
        shown = f"{qualifier}.{shown}"
    word = words[-1].decode() if words else _UNSAID.get((language, kind), "")
    if word == "class" and b"enum" in words:
        word = "enum"
    return f"{word} {shown}" if word else shown


def _angle_free(header: str) -> str:
    """Drop generic arguments; a trait's arguments matter little for finding it again."""
    for _ in range(4):
        header = _TEMPLATE.sub("", header)
    return header


def _nest(ordered: list[Found], language: str) -> list[Found]:
    """Set parents and scopes, drop local values, make methods of functions inside types, join clauses."""
    result: list[Found] = []
    stack: list[int] = []
    joins = language in _CLAUSES
    last_of: dict[int, int] = {}
    for found in ordered:
        while stack and not _holds(result[stack[-1]], found):
            stack.pop()
        parent = stack[-1] if stack else -1
        around = result[parent] if parent >= 0 else None
        if around is not None:
            if around.kind in CALLABLES and found.kind in VALUES:
                continue
            if around.kind in TYPES and found.kind == "function":
                found.kind = "method"
            if around.kind in TYPES and found.kind == "variable":
                found.kind = "field"
        if found.qualifier and found.kind == "function" and language in {"cpp", "cuda"}:
            found.kind = "method"
        if joins and _joined(result, last_of.get(parent, -1), found):
            continue
        found.parent = parent
        outer = f"{around.scope}.{around.name}" if around is not None and around.scope else ""
        if around is not None and not outer:
            outer = around.name
        found.scope = f"{outer}.{found.qualifier}" if outer and found.qualifier else outer or found.qualifier
        last_of[parent] = len(result)
        stack.append(len(result))
        result.append(found)
    return result


def _holds(outer: Found, inner: Found) -> bool:
    """Whether one definition is inside another; names declared together share one extent and are siblings."""
    return inner.start < outer.end and not (outer.start == inner.start and outer.end == inner.end)


def _joined(result: list[Found], last: int, found: Found) -> bool:
    """Whether this clause belongs to the definition before it, which then takes it in."""
    if last < 0:
        return False
    before = result[last]
    kinds = {before.kind, found.kind}
    if before.name != found.name or not kinds <= {"function", "method", "prototype", "macro"}:
        return False
    before.end = max(before.end, found.end)
    before.joined = True
    if before.kind == "prototype":
        before.kind = found.kind
    return True


def _take_prefix_lines(found: Found, prefix: re.Pattern[bytes], lines: Lines) -> None:
    number = lines.number(found.start)
    while number > 0 and prefix.match(lines.content, lines.starts[number - 1]):
        number -= 1
        found.start = lines.starts[number]
