"""`git pkb hook NAME`: called by git's hooks, never typed."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The name of the hook; what git passes on beyond it is not needed."""
    parser.add_argument("name", metavar="NAME", help="the hook git runs")
    parser.add_argument("arguments", metavar="ARG", nargs="*", help="what git gives the hook")


def run(args: argparse.Namespace) -> int:
    """Run one hook."""
    from git_pkb.hooks.running import run_hook

    return run_hook(args.name)
