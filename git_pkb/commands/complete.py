"""`git pkb complete WORD…`: what the tab key offers, as the scripts of `git pkb completion` ask.

In: the words typed after `git pkb`, the last one unfinished. Out: candidates with descriptions, one a line.
Exit 1 tells the script that a path is wanted.
"""

import argparse
import sys

PATH_WANTED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words."""
    parser.add_argument("words", metavar="WORD", nargs="*", help="what was typed, the last word unfinished")


def run(args: argparse.Namespace) -> int:
    """Print the candidates."""
    from git_pkb.completion import candidates

    found = candidates(args.words)
    if found is None:
        return PATH_WANTED
    sys.stdout.writelines(f"{word}\t{line}\n" for word, line in found)
    return 0
