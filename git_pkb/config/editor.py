"""Change `.pkb/config.toml` as its owner would: comments, order and spacing stay.

In: the file's bytes, a canonical name and a checked value. Out: the new bytes. Raises ConfigError for a file
that is not TOML. Invariant: everything but the one key is byte for byte as before.
"""

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from git_pkb.config.loader import CONFIG_FILE
from git_pkb.config.schema import KnowledgeBase
from git_pkb.errors import ConfigError

if TYPE_CHECKING:
    import tomlkit

HEADING = r"\s*\[\[?[^\[\],]+\]\]?\s*(#.*)?$"


def set_value(data: bytes, name: str, value: Any) -> bytes:
    """The file with this setting set."""
    import tomlkit
    from tomlkit.items import Table

    document = _parse(data)
    section, _, key = name.rpartition(".")
    if not section:
        if key not in document and not isinstance(value, Mapping):
            return _above_sections(tomlkit.dumps(document), tomlkit.dumps({key: plain(value)})).encode()
        document[key] = plain(value)
        return _bytes(document)
    table = document.get(section)
    if table is None:
        table = tomlkit.table()
        if len(document):
            document.add(tomlkit.nl())
        document[section] = table
    elif not isinstance(table, (Table, dict)):
        raise ConfigError(f"{CONFIG_FILE}: `{section}` is not a table", f"write [{section}] above its keys")
    table[key] = plain(value)
    return _bytes(document)


def unset_value(data: bytes, name: str) -> bytes:
    """The file without this setting; a section that this leaves empty goes as well."""
    document = _parse(data)
    section, _, key = name.rpartition(".")
    table = document.get(section) if section else document
    if isinstance(table, dict) and key in table:
        del table[key]
        if section and not table:
            del document[section]
    return _bytes(document)


def toml_text(value: Any) -> str:
    """A value as TOML writes it; `""` for one that is unset."""
    if value is None:
        return ""
    import json

    value = plain(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _above_sections(text: str, line: str) -> str:
    """Insert a line below the last top-level setting: after a heading it would belong to that section.

    A heading is told from a line of a nested array by its shape; no top-level setting has nested arrays.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    line = line.replace("\n", newline)
    if text and not text.endswith("\n"):
        text += newline
    lines = text.splitlines(keepends=True)
    at = next((n for n, each in enumerate(lines) if re.match(HEADING, each)), len(lines))
    last = next((n for n in reversed(range(at)) if lines[n].strip() and lines[n].lstrip()[0] != "#"), None)
    if last is not None:
        return "".join([*lines[: last + 1], line, *lines[last + 1 :]])
    while at and lines[at - 1].lstrip().startswith("#"):  # a section's own comment stays with it
        at -= 1
    return "".join([*lines[:at], line, *([newline] if at < len(lines) else []), *lines[at:]])


def _parse(data: bytes) -> "tomlkit.TOMLDocument":
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(data)
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise ConfigError(f"{CONFIG_FILE} is not valid TOML: {error}", "mend it by hand first") from None


def _bytes(document: "tomlkit.TOMLDocument") -> bytes:
    import tomlkit

    return tomlkit.dumps(document).encode()


def plain(value: Any) -> Any:
    """A value in the types TOML has."""
    if isinstance(value, KnowledgeBase):
        return {name: each for name, each in dataclasses.asdict(value).items() if each}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return dict(value) if isinstance(value, Mapping) else value
