"""The parser of one command, made when that command is invoked.

In: the name of a command and its arguments. Out: an `argparse.Namespace` with `repo` and `color` beside the
command's own. Invariant: wrong usage raises UsageError, nothing is printed here except help.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from git_pkb.errors import UsageError

COLORS = ("auto", "always", "never")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; asking os instead of shutil saves every command 5 ms of imports."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            width = 80
        super().__init__(prog, max_help_position=30, width=min(width, 110) - 2)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser with the options all commands share; raises UsageError, guesses what was meant."""

    def __init__(self, prog: str, description: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            allow_abbrev=False,  # an abbreviation in a script breaks when an option is added
            formatter_class=Formatter,
        )
        # what stood before the command is the default, so these must not set one
        self.add_argument(
            "--repo",
            metavar="PATH",
            default=argparse.SUPPRESS,
            help="work as if started in PATH (like `git -C`)",
        )
        self.add_argument(
            "--color",
            metavar="WHEN",
            choices=COLORS,
            default=argparse.SUPPRESS,
            help="auto, always or never (default: auto)",
        )

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing: the boundary knows whether text or JSON is wanted."""
        raise UsageError(message, f"`{self.prog} -h` lists the options")

    def options(self) -> Iterator[str]:
        """Every option this parser and those of its actions know."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action.choices, Mapping):  # actions with parsers of their own
                for each in action.choices.values():
                    yield from each.options()

    def refuse_unknown(self, extra: Sequence[str]) -> NoReturn:
        """Raise for arguments that no option takes, naming the nearest option."""
        import difflib

        options = list(self.options())
        wrong = next((arg for arg in extra if arg.startswith("-")), extra[0])
        near = difflib.get_close_matches(wrong.partition("=")[0], options, 1)
        kind = "option" if wrong.startswith("-") else "argument"
        hint = f"did you mean `{near[0]}`?" if near else f"`{self.prog} -h` lists the options"
        raise UsageError(f"unknown {kind} `{wrong}`", hint)


def parse(name: str, line: str, arguments: Sequence[str], common: Mapping[str, str]) -> argparse.Namespace:
    """Parse the arguments of one command; `common` is what stood before its name."""
    parser = command_parser(name, line)
    if common.get("color", "auto") not in COLORS:
        parser.error(f"--color is one of {', '.join(COLORS)}")
    before = argparse.Namespace(repo=common.get("repo"), color=common.get("color", "auto"))
    args, extra = parser.parse_known_args(list(arguments), before)
    if extra:
        parser.refuse_unknown(extra)
    return args


def command_parser(name: str, line: str) -> Parser:
    """The parser of one command, described by `line` unless its module says more; imports the module."""
    parser = Parser(f"git pkb {name}", line[:1].upper() + line[1:] + ".")
    command_module(name).add_arguments(parser)
    return parser


def command_module(name: str) -> ModuleType:
    """The module of one command."""
    return import_module("git_pkb.commands." + name.replace("-", "_"))
