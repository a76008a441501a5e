"""`git pkb search`, end to end: real repositories, real processes."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Ran, Repo

from git_pkb.commands import search
from git_pkb.output import progress

Pkb = Callable[..., Ran]

RETRY = '''"""Uploads that survive a bad network."""

import time


def retry_failed_upload(client, path, attempts=5):
    """Send a file again when the server refused it, waiting longer each time."""
    for attempt in range(attempts):
        if client.send(path):
            return True
        time.sleep(2**attempt)
    return False
'''
PARSER = '''"""Reads configuration files."""


class ConfigParser:
    """Turns TOML text into settings."""

    def parse_table(self, text):
        """One table of keys and values."""
        return dict(line.split("=") for line in text.splitlines())
'''
NOTES = """# Deployment

How a release reaches production.

## Rolling back

Run the previous container image again.
"""


@pytest.fixture
def story(repo: Repo) -> Repo:
    """A repository of code, a test and a note."""
    repo.commit(
        {
            "src/upload/retry.py": RETRY,
            "src/config/parser.py": PARSER,
            "tests/test_retry.py": "def test_retry_failed_upload():\n    assert True\n",
            "docs/deploy.md": NOTES,
        },
        "begin",
    )
    return repo


def paths(ran: Ran) -> list[str]:
    """Paths of a JSON answer, best first."""
    return [result["path"] for result in ran.json()["results"]]


def ask(pkb: Pkb, *args: str, **options: Any) -> list[str]:
    """Paths that a search finds, best first."""
    return paths(pkb("search", "--json", *args, **options))


def test_a_repository_without_an_index_is_searched_at_once(story: Repo, pkb: Pkb) -> None:
    """The first search indexes into the cache on the way, and git sees nothing of it."""
    assert ask(pkb, "where do we retry failed uploads")[0] == "src/upload/retry.py"
    assert story.status() == ""
    assert not (story.path / ".pkb").exists()


@pytest.mark.usefixtures("story")
def test_the_symbol_and_its_lines_are_pointed_at(pkb: Pkb) -> None:
    """The best symbol is the function, with the lines it spans and its first line."""
    best = pkb("search", "--json", "parse a table of settings").json()["results"][0]
    symbol = best["symbols"][0]
    assert (best["path"], symbol["name"]) == ("src/config/parser.py", "parse_table")
    assert symbol["lines"] == [7, 9]
    assert symbol["excerpt"] == "def parse_table(self, text):"
    assert symbol["breadcrumb"] == "ConfigParser > parse_table"


@pytest.mark.usefixtures("story")
def test_a_heading_is_found(pkb: Pkb) -> None:
    """Prose is cut on headings, and the section that answers is named."""
    best = pkb("search", "--json", "rolling back a release").json()["results"][0]
    assert best["path"] == "docs/deploy.md"
    assert "Rolling back" in [symbol["name"] for symbol in best["symbols"]]


def test_from_a_subdirectory_paths_and_scopes_are_relative(story: Repo, pkb: Pkb) -> None:
    """Plain output names paths as seen from the current folder; a scope is read from there, too."""
    inside = story.path / "src" / "upload"
    plain = pkb("search", "retry upload", "--scope", "..", "-k", "1", cwd=inside).out
    assert plain.startswith("retry.py:")
    assert ask(pkb, "retry upload", "--scope", "../config", cwd=inside) == ["src/config/parser.py"]
    assert ask(pkb, "retry upload", "--scope", "/tests", cwd=inside) == ["tests/test_retry.py"]


def test_a_scope_outside_is_refused(story: Repo, pkb: Pkb) -> None:
    """A scope that leaves the repository is a usage error, not an empty answer."""
    assert (
        "outside the repository" in pkb("search", "x", "--scope", "../..", cwd=story.path / "src", code=2).err
    )


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--filter", "*.md"], ["docs/deploy.md"]),
        (
            ["--filter", "src/**/*.py", "--filter", "docs/*"],
            {"src/upload/retry.py", "src/config/parser.py", "docs/deploy.md"},
        ),
        (["--filter", "docs"], ["docs/deploy.md"]),
        (["--filter", "upload/"], ["src/upload/retry.py"]),
        (["--filter", "src/*/p?rser.[pq]y"], ["src/config/parser.py"]),
        (["--lang", "markdown"], ["docs/deploy.md"]),
        (["--kind", "docs"], ["docs/deploy.md"]),
        (["--scope", "src/upload"], ["src/upload/retry.py"]),
        (["--scope", "src/upload/retry.py"], ["src/upload/retry.py"]),
    ],
)
def test_filters(pkb: Pkb, options: list[str], expected: object) -> None:
    """Scopes, globs, languages and kinds decide what may be found, whatever ranks best."""
    found = ask(pkb, "retry failed upload release", *options)
    assert (set(found) if isinstance(expected, set) else found) == expected


@pytest.mark.usefixtures("story")
def test_the_number_of_files(pkb: Pkb) -> None:
    """`-k` bounds the files, and less than one is refused."""
    assert len(ask(pkb, "retry", "-k", "2")) == 2
    assert pkb("search", "retry", "-k", "0", code=2).err.startswith("error: -k")


@pytest.mark.usefixtures("story")
def test_tests_come_after_what_they_test_unless_asked_for(pkb: Pkb) -> None:
    """A test repeats the words of the code; it wins only when the question is about tests."""
    assert ask(pkb, "retry failed upload")[0] == "src/upload/retry.py"
    assert ask(pkb, "test retry failed upload")[0] == "tests/test_retry.py"


@pytest.mark.usefixtures("story")
def test_nothing_found_is_exit_1_with_a_whole_answer(pkb: Pkb) -> None:
    """A word that is nowhere gives exit 1; JSON is complete all the same."""
    answer = pkb("search", "--json", "--mode", "keyword", "xyzzyplugh", code=1).json()
    assert answer["results"] == []
    assert answer["schema"] == 1


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_modes(pkb: Pkb, mode: str) -> None:
    """Each way of ranking finds the right file, and the JSON names the way."""
    answer = pkb("search", "--json", "--mode", mode, "retry a failed upload").json()
    assert answer["mode"] == mode
    assert answer["results"][0]["path"] == "src/upload/retry.py"


@pytest.mark.usefixtures("story")
def test_without_an_embedder_words_answer(pkb: Pkb) -> None:
    """With the provider `none` a hybrid search is a keyword search, and says so."""
    answer = pkb("search", "--json", "retry upload", env={"GIT_PKB_EMBEDDING_PROVIDER": "none"}).json()
    assert answer["mode"] == "keyword"
    assert answer["results"][0]["path"] == "src/upload/retry.py"


def test_the_same_answer_twice_and_after_the_cache_was_deleted(story: Repo, pkb: Pkb) -> None:
    """The cache can go at any time; the answer is the same to the last byte."""
    first = pkb("search", "--json", "settings table").out
    assert pkb("search", "--json", "settings table").out == first
    for file in (story.path / ".git/pkb").glob("cache*"):
        file.unlink()
    assert pkb("search", "--json", "settings table").out == first


EDITS: list[tuple[str, Callable[[Repo], object], str, str | None]] = [
    (
        "edited",
        lambda r: r.write("src/config/parser.py", "def frobnicate_gadget():\n    pass\n"),
        "frobnicate gadget",
        "src/config/parser.py",
    ),
    (
        "untracked",
        lambda r: r.write("src/new.py", "def frobnicate_gadget():\n    pass\n"),
        "frobnicate gadget",
        "src/new.py",
    ),
    (
        "staged",
        lambda r: (r.write("s.py", "def frobnicate_gadget():\n    pass\n"), r.git("add", "s.py")),
        "frobnicate gadget",
        "s.py",
    ),
    (
        "committed",
        lambda r: r.commit({"c.py": "def frobnicate_gadget():\n    pass\n"}),
        "frobnicate gadget",
        "c.py",
    ),
    (
        "renamed",
        lambda r: (r.git("mv", "src/config/parser.py", "elsewhere.py"), r.commit()),
        "ConfigParser",
        "elsewhere.py",
    ),
    ("deleted", lambda r: (r.path / "src/config/parser.py").unlink(), "ConfigParser", None),
    ("removed", lambda r: r.commit({"src/config/parser.py": None}), "ConfigParser", None),
    (
        "ignored",
        lambda r: (r.commit({".gitignore": "build/\n"}), r.write("build/x.py", "def frobnicate(): pass\n")),
        "frobnicate",
        None,
    ),
]


@pytest.mark.parametrize(("change", "query", "expected"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS])
def test_the_answer_is_always_current(
    story: Repo, pkb: Pkb, change: Callable[[Repo], object], query: str, expected: str | None
) -> None:
    """Whatever changed since the last search is in the next answer; what is gone or ignored is not."""
    ask(pkb, "settings")
    change(story)
    answer = pkb("search", "--json", "--mode", "keyword", query, code=None)
    found = paths(answer)
    assert found[:1] == ([expected] if expected else [])
    assert answer.json()["stale_files"] == 0


def test_an_edit_taken_back_is_taken_back(story: Repo, pkb: Pkb) -> None:
    """After `git checkout` of an edited file the answer is what it was before."""
    before = pkb("search", "--json", "configuration table").out
    story.write("src/config/parser.py", "def frobnicate_gadget():\n    pass\n")
    assert ask(pkb, "--mode", "keyword", "frobnicate") == ["src/config/parser.py"]
    story.git("checkout", "--quiet", "--", ".")
    assert pkb("search", "--json", "configuration table").out == before


def test_a_branch_switch_shows_the_other_branch(story: Repo, pkb: Pkb) -> None:
    """Files that one branch has and the other lacks come and go with it."""
    story.branch("side")
    story.commit({"only_here.py": "def frobnicate_gadget():\n    pass\n"})
    assert ask(pkb, "frobnicate gadget")[0] == "only_here.py"
    story.switch("main")
    assert "only_here.py" not in paths(pkb("search", "--json", "frobnicate gadget", code=None))
    story.switch("side")
    assert ask(pkb, "frobnicate gadget")[0] == "only_here.py"


def test_incremental_answers_equal_those_of_a_new_clone(story: Repo, pkb: Pkb) -> None:
    """After many small changes with a search between each, the scores are those of a fresh cache."""
    for step in range(16):
        story.commit({f"src/part{step % 5}.py": f"def step_{step}():\n    return 'upload {step} retry'\n"})
        ask(pkb, "upload")
    stepwise = pkb("search", "--json", "-k", "20", "retry upload step").out
    clone = story.path.parent / "clone"
    story.git("clone", "--quiet", str(story.path), str(clone))
    assert pkb("search", "--json", "-k", "20", "retry upload step", cwd=clone).out == stepwise


def test_refresh_can_be_turned_off(story: Repo, pkb: Pkb) -> None:
    """With `search.refresh = false` the old answer stays, and what is out of date is marked."""
    ask(pkb, "settings")
    story.write("src/config/parser.py", "def frobnicate_gadget():\n    pass\n")
    off = {"GIT_PKB_SEARCH_REFRESH": "false"}
    answer = pkb("search", "--json", "ConfigParser", env=off).json()
    assert answer["stale_files"] == 1
    assert next((r["path"], r["stale"]) for r in answer["results"]) == ("src/config/parser.py", True)


@pytest.mark.usefixtures("story")
def test_no_index_and_none_allowed_is_exit_3(pkb: Pkb) -> None:
    """Without an index and without leave to build one, the error names the command that makes one."""
    ran = pkb("search", "settings", env={"GIT_PKB_SEARCH_REFRESH": "false"}, code=3)
    assert "git pkb reindex" in ran.err


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "the of and",
        "'; DROP TABLE files; --",
        'a" OR "b',
        "NEAR(a b, 3)",
        "*",
        "foo*",
        "-k",
        "(((",
        "std::vector<int>::push_back",
        "a->b.c",
        "日本語",
        "Größe",
        "\u202ereversed",
        "x" * 10_000,
        "word " * 3000,
        "src/config/parser.py",
        'File "src/config/parser.py", line 7, in parse_table\nValueError: boom',
        "\t\n",
        "🙂",
        "\x01\x02",
        "100%_",
        "C:\\path\\file",
    ],
)
def test_any_question_gets_an_answer(pkb: Pkb, query: str) -> None:
    """Whatever is typed, the search answers or finds nothing; it never fails."""
    ran = pkb("search", "--json", "--", query, code=None)
    assert ran.code in (0, 1), ran.err
    assert ran.json()["query"] == query
    assert "Traceback" not in ran.err


@pytest.mark.usefixtures("story")
def test_a_path_as_question_finds_the_file(pkb: Pkb) -> None:
    """Somebody who pastes a path or a stack trace gets the file it names."""
    assert ask(pkb, "src/config/parser.py")[0] == "src/config/parser.py"
    trace = 'File "src/upload/retry.py", line 9, in retry_failed_upload\nTimeoutError'
    assert ask(pkb, trace)[0] == "src/upload/retry.py"


NAMES = [
    "a b.py",
    'quote".py',
    "new\nline.py",
    "-dash.py",
    "größe.py",
    "日本.py",
    "tab\t.py",
    "back\\slash.py",
]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(repo: Repo, pkb: Pkb, name: str) -> None:
    """A file of any name is found, edited or not, and named exactly in JSON."""
    repo.commit({name: RETRY})
    assert ask(pkb, "retry failed upload") == [name]
    repo.write(name, PARSER)
    assert ask(pkb, "parse table") == [name]


def test_a_name_that_is_not_utf8(repo: Repo, pkb: Pkb) -> None:
    """Bytes that are no UTF-8 are shown lossy, with the bytes themselves in base64."""
    raw = b"caf\xe9.py"
    (repo.path / os.fsdecode(raw)).write_text(RETRY)
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "-m", "x")
    result = pkb("search", "--json", "retry").json()["results"][0]
    assert result["path"] == "caf\ufffd.py"
    assert result["path_bytes"] == "Y2Fm6S5weQ=="


def test_no_commit_yet(repo: Repo, pkb: Pkb) -> None:
    """On an unborn branch the files that are there are searched; with none, nothing is found."""
    assert pkb("search", "retry", code=1).out == ""
    repo.write("retry.py", RETRY)
    assert ask(pkb, "retry") == ["retry.py"]


def test_a_bare_repository(story: Repo, pkb: Pkb) -> None:
    """A bare clone answers from HEAD."""
    bare = story.path.parent / "bare.git"
    story.git("clone", "--quiet", "--bare", str(story.path), str(bare))
    assert ask(pkb, "retry failed upload", cwd=bare)[0] == "src/upload/retry.py"


def test_not_a_repository(repo: Repo, pkb: Pkb) -> None:
    """Outside of any repository the error says so, and JSON callers get it as JSON."""
    outside = repo.path.parent
    assert "not a git repository" in pkb("search", "x", cwd=outside, code=2).err
    ran = pkb("search", "--json", "x", cwd=outside, code=2)
    assert json.loads(ran.out)["error"]["code"] == "not-a-repository"


def test_committed_artifacts_are_used(story: Repo, pkb: Pkb) -> None:
    """A clone with a committed index answers the same as one without."""
    plain = pkb("search", "--json", "settings table").json()
    pkb("reindex")
    story.commit({}, "index")
    clone = story.path.parent / "clone"
    story.git("clone", "--quiet", str(story.path), str(clone))
    again = pkb("search", "--json", "settings table", cwd=clone).json()
    assert again["results"] == plain["results"]
    assert story.git("-C", str(clone), "status", "--porcelain") == ""


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\0" * 4000])
def test_damaged_artifacts_are_made_up_for(story: Repo, pkb: Pkb, damage: bytes) -> None:
    """An artifact that cannot be used counts as absent: the answer is right all the same."""
    expected = pkb("search", "--json", "settings table").json()["results"]
    pkb("reindex")
    for half in (story.path / ".pkb/index").rglob("parser.py.*"):
        half.write_bytes(damage)
    story.commit({}, "damage")
    for name in ("cache.db",):
        for place in (story.path / ".git/pkb",):
            (place / name).unlink(missing_ok=True)
    assert pkb("search", "--json", "settings table").json()["results"] == expected


def test_a_read_only_repository_is_searched(story: Repo, pkb: Pkb) -> None:
    """Where nothing can be written the cache goes into the user's cache folder (root may write anywhere)."""
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (story.path / ".git").chmod(0o500)
    try:
        assert ask(pkb, "retry failed upload")[0] == "src/upload/retry.py"
    finally:
        (story.path / ".git").chmod(0o700)


@pytest.mark.usefixtures("story")
def test_terse_and_text(pkb: Pkb) -> None:
    """`--terse` is one line a file; `--text` brings the source; `--no-symbols` files alone."""
    assert pkb("search", "--terse", "-k", "1", "parse a table").out == "src/config/parser.py:7-9\n"
    text = pkb("search", "--json", "--text", "-k", "1", "parse a table").json()["results"][0]["symbols"][0][
        "text"
    ]
    assert "def parse_table(self, text):" in text
    assert pkb("search", "--json", "--no-symbols", "retry").json()["results"][0]["symbols"] == []


def test_an_empty_file_and_a_binary_one_are_no_results(repo: Repo, pkb: Pkb) -> None:
    """Files without text are passed over without a word."""
    repo.commit({"empty.py": "", "data.bin": b"\0\1retry", "retry.py": RETRY, "blank.py": "\n\n"})
    assert ask(pkb, "retry", "-k", "9")[0] == "retry.py"
    assert "data.bin" not in ask(pkb, "retry", "-k", "9")


def test_a_warm_search_loads_little(story: Repo, pkb: Pkb, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these takes too long to load; only a first search, or a very large repository, needs any."""
    pkb("search", "retry")
    program = (
        "import sys; from git_pkb.cli import main; code = main(['search', '--json', 'retry failed upload']);"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    monkeypatch.chdir(story.path)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, *loaded = done.stderr.split()
    heavy = (
        "numpy pygit2 tree_sitter tomlkit msgpack dataclasses inspect subprocess multiprocessing urllib.parse"
    )
    assert (code, set(loaded) & set(heavy.split())) == ("0", set())


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        """It does."""
        return True


def test_a_long_first_build_shows_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the files and pieces that are done are shown in one line, which is wiped at the end."""
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_REDRAW_SECONDS", 0.0)
    monkeypatch.setattr("sys.stderr", Terminal())
    line = search._Line()
    line.show(64, 200, 300)
    line.show(128, 200, 650)
    shown = sys.stderr.getvalue()
    assert "indexing 64/200 files · 300 pieces" in shown
    assert "indexing 128/200 files · 650 pieces" in shown
    line.done()
    assert sys.stderr.getvalue().endswith("\r")


def test_a_quick_search_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn when nothing was built."""
    monkeypatch.setattr("sys.stderr", Terminal())
    search._Line().done()
    assert sys.stderr.getvalue() == ""
