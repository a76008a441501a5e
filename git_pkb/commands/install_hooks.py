"""`git pkb install-hooks`: keep the index current with every commit."""

import argparse

#: storage.md: measured on real histories with 256-dimension int8 rows
_COST = (
    "every commit will carry its part of the index: the first adds about as much as the source's own pack, "
    "later ones 3 to 9 kB each"
)
_OTHERS = (
    "other workflows: `git pkb config set index.write default-branch` (for teams that merge on a host) "
    "or `local` (nothing is committed)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--shared", action="store_true", help="use the tracked folder hooks/ instead of one inside .git"
    )


def run(args: argparse.Namespace) -> int:
    """Install and say what was done."""
    from git_pkb.config import load
    from git_pkb.git import discover
    from git_pkb.hooks.install import install

    repo = discover()
    config = load(repo)
    for line in install(repo, shared=args.shared):
        print(line)
    if config.index.write == "every-commit":
        print(f"{_COST}; {_OTHERS}")
    else:
        print(f"workflow: {config.index.write} (index.write)")
    return 0
