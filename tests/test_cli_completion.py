"""What the tab key offers, asked for by the function and by the shells themselves."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from git_pkb import cli
from git_pkb.completion import SCRIPTS, candidates
from git_pkb.config import KEYS


def words(line: str) -> list[str] | None:
    """The candidates for a line as typed, without their descriptions; None for a path."""
    found = candidates(line.split(" "))
    return None if found is None else [word for word, _ in found]


def test_commands_and_options_before_them():
    """The first word is a command or one of the options all share."""
    assert words("") == [*cli.COMMANDS, "--repo", "--color", "--help", "--version"]
    assert words("sea") == ["search"]
    assert words("--col") == ["--color"]
    assert words("--color ") == words("--color=") == ["auto", "always", "never"]
    assert words("--color = n") == ["never"]
    assert words("--repo ") is None
    assert words("--repo x sea") == ["search"]


def test_options_of_a_command_and_their_values():
    """After a command come its options; after an option its choices, else a path or nothing."""
    assert words("search --mo") == ["--mode"]
    assert words("search --mode s") == words("search --mode=s") == ["semantic"]
    assert words("search --scope ") is None
    assert words("search -k ") == []
    assert "python" in (words("search --lang py") or [])


def test_actions_keys_and_paths():
    """Actions of a command, names of settings and files are offered where they belong."""
    assert words("config ") == ["list", "get", "set", "unset", "trust"]
    assert words("config get SEARCH.S") == ["search.symbolsPerFile"]
    assert words("config get ") == list(KEYS)
    assert words("config list --ch") == ["--changed"]
    assert words("chunk src/") is None
    assert words("completion ") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("line", ["nonsense ", "hook ", "config nonsense x ", "search a --json b "])
def test_nothing_to_offer_is_no_error(line):
    """An unknown or free word is completed by nothing."""
    assert words(line) in ([], ["list", "get", "set", "unset", "trust"])


def test_the_command_says_paths_by_its_exit_code(pkb):
    """`git pkb complete` prints word, tab, description; exit 1 asks the shell for paths."""
    assert pkb("complete", "--", "sea").out == f"search\t{cli.COMMANDS['search']}\n"
    assert pkb("complete", "--", "chunk", "", code=1).out == ""


@pytest.mark.parametrize("shell", SCRIPTS)
def test_scripts_are_valid(shell, pkb):
    """`git pkb completion SHELL` prints a script that the shell itself, where there is one, can parse."""
    script = pkb("completion", shell).out
    assert "git-pkb complete -- " in script
    if shutil.which(shell):
        subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, check=True)


@pytest.fixture
def bash() -> Callable[[str], list[str]]:
    """Runs a line of bash after the completion script; gives the lines it prints."""

    def run(line: str) -> list[str]:
        done = subprocess.run(
            ["bash", "--norc", "-c", f"{SCRIPTS['bash']}\n{line}"], capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return run


def test_bash_completes_git_pkb_alone(bash):
    """`git-pkb config get search.<TAB>` in bash offers the settings of that section."""
    got = bash(
        "COMP_WORDS=(git-pkb config get search.); COMP_CWORD=3; _git_dash_pkb;"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert got == [name for name in KEYS if name.startswith("search.")]


def test_bash_completes_through_git(bash):
    """Git's completion calls `_git_pkb` with its own variables, its options before the command included."""
    got = bash(
        '__gitcomp_nl() { printf "%s\\n" "$1"; };'
        "words=(git -C . pkb search --mod); cword=5; cur=--mod; _git_pkb"
    )
    assert got == ["--mode"]
