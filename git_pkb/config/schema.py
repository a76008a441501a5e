"""Every setting, once: name, type, default and documentation stand in the fields of these classes.

In: nothing. Out: `Config` and `KEYS`, the table that the loader, the editor, the documentation and the
completions are made from. Invariant: a setting's canonical name is its path of field names in camel case
(`search.symbolsPerFile`), unique without regard to case.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from git_pkb.slotted import Default, made_by, value

DEFAULT_COST_CAP = 5.0
DEFAULT_HOOK_COST_CAP = 0.25


def _set(
    doc: str,
    default: object = None,
    *,
    make: Callable[[], object] | None = None,
    trust: bool = False,
    choices: tuple[str, ...] = (),
    minimum: float | None = None,
) -> Any:
    """One setting; `trust`: a value from the tracked file counts only after `git pkb config trust`."""
    return Default(default, make, doc=doc, trust=trust, choices=choices, minimum=minimum)


@value
class KnowledgeBase:
    """One Bedrock Knowledge Base that is asked beside the index."""

    id: str
    region: str = ""
    profile: str = ""
    label: str = ""


@value
class EmbeddingConfig:
    """Which model turns text into vectors."""

    provider: str = _set(
        "who makes vectors",
        "local",
        trust=True,
        choices=("local", "voyage", "bedrock", "openai", "openai-compatible", "ollama", "mock", "none"),
    )
    model: str | None = _set("model name; unset: the provider's default", trust=True)
    dimensions: int = _set("components of a vector", 256, minimum=1)
    apikeyenv: str | None = _set("name of the environment variable that holds the key", trust=True)
    baseurl: str | None = _set("address of the service, without `/v1`", trust=True)
    awsregion: str | None = _set("AWS region of Bedrock", trust=True)
    awsprofile: str | None = _set("AWS profile of Bedrock", trust=True)
    timeout: float = _set("seconds one request may take", 60.0, minimum=0.1)
    concurrency: int = _set("requests at a time", 4, minimum=1)


@value
class SummarizerConfig:
    """Which model describes pieces in words."""

    provider: str = _set(
        "who describes pieces; `docstring` takes their doc comments and asks no model",
        "none",
        trust=True,
        choices=("none", "anthropic", "openai-compatible", "ollama", "bedrock", "docstring", "mock"),
    )
    model: str | None = _set("model name; unset: the provider's default", trust=True)
    apikeyenv: str | None = _set("name of the environment variable that holds the key", trust=True)
    baseurl: str | None = _set("address of the service, without `/v1`", trust=True)
    awsregion: str | None = _set("AWS region of Bedrock", trust=True)
    awsprofile: str | None = _set("AWS profile of Bedrock", trust=True)
    embed: bool = _set("embed the summary instead of the text it describes", True)


@value
class StoreConfig:
    """Where vectors are looked up."""

    provider: str = _set(
        "where the nearest pieces are looked up; `tree`: in the committed index",
        "tree",
        trust=True,
        choices=("tree", "turbopuffer", "qdrant"),
    )
    namespace: str | None = _set(
        "name of the collection (a hash of the model is added); unset: made from the remote's address",
        trust=True,
    )
    baseurl: str | None = _set(
        "address of the service; unset: turbopuffer's region gcp-us-central1, Qdrant's http://localhost:6333",
        trust=True,
    )
    apikeyenv: str | None = _set("name of the environment variable that holds the key", trust=True)


@value
class IndexConfig:
    """What is written, and where."""

    write: str = _set(
        "when artifacts are written to the tracked tree: the workflow",
        "every-commit",
        choices=("every-commit", "default-branch", "local"),
    )
    branch: str | None = _set(
        "branch that carries the index with `default-branch`; unset: origin/HEAD, else main or master"
    )
    dtype: str = _set("how vectors are stored", "int8", choices=("int8", "binary"))
    text: str = _set(
        "`full` keeps the text of each piece in the artifacts, for clones that lack blobs",
        "none",
        choices=("none", "full"),
    )


@value
class SearchConfig:
    """How a search answers unless flags say otherwise."""

    k: int = _set("files shown", 5, minimum=1)
    symbols_per_file: int = _set("pieces shown under each file", 3, minimum=0)
    mode: str = _set("which rankings count", "hybrid", choices=("hybrid", "semantic", "keyword"))
    refresh: bool = _set("index what is missing or stale on the way (never with a paid provider)", True)
    knowledge_bases: tuple[KnowledgeBase, ...] = _set(
        "Bedrock Knowledge Bases to ask too: tables of `id`, `region`, `profile`, `label`", (), trust=True
    )


@value
class OverviewConfig:
    """How much `git pkb overview` says."""

    depth: int = _set("folder levels", 2, minimum=1)
    folders_per_level: int = _set("folders named on each level", 20, minimum=1)
    keywords_per_folder: int = _set("keywords named for each folder", 5, minimum=0)
    max_tokens: int = _set("upper bound of the whole text, in tokens", 2000, minimum=100)


@value
class Config:
    """All effective settings; `origins` says where each of them came from."""

    exclude: tuple[str, ...] = _set("paths not to index: a basename, a path prefix, or a glob", ())
    include: tuple[str, ...] = _set("extensions or paths to index although a rule skips them", ())
    chunking: str | None = _set(
        "who cuts text: the provider (`auto`) or git-pkb (`manual`); unset: `auto` where the model can",
        choices=("auto", "manual"),
    )
    cutter: str = _set("which cutter cuts files", "auto")
    max_reindex_cost: float = _set(
        "most US dollars one run may cost; 0 or below: no limit", DEFAULT_COST_CAP, trust=True
    )
    hook_max_cost: float = _set(
        "the same inside a hook; above it the run is skipped", DEFAULT_HOOK_COST_CAP, trust=True
    )
    hook_strict: bool = _set("whether a failing hook blocks the commit", False)
    hook_timeout: float = _set("seconds after which a hook gives up; 0 or below: no limit", 60.0)
    ext_overrides: Mapping[str, str] = _set(
        'what an extension is, `code` or `text`: `".tsx" = "code"`', make=dict, choices=("code", "text")
    )
    embedding: EmbeddingConfig = made_by(EmbeddingConfig)
    summarizer: SummarizerConfig = made_by(SummarizerConfig)
    store: StoreConfig = made_by(StoreConfig)
    index: IndexConfig = made_by(IndexConfig)
    search: SearchConfig = made_by(SearchConfig)
    overview: OverviewConfig = made_by(OverviewConfig)
    origins: Mapping[str, str] = made_by(dict)


SECTIONS: dict[str, type] = {
    "embedding": EmbeddingConfig,
    "summarizer": SummarizerConfig,
    "store": StoreConfig,
    "index": IndexConfig,
    "search": SearchConfig,
    "overview": OverviewConfig,
}


@value
class Key:
    """One row of the table of settings."""

    name: str
    section: str
    attribute: str
    type: Any
    default: Any
    doc: str
    trust: bool
    choices: tuple[str, ...]
    minimum: float | None

    @property
    def git_name(self) -> str:
        """Its name in git's configuration."""
        return "pkb." + self.name.lower()

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return "GIT_PKB_" + self.name.replace(".", "_").upper()


def _camel(attribute: str) -> str:
    first, *rest = attribute.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _keys() -> Iterator[Key]:
    for section, owner in (("", Config), *SECTIONS.items()):
        for attribute, kind in owner.__annotations__.items():
            default = owner.__field_defaults__[attribute]  # type: ignore[attr-defined]
            if not default.metadata:
                continue
            name = f"{section}.{_camel(attribute)}" if section else _camel(attribute)
            yield Key(name, section, attribute, kind, default.get(), **default.metadata)


#: canonical name -> its row, in the order of the documentation
KEYS: dict[str, Key] = {key.name: key for key in _keys()}

#: Environment variables that are no settings, with what they do.
VARIABLES = {
    "GIT_PKB_SKIP": "1: hooks do nothing",
    "GIT_PKB_CACHE_DIR": "folder of the cache, instead of the one in the repository",
}

#: Parts of git's `pkb.*` that hold this program's own records of a clone, not settings.
INTERNAL_SECTIONS = ("pkb.hooks.", "pkb.state.", "pkb.trust.")


def value_of(config: Config, name: str) -> Any:
    """The effective value of the setting with this canonical name."""
    key = KEYS[name]
    return getattr(getattr(config, key.section) if key.section else config, key.attribute)
