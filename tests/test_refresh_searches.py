"""Searching while something else happens: paid models, other processes, interruptions, full disks."""

import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran, Repo
from indexed import Calls, source

from git_pkb import cli
from git_pkb.lock import hold
from git_pkb.search import refresher

Pkb = Callable[..., Ran]
GADGET = "def frobnicate_gadget():\n    return 1\n"
PROGRAM = [sys.executable, "-c", "import sys; from git_pkb.cli import main; sys.exit(main())"]


def paths(ran: Ran) -> list[str]:
    """Paths of a JSON answer, best first."""
    return [result["path"] for result in ran.json()["results"]]


def cache(repo: Repo) -> Path:
    """Where the cache of a repository without a tracked index lies."""
    return repo.path / ".git" / "pkb"


def started(repo: Repo, *args: str, **options: Any) -> "subprocess.Popen[str]":
    """A `git pkb` that runs beside the test."""
    pipe = subprocess.PIPE
    return subprocess.Popen([*PROGRAM, *args], cwd=repo.path, stdout=pipe, stderr=pipe, text=True, **options)


@pytest.fixture
def many(repo: Repo) -> Repo:
    """Enough files for an index that takes a while to make."""
    repo.commit({f"src/part{i}/module_{i}.py": source(f"alpha_{i}", f"beta_{i}") for i in range(240)})
    return repo


@pytest.fixture
def paid(repo: Repo, pkb: Pkb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Repo, Calls]:
    """A repository indexed with a model that costs money, and the log of what that model was asked."""
    calls = Calls(tmp_path / "calls", monkeypatch)
    monkeypatch.setenv("GIT_PKB_EMBEDDING_MODEL", "mock-paid")
    repo.commit({"two.py": source("harvest", "irrigate"), "other.py": source("quarry")})
    pkb("reindex")
    repo.commit({}, "index")
    calls.take()
    return repo, calls


def test_a_paid_model_is_asked_for_the_question_alone(paid: tuple[Repo, Calls], pkb: Pkb) -> None:
    """A search embeds the question once and no piece, whether the index is current or not."""
    repo, calls = paid
    for text in (None, source("harvest", "irrigate", "winnow")):
        if text:
            repo.write("two.py", text)
        assert paths(pkb("search", "--json", "irrigate"))[0] == "two.py"
        assert calls.path.read_text() == "query 1\n"
        calls.take()


def test_unchanged_pieces_keep_their_vectors(paid: tuple[Repo, Calls], pkb: Pkb) -> None:
    """An edited file is stale; its untouched pieces are found by meaning, the new one by words alone."""
    repo, _ = paid
    repo.write("two.py", source("winnow", "irrigate"))
    by_meaning = pkb("search", "--json", "--mode", "semantic", "irrigate").json()["results"][0]
    assert (by_meaning["path"], by_meaning["stale"]) == ("two.py", True)
    assert by_meaning["symbols"][0]["name"] == "irrigate"
    by_words = pkb("search", "--json", "--mode", "keyword", "winnow").json()
    assert [(r["path"], r["stale"]) for r in by_words["results"]] == [("two.py", True)]
    assert by_words["stale_files"] == 1


def test_reindex_makes_stale_files_whole(paid: tuple[Repo, Calls], pkb: Pkb) -> None:
    """Once `reindex` has paid for the new piece, nothing is stale and meaning finds it."""
    repo, calls = paid
    repo.commit({"two.py": source("winnow", "irrigate")})
    pkb("search", "--json", "winnow")
    calls.take()
    pkb("reindex")
    assert calls.take() == 1
    found = pkb("search", "--json", "--mode", "semantic", "winnow").json()
    assert (found["stale_files"], found["results"][0]["path"]) == (0, "two.py")
    assert found["results"][0]["symbols"][0]["name"] == "winnow"


@pytest.mark.usefixtures("paid")
def test_a_failing_model_leaves_the_words(pkb: Pkb) -> None:
    """When the question cannot be embedded, keywords answer and a warning says so."""
    answer = pkb("search", "--json", "quarry", env={"PKB_MOCK_FAIL": "query"}).json()
    assert answer["mode"] == "keyword"
    assert answer["results"][0]["path"] == "other.py"
    assert "keywords alone" in answer["warnings"][0]


def test_two_searches_at_once_both_answer(many: Repo) -> None:
    """The second waits for the first to build the cache, and answers the same."""
    running = [started(many, "search", "--json", "beta_7") for _ in range(2)]
    ended = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0], ended
    assert ended[0][0] == ended[1][0]
    assert json.loads(ended[0][0])["results"][0]["path"] == "src/part7/module_7.py"


def test_a_search_beside_a_reindex(many: Repo, pkb: Pkb) -> None:
    """Both run at once; afterwards a search answers as a fresh clone does."""
    running = [started(many, "reindex"), started(many, "search", "--json", "beta_7")]
    ended = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0, 0], ended
    many.commit({}, "index")
    clone = many.path.parent / "clone"
    many.git("clone", "--quiet", str(many.path), str(clone))
    here, there = (pkb("search", "--json", "beta_7", cwd=top).json() for top in (many.path, clone))
    assert here["results"] == there["results"]


def interrupted(repo: Repo, number: signal.Signals) -> int:
    """Stop a first search in the middle of building the cache; gives how it ended."""
    process = started(repo, "search", "--json", "beta_7", start_new_session=True)
    while not list(cache(repo).glob("cache.db.*.new")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    os.kill(process.pid, number)
    process.communicate()
    return process.returncode


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_an_interrupted_build_is_made_up_for(many: Repo, pkb: Pkb, number: signal.Signals, code: int) -> None:
    """After Ctrl-C or a kill in the middle nothing half done is read; the next search tidies up."""
    assert interrupted(many, number) == code
    assert not (cache(many) / "cache.db").exists()
    assert paths(pkb("search", "--json", "beta_7"))[0] == "src/part7/module_7.py"
    left = sorted(path.name for path in cache(many).iterdir())
    assert [name for name in left if not name.startswith("cache.rows-")] == ["cache.db", "cache.lock"]
    assert len(left) == 3
    assert many.status() == ""


#: An update of the cache that is killed after SQLite had to write half of it over the old pages.
KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=5")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE postings SET data = zeroblob(length(data))")
connection.execute("DELETE FROM files")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_update_is_rolled_back(many: Repo, pkb: Pkb) -> None:
    """The next search undoes the half-written update and goes on with the cache as it was before."""
    before = pkb("search", "--json", "beta_7").json()["results"]
    database = cache(many) / "cache.db"
    made = database.stat().st_ino
    subprocess.run([sys.executable, "-c", KILLED, str(database)], check=False)
    assert (cache(many) / "cache.db-journal").stat().st_size > 0
    ran = pkb("search", "--json", "beta_7")
    assert (ran.json()["results"], ran.err) == (before, "")
    assert not (cache(many) / "cache.db-journal").exists()
    assert database.stat().st_ino == made
    assert pkb("search", "--json", "beta_7").json()["results"] == before


@pytest.mark.parametrize("how", ["removed", "another format"])
def test_the_journal_of_a_replaced_cache_is_not_applied_to_the_new_one(
    many: Repo, pkb: Pkb, how: str
) -> None:
    """A killed update of a cache that is then made anew: it is gone, or its format is another."""
    before = pkb("search", "--json", "beta_7").json()["results"]
    database = cache(many) / "cache.db"
    if how != "removed":
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE facts SET value = 'old' WHERE key = 'format'")
    subprocess.run([sys.executable, "-c", KILLED, str(database)], check=False)
    if how == "removed":
        database.unlink()
    for _ in range(2):
        assert pkb("search", "--json", "beta_7").json()["results"] == before
        assert not (cache(many) / "cache.db-journal").exists()


def small_files_only() -> None:
    """As on a disk that is full: no file grows beyond 20 kB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def test_a_full_disk_at_the_first_build(many: Repo) -> None:
    """Without a cache and without room for one the search ends with 74 and says what to do."""
    process = started(many, "search", "beta_7", preexec_fn=small_files_only)
    out, err = process.communicate()
    assert (process.returncode, out) == (74, "")
    assert "error: cannot write the cache" in err
    assert "GIT_PKB_CACHE_DIR" in err
    assert "Traceback" not in err


def test_a_full_disk_later(many: Repo, pkb: Pkb) -> None:
    """With a cache that cannot be brought up to date, it answers as it is, with a warning."""
    pkb("search", "beta_7")
    many.write("new.py", "".join(GADGET.replace("gadget", f"gadget{i}") for i in range(3000)))
    process = started(many, "search", "--json", "beta_7", preexec_fn=small_files_only)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["results"][0]["path"] == "src/part7/module_7.py"
    assert "may be out of date" in err
    assert json.loads(out)["stale_files"] == 1


@pytest.mark.usefixtures("many")
def test_a_cache_folder_that_cannot_be(pkb: Pkb, tmp_path: Path) -> None:
    """A folder that cannot be made is an error with a hint, not a traceback."""
    (tmp_path / "file").write_text("")
    ran = pkb("search", "beta_7", env={"GIT_PKB_CACHE_DIR": str(tmp_path / "file")}, code=74)
    assert ran.err.startswith("error: cannot write")


def test_somebody_else_holds_the_cache(
    many: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A locked cache is read as it is, with a warning; only without any is the search turned away."""
    monkeypatch.setattr(refresher, "_WAIT", 0.05)
    monkeypatch.setattr(refresher, "_LONG_WAIT", 0.1)
    monkeypatch.chdir(many.path)
    search = ["search", "--json", "--mode", "keyword"]
    with hold(str(cache(many) / "cache.lock")):
        assert cli.main([*search, "beta_7"]) == 75
        said = capsys.readouterr()
        assert "waiting for it" in said.err
        assert json.loads(said.out)["error"]["code"] == "locked"
    assert cli.main([*search, "beta_7"]) == 0
    many.write("new.py", GADGET)
    capsys.readouterr()
    with hold(str(cache(many) / "cache.lock")):
        assert cli.main([*search, "beta_7"]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)["stale_files"] == 1
        assert "may be out of date" in said.err
    assert cli.main([*search, "frobnicate"]) == 0


def test_attributes_change_what_is_indexed(repo: Repo, pkb: Pkb) -> None:
    """A file that is marked as generated leaves the answers, though itself unchanged, and comes back."""
    repo.commit({"made.py": GADGET, "other.py": GADGET.replace("gadget", "gizmo")})
    assert set(paths(pkb("search", "--json", "frobnicate"))) == {"made.py", "other.py"}
    repo.commit({".gitattributes": "made.py linguist-generated\n"})
    assert "made.py" not in paths(pkb("search", "--json", "frobnicate"))
    repo.commit({".gitattributes": None})
    assert "made.py" in paths(pkb("search", "--json", "frobnicate"))


def test_a_file_becomes_a_folder_and_a_link(repo: Repo, pkb: Pkb) -> None:
    """Whatever takes a file's place, the search goes on and shows what is there."""
    repo.commit({"place": GADGET, "a.py": "def other():\n    pass\n"})
    assert paths(pkb("search", "--json", "frobnicate"))[0] == "place"
    (repo.path / "place").unlink()
    repo.write("place/inner.py", GADGET)
    assert paths(pkb("search", "--json", "frobnicate"))[0] == "place/inner.py"
    (repo.path / "place/inner.py").unlink()
    (repo.path / "place").rmdir()
    (repo.path / "place").symlink_to("a.py")
    assert "place" not in paths(pkb("search", "--json", "--mode", "keyword", "frobnicate", code=None))


def test_a_change_while_the_search_runs_is_seen(repo: Repo, pkb: Pkb) -> None:
    """The cache is asked before git has answered; an edit since then is in the answer all the same."""
    repo.commit({"a.py": GADGET})
    pkb("search", "frobnicate")
    repo.write("a.py", GADGET.replace("frobnicate", "defenestrate"))
    assert paths(pkb("search", "--json", "--mode", "keyword", "defenestrate")) == ["a.py"]
    assert paths(pkb("search", "--json", "--mode", "keyword", "frobnicate", code=1)) == []


@pytest.mark.parametrize("dirty", [False, True])
def test_a_cache_damaged_inside_is_made_anew(repo: Repo, pkb: Pkb, *, dirty: bool) -> None:
    """Damage that shows only while the cache is read or written costs one rebuild, not the answer."""
    repo.commit({"gadget.py": GADGET, "other.py": source("quarry")})
    pkb("search", "frobnicate")
    database = cache(repo) / "cache.db"
    if dirty:
        size = database.stat().st_size
        with database.open("r+b") as file:
            file.seek(8192 * 3)
            file.write(b"\xff" * (size - 8192 * 3))
        repo.write("new.py", source("sprocket"))
    else:
        with contextlib.closing(sqlite3.connect(database)) as connection, connection:
            damage = "UPDATE postings SET term = CAST(term || x'ff' AS TEXT) WHERE term LIKE 'frob%'"
            connection.execute(damage)
    ran = pkb("search", "frobn", "--json")
    assert paths(ran)[0] == "gadget.py"
    again = pkb("search", "frobnicate", "--json")
    assert paths(again)[0] == "gadget.py"
    assert again.err == ""


def test_an_edit_that_keeps_size_and_mtime_is_seen(repo: Repo, pkb: Pkb) -> None:
    """A file changed since HEAD and then changed again under its old mtime is read again."""
    repo.commit({"a.py": "x = 1\n"})
    file = repo.write("a.py", "def harvest():\n    pass\n")
    os.utime(file, (10**9, 10**9))
    pkb("search", "harvest")
    repo.write("a.py", "def sprocks():\n    pass\n")
    os.utime(file, (10**9, 10**9))
    ran = pkb("search", "sprocks", "--json")
    assert ran.json()["results"][0]["symbols"][0]["name"] == "sprocks"
