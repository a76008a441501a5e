"""`git pkb merge-driver %O %A %B %P`: called by git for each artifact both sides changed.

Our side stays as it is (%A is already its content, and success leaves no conflict): the driver runs before
the merged sources exist, so the artifact can only be made anew afterwards, by post-merge, pre-commit or
reindex.
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What git passes: ancestor, ours, theirs, path."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="%%O %%A %%B %%P")


def run(_args: argparse.Namespace) -> int:
    """Keep our side."""
    return 0
