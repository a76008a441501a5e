"""What a search found, as the printers and the server show it.

In: nothing. Out: frozen values. Invariant: results stand best first, pieces within a file too; lines are
1-based and inclusive; text is what the artifacts or the blob say, never made safe for a terminal here.
"""

from git_pkb.slotted import value

#: `language` of a result that is no file of the repository: its path is an address, its lines mean nothing.
KNOWLEDGE_BASE = "knowledge-base"


@value
class SymbolResult:
    """One piece, or one definition in it, that answers the query.

    `kind` is one of DEFINITION_KINDS, or `section`, `text`, `code`; `name` and `breadcrumb` are `""` where a
    piece has none; `text` is its source, only when asked for.
    """

    name: str
    kind: str
    breadcrumb: str
    lines: tuple[int, int]
    score: float
    excerpt: str
    summary: str = ""
    text: str | None = None


@value
class FileResult:
    """One file with its best pieces. `stale`: its content differs from what the index describes."""

    path: str
    score: float
    language: str
    stale: bool
    summary: str
    symbols: tuple[SymbolResult, ...] = ()


@value
class SearchResults:
    """The answer to one query.

    `mode` is the one that was really used (`keyword` after an embedder failed); `warnings` are sentences for
    stderr and the JSON; `indexed_commit` is None when no commit was indexed; `stale_files` counts the whole
    index, not only the results.
    """

    query: str
    mode: str
    warnings: tuple[str, ...]
    indexed_commit: str | None
    stale_files: int
    results: tuple[FileResult, ...]
