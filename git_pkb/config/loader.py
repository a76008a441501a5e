"""The effective settings: defaults < .pkb/config.toml < git config < environment < flags.

In: the repository, the environment, the flags that were given. Out: `Config`, with the origin of each value.
Invariant: nothing is parsed that is not there, and tomllib is imported only when the file exists: every
command, each hook among them, begins here.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from git_pkb.config.schema import INTERNAL_SECTIONS, KEYS, SECTIONS, VARIABLES, Config
from git_pkb.config.values import from_text, from_toml, unknown
from git_pkb.errors import ConfigError

CONFIG_FILE = ".pkb/config.toml"
DEFAULT, TRACKED, GIT, ENVIRONMENT, FLAG = "default", CONFIG_FILE, "git config", "environment", "flag"
ENVIRONMENT_PREFIX = "GIT_PKB_"
MAX_BYTES = 1_000_000


class Source(Protocol):
    """What the settings need of a repository."""

    @property
    def workdir(self) -> str | None:
        """Top of the work tree, None when bare."""

    def config(self) -> Mapping[str, str]:
        """All of git's `pkb.*`."""

    def git(self, *args: str, check: bool = ...) -> bytes:
        """What this git command prints."""


def load(
    repo: Source | None,
    flags: Mapping[str, object] | None = None,
    *,
    text: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Gather and check all settings; raises ConfigError.

    `text` is the content of the tracked file when it comes from elsewhere than the work tree; a bare
    repository reads it from HEAD. `flags` maps canonical names to values, None for a flag that was not given.
    """
    found: dict[str, tuple[Any, str]] = {}
    tracked = text if text is not None else read_tracked(repo)
    if tracked is not None:
        found |= {name: (value, TRACKED) for name, value in parse(tracked).items()}
    if repo is not None:
        found |= {name: (value, GIT) for name, value in _from_git(repo.config())}
    for name, value in _from_environment(os.environ if environment is None else environment):
        found[name] = (value, ENVIRONMENT)
    for name, flag in (flags or {}).items():
        if flag is not None:
            found[name] = (from_toml(KEYS[name], flag, f"flag for `{name}`"), FLAG)
    return _build(found)


def parse(data: bytes, where: str = CONFIG_FILE) -> dict[str, Any]:
    """The settings of a tracked file, by canonical name; raises ConfigError with the file's line."""
    import tomllib

    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text)
    except UnicodeDecodeError:
        raise ConfigError(f"{where} is not UTF-8", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{where} is not valid TOML: {error}", "see https://toml.io for the syntax"
        ) from None
    values = {}
    for parts, value in _leaves(document):
        name = ".".join(parts)
        line = _line_of(text, parts)
        place = f"{where}:{line}" if line else where
        key = KEYS.get(name)
        if key is None:
            if name in SECTIONS:
                raise ConfigError(
                    f"{place}: `{name}` is a section, not a value", f"write [{name}] above its keys"
                )
            raise unknown(name, place)
        values[name] = from_toml(key, value, place)
    return values


def read_tracked(repo: Source | None) -> bytes | None:
    """The content of the tracked settings, or None: from the work tree, or from HEAD of a bare repository."""
    if repo is None:
        return None
    if repo.workdir is None:
        return repo.git("cat-file", "blob", f"HEAD:{CONFIG_FILE}", check=False) or None
    path = os.path.join(repo.workdir, CONFIG_FILE)
    try:
        # a cloned repository chooses what this is: a device or a FIFO behind a link must not hang the command
        if not os.path.exists(path):
            return None
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_BYTES:
            raise ConfigError(f"{CONFIG_FILE} is no regular file of at most {MAX_BYTES} bytes")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ConfigError(f"cannot read {CONFIG_FILE}: {error.strerror}") from None


def _leaves(document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, value in document.items():
        if isinstance(value, dict) and name not in KEYS:
            yield from (((name, inner), each) for inner, each in value.items())
        else:
            yield (name,), value


def _line_of(text: str, parts: tuple[str, ...]) -> int | None:
    """The line that sets this key: a search good enough to point at it, tomllib does not say."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", line)
        assignment = re.match(r"\s*([^=#]+?)\s*=", line)
        if header:
            table = _dotted(header[1])
            if table == parts:
                return number
        elif assignment and table + _dotted(assignment[1]) == parts:
            return number
    return None


def _dotted(name: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in name.split("."))


def _from_git(settings: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    by_lower = {key.git_name: key for key in KEYS.values()} if settings else {}
    for name, text in settings.items():
        key = by_lower.get(name.lower())
        if key is not None:
            yield key.name, from_text(key, text, f"git config {key.git_name}")
        elif not name.startswith(INTERNAL_SECTIONS):
            raise unknown(name.removeprefix("pkb."), f"git config {name}")


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    given = [name for name in environment if name.startswith(ENVIRONMENT_PREFIX) and name not in VARIABLES]
    by_variable = {key.variable: key for key in KEYS.values()} if given else {}
    for variable in given:
        key = by_variable.get(variable)
        if key is None:
            raise unknown(
                variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", "."), f"environment {variable}"
            )
        if environment[variable]:
            yield key.name, from_text(key, environment[variable], f"environment {variable}")


def _build(found: Mapping[str, tuple[Any, str]]) -> Config:
    given: dict[str, dict[str, Any]] = {section: {} for section in ("", *SECTIONS)}
    origins = dict.fromkeys(KEYS, DEFAULT)
    for name, (value, origin) in found.items():
        key = KEYS[name]
        given[key.section][key.attribute] = value
        origins[name] = origin
    sections = {name: kind(**given[name]) for name, kind in SECTIONS.items()}
    return Config(**given[""], **sections, origins=origins)
