"""`git pkb related`: pieces like the one at a place."""

import argparse
import sys
from typing import TYPE_CHECKING

from git_pkb.errors import UsageError

if TYPE_CHECKING:
    from git_pkb.git import Repository
    from git_pkb.rank.results import SearchResults
    from git_pkb.search.reading import Resolution

FOUND, NOTHING = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "place",
        metavar="FILE:LINE",
        help="where the piece is; also FILE::symbol or FILE#heading, as for `read`",
    )
    parser.add_argument("-k", metavar="N", type=int, help="files to show (default: 5)")
    parser.add_argument(
        "--symbols-per-file", metavar="N", type=int, help="pieces under each file (default: 3)"
    )
    parser.add_argument("--no-symbols", action="store_true", help="files alone")
    parser.add_argument("--text", action="store_true", help="with the source of each piece")
    parser.add_argument("--terse", action="store_true", help="one line a file: path:start-end")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Print what is alike; 1 when there is nothing, or no such place."""
    from git_pkb.git import discover
    from git_pkb.search.snapshot import start_status

    repo = discover()
    status = start_status(repo)
    from git_pkb import config as settings
    from git_pkb.search.reading import resolve
    from git_pkb.search.refresh import current, request_for
    from git_pkb.search.related import Options, related

    config = settings.load(repo)
    k = config.search.k if args.k is None else args.k
    symbols = config.search.symbols_per_file if args.symbols_per_file is None else args.symbols_per_file
    if k < 1:
        raise UsageError("-k must be at least 1")
    if symbols < 0:
        raise UsageError("--symbols-per-file must not be negative")
    found = current(repo, request_for(repo, config), status, say=_say)
    with found.reader:
        resolution = resolve(found, args.place, repo.prefix)
        passage = resolution.passage
        if passage is None:
            return _unresolved(args, resolution)
        if passage.whole:
            raise UsageError(f"{args.place} names no line", f"say which: {passage.path}:LINE")
        options = Options(k, 0 if args.no_symbols else symbols, args.text)
        results = related(found, passage.path, passage.lines[0], options)
    _print(args, results, repo)
    return FOUND if results.results else NOTHING


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _unresolved(args: argparse.Namespace, resolution: "Resolution") -> int:
    from git_pkb.commands import read

    if args.json:
        from git_pkb.output import jsonout
        from git_pkb.output.read import as_json

        sys.stdout.write(jsonout.dump({**as_json(args.place, resolution), "results": []}))
    else:
        read.explain(resolution)
    return NOTHING


def _print(args: argparse.Namespace, results: "SearchResults", repo: "Repository") -> None:
    from git_pkb.output import human, jsonout
    from git_pkb.output.pager import show
    from git_pkb.output.terminal import of_stream

    if args.json:
        sys.stdout.write(jsonout.search(results))
    else:
        terminal = of_stream(args.color)
        text = human.listing(results, terminal, prefix=repo.prefix, top=repo.workdir, terse=args.terse)
        show(text, terminal, repo.git)
        if not results.results:
            print(f"nothing is like {args.place}", file=sys.stderr)
    for warning in results.warnings:
        print(f"warning: {warning}", file=sys.stderr)
