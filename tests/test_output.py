"""What a person, a pipe and a program see of search results."""

import base64
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.output import human, jsonout, pager, terminal
from git_pkb.output.terminal import Terminal
from git_pkb.rank.results import KNOWLEDGE_BASE, FileResult, SearchResults, SymbolResult

RETRY = SymbolResult(
    name="retry",
    kind="method",
    breadcrumb="class Uploader > def retry",
    lines=(42, 78),
    score=0.81234567,
    excerpt="def retry(self, attempts):",
)
BACKOFF = SymbolResult("", "text", "", (7, 7), 0.5, "wait = 2 ** n  # backoff", summary="How long to wait.")
UPLOAD = FileResult("src/up load.py", 0.9000004, "python", stale=False, summary="", symbols=(RETRY, BACKOFF))
NOTES = FileResult("docs/größe.md", 0.25, "markdown", stale=True, summary="Sizes.", symbols=())
ANSWER = SearchResults("retry Uploads", "hybrid", ("one warning",), "c0ffee", 1, (UPLOAD, NOTES))

TTY = Terminal(tty=True, width=80)
COLOR = replace(TTY, color=True)


def test_plain_is_one_line_a_piece():
    """A pipe gets PATH:LINE:SYMBOL, a tab and the excerpt or summary; stale files say so behind another."""
    assert human.listing(ANSWER, Terminal()) == (
        "src/up load.py:42:class Uploader > def retry\tdef retry(self, attempts):\n"
        "src/up load.py:7:text\tHow long to wait.\n"
        "docs/größe.md\tstale\n"
    )


def test_terse_is_one_line_a_file():
    """--terse names the lines of the best piece of each file."""
    assert human.listing(ANSWER, TTY, terse=True) == "src/up load.py:42-78\ndocs/größe.md\n"


def test_flat_is_every_piece_by_its_score():
    """--flat lets the best piece of a later file come before a weaker one; files without pieces come last."""
    best = replace(RETRY, name="send", breadcrumb="send", lines=(3, 5), score=0.9)
    later = FileResult("lib.py", 0.3, "python", stale=True, summary="", symbols=(best,))
    answer = replace(ANSWER, results=(UPLOAD, NOTES, later))
    assert human.listing(answer, Terminal(), flat=True) == (
        "lib.py:3:send\tdef retry(self, attempts):\tstale\n"
        "src/up load.py:42:class Uploader > def retry\tdef retry(self, attempts):\n"
        "src/up load.py:7:text\tHow long to wait.\n"
        "docs/größe.md\tstale\n"
    )
    assert human.listing(answer, TTY, flat=True) == (
        "lib.py:3  send  stale  def retry(self, attempts):\n"
        "src/up load.py:42  class Uploader > def retry  def retry(self, attempts):\n"
        "src/up load.py:7  text  How long to wait.\n"
        "docs/größe.md  stale\n"
    )
    assert human.listing(answer, TTY, flat=True, terse=True).splitlines()[0] == "lib.py:3-5"


def test_flat_fits_the_width():
    """Long titles and excerpts are cut, with room for what is said of a stale file."""
    long = replace(RETRY, breadcrumb="Uploader > " + "retry" * 20, excerpt="def retry" * 30)
    answer = replace(ANSWER, results=(replace(UPLOAD, stale=True, symbols=(long, RETRY)),))
    lines = human.listing(answer, TTY, flat=True).splitlines()
    assert len(lines) == 2
    assert max(map(terminal.display_width, lines)) <= 80


def test_flat_keeps_what_another_service_scored_behind():
    """Scores of a knowledge base are of another scale."""
    passage = replace(RETRY, score=99.0, breadcrumb="kb")
    document = FileResult("s3://b/k", 0.3, KNOWLEDGE_BASE, stale=False, summary="", symbols=(passage,))
    text = human.listing(replace(ANSWER, results=(document, UPLOAD)), Terminal(), flat=True)
    assert text.splitlines()[-1].startswith("s3://b/k")


def test_a_terminal_gets_aligned_blocks():
    """On a terminal each file is a block with its line, its pieces in columns, and what is stale."""
    assert human.listing(ANSWER, TTY) == (
        "src/up load.py:42\n"
        "  42-78  class Uploader > def retry  def retry(self, attempts):\n"
        "      7  text                        How long to wait.\n"
        "\n"
        "docs/größe.md  stale\n"
        "  Sizes.\n"
    )


def test_paths_are_relative_to_the_current_folder():
    """From a subdirectory the paths shown can be opened from there."""
    lines = human.listing(ANSWER, Terminal(), prefix="src/deep/", terse=True).splitlines()
    assert lines == ["../up load.py:42-78", "../../docs/größe.md"]


def test_words_of_the_query_are_emphasised():
    """Words that begin as one of the query are marked, stop words are not; without colour nothing is."""
    text = human.listing(replace(ANSWER, query="how to retry Uploads, self?"), COLOR)
    assert "def \x1b[31;1mretry\x1b[m(" in text
    assert "class \x1b[31;1mUpload\x1b[mer" in text
    assert "\x1b[31;1mHow" not in text
    assert "\x1b[31;1mself" in text
    assert "\x1b" not in human.listing(ANSWER, TTY)


def test_text_is_shown_below_its_piece():
    """With --text the source stands below: numbered on a terminal, behind a tab in a pipe."""
    symbol = replace(RETRY, text="def retry(self):\n\treturn 1", lines=(9, 10))
    answer = replace(ANSWER, results=(replace(UPLOAD, symbols=(symbol,)),))
    assert human.listing(answer, TTY).splitlines()[2:] == [
        "     9 def retry(self):",
        "    10     return 1",
    ]
    assert human.listing(answer, Terminal()).splitlines()[1:] == ["\tdef retry(self):", "\t    return 1"]


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("screen", [Terminal(), TTY], ids=["pipe", "terminal"])
def test_nothing_from_a_file_reaches_the_terminal_as_a_command(screen, flat):
    """Escape sequences in paths, symbols, excerpts, summaries and sources are made visible.

    Only a path in a pipe keeps what git does not quote either, so that a program can open it.
    """
    evil = "a\x1b]0;title\x07b\x9b2Jc\u202ed\re"
    path = evil if screen.tty else "a\x1b]0;title\x07\r"
    symbol = replace(RETRY, name=evil, breadcrumb=evil, excerpt=evil, summary=evil, text=evil)
    answer = replace(ANSWER, query=evil, results=(FileResult(path, 1.0, "c", True, evil, (symbol,)),))
    text = human.listing(answer, screen, flat=flat)
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(text)
    assert "\\x1b" in text


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("plain name.py", "plain name.py"),
        ("größe.md", "größe.md"),
        ("two\nlines", '"two\\nlines"'),
        ('q"uote', '"q\\"uote"'),
        ("back\\slash", '"back\\\\slash"'),
        ("esc\x1b", '"esc\\033"'),
    ],
)
def test_paths_are_quoted_as_git_quotes_them(path, shown, repo):
    """A path with special characters is in C quotes, exactly as git prints it with core.quotePath off."""
    assert terminal.quote_path(path) == shown
    repo.write(path)
    assert repo.git("-c", "core.quotePath=off", "ls-files", "--others") == shown


@given(st.text(max_size=30), st.integers(0, 40))
def test_fit_never_exceeds_the_columns(text, columns):
    """A cut text takes at most the columns it was given, and a text that fits is not touched."""
    cut = terminal.fit(text, columns)
    assert terminal.display_width(cut) <= columns or terminal.display_width(text) <= columns
    assert cut == text or cut.endswith("…") or columns == 0


def test_wide_characters_take_two_columns():
    """East Asian text is aligned by columns, not by characters."""
    assert terminal.display_width("検索") == 4
    assert terminal.pad("検索", 6) == "検索  "
    assert terminal.fit("検索検索", 5) == "検索…"


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(
    ("when", "variables", "color"),
    [
        ("auto", {"TERM": "xterm"}, True),
        ("auto", {"TERM": "xterm", "NO_COLOR": "1"}, False),
        ("auto", {"TERM": "xterm", "NO_COLOR": ""}, True),
        ("auto", {"TERM": "dumb"}, False),
        ("auto", {}, False),
        ("never", {"TERM": "xterm"}, False),
        ("always", {"TERM": "dumb", "NO_COLOR": "1"}, True),
    ],
)
def test_colour_on_a_terminal(when, variables, color):
    """--color decides; else NO_COLOR (when not empty) and a dumb terminal mean none."""
    assert terminal.of_stream(when, Screen(), variables).color is color


def test_a_pipe_is_plain_unless_git_started_a_pager():
    """No colour in a pipe, but git's own pager (`pager.pkb = true`) counts as a terminal."""
    assert terminal.of_stream("auto", io.StringIO(), {"TERM": "xterm"}) == Terminal()
    paged = terminal.of_stream(
        "auto", io.StringIO(), {"TERM": "xterm", "GIT_PAGER_IN_USE": "true", "COLUMNS": "132"}
    )
    assert (paged.tty, paged.color, paged.width) == (True, True, 132)


@pytest.mark.parametrize(
    ("variables", "links"),
    [
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm", "VTE_VERSION": "7200"}, True),
        ({"TERM": "xterm", "VTE_VERSION": "4602"}, False),
        ({"TERM": "xterm"}, False),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "WezTerm"}, False),
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm", "NO_COLOR": "1"}, False),
    ],
)
def test_links_only_where_the_terminal_can(variables, links):
    """OSC 8 goes to terminals known to understand it, to no pipe and no pager."""
    assert terminal.of_stream("auto", Screen(), variables).links is links
    paged = {**variables, "GIT_PAGER_IN_USE": "true"}
    assert terminal.of_stream("auto", io.StringIO(), paged).links is False


def test_a_link_points_at_the_file():
    """The path is a hyperlink to the file in the work tree, percent-encoded, bytes as they are."""
    linked = replace(COLOR, links=True)
    file = replace(UPLOAD, path="a b/\udcff.py", symbols=())
    text = human.listing(replace(ANSWER, results=(file,)), linked, top="/work tree")
    assert "\x1b]8;;file:///work%20tree/a%20b/%FF.py\x1b\\" in text


def test_json_schema():
    """The schema of design section 8: names, order and types of every field, scores with six digits."""
    text = jsonout.search(ANSWER)
    assert text.count("\n") == 1
    assert json.loads(text) == {
        "schema": 1,
        "query": "retry Uploads",
        "indexed_commit": "c0ffee",
        "mode": "hybrid",
        "warnings": ["one warning"],
        "stale_files": 1,
        "results": [
            {
                "path": "src/up load.py",
                "score": 0.9,
                "language": "python",
                "stale": False,
                "summary": "",
                "symbols": [
                    {
                        "name": "retry",
                        "kind": "method",
                        "breadcrumb": "class Uploader > def retry",
                        "lines": [42, 78],
                        "score": 0.812346,
                        "excerpt": "def retry(self, attempts):",
                        "summary": "",
                    },
                    {
                        "name": "",
                        "kind": "text",
                        "breadcrumb": "",
                        "lines": [7, 7],
                        "score": 0.5,
                        "excerpt": "wait = 2 ** n  # backoff",
                        "summary": "How long to wait.",
                    },
                ],
            },
            {
                "path": "docs/größe.md",
                "score": 0.25,
                "language": "markdown",
                "stale": True,
                "summary": "Sizes.",
                "symbols": [],
            },
        ],
    }
    assert next(iter(json.loads(text))) == "schema"


def test_json_text_only_when_asked_for():
    """`text` is a field of a piece only with --text."""
    symbol = replace(RETRY, text="source")
    answer = replace(ANSWER, results=(replace(UPLOAD, symbols=(symbol, BACKOFF)),))
    with_text, without = json.loads(jsonout.search(answer))["results"][0]["symbols"]
    assert with_text["text"] == "source"
    assert "text" not in without


@given(st.binary(min_size=1, max_size=12))
def test_json_paths_that_are_not_utf8(raw):
    """Every path survives: as it is when UTF-8, else lossy with its bytes in base64; all is UTF-8."""
    path = raw.decode("utf-8", "surrogateescape")
    text = jsonout.search(replace(ANSWER, query=path, results=(replace(UPLOAD, path=path, symbols=()),)))
    shown = json.loads(text.encode("utf-8"))["results"][0]
    if "path_bytes" in shown:
        assert base64.b64decode(shown["path_bytes"]) == raw
        assert "\ufffd" in shown["path"]
    else:
        assert shown["path"].encode() == raw


def test_json_refuses_what_json_does_not_have():
    """A score that is not a number is a bug to be seen, not invalid JSON to be printed."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        jsonout.dump({"score": float("nan")})


def git_of(repo) -> Callable[..., bytes]:
    """What `Repository.git` is to the pager."""
    return lambda *args, check=True: repo.git(*args, check=check).encode()


def test_the_pager_is_the_one_git_would_use(repo, monkeypatch):
    """GIT_PAGER, core.pager, PAGER, less in this order; `pager.pkb` before all; cat and false mean none."""
    git = git_of(repo)
    assert pager.choose(git) == "less" or pager.choose(git) == "pager"
    monkeypatch.setenv("PAGER", "more")
    assert pager.choose(git) == "more"
    repo.git("config", "core.pager", "less -S")
    assert pager.choose(git) == "less -S"
    monkeypatch.setenv("GIT_PAGER", "most")
    assert pager.choose(git) == "most"
    repo.git("config", "pager.pkb", "less -X")
    assert pager.choose(git) == "less -X"
    repo.git("config", "pager.pkb", "true")
    assert pager.choose(git) == "most"
    repo.git("config", "pager.pkb", "false")
    assert pager.choose(git) is None
    repo.git("config", "--unset", "pager.pkb")
    monkeypatch.setenv("GIT_PAGER", "cat")
    assert pager.choose(git) is None


SHOW = """
import os, sys
from git_pkb.output import pager, terminal
screen = terminal.of_stream()
pager.show(sys.argv[1] * int(sys.argv[2]), screen)
"""


def on_a_terminal(arguments: list[str], **variables: str) -> str:
    """What a program prints when its stdout is a (pseudo) terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SHOW, *arguments],
        stdout=slave,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
    )
    os.close(slave)
    printed = b""
    while True:
        try:
            data = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        printed += data
    assert process.wait() == 0
    os.close(master)
    return printed.decode().replace("\r\n", "\n")


def test_only_what_does_not_fit_is_paged():
    """A long text goes through the pager's shell line, a short one straight to the screen."""
    shout = "tr a-z A-Z | tail -n 1"
    assert on_a_terminal(["line\n", "3"], PAGER=shout) == "line\n" * 3
    assert on_a_terminal(["line\n", "300"], PAGER=shout) == "LINE\n"


def test_a_missing_pager_loses_nothing():
    """When the pager cannot be started the text is printed as it is."""
    printed = on_a_terminal(["line\n", "300"], PAGER="no-such-pager-here 2>/dev/null")
    assert printed.count("line\n") == 300
