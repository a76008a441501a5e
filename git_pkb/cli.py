"""The command line: what stands before the command, and the one place where errors are reported.

In: the arguments. Out: an exit code (design section 1). Invariant: `-h` and `--version` import nothing but
the table and errors.py, and a command only its own module: what stands before the command is read by hand,
because argparse alone takes as long to load as a bare interpreter does to start.
"""

import os
import sys
from collections.abc import Sequence

from git_pkb import __version__
from git_pkb.command_table import COMMANDS, HIDDEN
from git_pkb.errors import CannotWrite, PkbError, UsageError

HELP = """\
usage: git pkb [-h] [--version] [--repo PATH] [--color WHEN] COMMAND ...

A semantic index of this repository that travels with it.

commands:
{commands}

options:
  -h, --help        show this help
  --version         show the version
  --repo PATH       work as if started in PATH (like `git -C PATH`)
  --color WHEN      auto, always or never

`git pkb COMMAND -h` explains a command; `git pkb --help` opens the manual.
"""

INTERRUPTED = 130
#: Set in hooks, and inherited there by whatever runs: they would win over a folder.
LOCATING_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the entry point of the console script."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _fill_closed_streams()
    _use_git_bytes()
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except SystemExit as stop:  # argparse, after printing the help of a command
        code = stop.code if isinstance(stop.code, int) else 0
    except BrokenPipeError:
        # the reader (head, a pager) has gone; the interpreter would complain when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    except PkbError as error:
        code = _report(error, arguments)
    except Exception as error:
        code = _report(_unexpected(error), arguments)
    return code


def _dispatch(arguments: list[str]) -> int:
    common, name, rest = _before_command(arguments)
    if name == "help" and rest:
        name, rest = rest[0], ["-h"]
    if name == "version":
        print(f"git-pkb {__version__}")
        return 0
    if name is None or name == "help":
        print(
            HELP.format(commands="\n".join(f"  {each:<17} {line}" for each, line in COMMANDS.items())), end=""
        )
        return 0
    if name not in COMMANDS and name not in HIDDEN:
        raise _unknown_command(name)
    if name == "hook" and rest and not rest[0].startswith("-") and not common:
        from git_pkb.hooks.running import run_hook

        return run_hook(rest[0])  # as git's hooks call it: a parser would only cost every commit its loading
    from git_pkb.parsers import command_module, parse

    args = parse(name, (COMMANDS | HIDDEN)[name], rest, common)
    if args.repo is not None:
        _go_to(args.repo)
        args.repo = None  # a relative path would mean another place by now
    return int(command_module(name).run(args))


def _go_to(path: str) -> None:
    """Continue as if started in another folder, which alone says what repository is meant."""
    try:
        os.chdir(path)
    except OSError as error:
        raise UsageError(f"cannot go to {path}: {error.strerror}") from None
    for name in LOCATING_VARIABLES:
        os.environ.pop(name, None)


def _before_command(arguments: list[str]) -> tuple[dict[str, str], str | None, list[str]]:
    """Split into the options that stand before the command, the command, and what follows it."""
    common: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            return common, "help", []
        if word in ("-v", "--version"):
            return common, "version", []
        if option in ("--repo", "--color"):
            if not equals and not rest:
                raise UsageError(f"option `{option}` needs a value", "`git pkb -h` lists the options")
            common[option.removeprefix("--")] = value if equals else rest.pop(0)
        elif word.startswith("-"):
            raise UsageError(
                f"unknown option `{word}`", "options of a command stand after it: `git pkb COMMAND -h`"
            )
        else:
            return common, word, rest
    return common, None, []


def _unknown_command(name: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    hint = f"did you mean `git pkb {near[0]}`?" if near else "`git pkb -h` lists the commands"
    return UsageError(f"`{name}` is not a git pkb command", hint)


def _fill_closed_streams() -> None:
    """Give the null device to whichever of the three streams the caller closed (`>&-`), as git itself does.

    A file opened later would take a free descriptor, and what is printed would end up in it.
    """
    free = os.open(os.devnull, os.O_RDWR)
    while free <= 2:
        free = os.dup(free)
    os.close(free)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - lives as long as the process


def _use_git_bytes() -> None:
    """Write paths as the bytes git gave us, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a test's StringIO has none
            reconfigure(encoding="utf-8", errors="surrogateescape")


def _report(error: PkbError, arguments: Sequence[str]) -> int:
    """Print one error where the caller looks for it, and give its exit code."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    try:
        if "--json" in options:
            import json

            about = {"code": error.code, "message": error.message, "hint": error.hint}
            text = json.dumps({"schema": 1, "error": about}, ensure_ascii=True)
            print(text, flush=True)
        else:
            print(f"error: {error.message}", file=sys.stderr)
            if error.hint:
                print(f"hint: {error.hint}", file=sys.stderr)
        sys.stdout.flush()
    except OSError:  # the reader has gone, or the disk the output goes to is full: the exit code still tells
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:  # the interpreter would complain at exit, with a code of its own
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return error.exit_code


def _unexpected(error: Exception) -> PkbError:
    """What to say of an exception nobody planned for: the disk's fault or ours."""
    import errno

    if isinstance(error, OSError) and error.errno in (
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOSPC,
        errno.EDQUOT,
    ):
        where = f": {error.filename}" if error.filename else ""
        return CannotWrite(
            f"{error.strerror}{where}", "free some space or give yourself the right to write there"
        )
    if type(error).__module__ == "sqlite3":
        return CannotWrite(f"the cache cannot be read: {error}", "delete it: .git/pkb/cache.db")
    log = _write_log(error)
    kept = f"the details are in {log}; please report them" if log else "please report it"
    return PkbError(f"this is a bug: {type(error).__name__}: {error}", kept)


def _write_log(error: Exception) -> str | None:
    """Keep the traceback in the cache folder, else in the temporary one; None if neither can be written."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for folder in (os.path.join(cache, "git-pkb"), tempfile.gettempdir()):
        try:
            os.makedirs(folder, exist_ok=True)
            handle, path = tempfile.mkstemp(prefix="git-pkb-error-", suffix=".log", dir=folder)
            with open(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"git-pkb {__version__}, Python {sys.version}\n{text}")
        except OSError:
            continue
        return path
    return None
