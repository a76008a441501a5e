"""`git pkb search -i`: the picker, driven by keys through a pipe and in a real terminal."""

import shutil
import subprocess
import sys
import threading
import time

import pytest

prompt_toolkit = pytest.importorskip("prompt_toolkit", reason="the extra `interactive` is not installed")

from prompt_toolkit.input import create_pipe_input  # noqa: E402
from prompt_toolkit.output import DummyOutput  # noqa: E402

from git_pkb.rank.results import FileResult, SymbolResult  # noqa: E402
from git_pkb.search.picker import Item, Picked, Picker, Worker, items_of  # noqa: E402

ITEMS = [Item(f"src/file{n}.py", (n, n + 5), f"def function_{n}", "about it") for n in range(1, 40)]
DOWN, UP, PAGE_DOWN, ESCAPE, ENTER, CTRL_O, CTRL_C = (
    "\x1b[B",
    "\x1b[A",
    "\x1b[6~",
    "\x1b",
    "\r",
    "\x0f",
    "\x03",
)


def wait_for(what, seconds=20.0):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def drive(steps, answer=lambda _: ITEMS, preview=lambda _: "source", query=""):
    """Run a picker and play steps: text to type, or conditions to wait for. Gives the pick and the picker."""
    with create_pipe_input() as keys:
        picker = Picker(answer, preview, query, input=keys, output=DummyOutput())

        def play():
            try:
                for step in steps:
                    if callable(step):
                        wait_for(lambda step=step: step(picker))
                    else:
                        keys.send_text(step)
            except AssertionError:
                keys.send_text(CTRL_C)

        player = threading.Thread(target=play)
        player.start()
        picked = picker.run()
        player.join(30)
    return picked, picker


def found(picker):
    """Whether results are there."""
    return bool(picker.items)


def test_typing_finds_and_return_picks_the_first():
    """What is typed is asked, return takes the marked line."""
    asked = []
    picked, _ = drive(["retry", found, ENTER], answer=lambda text: asked.append(text) or ITEMS)
    assert picked == Picked(ITEMS[0], edit=False)
    assert asked[-1] == "retry"


@pytest.mark.parametrize(("keys", "expected"), [(DOWN * 3, 3), (DOWN * 3 + UP, 2), (UP, 0), (DOWN * 100, 38)])
def test_keys_move_within_the_list(keys, expected):
    """Arrows move the mark and stop at both ends."""
    picked, _ = drive(["x", found, keys, lambda picker: picker.at == expected, ENTER])
    assert picked.item == ITEMS[expected]


def test_a_page_moves_further_than_a_line():
    """Page down goes on by what is on the screen."""
    picked, picker = drive(["x", found, PAGE_DOWN, lambda picker: picker.at > 1, ENTER])
    assert picked.item == ITEMS[picker.at]


def test_control_o_asks_for_the_editor():
    """The other way to pick."""
    assert drive(["x", found, CTRL_O])[0] == Picked(ITEMS[0], edit=True)


@pytest.mark.parametrize("key", [ESCAPE, CTRL_C])
def test_leaving_picks_nothing(key):
    """Escape and Ctrl-C leave, also while nothing was found; return alone does not."""
    assert drive(["x", found, key])[0] is None
    assert drive(["x", lambda picker: picker.status == "0 found", ENTER, key], answer=lambda _: [])[0] is None


def test_a_first_question_is_answered_at_once():
    """The words of the command line are the first question."""
    asked = []
    drive([found, ENTER], answer=lambda text: asked.append(text) or ITEMS, query="from the command line")
    assert asked == ["from the command line"]


def test_a_failing_search_is_shown_and_the_next_one_works():
    """An error stands in the status line; typing goes on."""

    def answer(text):
        if text == "bad":
            raise ValueError("no such thing")
        return ITEMS

    picked, _ = drive(
        ["bad", lambda picker: picker.status == "no such thing", "!", found, ENTER], answer=answer
    )
    assert picked.item == ITEMS[0]


def test_typing_does_not_wait_for_a_search_and_only_the_last_one_counts():
    """While a slow question is answered, later ones replace each other."""
    started, go_on, asked = threading.Event(), threading.Event(), []

    def answer(text):
        asked.append(text)
        if len(asked) == 1:
            started.set()
            go_on.wait(20)
        return [Item(text, (1, 1), text, "")]

    results = []
    worker = Worker(answer, lambda text, *_: results.append(text))
    worker.start()
    worker.ask("a")
    assert started.wait(20)
    for text in ("ab", "abc", "abcd"):
        worker.ask(text)
    go_on.set()
    wait_for(lambda: len(results) == 2)
    worker.close()
    assert asked == results == ["a", "abcd"]


def test_nothing_shown_can_control_the_terminal():
    """Names and sources with escape sequences are made visible."""
    evil = Item("a\x1b]0;x\x07.py", (1, 2), "\x1b[2Jt", "\x9b31m")
    _, picker = drive(["x", found, ENTER], answer=lambda _: [evil], preview=lambda _: "\x1b[31mred\x07")
    shown = "".join(text for _, text in [*picker._list_text(), *picker._preview_text()])
    assert "\\x1b" in shown
    assert not any(c in shown for c in "\x1b\x07\x9b")


def test_a_line_for_each_piece():
    """Pieces of a file are lines; a file without pieces stands for itself."""
    symbol = SymbolResult("f", "function", "A > f", (3, 9), 1.0, "def f():")
    files = [
        FileResult("a.py", 1.0, "python", True, "", (symbol,)),
        FileResult("b.py", 0.5, "python", False, "s", ()),
    ]
    assert items_of(files) == [
        Item("a.py", (3, 9), "A > f", "def f():", True),
        Item("b.py", (1, 1), "", "s", False),
    ]


@pytest.fixture
def project(repo):
    """A repository to search."""
    repo.commit(
        {
            "src/retry.py": "def retry_upload(attempts):\n    # a failed upload again\n    return attempts\n",
            "src/paint.py": "def mix_colors(hue):\n    return hue\n",
        }
    )
    return repo


def test_without_a_terminal_it_says_so(project, pkb):
    """Exit 2 and a hint; the same without the extra; and with JSON."""
    assert "there is no terminal" in pkb("search", "-i", code=2).err
    assert "exclude each other" in pkb("search", "-i", "--json", code=2).json()["error"]["message"]
    assert "nothing to search for" in pkb("search", code=2).err
    assert pkb("search", " ", code=1).out == ""
    blocked = (
        "import sys; sys.modules['prompt_toolkit'] = None; "
        "from git_pkb.cli import main; sys.exit(main(['search', '-i']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked], cwd=project.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'pip install "git-pkb[interactive]"' in done.stderr


class Tmux:
    """A real terminal of 100 columns and 30 lines."""

    def __init__(self, folder, socket):
        self.socket = str(socket)
        size = ("-x", "100", "-y", "30")
        self.run("new-session", "-d", "-s", "t", *size, "-c", str(folder), "env PS1='$ ' sh")

    def run(self, *args):
        """One command of tmux."""
        done = subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", *args], capture_output=True, text=True, check=True
        )
        return done.stdout

    def keys(self, *keys):
        """Press keys."""
        self.run("send-keys", "-t", "t", *keys)

    def screen(self):
        """What stands on the screen."""
        return self.run("capture-pane", "-t", "t", "-p")

    def until(self, text):
        """Wait until a text is on the screen."""
        for _ in range(600):
            if text in self.screen():
                return self.screen()
            time.sleep(0.1)
        pytest.fail(f"{text!r} did not appear:\n{self.screen()}")


@pytest.fixture
def tmux(project, tmp_path):
    """A terminal in the repository."""
    if shutil.which("tmux") is None:
        pytest.skip("no tmux on this machine")
    terminal = Tmux(project.path, tmp_path / "tmux.socket")
    yield terminal
    terminal.run("kill-server")


def test_in_a_terminal_results_and_preview_appear_while_typing(tmux):
    """Live results on the left, the source on the right, the pick on stdout when it is over."""
    tmux.keys("git pkb search -i", "Enter")
    tmux.until("type to search")
    tmux.keys("failed upload")
    screen = tmux.until("src/retry.py:1")
    assert "1 def retry_upload(attempts):" in tmux.until("return attempts")
    assert "│" in screen
    tmux.keys("Enter")
    wait_for(lambda: "│" not in tmux.screen(), 60)
    assert "src/retry.py:1\n" in tmux.until("src/retry.py:1")


def test_the_pick_goes_into_a_pipe_and_the_editor_opens_on_the_line(tmux, project):
    """The screen is drawn on the terminal although stdout is a pipe; Ctrl-O runs git's editor."""
    tmux.keys("git pkb search -i upload | sed s/^/picked:/", "Enter")
    tmux.until("return attempts")
    tmux.keys("Enter")
    tmux.until("picked:src/retry.py:1")
    tmux.keys("clear; GIT_EDITOR='echo edited' git pkb search -i upload", "Enter")
    tmux.until("return attempts")
    tmux.keys("C-o")
    assert f"edited {project.path.resolve()}/src/retry.py" in tmux.until("edited").replace("\n", "")


def test_init_asks_in_a_terminal(tmux, project):
    """Arrow keys and numbers choose, return takes the default, and the terminal is as before."""
    tmux.keys("git pkb init", "Enter")
    assert "local" in tmux.until("Which model makes the vectors?")
    tmux.keys("Enter")
    tmux.until("How does the index travel?")
    tmux.keys("Down", "Enter")
    tmux.until("Install the git hooks in this clone?")
    tmux.keys("2")
    tmux.until("by CI?")
    tmux.keys("Enter")
    tmux.until("Tell coding agents")
    tmux.keys("Enter")
    tmux.until("Register the MCP server")
    tmux.keys("4")
    screen = tmux.until("wrote AGENTS.md")
    assert "How does the index travel?: every-commit" in screen
    assert screen.count("Tell coding agents") == 1
    assert 'write = "every-commit"' in project.read(".pkb/config.toml")
    assert "codex mcp add" in tmux.until("codex mcp add")
    tmux.keys("echo still here", "Enter")
    tmux.until("\nstill here")


def test_init_can_be_left_without_a_trace(tmux, project):
    """Ctrl-C at a question: nothing was written, exit 130."""
    tmux.keys("git pkb init", "Enter")
    tmux.until("Which model makes the vectors?")
    tmux.keys("C-c")
    tmux.until("interrupted")
    tmux.keys("echo code $?", "Enter")
    tmux.until("code 130")
    assert project.status() == ""


def test_init_asks_line_by_line_where_the_cursor_cannot_move(tmux, project):
    """On a dumb terminal the menu is a list, and a number or a name is typed."""
    tmux.keys("TERM=dumb git pkb init", "Enter")
    tmux.until("number or name [local]:")
    tmux.keys("9", "Enter")
    tmux.until("there is no '9'")
    tmux.keys("none", "Enter")
    tmux.until("How does the index travel?")
    tmux.keys("Enter")
    tmux.until("Tell coding agents")
    tmux.keys("no", "Enter")
    tmux.until("Register the MCP server")
    tmux.keys("Enter")
    tmux.until("wrote .pkb/config.toml")
    assert 'provider = "none"' in project.read(".pkb/config.toml")
    assert not (project.path / "AGENTS.md").exists()
