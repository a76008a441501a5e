"""Sources outside the repository, asked beside a search: started before it, fused with its files after it.

In: the settings, a question. Out: results in which passages stand among files, and a warning for each source
that failed. Invariant: a source that fails or is late costs its passages and nothing else.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError
from git_pkb.outside.fusion import Passage, fuse
from git_pkb.rank.results import FileResult

if TYPE_CHECKING:
    from git_pkb.config import KnowledgeBase

__all__ = ["SECONDS", "Asked", "ask"]

SECONDS = 10.0  # that all sources together may take, from the start of the search


def ask(bases: "Sequence[KnowledgeBase]", question: str, most: int) -> "Asked":
    """Ask every knowledge base at once for its `most` best passages."""
    from git_pkb.outside.bedrock_kb import name_of, retrieve

    return Asked(
        [_Question(name_of(base), partial(retrieve, base, question, most, SECONDS)) for base in bases]
    )


class Asked:
    """Sources that were asked and may have answered."""

    def __init__(self, questions: "Sequence[_Question]") -> None:
        self._questions, self._until = questions, time.monotonic() + SECONDS
        for each in questions:
            each.start()

    def fuse(
        self, files: Sequence[FileResult], k: int, symbols: int, *, text: bool
    ) -> tuple[tuple[FileResult, ...], tuple[str, ...]]:
        """The `k` best of files and passages, and what went wrong. Waits for what has not answered yet."""
        lists, warnings = [], []
        for each in self._questions:
            each.join(max(0.0, self._until - time.monotonic()))
            passages, failed = each.passages, each.failed
            if failed is None and passages is None:
                failed = f"no answer within {SECONDS:g} seconds"
            if failed is not None:
                warnings.append(f"{each.name}: {failed}; answered without it")
            elif passages:
                lists.append(passages)
        found = tuple(files)
        return (fuse(found, lists, k, symbols, text=text) if lists else found), tuple(warnings)


class _Question(threading.Thread):
    """One source being asked; a daemon, so that one that hangs cannot keep the process from ending."""

    def __init__(self, name: str, retrieve: Callable[[], list[Passage]]) -> None:
        super().__init__(name=name, daemon=True)
        self._retrieve = retrieve
        self.passages: list[Passage] | None = None
        self.failed: str | None = None

    def run(self) -> None:
        """Ask, and keep what came of it."""
        try:
            self.passages = self._retrieve()
        except PkbError as error:
            self.failed = f"{error.message} ({error.hint})" if error.hint else error.message
        except Exception as error:  # whatever a vendor's client raises: the search goes on without it
            self.failed = f"{type(error).__name__}: {error}"
