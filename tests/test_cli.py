"""The command line as a person or a script meets it: help, errors, exit codes, what is imported."""

import importlib.util
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from git_pkb import __version__, cli, parsers
from git_pkb.errors import NoIndex


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., int]], None]:
    """Replaces `git pkb stats` by a function, to see what the boundary makes of what it does."""

    def replace(run: Callable[..., int]) -> None:
        def add_arguments(parser: parsers.Parser) -> None:
            parser.add_argument("--json", action="store_true")

        module = SimpleNamespace(add_arguments=add_arguments, run=run)
        monkeypatch.setattr(parsers, "command_module", lambda _: module)

    return replace


def test_no_arguments_prints_the_commands(pkb):
    """`git pkb` alone prints the help that names every command, and none of those only git calls."""
    ran = pkb()
    assert all(f"  {name} " in ran.out for name in cli.COMMANDS)
    assert not any(f"  {name} " in ran.out for name in cli.HIDDEN)
    assert pkb("-h").out == pkb("help").out == ran.out


def test_version(pkb):
    """`--version` prints the version and nothing else."""
    assert pkb("--version").out == f"git-pkb {__version__}\n"


@pytest.mark.parametrize("name", [*cli.COMMANDS, *cli.HIDDEN])
def test_every_command_has_a_module(name):
    """The table lists only commands that exist, each with its parser and its action."""
    assert importlib.util.find_spec("git_pkb.commands." + name.replace("-", "_"))
    module = parsers.command_module(name)
    assert callable(module.add_arguments)
    assert callable(module.run)


def test_every_module_is_a_command():
    """A file under commands/ that no table row reaches would be dead."""
    files = {path.stem.replace("_", "-") for path in Path(cli.__file__).with_name("commands").glob("*.py")}
    assert files - {"--init--"} == set(cli.COMMANDS) | set(cli.HIDDEN)


@pytest.mark.parametrize("name", [*cli.COMMANDS, *cli.HIDDEN])
def test_help_of_every_command(name, capsys):
    """`git pkb COMMAND -h` explains every option and argument it takes, and exits 0."""
    assert cli.main([name, "-h"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: git pkb {name} ")
    parser = parsers.command_parser(name, "x")
    assert all(action.help for action in parser._actions)


def test_help_command_is_the_same_as_h(pkb):
    """`git pkb help config` is `git pkb config -h`."""
    assert pkb("help", "config").out == pkb("config", "-h").out


def test_unknown_command_names_the_nearest(pkb):
    """A misspelt command exits 2 and names the one that was meant."""
    ran = pkb("serch", "x", code=2)
    assert ran.out == ""
    assert ran.err == "error: `serch` is not a git pkb command\nhint: did you mean `git pkb search`?\n"


def test_unknown_option_names_the_nearest(pkb):
    """A misspelt option exits 2 and names the one that was meant, also behind an action of a command."""
    assert "did you mean `--changed`?" in pkb("config", "list", "--chnged", code=2).err


def test_missing_value_before_the_command(pkb):
    """`--repo` without a value is wrong usage, not a crash."""
    assert "error: option `--repo` needs a value" in pkb("--repo", code=2).err
    assert "error: unknown option `--repi`" in pkb("--repi", code=2).err
    assert "error: --color is one of" in pkb("--color=red", "config", "list", code=2).err


def test_repo_option_works_on_both_sides_of_the_command(pkb, repo, new_repo, tmp_path):
    """`--repo PATH` makes the command run as if started there, also when a hook has set GIT_DIR."""
    away = tmp_path / "away"
    away.mkdir()
    repo.git("config", "pkb.search.k", "9")
    for words in (
        ("--repo", repo.path, "config", "get", "search.k"),
        ("config", "get", "search.k", f"--repo={repo.path}"),
    ):
        assert pkb(*words, cwd=away).out == "9\n"
    assert pkb("config", "get", "search.k", "--repo", "repo", cwd=tmp_path).out == "9\n"
    other = {"GIT_DIR": str(new_repo("other").path / ".git")}
    assert pkb("--repo", repo.path, "config", "get", "search.k", cwd=away, env=other).out == "9\n"
    assert "cannot go to" in pkb("--repo", tmp_path / "none", "config", "list", code=2).err


def test_not_a_repository(pkb, tmp_path):
    """Outside a repository every command says so and exits 2."""
    away = tmp_path / "away"
    away.mkdir()
    ran = pkb("config", "list", cwd=away, code=2)
    assert "not a git repository" in ran.err
    assert "hint: " in ran.err
    assert pkb("config", "list", "--json", cwd=away, code=2).json()["error"]["code"] == "not-a-repository"


def test_errors_as_json(pkb):
    """With --json an error is one object on stdout with code, message and hint; stderr stays empty."""
    ran = pkb("config", "list", "--json", "--nope", code=2)
    assert ran.json() == {
        "schema": 1,
        "error": {
            "code": "usage",
            "message": "unknown option `--nope`",
            "hint": "`git pkb config -h` lists the options",
        },
    }
    assert ran.err == ""


def test_json_after_double_dash_is_no_option(command, capsys):
    """A query that reads `--json` does not change how errors are printed."""

    def fail(_):
        raise NoIndex("nothing here", "index first")

    command(fail)
    assert cli.main(["stats", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["hint"] == "index first"
    assert cli.main(["stats", "--", "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_interrupt_exits_130(command, capsys):
    """Ctrl-C ends with 130 and one word, no traceback."""

    def interrupted(_):
        raise KeyboardInterrupt

    command(interrupted)
    assert cli.main(["stats"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_bug_exits_70_with_a_log(command, capsys, sealed):
    """An unplanned exception exits 70; the traceback is in the named log file, not on the screen."""

    def broken(_):
        raise ZeroDivisionError("what now")

    command(broken)
    assert cli.main(["stats"]) == 70
    err = capsys.readouterr().err
    assert "error: this is a bug: ZeroDivisionError: what now" in err
    assert "Traceback" not in err
    (log,) = (sealed / "cache" / "git-pkb").glob("*.log")
    assert str(log) in err
    assert "in broken" in log.read_text()


def test_a_bug_is_logged_somewhere_without_a_home(command, capsys, monkeypatch, tmp_path):
    """When the cache folder cannot be written, the log goes to the temporary folder."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    command(lambda _: 1 // 0)
    assert cli.main(["stats"]) == 70
    (log,) = tmp_path.glob("git-pkb-error-*.log")
    assert str(log) in capsys.readouterr().err


def test_a_full_or_read_only_disk_exits_74(command, capsys):
    """An OSError about writing is reported as such, with the path."""

    def fails(_):
        raise PermissionError(13, "Permission denied", "/some/file")

    command(fails)
    assert cli.main(["stats"]) == 74
    assert "error: Permission denied: /some/file" in capsys.readouterr().err


def test_broken_pipe_is_success(repo):
    """`git pkb … | head` ends quietly with 0 although nobody reads the rest."""
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(
        ["git-pkb", "config", "list"], stdout=writer, stderr=subprocess.PIPE, cwd=repo.path
    )
    os.close(writer)
    _, err = process.communicate()
    assert (process.returncode, err) == (0, b"")


def test_output_is_utf8_whatever_the_locale(repo):
    """Paths leave as the bytes git has, also under a Latin-1 locale."""
    repo.git("config", "pkb.exclude", "größe")
    raw = subprocess.run(
        ["git-pkb", "config", "get", "exclude"],
        cwd=repo.path,
        env={**os.environ, "LC_ALL": "de_DE.ISO-8859-1", "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    ).stdout
    assert raw == '["größe"]\n'.encode()


def test_main_works_on_streams_without_reconfigure(monkeypatch):
    """Called from a program that has replaced stdout, main still prints."""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["--version"]) == 0
    assert stream.getvalue() == f"git-pkb {__version__}\n"


def test_closed_streams_are_no_bug(repo):
    """With all three streams closed the command works, and what it opens does not take their numbers."""
    repo.commit({"a.py": "def harvest():\n    pass\n"})
    program = f"exec '{sys.executable}' -c 'import sys; from git_pkb.cli import main; sys.exit(main())'"
    for command in ("search harvest", "stats --json", "--version"):
        done = subprocess.run(["sh", "-c", f"{program} {command} <&- >&- 2>&-"], cwd=repo.path, check=False)
        assert done.returncode == 0, command


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    ("command", "code"), [("nope 2>/dev/full", 2), ("stats --json >/dev/full", 74), ("stats >/dev/full", 74)]
)
def test_a_full_disk_behind_the_output_keeps_the_exit_code(repo, command, code):
    """Where even the error cannot be printed, the exit code still tells, and no traceback follows."""
    repo.commit({"a.py": "x = 1\n"})
    program = f"exec '{sys.executable}' -c 'import sys; from git_pkb.cli import main; sys.exit(main())'"
    line = f"{program} {command}"
    done = subprocess.run(["sh", "-c", line], cwd=repo.path, check=False, capture_output=True, text=True)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_inside_the_git_folder_search_answers_from_head(repo, pkb):
    """Started in `.git`, where there is no work tree, search answers as in a bare repository."""
    repo.commit({"a.py": "def harvest():\n    pass\n"})
    assert "a.py" in pkb("search", "harvest", cwd=repo.path / ".git").out


@pytest.mark.usefixtures("repo")
def test_a_work_tree_that_is_not_there_is_named(pkb):
    """A GIT_WORK_TREE that does not exist is the caller's mistake, not a bug."""
    ran = pkb("search", "x", code=2, env={"GIT_WORK_TREE": "/nonexistent"})
    assert "/nonexistent does not exist" in ran.err


def test_an_option_that_names_nothing_is_told(pkb, repo):
    """A mistyped folder or language answers nothing, and says why."""
    repo.commit({"src/a.py": "def frobnicate():\n    pass\n"})
    ran = pkb("search", "frobnicate", "--scope", "scr", "--lang", "klingon", code=1)
    assert (ran.out, ran.err.count("hint: ")) == ("", 2)
    assert "--scope scr" in ran.err
    assert "--lang klingon" in ran.err
    assert "hint" not in pkb("search", "frobnicate", "--scope", "src", "--lang", "go", code=1).err


@pytest.mark.parametrize("action", ["list", "get", "set", "unset", "trust"])
def test_help_of_every_config_action_says_what_it_does(action, capsys):
    """A sentence stands above the options."""
    assert cli.main(["config", action, "-h"]) == 0
    assert ".\n\n" in capsys.readouterr().out
