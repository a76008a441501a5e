"""The settings: `load` gives them, `Config` holds them, `KEYS` documents them.

schema.py has the table, values.py the checks of single values, loader.py the precedence, editor.py changes.
"""

from git_pkb.config.loader import (
    CONFIG_FILE,
    DEFAULT,
    ENVIRONMENT,
    FLAG,
    GIT,
    TRACKED,
    load,
    parse,
    read_tracked,
)
from git_pkb.config.schema import (
    KEYS,
    VARIABLES,
    Config,
    EmbeddingConfig,
    IndexConfig,
    Key,
    KnowledgeBase,
    OverviewConfig,
    SearchConfig,
    StoreConfig,
    SummarizerConfig,
    value_of,
)

__all__ = [
    "CONFIG_FILE",
    "DEFAULT",
    "ENVIRONMENT",
    "FLAG",
    "GIT",
    "KEYS",
    "TRACKED",
    "VARIABLES",
    "Config",
    "EmbeddingConfig",
    "IndexConfig",
    "Key",
    "KnowledgeBase",
    "OverviewConfig",
    "SearchConfig",
    "StoreConfig",
    "SummarizerConfig",
    "load",
    "parse",
    "read_tracked",
    "value_of",
]
