"""`git pkb mcp`: serve search to agents over the Model Context Protocol, on stdin and stdout."""

import argparse
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none of its own: `--repo` says which repository."""
    parser.epilog = (
        "An agent starts this itself; `git pkb init --agent claude` (or cursor, codex, …) registers it. "
        "Tools: search, related, read, overview, stats."
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    del args
    from git_pkb.git import discover
    from git_pkb.search.server import build

    server = build(discover())
    if sys.stdin.isatty():
        print("waiting for an MCP client on stdin; Ctrl-C ends", file=sys.stderr)
    server.run("stdio")
    return 0
