"""`git pkb uninstall-hooks`: take the hooks out again."""

import argparse


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """The command has no options."""


def run(_args: argparse.Namespace) -> int:
    """Uninstall and say what was done."""
    from git_pkb.git import discover
    from git_pkb.hooks.uninstall import uninstall

    for line in uninstall(discover()) or ["no hooks of git pkb are installed here"]:
        print(line)
    return 0
