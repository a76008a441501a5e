"""`git pkb read`: print what a reference names; several matches are listed, nothing is guessed."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.git import Repository
    from git_pkb.search.reading import Passage, Resolution

FOUND, NOTHING = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "reference",
        metavar="REF",
        help="[[Note]], [[Note#Heading]], a file name or path, src/a.py:10-40, src/a.py::Class.method",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Print the passage; 1 when the reference matches nothing, or several things."""
    from git_pkb.git import discover
    from git_pkb.search.snapshot import start_status

    repo = discover()
    status = start_status(repo)
    from git_pkb import config as settings
    from git_pkb.search.reading import resolve
    from git_pkb.search.refresh import current, request_for

    config = settings.load(repo)
    found = current(repo, request_for(repo, config), status, say=_say)
    with found.reader:
        resolution = resolve(found, args.reference, repo.prefix)
    if args.json:
        from git_pkb.output import jsonout
        from git_pkb.output.read import as_json

        sys.stdout.write(jsonout.dump(as_json(args.reference, resolution)))
        return FOUND if resolution.passage else NOTHING
    if resolution.passage is None:
        explain(resolution)
        return NOTHING
    _print(resolution.passage, args.color, repo)
    return FOUND


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def explain(resolution: "Resolution") -> None:
    """Say why there is nothing to print: a sentence on stderr, the places to choose from on stdout."""
    from git_pkb.output.read import place_text
    from git_pkb.output.terminal import safe
    from git_pkb.search.reading import shown_name

    print(safe(resolution.message, tty=sys.stderr.isatty()), file=sys.stderr)
    for place in resolution.matches:
        name = f"\t{safe(shown_name(place), tty=sys.stdout.isatty())}" if place.name else ""
        print(f"{place_text(place)}{name}")
    if resolution.suggestions:
        names = "  ".join(safe(each, tty=sys.stderr.isatty()) for each in resolution.suggestions)
        print(f"did you mean: {names}", file=sys.stderr)
    if resolution.hint:
        print(f"hint: {resolution.hint}", file=sys.stderr)


def _print(passage: "Passage", color: str, repo: "Repository") -> None:
    """The bytes as they are into a pipe; on a terminal nothing that it would obey, and through the pager."""
    from git_pkb.output.terminal import of_stream, safe

    terminal = of_stream(color)
    if not terminal.tty:
        sys.stdout.flush()
        sys.stdout.buffer.write(passage.text)
        sys.stdout.buffer.flush()
        return
    from git_pkb.output.pager import show

    text = passage.text.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = [safe(line.removesuffix("\r").expandtabs(4)) for line in text.split("\n")]
    show("\n".join(lines) + ("" if text.endswith("\n") else "\n"), terminal, repo.git)
