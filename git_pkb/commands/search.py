"""`git pkb search`: find the files and pieces that answer a question."""

import argparse
import sys
from typing import TYPE_CHECKING

from git_pkb.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.output.progress import Progress
    from git_pkb.rank.results import SearchResults
    from git_pkb.search.searcher import SearchOptions

FOUND, NOTHING = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("query", metavar="QUERY", nargs="*", help="what you look for, in words or as a name")
    parser.add_argument("-i", "--interactive", action="store_true", help="pick from results while you type")
    parser.add_argument("-k", metavar="N", type=int, help="files to show (default: 5)")
    parser.add_argument(
        "--scope", metavar="PATH", action="append", default=[], help="only below this folder, or this file"
    )
    parser.add_argument(
        "--filter", metavar="GLOB", action="append", default=[], help="only files that match, e.g. '*.py'"
    )
    parser.add_argument(
        "--lang", metavar="L", action="append", default=[], help="only files of this language"
    )
    parser.add_argument("--kind", choices=("code", "docs"), help="only code, or only prose")
    parser.add_argument("--mode", choices=("hybrid", "semantic", "keyword"), help="which rankings count")
    parser.add_argument(
        "--symbols-per-file", metavar="N", type=int, help="pieces under each file (default: 3)"
    )
    parser.add_argument("--no-symbols", action="store_true", help="files alone")
    parser.add_argument("--text", action="store_true", help="with the source of each piece")
    parser.add_argument("--terse", action="store_true", help="one line a file: path:start-end")
    parser.add_argument("--flat", action="store_true", help="pieces of all files in one list, best first")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Search and print; 1 when nothing was found."""
    if args.interactive and args.json:
        raise UsageError("-i and --json exclude each other")
    if args.flat and args.interactive:
        raise UsageError("-i and --flat exclude each other")
    if args.flat and args.json:
        raise UsageError(
            "--flat and --json exclude each other",
            "in the JSON, sort the symbols of all results by their score",
        )
    if not args.query and not args.interactive:
        raise UsageError("there is nothing to search for", "git pkb search QUERY, or git pkb search -i")
    # git is asked first and answers beside everything else
    from git_pkb.git import Early
    from git_pkb.search.snapshot import STATUS

    early = Early(*STATUS)

    from git_pkb import config as settings
    from git_pkb.search.refresh import answer, request_for
    from git_pkb.search.searcher import search

    repo = early.repository()
    config = settings.load(repo)
    options = _options(args, config, repo)
    if args.interactive:
        from git_pkb.search import interactive
        from git_pkb.search.refresh import current

        found = current(repo, request_for(repo, config), early.beside, say=_say)
        with found.reader:
            return interactive.run(repo, found, options, " ".join(args.query), given_k=args.k is not None)
    line = _Line()
    try:
        results = answer(
            repo,
            request_for(repo, config),
            early.beside,
            lambda current: search(current, " ".join(args.query), options),
            say=_say,
            progress=line.show,
        )
    finally:
        line.done()
    if args.json:
        from git_pkb.output import jsonout

        sys.stdout.write(jsonout.search(results))
    else:
        _print(args, results, repo)
    for warning in results.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if results.results:
        return FOUND
    for hint in _why_nothing(args, options, repo):
        print(f"hint: {hint}", file=sys.stderr)
    return NOTHING


def _why_nothing(args: argparse.Namespace, options: "SearchOptions", repo: "Repository") -> "Iterator[str]":
    """What of the options names nothing at all."""
    import os

    from git_pkb.chunk.languages import LANGUAGES
    from git_pkb.output.terminal import safe

    for given, scope in zip(args.scope, options.scopes, strict=True):
        if repo.workdir is not None and not os.path.lexists(os.path.join(repo.workdir, scope)):
            yield f"--scope {safe(given)}: nothing of that name is in the work tree"
    for language in options.languages:
        if language not in LANGUAGES:
            yield f"--lang {safe(language)}: no such language; `git pkb stats` names those of this repository"


class _Line:
    """The progress of a first build, on a terminal."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._files = self._pieces = 0

    def show(self, files: int, total: int, pieces: int) -> None:
        """So many files and pieces are done."""
        if self._progress is None:
            from git_pkb.output.progress import Progress

            self._progress = Progress()
            self._progress.start("indexing", total)
        self._progress.step(files - self._files, pieces - self._pieces)
        self._files, self._pieces = files, pieces

    def done(self) -> None:
        """Wipe the line, if there is one."""
        if self._progress is not None:
            self._progress.done()


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _print(args: argparse.Namespace, results: "SearchResults", repo: "Repository") -> None:
    from git_pkb.output import human
    from git_pkb.output.pager import show
    from git_pkb.output.terminal import of_stream

    terminal = of_stream(args.color)
    text = human.listing(
        results, terminal, prefix=repo.prefix, top=repo.workdir, terse=args.terse, flat=args.flat
    )
    show(text, terminal, repo.git)


def _options(args: argparse.Namespace, config: "Config", repo: "Repository") -> "SearchOptions":
    from git_pkb.search.searcher import SearchOptions

    k = config.search.k if args.k is None else args.k
    symbols = config.search.symbols_per_file if args.symbols_per_file is None else args.symbols_per_file
    if k < 1:
        raise UsageError("-k must be at least 1")
    if symbols < 0:
        raise UsageError("--symbols-per-file must not be negative")
    return SearchOptions(
        k=k,
        mode=args.mode or config.search.mode,
        scopes=tuple(_from_top(scope, repo.prefix) for scope in args.scope),
        filters=tuple(args.filter),
        languages=tuple(language.lower() for language in args.lang),
        kind=args.kind,
        symbols_per_file=0 if args.no_symbols else symbols,
        text=args.text,
        outside=True,
    )


def _from_top(scope: str, prefix: str) -> str:
    """A scope as typed (relative to the current folder, or to the top with a leading `/`) from the top."""
    import posixpath

    path = scope.lstrip("/") if scope.startswith("/") else posixpath.join(prefix, scope)
    path = posixpath.normpath(path) if path else "."
    if path == ".." or path.startswith("../"):
        raise UsageError(f"--scope {scope} is outside the repository")
    return "" if path == "." else path
