"""`git pkb completion SHELL`: print the script that completes commands, options and settings."""

import argparse
import sys

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
bash:  git pkb completion bash >~/.local/share/bash-completion/completions/git-pkb
zsh:   git pkb completion zsh >"${fpath[1]}/_git-pkb"
fish:  git pkb completion fish >~/.config/fish/completions/git-pkb.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from git_pkb.completion import SCRIPTS

    sys.stdout.write(SCRIPTS[args.shell])
    return 0
