"""Vectors of different models are never compared.

In: a repository and the embedder that would embed a question. Out: nothing, or an error that names both
models. Invariant: only providers that are not asked on the way are looked at; the local model's rows are
made anew in the cache whenever they are lacking, so its questions always meet their own kind.
"""

import os
from typing import TYPE_CHECKING

from git_pkb.embed.base import space
from git_pkb.errors import ConfigError
from git_pkb.index import marker

if TYPE_CHECKING:
    from git_pkb.embed.base import Embedder
    from git_pkb.git import Repository


def require_same(repo: "Repository", embedder: "Embedder") -> None:
    """Raise ConfigError when the tracked index was made with another model than would embed the question."""
    if repo.workdir is None or not (embedder.paid or embedder.network):
        return
    try:
        with open(os.path.join(repo.workdir, marker.NAME), "rb") as file:
            state = marker.parse(file.read())
    except OSError:
        return
    if state is not None and state.model and space(state.model) != space(embedder.identity):
        raise ConfigError(
            f"the index was made with {space(state.model)}, "
            f"but a question would be embedded with {space(embedder.identity)}: these cannot be compared",
            "run `git pkb reindex` (`git pkb estimate` says what that costs), or set the model back; "
            "`--mode keyword` works meanwhile",
        )
