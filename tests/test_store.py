"""Vector stores: one contract for all, over servers on the loopback, and the real `git pkb` with them."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_server import StoreServer, serving_store
from vendor_server import KEY, Fault

from git_pkb.config import Config, StoreConfig, load
from git_pkb.errors import ConfigError, ProviderError
from git_pkb.git import discover
from git_pkb.index.storing import collection_of
from git_pkb.net.network import Policy
from git_pkb.store import base
from git_pkb.store.base import Hit, Row, open_store, path_shown, row_id, shown_path

Pkb = Callable[..., Any]
VENDORS = ("turbopuffer", "qdrant")
FILES = {
    f"src/part{i}.py": f'"""Part {i}."""\n\ndef upload_{i}(path):\n    retry(path, {i})\n' for i in range(12)
} | {"docs/guide.md": "# Guide\n\nHow uploads are retried when the network fails.\n"}


@pytest.fixture(params=VENDORS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreServer]:
    """A store on the loopback, whose key stands in its usual variable."""
    monkeypatch.setenv(f"{request.param.upper()}_API_KEY", KEY)
    with serving_store(request.param) as running:
        yield running


def opened(server: StoreServer, collection: str = "things", dims: int = 4) -> Any:
    """A client of the server that does not wait between attempts."""
    store: Any = open_store(StoreConfig(provider=server.vendor, baseurl=server.url), collection, dims)
    store.policy = Policy(attempts=3, first_wait=0.0, longest_wait=0.0, longest_retry_after=0.0)
    return store


def a_row(number: int, path: str = "a.py") -> Row:
    """A row whose vector points its own way."""
    vector = [1.0 if i == number % 4 else 0.1 * (number // 4) for i in range(4)]
    return Row(row_id(path, "b" * 40, "1 mock", number), vector, path, "b" * 40, number)


# --- the contract ---


def test_nothing_is_there_at_first(server: StoreServer) -> None:
    """A collection that does not exist has no ids; a question to it says what to do."""
    store = opened(server)
    assert list(store.ids()) == []
    with pytest.raises(ProviderError) as caught:
        store.nearest([1.0, 0.0, 0.0, 0.0], 3)
    assert "git pkb reindex" in str(caught.value.hint)


def test_rows_come_back(server: StoreServer) -> None:
    """What was written is found by its vector, nearest first; what is written again takes its own place."""
    store = opened(server)
    store.prepare()
    store.prepare()
    rows = [a_row(i) for i in range(4)]
    store.upsert(rows)
    store.upsert(rows[:2])
    assert set(store.ids()) == {row.id for row in rows}
    assert store.nearest(rows[2].vector, 2)[0] == Hit("a.py", "b" * 40, 2)
    assert len(store.nearest(rows[2].vector, 3)) == 3
    store.delete([rows[2].id, row_id("gone", "b" * 40, "1 mock", 0)])
    assert rows[2].id not in set(store.ids())
    assert Hit("a.py", "b" * 40, 2) not in store.nearest(rows[2].vector, 4)


def test_ids_come_in_pages(server: StoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than one answer holds: all of them, once."""
    import git_pkb.store.qdrant
    import git_pkb.store.turbopuffer

    for module in (git_pkb.store.qdrant, git_pkb.store.turbopuffer):
        monkeypatch.setattr(module, "_PAGE", 3)
    server.page = 3
    store = opened(server)
    store.prepare()
    for count in (3, 6, 7):
        rows = [a_row(i) for i in range(count)]
        store.upsert(rows)
        assert sorted(store.ids()) == sorted(row.id for row in rows)


def test_any_path_can_be_kept(server: StoreServer) -> None:
    """Spaces, percent signs, quotes, other alphabets and bytes that are not UTF-8."""
    store = opened(server)
    store.prepare()
    for path in ("a b/100%.py", 'say "hi".md', "läufe/日本.txt", os.fsdecode(b"bad-\xff\xfe.c"), "%41.txt"):
        row = a_row(0, path)
        store.upsert([row])
        assert Hit(path, "b" * 40, 0) in store.nearest(row.vector, 99)


@given(st.binary(max_size=30))
def test_paths_survive_their_quoting(raw: bytes) -> None:
    """Whatever git's bytes are, they come back, and what is sent is valid text."""
    path = os.fsdecode(raw)
    shown_path(path).encode("utf-8")
    assert path_shown(shown_path(path)) == path


def test_ids_tell_rows_apart() -> None:
    """Another path, blob, model, cutter or piece is another row; the same is the same anywhere."""
    parts = [
        ("a", "b1", "1 m", 0),
        ("b", "b1", "1 m", 0),
        ("a", "b2", "1 m", 0),
        ("a", "b1", "2 m", 0),
        ("a", "b1", "1 m", 1),
    ]
    assert len({row_id(*each) for each in parts}) == len(parts)
    assert row_id("a", "b1", "1 m", 0) == "f37cb14f-e5a5-57c8-901d-d4403fb5c68f"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_asked_again(status: int, server: StoreServer) -> None:
    """A limit of the rate or a fault of the server is no failure when it passes."""
    store = opened(server)
    store.prepare()
    server.faults = [Fault(status), Fault(status)]
    store.upsert([a_row(0)])
    assert len(list(store.ids())) == 1


@pytest.mark.parametrize(
    ("fault", "message", "hint"),
    [
        (Fault(401), "refused the key", "store.apikeyenv"),
        (Fault(400), "told to fail", "store.namespace"),
        (Fault(200, body=b"<html>welcome</html>"), "not JSON", "store.baseurl"),
        (Fault(404, body=b"<html>lost</html>"), "does not know this address", "store.baseurl"),
        (Fault(302, {"Location": "http://evil.example"}, b""), "redirect", "store.baseurl"),
    ],
)
def test_a_failure_says_what_to_do(fault: Fault, message: str, hint: str, server: StoreServer) -> None:
    """The error names the store, what it said, and the setting to look at; the key is in none of it."""
    store = opened(server)
    server.faults = [fault]
    with pytest.raises(ProviderError) as caught:
        store.upsert([a_row(0)])
    assert message in caught.value.message
    assert hint in str(caught.value.hint)
    assert KEY not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(
    "rows",
    [
        None,
        "text",
        [1],
        [{}],
        [{"path": 3, "blob": "b", "piece": 0}],
        [{"path": "a", "blob": None, "piece": 0}],
        [{"path": "a", "blob": "b", "piece": True}],
        [{"path": "a", "blob": "b", "piece": -1}],
        [{"path": "a", "blob": "b", "piece": "0"}],
    ],
)
def test_an_answer_is_checked(rows: Any, server: StoreServer) -> None:
    """Rows that are none, and attributes of other types, are an error and never a hit."""
    store = opened(server)
    store.prepare()
    store.upsert([a_row(0)])

    def spoil(_: Any) -> Any:
        if server.vendor == "turbopuffer":
            return {"rows": rows}
        points = [{"id": "1", "payload": each} for each in rows] if isinstance(rows, list) else rows
        return {"result": {"points": points}}

    server.faults = [Fault(spoil=spoil)]
    with pytest.raises(ProviderError, match="cannot be used"):
        store.nearest([1.0, 0.0, 0.0, 0.0], 3)


def test_a_key_that_is_lacking_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """One store needs a key; a variable that the settings name must be set; Qdrant may do without."""
    monkeypatch.delenv("TURBOPUFFER_API_KEY", raising=False)
    with serving_store("turbopuffer") as server:
        with pytest.raises(ProviderError, match="TURBOPUFFER_API_KEY is not set"):
            opened(server).upsert([a_row(0)])
        assert server.seen == []
    with serving_store("qdrant") as server:
        named = StoreConfig(provider="qdrant", baseurl=server.url, apikeyenv="MY_KEY")
        store = open_store(named, "things", 4)
        assert store is not None
        with pytest.raises(ProviderError, match="MY_KEY is not set"):
            store.upsert([a_row(0)])
        assert server.seen == []
        with pytest.raises(ProviderError, match="refused"):
            opened(server).upsert([a_row(0)])
        assert "api-key" not in server.seen[0].headers


def test_the_table_and_the_setting_agree() -> None:
    """Every store of the table can be set, nothing else; `tree` opens none."""
    from git_pkb.config import KEYS

    assert set(KEYS["store.provider"].choices) == {base.TREE, *base.PROVIDERS}
    assert open_store(StoreConfig(), "things", 4) is None
    with pytest.raises(ConfigError, match="unknown store"):
        open_store(StoreConfig(provider="pinecone"), "things", 4)
    with pytest.raises(ConfigError, match=r"store\.provider"):
        load(None, {"store.provider": "pinecone"}, environment={})


# --- names of collections ---


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Acme/App.git",
        "https://ada:secret@github.com/acme/app",
        "git@github.com:acme/app.git",
        "ssh://git@github.com:22/acme/app/",
    ],
)
def test_one_repository_is_one_collection(address: str, repo: Any) -> None:
    """However the remote is spelt; and no password becomes part of a name."""
    repo.git("remote", "add", "origin", address)
    name = collection_of(discover(str(repo.path)), Config(), "local-1:256:int8")
    assert name.startswith("github.com-acme-app-")
    assert "secret" not in name


def test_the_name_may_be_given_and_ends_with_the_space(repo: Any) -> None:
    """Vectors of two models are never in one collection; who cut the pieces makes no other space."""
    here = discover(str(repo.path))
    with pytest.raises(ConfigError, match=r"store\.namespace is not set"):
        collection_of(here, Config(), "a:256:int8")
    given = Config(store=StoreConfig(namespace="Ours: main"))
    names = [collection_of(here, given, model) for model in ("a:256:int8", "a:256:int8:auto", "a:128:int8")]
    assert names[0] == names[1] != names[2]
    assert names[0].startswith("Ours-main-")


# --- reindex and search ---


def use(pkb: Pkb, server: StoreServer) -> None:
    """The user's own settings of this clone name the store."""
    for name, value in {"provider": server.vendor, "baseurl": server.url, "namespace": "ours"}.items():
        pkb("config", "set", "--local", f"store.{name}", value)


def queries(server: StoreServer) -> int:
    """How many questions arrived; a list of ids is none."""
    asked = [seen.body for seen in server.seen if seen.path.endswith("/query")]
    return sum(body.get("rank_by") is None or body["rank_by"][0] == "vector" for body in asked)


def written(server: StoreServer) -> list[dict[str, Any]]:
    """All rows that arrived."""
    return [row for seen in server.seen for row in (*seen.body.get("upsert_rows", ()), *_points(seen.body))]


def _points(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in body.get("points", ()) if isinstance(each, dict)]


def search(pkb: Pkb, *arguments: str) -> Any:
    """What a search answers, as JSON."""
    return json.loads(pkb("search", "how are uploads retried", "--json", *arguments).out)


def test_reindex_writes_rows_and_search_asks_for_them(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """One row a piece, with path, blob and number; the answer is that of the vectors at hand."""
    repo.commit(FILES)
    pkb("reindex")
    plain = search(pkb)
    use(pkb, server)
    said = pkb("reindex").err
    assert f"{server.vendor} at {server.url}: 13 rows written, 0 removed" in said
    rows = server.rows().values()
    assert {(row["path"], row["blob"], row["piece"]) for row in rows} == {
        (path, repo.blob(path), 0) for path in FILES
    }
    server.seen.clear()
    answer = search(pkb)
    assert queries(server) == 1
    assert answer["results"] == plain["results"]
    assert (answer["mode"], answer["warnings"]) == ("hybrid", [])


def test_only_what_changed_is_written(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """An edit, a new file, a rename and a removal: their rows come and go, the others are not sent again."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    server.seen.clear()
    pkb("reindex")
    assert written(server) == []
    repo.git("mv", "src/part1.py", "src/moved.py")
    repo.commit({"src/part2.py": "def other():\n    pass\n", "src/new.py": "n = 1\n", "src/part3.py": None})
    server.seen.clear()
    pkb("reindex")
    assert len(written(server)) == 3
    left = {row["path"] for row in server.rows().values()}
    assert left == set(repo.tracked()) - {name for name in repo.tracked() if name.startswith(".pkb")}
    blobs = {row["path"]: row["blob"] for row in server.rows().values()}
    assert all(blob == repo.blob(path) for path, blob in blobs.items())


def test_a_store_that_lost_rows_gets_them_back(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """What is there is asked of the store itself, not of a memory that may be wrong."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    (rows,) = server.collections.values()
    for name in list(rows)[:5]:
        del rows[name]
    rows["00000000-0000-4000-8000-000000000000"] = ([1.0] * 256, {"path": "x", "blob": "y", "piece": 0})
    pkb("reindex")
    assert {row["path"] for row in server.rows().values()} == set(FILES)


def test_what_the_store_does_not_know_yet_is_found_here(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Commits and edits since the last reindex are looked up in the vectors at hand; old rows are no hits."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    repo.commit({"src/committed.py": "def zebra_crossing():\n    pass\n"})
    repo.write("src/part5.py", "def giraffe_neck():\n    pass\n")
    for mode, word, path in (
        ("semantic", "zebra crossing", "src/committed.py"),
        ("semantic", "giraffe neck", "src/part5.py"),
    ):
        answer = json.loads(pkb("search", word, "--json", "--mode", mode).out)
        assert answer["results"][0]["path"] == path
        assert answer["warnings"] == []


def test_hits_that_are_no_longer_true_do_not_count(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Rows of another blob, of no such file or piece, as a stranger may write them, change nothing."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    plain = search(pkb)
    (rows,) = server.collections.values()
    vector = next(iter(rows.values()))[0]
    for number, about in enumerate(
        [
            {"path": "../../etc/passwd", "blob": "0" * 40, "piece": 0},
            {"path": "docs/guide.md", "blob": "0" * 40, "piece": 0},
            {"path": "docs/guide.md", "blob": repo.blob("docs/guide.md"), "piece": 999},
        ]
    ):
        rows[f"ffffffff-0000-4000-8000-00000000000{number}"] = (vector, about)
    assert search(pkb)["results"] == plain["results"]


def test_who_narrows_files_down_asks_the_vectors_here(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """The nearest of all may be in none of the wanted files."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    server.seen.clear()
    assert [each["path"] for each in search(pkb, "--scope", "docs")["results"]] == ["docs/guide.md"]
    assert queries(server) == 0


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_store_that_fails_costs_a_search_nothing_but_a_warning(
    status: int, repo: Any, pkb: Pkb, server: StoreServer
) -> None:
    """The vectors at hand answer as they would without a store."""
    repo.commit(FILES)
    pkb("reindex")
    plain = search(pkb)
    use(pkb, server)
    pkb("reindex")
    server.faults = [Fault(status)] * 5
    answer = search(pkb)
    assert answer["results"] == plain["results"]
    assert answer["mode"] == "hybrid"
    assert len(answer["warnings"]) == 1
    assert "answered without the store" in answer["warnings"][0]


def test_a_store_that_was_never_written_says_so(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """The answer comes from the vectors at hand, with the command that writes the store."""
    repo.commit(FILES)
    use(pkb, server)
    answer = search(pkb)
    assert answer["results"]
    assert "has no vectors of this repository" in answer["warnings"][0]


def test_a_store_that_fails_ends_reindex_with_4(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """The artifacts stay; the next run writes the rest."""
    repo.commit(FILES)
    use(pkb, server)
    server.faults = [Fault(401)]
    failed = pkb("reindex", code=4)
    assert "the index is written, but not yet in the store" in failed.err
    assert "git pkb reindex" in failed.err
    assert len(list((repo.path / ".pkb" / "index").rglob("*.vec"))) == len(FILES)
    assert pkb("check").code == 0
    again = json.loads(pkb("reindex", "--json").out)
    assert again["chunks_embedded"] == 0
    assert {row["path"] for row in server.rows().values()} == set(FILES)


def test_hooks_wait_for_no_store(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """A commit, and a run over the staging area, leave the store alone; a dry run as well."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("install-hooks")
    repo.commit({"src/more.py": "more = 1\n"})
    pkb("reindex", "--staged")
    pkb("reindex", "--dry-run")
    assert server.seen == []


def test_a_branch_that_keeps_its_index_to_itself_leaves_the_store_alone(
    repo: Any, pkb: Pkb, server: StoreServer
) -> None:
    """With `default-branch` the store follows that branch; with `local` it follows the clone."""
    pkb("config", "set", "--local", "index.write", "default-branch")
    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    repo.branch("feature")
    repo.commit({"src/feature.py": "feature = 1\n"})
    server.seen.clear()
    pkb("reindex")
    assert server.seen == []
    pkb("config", "set", "--local", "index.write", "local")
    pkb("reindex")
    assert "src/feature.py" in {row["path"] for row in server.rows().values()}


def test_another_model_is_another_collection(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """After a change of the width nothing of the old vectors is asked or overwritten."""
    repo.commit(FILES)
    use(pkb, server)
    for name, value in {"provider": "mock", "dimensions": "64"}.items():
        pkb("config", "set", "--local", f"embedding.{name}", value)
    pkb("reindex")
    pkb("config", "set", "--local", "embedding.dimensions", "32")
    pkb("reindex")
    assert sorted(server.widths.values()) == [32, 64]
    assert [len(rows) for rows in server.collections.values()] == [13, 13]
    assert search(pkb)["warnings"] == []


def test_signs_alone_can_be_stored(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Binary vectors go out as unit vectors of their signs."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("config", "set", "--local", "index.dtype", "binary")
    for name, value in {"provider": "mock", "dimensions": "64"}.items():
        pkb("config", "set", "--local", f"embedding.{name}", value)
    pkb("reindex")
    (rows,) = server.collections.values()
    components = {round(abs(each), 6) for vector, _ in rows.values() for each in vector}
    assert components == {0.125}
    assert search(pkb)["warnings"] == []


def test_without_vectors_there_is_nothing_to_store(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """The provider `none` with a store: said, and no request."""
    repo.commit(FILES)
    use(pkb, server)
    pkb("config", "set", "--local", "embedding.provider", "none")
    assert "there are no vectors" in pkb("reindex").err
    assert search(pkb)["results"]
    assert server.seen == []


def test_a_clone_sends_nothing_unasked(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """A store that the tracked file names is written and asked after a yes alone."""
    repo.commit(
        FILES
        | {
            ".pkb/config.toml": f'[store]\nprovider = "{server.vendor}"\nbaseurl = "{server.url}"\n'
            'namespace = "theirs"\n'
        }
    )
    assert "store.baseurl" in pkb("reindex", code=2).err
    answer = search(pkb)
    assert answer["results"]
    assert "store.provider" in answer["warnings"][0]
    assert server.seen == []
    pkb("config", "trust")
    pkb("reindex")
    assert search(pkb)["warnings"] == []
    assert queries(server) == 1


def test_a_run_may_be_interrupted(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Ctrl-C while rows are written leaves whole artifacts, and the next run goes on."""
    import signal
    import time

    repo.commit(FILES)
    use(pkb, server)
    server.work = 0.5
    process = subprocess.Popen(["git-pkb", "reindex"], cwd=repo.path, stderr=subprocess.PIPE, text=True)
    while not server.seen:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    server.work = 0.0
    assert json.loads(pkb("reindex", "--json").out)["chunks_embedded"] == 0
    assert {row["path"] for row in server.rows().values()} == set(FILES)


def test_vectors_are_those_of_the_artifacts(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Unit length, and the numbers of the `.vec` file to the last digit that is kept."""
    from git_pkb.mirror.format import decode_vec

    repo.commit(FILES)
    use(pkb, server)
    pkb("reindex")
    _, vectors = decode_vec(Path(repo.path / ".pkb/index/docs/guide.md.vec").read_bytes())
    (rows,) = server.collections.values()
    (sent,) = [vector for vector, about in rows.values() if about["path"] == "docs/guide.md"]
    row = memoryview(vectors.rows).cast("b")
    assert sum(each * each for each in sent) == pytest.approx(1.0, abs=0.02)
    ratio = {round(a / b, 4) for a, b in zip(sent, row, strict=True) if abs(b) > 20}
    assert len(ratio) == 1
