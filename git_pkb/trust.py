"""A cloned repository is not trusted with credentials, source text or money.

In: the settings with their origins, and this clone. Out: what of the tracked settings needs a yes first;
the yes is a hash in this clone's own git configuration. Invariant: a setting that decides where text, keys
or money go, and that came from the tracked file, is used only while the hash of all such settings is among
the pinned ones; so a pull that changes any of them asks again.

Harmless values never ask: providers that stay on this machine, a cap that is lower than the default, anything
the user set by git configuration, environment or flag, and whatever belongs to a provider that is not in use.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from git_pkb.config import KEYS, TRACKED, Config, value_of
from git_pkb.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PINS = "pkb.trust.pins"
COMMAND = "git pkb config trust"
EMBEDDING, SUMMARIZER, STORE, SOURCES, COST = "embedding", "summarizer", "store", "sources", "cost"
SECTIONS = (EMBEDDING, SUMMARIZER, STORE, SOURCES, COST)

#: Providers that neither leave this process nor cost anything.
HARMLESS = frozenset({"local", "none", "mock", "docstring", "tree"})
_CAPS = ("maxReindexCost", "hookMaxCost")
_MOST_PINS = 16


class Clone(Protocol):
    """What this needs of a repository."""

    def config(self) -> "Mapping[str, str]":
        """All of git's `pkb.*`."""

    def set_config(self, key: str, value: str) -> None:
        """Set a key of this clone."""

    def unset_config(self, key: str) -> None:
        """Remove a key of this clone."""


class Untrusted(ConfigError):
    """The tracked settings want something that nobody in this clone has agreed to."""

    code = "untrusted"


@dataclass(frozen=True, slots=True)
class Item:
    """A tracked setting that needs a yes: `name` as in the settings, `section` what it belongs to."""

    section: str
    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name} = {_toml(self.value)}"


def sensitive(config: Config) -> tuple[Item, ...]:
    """All tracked settings that decide where text, keys or money go, in the order of the documentation."""
    return tuple(_sensitive(config))


def untrusted(config: Config, repo: Clone, sections: "Sequence[str]" = SECTIONS) -> tuple[Item, ...]:
    """Those of them in these sections that this clone has not agreed to; empty when it has."""
    items = sensitive(config)
    wanted = tuple(item for item in items if item.section in sections)
    return wanted if wanted and _hash(items) not in _pins(repo) else ()


def require(
    config: Config, repo: Clone, sections: "Sequence[str]" = (EMBEDDING, SUMMARIZER, STORE, COST)
) -> None:
    """Raise Untrusted unless this clone agrees: before anything is sent or spent."""
    items = untrusted(config, repo, sections)
    if items:
        raise Untrusted(explain(items), f"look at .pkb/config.toml; if you agree with it: {COMMAND}")


def explain(items: "Sequence[Item]") -> str:
    """Why nothing is done, in a sentence."""
    listed = "; ".join(map(str, items))
    return f"the tracked settings of this repository are not trusted in this clone: {listed}"


def restrained(config: Config, repo: Clone) -> tuple[Config, str | None]:
    """Settings to search with, and why they differ: untrusted parts are switched off, the rest works on.

    An untrusted embedder becomes `none`, so search answers by keyword; likewise store, summarizer and
    outside sources; untrusted caps become the defaults.
    """
    items = untrusted(config, repo)
    if not items:
        return config, None
    sections = {item.section for item in items}
    changes: dict[str, Any] = {}
    if EMBEDDING in sections:
        changes["embedding"] = dataclasses.replace(config.embedding, provider="none")
        changes["chunking"] = None
    if SUMMARIZER in sections:
        changes["summarizer"] = dataclasses.replace(config.summarizer, provider="none")
    if STORE in sections:
        changes["store"] = dataclasses.replace(config.store, provider="tree")
    if SOURCES in sections:
        changes["search"] = dataclasses.replace(config.search, knowledge_bases=())
    for item in items:
        if item.section == COST:
            changes[KEYS[item.name].attribute] = KEYS[item.name].default
    return dataclasses.replace(config, **changes), explain(items)


def pin(config: Config, repo: Clone) -> tuple[Item, ...]:
    """Agree to the tracked settings as they are now; returns them (empty: there was nothing to agree to)."""
    items = sensitive(config)
    if items:
        pins = [each for each in _pins(repo) if each != _hash(items)]
        repo.set_config(PINS, " ".join([*pins, _hash(items)][-_MOST_PINS:]))
    return items


def agree_to_own_edit(before: Config, after: Config, repo: Clone, name: str) -> bool:
    """Agree to a setting that the person at this clone has just written into the tracked file.

    Only when everything was agreed to before, and the edit brings nothing to life but itself: a provider that
    is set must not let a stranger's `baseurl` below it pass. Whether the tracked settings are trusted now.
    """
    known = {(item.name, json.dumps(_plain(item.value), sort_keys=True)) for item in sensitive(before)}
    new = [
        item
        for item in sensitive(after)
        if item.name != name and (item.name, json.dumps(_plain(item.value), sort_keys=True)) not in known
    ]
    if not new and not untrusted(before, repo):
        pin(after, repo)
    return not untrusted(after, repo)


def unpin(repo: Clone) -> None:
    """Take back every yes of this clone."""
    repo.unset_config(PINS)


def _sensitive(config: Config) -> "Iterator[Item]":
    providers = {section: getattr(config, section).provider for section in (EMBEDDING, SUMMARIZER, STORE)}
    reaching = [section for section, provider in providers.items() if provider not in HARMLESS]
    for key in KEYS.values():
        if key.trust and key.section in reaching:
            yield from _tracked(config, key.section, key.name)
    yield from _tracked(config, SOURCES, "search.knowledgeBases")
    for name in _CAPS if reaching else ():
        cap, default = value_of(config, name), KEYS[name].default
        if cap <= 0 or cap > default:
            yield from _tracked(config, COST, name)


def _tracked(config: Config, section: str, name: str) -> "Iterator[Item]":
    value = value_of(config, name)
    if config.origins.get(name) == TRACKED and value not in (None, ()):
        yield Item(section, name, value)


def _hash(items: "Sequence[Item]") -> str:
    plain = [[item.name, _plain(item.value)] for item in items]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _pins(repo: Clone) -> list[str]:
    return repo.config().get(PINS, "").split()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return (
        dataclasses.asdict(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type)
        else value
    )


def _toml(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=True)
