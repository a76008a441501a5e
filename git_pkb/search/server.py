"""The repository for agents: five tools over the Model Context Protocol, on stdin and stdout.

In: the repository the server was started in. Out: the same values as the commands' JSON. Needs the extra
`mcp`. Invariant: every answer is about files in the index of that one repository (and, in a search, passages
of the knowledge bases that its settings name), whatever a tool is asked; nothing but the protocol is written
to stdout; no tracked file is changed.
"""

import posixpath
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from git_pkb.errors import PkbError, UsageError

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.search.refresh import Current

NAME = "git-pkb"
INSTALL = 'pip install "git-pkb[mcp]"'
MOST_FILES, MOST_PIECES, MOST_LINES, MOST_BYTES = 50, 20, 2000, 100_000

INSTRUCTIONS = (
    "Search and read the git repository this server was started in. Begin with `overview` to learn what is "
    "where, then `search` with a question in words or a name; it points at files and line ranges. `read` "
    "takes what it points at. `related` finds code like a given place, for instance other places that need "
    "the same change. Answers describe the work tree as it is now, uncommitted changes included."
)


class Tools:
    """What the tools do, without the protocol. Every method may raise PkbError."""

    def __init__(self, repo: "Repository") -> None:
        self.repo = repo
        self._one_at_a_time = threading.Lock()

    def search(
        self,
        query: str,
        k: int = 5,
        scope: str = "",
        language: str = "",
        kind: str = "",
        symbols_per_file: int = 3,
        text: bool = False,
    ) -> dict[str, Any]:
        """Find the files and pieces that answer a question, best first.

        Args:
            query: what you look for, in words ("where are uploads retried") or as a name ("parse_options").
            k: how many files to return, at most 50.
            scope: only below this folder, or this file; from the top of the repository.
            language: only files of this language, e.g. "python".
            kind: "code" or "docs" for only code or only prose.
            symbols_per_file: how many pieces to point at in each file, at most 20.
            text: whether to return the source of each piece too.
        """
        from git_pkb.search.searcher import SearchOptions, search

        if not query.strip():
            raise UsageError("the query is empty")
        if kind not in ("", "code", "docs"):
            raise UsageError(f"kind is code or docs, not {kind!r}")
        options = SearchOptions(
            k=_within("k", k, 1, MOST_FILES),
            scopes=(_inside(scope),) if scope else (),
            languages=(language.lower(),) if language else (),
            kind=kind or None,
            symbols_per_file=_within("symbols_per_file", symbols_per_file, 0, MOST_PIECES),
            text=text,
            outside=True,
        )
        with self._current() as (current, _):
            return _as_dict(search(current, query, options))

    def related(self, place: str, k: int = 5, text: bool = False) -> dict[str, Any]:
        """Find pieces like the one at a place: other code that does the same, or needs the same change.

        Args:
            place: "src/a.py:10", "src/a.py::Class.method" or "docs/a.md#Heading".
            k: how many files to return, at most 50.
            text: whether to return the source of each piece too.
        """
        from git_pkb.search.reading import resolve
        from git_pkb.search.related import Options, related

        options = Options(k=_within("k", k, 1, MOST_FILES), text=text)
        with self._current() as (current, _):
            passage = resolve(current, place).passage
            if passage is None:
                return {**self._read(current, place), "results": []}
            if passage.whole:
                raise UsageError(f"{place} names no line", f"say which: {passage.path}:LINE")
            return _as_dict(related(current, passage.path, passage.lines[0], options))

    def read(self, reference: str) -> dict[str, Any]:
        """Read a file, lines of it, a symbol, or a heading of a note. Several matches are listed instead.

        Args:
            reference: "src/a.py", "src/a.py:10-40", "src/a.py::Class.method", "docs/a.md#Heading",
                "[[Note#Heading]]", or just a file's name.
        """
        with self._current() as (current, _):
            return self._read(current, reference)

    def _read(self, current: "Current", reference: str) -> dict[str, Any]:
        from git_pkb.output.read import as_json
        from git_pkb.search.reading import resolve, shortened

        resolution = resolve(current, reference)
        return _valid(as_json(reference, shortened(resolution, MOST_LINES, MOST_BYTES)))

    def overview(self, folder: str = "", depth: int = 2, max_tokens: int = 2000) -> str:
        """Show what is where: folders, their keywords, the README's opening, entry points, central symbols.

        Args:
            folder: only below this folder; from the top of the repository.
            depth: how many levels of folders.
            max_tokens: upper bound of the text.
        """
        from git_pkb.output import overview as printer
        from git_pkb.output.terminal import Terminal
        from git_pkb.overview import Options, overview_of
        from git_pkb.overview.fit import fit

        plain = Terminal()
        depth = _within("depth", depth, 1, 20)
        most = _within("max_tokens", max_tokens, 100, 100_000)
        with self._current() as (current, config):
            options = Options(
                depth,
                config.overview.folders_per_level,
                config.overview.keywords_per_folder,
                _inside(folder) if folder else "",
            )
            found = overview_of(current, options)
        if not found.files:
            return f"no file is indexed below {folder}" if folder else "no file is indexed"
        return printer.text(fit(found, most, lambda each: printer.text(each, plain)), plain)

    def stats(self) -> dict[str, Any]:
        """Say what the index holds: files, pieces, languages, model, commit, and how many files are stale."""
        with self._current() as (current, config):
            reader = current.reader
            files = reader.files()
            languages: dict[str, int] = {}
            for file in files:
                languages[file.language] = languages.get(file.language, 0) + 1
            return {
                "repository": posixpath.basename(self.repo.top),
                "files": len(files),
                "pieces": reader.live_pieces,
                "languages": dict(sorted(languages.items(), key=lambda item: (-item[1], item[0]))),
                "model": current.embedder.identity if current.embedder else "none",
                "indexed_commit": current.indexed_commit,
                "stale_files": current.stale_files,
                "workflow": config.index.write,
                "warnings": list(current.warnings),
            }

    @contextmanager
    def _current(self) -> "Iterator[tuple[Current, Config]]":
        """The index as it is now, by the settings as they are now."""
        from git_pkb import config as settings
        from git_pkb.search.refresh import current, request_for
        from git_pkb.search.snapshot import start_status

        with self._one_at_a_time:
            status = start_status(self.repo)
            config = settings.load(self.repo)
            found = current(self.repo, request_for(self.repo, config), status, say=_say)
            with found.reader:
                yield found, config


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _as_dict(results: Any) -> dict[str, Any]:
    """Results as `search --json` prints them."""
    import json

    from git_pkb.output import jsonout

    value: dict[str, Any] = json.loads(jsonout.search(results))
    return value


def _valid(fields: dict[str, object]) -> dict[str, Any]:
    import json

    from git_pkb.output import jsonout

    value: dict[str, Any] = json.loads(jsonout.dump(fields))
    return value


def _within(name: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise UsageError(f"{name} must be between {least} and {most}, not {value}")
    return value


def _inside(path: str) -> str:
    """A path from the top; raises for one that leaves the repository."""
    normal = posixpath.normpath(path.strip().lstrip("/") or ".")
    if normal == ".." or normal.startswith("../"):
        raise UsageError(f"{path} is outside the repository")
    return "" if normal == "." else normal


def build(repo: "Repository") -> Any:
    """The server, not yet running; raises UsageError when the extra is not installed."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:  # not there, or older than 2
        raise UsageError("the MCP server needs the extra `mcp`", f"install it: {INSTALL}") from None
    server = MCPServer(NAME, instructions=INSTRUCTIONS, log_level="WARNING")
    tools = Tools(repo)
    for tool in (tools.search, tools.related, tools.read, tools.overview, tools.stats):
        server.tool()(_reporting(tool, ToolError))
    return server


def _reporting(tool: Callable[..., Any], failed: type[Exception]) -> Callable[..., Any]:
    """The same tool; what goes wrong becomes a result that the agent can read."""
    import functools

    @functools.wraps(tool)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return tool(*args, **kwargs)
        except PkbError as error:
            raise failed(f"{error.message}. {error.hint}" if error.hint else error.message) from error

    return run
