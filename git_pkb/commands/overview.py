"""`git pkb overview`: what is where, as the first thing to read."""

import argparse
import sys

from git_pkb.errors import UsageError

FOUND, NOTHING = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", default="", help="only what is below this folder"
    )
    parser.add_argument("--depth", metavar="N", type=int, help="folder levels (default: 2)")
    parser.add_argument(
        "--folders", metavar="N", type=int, help="folders named under each parent (default: 20)"
    )
    parser.add_argument("--keywords", metavar="N", type=int, help="keywords for each folder (default: 5)")
    parser.add_argument(
        "--max-tokens", metavar="N", type=int, help="upper bound of the text, in tokens (default: 2000)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Print the overview; 1 when no file is indexed (below FOLDER)."""
    from git_pkb.git import discover
    from git_pkb.search.snapshot import start_status

    repo = discover()
    status = start_status(repo)
    from git_pkb.config import load
    from git_pkb.output import overview as printer
    from git_pkb.output.terminal import Terminal, of_stream
    from git_pkb.overview import Options, overview_of
    from git_pkb.overview.fit import fit
    from git_pkb.search.refresh import current, request_for

    config = load(repo, _flags(args))
    options = Options(
        config.overview.depth,
        config.overview.folders_per_level,
        config.overview.keywords_per_folder,
        below(args.folder, repo.prefix),
    )
    found = current(repo, request_for(repo, config), status, say=_say)
    with found.reader:
        overview = overview_of(found, options)
    plain = Terminal()
    overview = fit(overview, config.overview.max_tokens, lambda each: printer.text(each, plain))
    if args.json:
        from git_pkb.output import jsonout

        sys.stdout.write(jsonout.dump(printer.as_json(overview)))
    elif overview.files:
        from git_pkb.output.pager import show

        terminal = of_stream(args.color)
        show(printer.text(overview, terminal), terminal, repo.git)
    if not overview.files:
        where = f" below {options.below}" if options.below else ""
        print(f"no file is indexed{where}", file=sys.stderr)
        return NOTHING
    return FOUND


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _flags(args: argparse.Namespace) -> dict[str, object]:
    return {
        "overview.depth": args.depth,
        "overview.foldersPerLevel": args.folders,
        "overview.keywordsPerFolder": args.keywords,
        "overview.maxTokens": args.max_tokens,
    }


def below(folder: str, prefix: str) -> str:
    """A folder as typed (relative to the current one, or to the top with a leading `/`) from the top."""
    import posixpath

    if not folder:
        return ""
    path = posixpath.normpath(
        folder.lstrip("/") or "." if folder.startswith("/") else posixpath.join(prefix, folder)
    )
    if path == ".." or path.startswith("../"):
        raise UsageError(f"{folder} is outside the repository")
    return "" if path == "." else path
