"""Documentation that lies fails here: pages against parsers, settings, variables and exit codes."""

import ast
import importlib.util
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from git_pkb import cli, errors, parsers
from git_pkb.config import KEYS, VARIABLES
from git_pkb.errors import PkbError

TOP = Path(__file__).parent.parent
PAGES = {
    path.relative_to(TOP).as_posix(): path.read_text() for path in [TOP / "README.md", *TOP.glob("docs/*")]
}
CODE = {path: path.read_text() for path in (TOP / "git_pkb").rglob("*.py")}
EVERYTHING = "\n".join(PAGES.values()).replace("\\-", "-")


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    """scripts/docs.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_script", TOP / "scripts" / "docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current(docs):
    """The manual page and the tables of settings are what scripts/docs.py writes from the code now."""
    for path, text in docs.rendered().items():
        assert path.read_text() == text, f"{path.name} is out of date: run scripts/docs.py"


def test_manual_page_has_no_errors(docs):
    """The formatter groff takes the manual page without a warning, wide and narrow."""
    if shutil.which("groff"):
        for width in ("60n", "200n"):
            done = subprocess.run(
                ["groff", "-man", "-Tutf8", "-ww", "-z", f"-rLL={width}"],
                input=docs.manual(),
                capture_output=True,
                text=True,
                check=True,
            )
            assert done.stderr == ""
    # roff would take a line that begins with a dot or a quote for a request; ours are these
    requests = {line.split()[0] for line in docs.manual().splitlines() if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi", '.\\"'}


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_and_option_is_documented(name):
    """Each command has its section in the manual page, with each of its options."""
    page = PAGES["docs/git-pkb.1"].replace("\\-", "-")
    assert f".SS git pkb {name}" in page
    sections = re.split(r"^\.S[SH] ", page, flags=re.MULTILINE)
    own = "".join(each for each in sections if re.match(rf"git pkb {name}\b(?!-)|OPTIONS", each))
    for option in parsers.command_parser(name, cli.COMMANDS[name]).options():
        assert re.search(rf"{option}\b", own)


@pytest.mark.parametrize("name", KEYS)
def test_every_setting_and_its_variable_are_documented(name):
    """Each key stands in the table of docs/configuration.md beside its environment variable."""
    assert re.search(
        rf"^\| `{re.escape(name)}` \|.*`{KEYS[name].variable}`", PAGES["docs/configuration.md"], re.MULTILINE
    )


def test_every_variable_in_the_code_is_known_and_documented():
    """A GIT_PKB_ variable in the code is a setting's or stands in VARIABLES, and both are documented."""
    known = set(VARIABLES) | {key.variable for key in KEYS.values()}
    used = {name for text in CODE.values() for name in re.findall(r"\bGIT_PKB_[A-Z_]*[A-Z]\b", text)}
    assert used <= known
    assert all(f"`{name}`" in PAGES["docs/configuration.md"] for name in VARIABLES)


def test_variables_that_are_no_settings_are_really_read():
    """A variable in the table that no code reads would be a promise nobody keeps."""
    schema = TOP / "git_pkb" / "config" / "schema.py"
    readers = "\n".join(text for path, text in CODE.items() if path != schema)
    assert [name for name in VARIABLES if name not in readers] == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_only_what_exists(page):
    """Commands, variables and settings that a page mentions exist."""
    text = PAGES[page].replace("\\-", "-")
    commands = set(re.findall(r"`git pkb ([a-z][a-z-]*)", text))
    assert commands <= {*cli.COMMANDS, *cli.HIDDEN, "help"}
    variables = set(re.findall(r"\bGIT_PKB_[A-Z_]*[A-Z]\b", text))
    assert variables <= set(VARIABLES) | {key.variable for key in KEYS.values()}
    settings = set(re.findall(r"`pkb\.([A-Za-z.]+[A-Za-z])`", text))
    assert {name.lower() for name in settings} <= {name.lower() for name in KEYS}


def command_lines() -> list[str]:
    """Every `git pkb …` line of the pages' code blocks, without prompt and comment."""
    blocks = "\n".join(
        block
        for text in PAGES.values()
        for block in re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    )
    return re.findall(r"^(?:\$ )?(git pkb [^|>&\n]*)", blocks, re.MULTILINE)


@pytest.mark.parametrize("line", command_lines())
def test_example_commands_parse(line):
    """What a reader copies from the pages is accepted by the parser."""
    words = shlex.split(line, comments=True)[2:]
    common, name, rest = cli._before_command(words)
    if name in cli.COMMANDS and not {"-h", "--help"} & set(rest):
        parsers.parse(name, cli.COMMANDS[name], rest, common)
    else:
        assert name in (None, "help", "version") or rest


def test_toml_examples_are_accepted():
    """Every TOML block of the pages is a configuration without unknown keys."""
    from git_pkb import config

    blocks = [
        block
        for text in PAGES.values()
        for block in re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    ]
    assert blocks
    for block in blocks:
        config.parse(block.encode())


def test_every_exit_status_is_documented(docs):
    """The exit codes of the errors are those the manual page lists."""
    tree = ast.parse(Path(errors.__file__).read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    codes = {str(getattr(errors, name).exit_code) for name in names}
    assert issubclass(errors.UsageError, PkbError)
    assert codes | {"0", "1", "130"} == {code for code, _ in docs.EXIT_STATUS}


def test_lock_file_covers_every_dependency():
    """Whatever pyproject.toml asks for, extras and tools included, is in the lock file with hashes."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [each for extra in project["project"]["optional-dependencies"].values() for each in extra]
    lock = (TOP / "requirements-dev.lock").read_text()
    for requirement in wanted:
        name = re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")
        assert re.search(rf"^{re.escape(name)}==\S+ .*\n +--hash=sha256:", lock, re.MULTILINE), requirement


def test_scripts_name_no_machine():
    """No script or lock file holds an address of a package index or a path of somebody's home."""
    for path in [*TOP.glob("scripts/*"), TOP / ".ci" / "run", *TOP.glob("*.lock"), TOP / "pyproject.toml"]:
        if path.is_file():
            assert not re.search(
                r"--index-url|extra-index|https?://(?!localhost)[^ ]*(simple|pypi)|/home/|/root/",
                path.read_text(),
            )
