"""From what stands in a file, in git's configuration or in the environment to a checked value.

In: a row of the table and a TOML value or a string. Out: a value of the row's type. Raises ConfigError whose
message begins with the place the value stands in. Invariant: what this returns, a stage may use unchecked.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from git_pkb.config.schema import KEYS, Key, KnowledgeBase
from git_pkb.errors import ConfigError

#: Last parts of names that can only mean the secret itself.
SECRET_NAMES = frozenset({"apikey", "api_key", "api-key", "key", "token", "secret", "password"})
SEE_ALL = "`git pkb config list` shows all settings"
TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
FALSE_WORDS = frozenset({"false", "no", "off", "0", ""})

# patterns are compiled when they are first needed: compiling costs 2 ms of every command's start
NAME_OF_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
#: A vendor's key: long, with digits and lower-case letters; a variable's name is none of it.
LOOKS_LIKE_A_KEY = r"(?=.*\d)(?=.*[a-z]).{24,}"


def unknown(name: str, where: str) -> ConfigError:
    """The error for a name that is no setting, naming the nearest one."""
    section, _, last = name.rpartition(".")
    if last.lower() in SECRET_NAMES:
        reference = f"{section}.apikeyenv" if f"{section}.apikeyenv" in KEYS else "embedding.apikeyenv"
        return ConfigError(
            f"{where}: a key itself must not stand in the configuration",
            f"put the key into an environment variable and name that variable with `{reference}`",
        )
    near = nearest(name)
    hint = f"did you mean `{near}`? {SEE_ALL}" if near else SEE_ALL
    return ConfigError(f"{where}: unknown setting `{name}`", hint)


def nearest(name: str) -> str | None:
    """The setting that was probably meant: its last part in another section, else a near spelling."""
    import difflib

    last = name.rpartition(".")[2].lower()
    tails = {each.rpartition(".")[2].lower(): each for each in reversed(KEYS)}
    lower = {each.lower(): each for each in KEYS}
    if last in tails and name.lower() not in lower and "." not in name:
        return tails[last]
    for word, table, cutoff in ((name.lower(), lower, 0.7), (last, tails, 0.8)):
        close = difflib.get_close_matches(word, table, 1, cutoff)
        if close:
            return table[close[0]]
    return None


def from_toml(key: Key, value: object, where: str) -> Any:
    """Check a value as tomllib gives it."""

    def refuse(expected: str) -> NoReturn:
        raise ConfigError(f"{where}: `{key.name}` must be {expected}, not {_toml_name(value)}", _hint(key))

    if key.type in (str, str | None):
        if not isinstance(value, str):
            refuse("a string")
        return _check_text(key, value, where)
    if key.type is bool:
        if not isinstance(value, bool):
            refuse("true or false")
        return value
    if key.type in (int, float):
        if isinstance(value, bool) or not isinstance(value, int if key.type is int else (int, float)):
            refuse("a whole number" if key.type is int else "a number")
        return _check_number(key, value, where)
    if key.type == tuple[str, ...]:
        if not isinstance(value, (list, tuple)) or not all(isinstance(each, str) for each in value):
            refuse("a list of strings")
        return tuple(value)
    if key.type == tuple[KnowledgeBase, ...]:
        if not isinstance(value, (list, tuple)):
            refuse("a list of tables")
        return tuple(_knowledge_base(key, each, where) for each in value)
    if not isinstance(value, Mapping):
        refuse("a table")
    return _check_overrides(key, value, where)


def from_text(key: Key, text: str, where: str) -> Any:
    """Read a value of git's configuration or of an environment variable.

    Lists are separated by commas (`node_modules,dist`), tables likewise (`.tsx=code,.x=text`); both may be
    written as JSON instead, which is the only way for a list of tables or a comma inside an entry.
    """
    text = text.strip()
    if key.type is bool:
        word = text.lower()
        if word not in TRUE_WORDS | FALSE_WORDS:
            raise ConfigError(f"{where}: `{key.name}` must be true or false, not {text!r}", _hint(key))
        return word in TRUE_WORDS
    if key.type in (int, float):
        try:
            number = int(text) if key.type is int else float(text)
        except ValueError:
            expected = "a whole number" if key.type is int else "a number"
            raise ConfigError(f"{where}: `{key.name}` must be {expected}, not {text!r}", _hint(key)) from None
        return _check_number(key, number, where)
    if key.type == str | None and not text:
        return None
    if key.type in (str, str | None):
        return _check_text(key, text, where)
    return from_toml(key, _structure(key, text, where), where)


def _structure(key: Key, text: str, where: str) -> object:
    if text[:1] in ("[", "{"):
        import json

        try:
            return json.loads(text)
        except ValueError as error:
            raise ConfigError(f"{where}: `{key.name}` is not valid JSON: {error}", _hint(key)) from None
    words = [word.strip() for word in text.split(",") if word.strip()]
    if key.type == tuple[KnowledgeBase, ...]:
        return [{"id": word} for word in words]
    if key.type == tuple[str, ...]:
        return words
    pairs = [word.partition("=") for word in words]
    return {name.strip(): value.strip() for name, _, value in pairs}


def _check_text(key: Key, value: str, where: str) -> str:
    if key.name.endswith(".apikeyenv") and (
        not re.fullmatch(NAME_OF_VARIABLE, value) or re.fullmatch(LOOKS_LIKE_A_KEY, value)
    ):
        raise ConfigError(
            f"{where}: `{key.name}` must name an environment variable; this looks like the key itself",
            f'export the key, e.g. as VOYAGE_API_KEY, and set `{key.name}` to "VOYAGE_API_KEY"',
        )
    if key.choices and value not in key.choices:
        raise ConfigError(f"{where}: `{key.name}` must be {_either(key.choices)}, not {value!r}", _hint(key))
    return value


def _check_number(key: Key, value: float, where: str) -> float:
    # NaN compares false with everything: as a cost cap it would let every run pass
    if not math.isfinite(value) or (key.minimum is not None and value < key.minimum):
        least = "finite" if key.minimum is None else f"at least {key.minimum:g}"
        raise ConfigError(f"{where}: `{key.name}` must be {least}, not {value}", _hint(key))
    return float(value) if key.type is float else value


def _check_overrides(key: Key, table: Mapping[str, object], where: str) -> dict[str, str]:
    checked = {}
    for extension, value in table.items():
        if not extension.startswith(".") or value not in key.choices:
            raise ConfigError(
                f"{where}: `{key.name}` makes `.ext` {_either(key.choices)}, not {extension!r} {value!r}",
                _hint(key),
            )
        checked[extension.lower()] = str(value)
    return checked


def _knowledge_base(key: Key, value: object, where: str) -> KnowledgeBase:
    if isinstance(value, KnowledgeBase):
        return value
    known = ("id", "region", "profile", "label")
    if (
        not isinstance(value, Mapping)
        or not value.get("id")
        or any(name not in known or not isinstance(each, str) for name, each in value.items())
    ):
        raise ConfigError(
            f"{where}: an entry of `{key.name}` is a table of strings: `id`, `region`, `profile`, `label`",
            _hint(key),
        )
    return KnowledgeBase(**value)


def _hint(key: Key) -> str:
    return f"`{key.name}`: {key.doc}"


def _either(choices: tuple[str, ...]) -> str:
    return " or ".join((", ".join(choices[:-1]), choices[-1])) if len(choices) > 1 else choices[0]


def _toml_name(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return "a table" if isinstance(value, Mapping) else names.get(type(value), f"a {type(value).__name__}")
