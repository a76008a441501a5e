"""Write the manual page docs/git-pkb.1 and the tables of docs/configuration.md.

In: the parsers and the table of settings. Out: the two files, or with `--check` exit 1 when they are not what
this would write. Invariant: what is written depends on the code alone, not on date, terminal or locale.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from git_pkb.command_table import COMMANDS
from git_pkb.config import KEYS, VARIABLES, Key, KnowledgeBase
from git_pkb.config.editor import toml_text
from git_pkb.parsers import Parser, command_parser

DOCS = Path(__file__).parent.parent / "docs"

BREAK = "\\:"  # a place where roff may break a line without a hyphen
EXIT_STATUS = (
    ("0", "found, or done"),
    ("1", "nothing found; `check` found something; `read` matched none or several"),
    ("2", "wrong usage or configuration, not a repository, an index of a newer format"),
    ("3", "no index, and none may be built"),
    ("4", "a provider failed"),
    ("5", "the cost cap"),
    ("70", "a bug; the message names a log file"),
    ("74", "something cannot be written"),
    ("75", "another run holds the lock"),
    ("130", "interrupted"),
)

DESCRIPTION = """\
`git pkb` gives a repository a semantic index that travels with it. `git pkb reindex` cuts every tracked file
into pieces, embeds each piece once and writes small artifacts that are committed beside the code; `git pkb
search` answers questions from them on every clone, with no server and, by default, no key and no network.

Standard output carries results alone; progress and messages go to standard error. With `--json`, standard
output is one JSON object, an error included. A hook exits with 0 unless `hookStrict` is set."""

OPTIONS = (
    ("-h, --help", "explain git pkb, or after a command that command; git pkb --help opens this page"),
    ("--version", "print the version"),
    ("--repo PATH", "work as if started in PATH, like git -C PATH; before or after the command"),
    (
        "--color WHEN",
        "auto, always or never; before or after the command (default: auto; NO_COLOR is honoured)",
    ),
)

EXAMPLES = (
    ("git pkb search where do we retry failed uploads", "ask in words"),
    ("git pkb search --lang python --scope src parse_header", "a name, in some files only"),
    ("git pkb reindex", "bring the index in line with HEAD"),
    ("git pkb install-hooks", "keep it current with every commit"),
    ("git pkb config list --changed", "what is set, and where"),
)

FILES = (
    (".pkb/config.toml", "settings the team shares (tracked)"),
    (".pkb/state.toml", "format, model and marker of the index (tracked)"),
    (".pkb/index/", "one `.meta` (text) and one `.vec` (vectors) for each indexed file (tracked)"),
    (".git/pkb/", "the cache; derived, safe to delete"),
)


def main() -> int:
    """Write or check both files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file is out of date"
    )
    check = parser.parse_args().check
    wrong = []
    for path, text in rendered().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(path.name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and wrong:
        print(f"out of date: {', '.join(wrong)}; run scripts/docs.py", file=sys.stderr)
        return 1
    return 0


def rendered() -> dict[Path, str]:
    """Both files as they must read."""
    return {DOCS / "git-pkb.1": manual(), DOCS / "configuration.md": configuration()}


def configuration() -> str:
    """docs/configuration.md: the prose that stands there, with its two tables written anew."""
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    for name, table in (("settings", settings_table()), ("variables", variables_table())):
        start, end = f"<!-- written by scripts/docs.py: {name} -->", "<!-- end -->"
        before, _, rest = text.partition(start)
        text = "".join([before, start, "\n", table, end, rest.partition(end)[2]])
    return text


def settings_table() -> str:
    """Every key with its type, default and environment variable."""
    lines = ["| key | type | default | environment | what it is |", "|---|---|---|---|---|"]
    for key in KEYS.values():
        default = toml_text(key.default)
        trust = " (trust)" if key.trust else ""
        about = " ".join(filter(None, [f"{key.doc}{trust}", _choices(key)])).replace("|", "\\|")
        shown = f"`{default}`" if default else ""
        lines.append(f"| `{key.name}` | {type_name(key)} | {shown} | `{key.variable}` | {about} |")
    return "\n".join(lines) + "\n"


def variables_table() -> str:
    """The environment variables that are no settings."""
    rows = [f"| `{name}` | {about} |" for name, about in VARIABLES.items()]
    return "\n".join(["| variable | what it does |", "|---|---|", *rows]) + "\n"


def type_name(key: Key) -> str:
    """The type of a setting in a word."""
    names = {
        str: "text",
        str | None: "text",
        int: "whole number",
        float: "number",
        bool: "true or false",
        tuple[str, ...]: "list",
        tuple[KnowledgeBase, ...]: "list of tables",
    }
    return names.get(key.type, "table")


def _choices(key: Key) -> str:
    return "— " + ", ".join(f"`{choice}`" for choice in key.choices) if key.choices else ""


def manual() -> str:
    """docs/git-pkb.1."""
    return "\n".join(_manual()) + "\n"


def _manual() -> Iterator[str]:
    yield '.\\" written by scripts/docs.py from the parsers; edit there'
    yield '.TH GIT\\-PKB 1 "" "git\\-pkb" "Git Manual"'
    yield ".SH NAME"
    yield "git\\-pkb \\- search a repository by meaning"
    yield ".SH SYNOPSIS"
    yield ".nf"
    yield from (_roff(f"git pkb [--repo PATH] [--color WHEN] {form}") for form in ("COMMAND ...",))
    yield _roff("git pkb [-h] [--version]")
    yield ".fi"
    yield ".SH DESCRIPTION"
    yield from _paragraphs(DESCRIPTION)
    yield ".SH OPTIONS"
    yield from (row for names, about in OPTIONS for row in _item(names, about))
    yield ".SH COMMANDS"
    for name, line in COMMANDS.items():
        yield from _command(f"git pkb {name}", line, command_parser(name, line))
    yield ".SH SETTINGS"
    yield from _paragraphs(
        "Later ones win: defaults, `.pkb/config.toml`, git's configuration `pkb.*`, the environment, options."
    )
    for key in KEYS.values():
        default = toml_text(key.default)
        about = f"{key.doc} {_choices(key)}".strip() + (f" (default: {default})" if default else "")
        yield from _item(f"pkb.{key.name}, {key.variable}", about)
    yield ".SH ENVIRONMENT"
    yield from (row for name, about in VARIABLES.items() for row in _item(name, about))
    yield ".SH FILES"
    yield from (row for name, about in FILES for row in _item(name, about))
    yield ".SH EXIT STATUS"
    yield from (row for code, about in EXIT_STATUS for row in _item(code, about))
    yield ".SH EXAMPLES"
    yield from (row for line, about in EXAMPLES for row in _item(line, about))
    yield ".SH SEE ALSO"
    yield "\\fBgit\\fR(1), \\fBgithooks\\fR(5), \\fBgitattributes\\fR(5)"


def _command(prog: str, line: str, parser: Parser) -> Iterator[str]:
    usage = " ".join(parser.format_usage().split()).removeprefix("usage: ").replace(" [-h]", "", 1)
    usage = usage.replace(" [--repo PATH] [--color WHEN]", "", 1)
    # a list of choices is one word to roff: let it break after a comma
    yield f".SS {_roff(usage).replace(',', ',' + BREAK)}"
    description = (parser.description or "").strip() or line[:1].upper() + line[1:] + "."
    yield from _paragraphs(description)
    for action in parser._actions:
        if {"-h", "--repo", "--color"} & set(action.option_strings):  # in OPTIONS
            continue
        if isinstance(action, argparse._SubParsersAction):
            lines = {each.dest: each.help or "" for each in action._choices_actions}
            for word, sub in action.choices.items():
                yield from _command(f"{prog} {word}", lines[word], sub)
            continue
        value = action.metavar or "|".join(map(str, action.choices or ()))
        if action.option_strings:
            takes = f" {value}" if action.nargs != 0 else ""
            names = ", ".join(f"{name}{takes}" for name in action.option_strings)
        else:
            names = str(value)
        yield from _item(names, (action.help or "").replace("%%", "%"))


def _item(term: str, about: str) -> Iterable[str]:
    return (".TP", f"\\fB{_roff(term)}\\fR", _roff(about[:1].upper() + about[1:] + "."))


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        yield _roff(" ".join(paragraph.split()))


def _roff(text: str) -> str:
    """Text as roff prints it literally."""
    plain = (
        text.replace("\\", "\\e")
        .replace("-", "\\-")
        .replace("`", "")
        .replace("—", "\\(em")
        .replace("…", "...")
    )
    return "\\&" + plain if plain.startswith((".", "'")) else plain


if __name__ == "__main__":
    sys.exit(main())
