"""`git pkb map`: the repository as a map of its pieces, on one page to look at."""

import argparse
import sys

from git_pkb.errors import CannotWrite, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--html", metavar="FILE", required=True, help="write the page here (`-`: stdout)")
    parser.add_argument(
        "--by",
        choices=("folder", "language"),
        default="folder",
        help="what colours mean at first (default: folder)",
    )
    parser.add_argument(
        "--max-pieces", metavar="N", type=int, default=20_000, help="pieces shown at most (default: 20000)"
    )


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    if args.max_pieces < 1:
        raise UsageError("--max-pieces must be at least 1")
    from git_pkb.git import discover
    from git_pkb.search.snapshot import start_status

    repo = discover()
    status = start_status(repo)
    from git_pkb import config as settings
    from git_pkb.output.maphtml import page
    from git_pkb.search.mapping import build
    from git_pkb.search.refresh import current, request_for

    found = current(repo, request_for(repo, settings.load(repo)), status, say=_say)
    with found.reader:
        for warning in found.warnings:
            _say(f"warning: {warning}")
        made = build(found, args.max_pieces)
    text = page(made, args.by)
    if args.html == "-":
        sys.stdout.write(text)
        return 0
    _write(args.html, text)
    _say(f"wrote {args.html}: {len(made.points):,} pieces of {len(made.files):,} files")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _write(path: str, text: str) -> None:
    import os

    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise CannotWrite(
            f"cannot write {path}: {error.strerror}", "name a file in a folder you may write"
        ) from error
