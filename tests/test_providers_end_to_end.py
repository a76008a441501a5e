"""The real `git pkb` with providers over the network: money, trust, failures, and changes of the model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from vendor_server import KEY, Fault, VendorServer, serving

Pkb = Callable[..., Any]
SOURCES = {
    f"src/part{i}.py": f'"""Part {i}."""\n\ndef upload_{i}(path):\n    retry(path, {i})\n' for i in range(12)
}


@pytest.fixture
def server() -> Iterator[VendorServer]:
    """An OpenAI-compatible server on the loopback."""
    with serving("compatible") as running:
        yield running


def tracked(server: VendorServer, extra: str = "") -> str:
    """Tracked settings that name the server."""
    return (
        f'{extra}\n[embedding]\nprovider = "openai-compatible"\nmodel = "minilm"\n'
        f'baseurl = "{server.url}"\napikeyenv = "OPENAI_API_KEY"\n'
    )


def use(pkb: Pkb, server: VendorServer, **more: str) -> None:
    """The user's own settings of this clone name the server: nothing to trust."""
    settings = {"provider": "openai-compatible", "model": "minilm", "baseurl": server.url} | more
    for name, value in settings.items():
        pkb("config", "set", "--local", f"embedding.{name}", value)


def texts(server: VendorServer) -> list[str]:
    """All texts that arrived to be embedded."""
    return [text for seen in server.seen for text in seen.body.get("input", [])]


def test_a_hostile_clone_gets_nothing(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """Without a yes: no key, no source text and no question leave; search answers by keyword and says why."""
    repo.commit(SOURCES | {".pkb/config.toml": tracked(server, "maxReindexCost = 0")})
    env = {"OPENAI_API_KEY": KEY}
    refused = pkb("reindex", code=2, env=env)
    assert "git pkb config trust" in refused.err
    staged = pkb("hook", "pre-commit", code=None, env=env)
    found = pkb("search", "retry upload", "--json", env=env)
    answer = json.loads(found.out)
    assert answer["mode"] == "keyword"
    assert answer["results"]
    assert "embedding.baseurl" in found.err + " ".join(answer["warnings"])
    pkb("estimate", env=env)
    assert server.seen == []
    assert staged.code == 0


def test_after_a_yes_it_is_used_until_it_changes(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """`config trust` lets reindex and search use the provider; another address asks again."""
    repo.commit(SOURCES | {".pkb/config.toml": tracked(server)})
    env = {"OPENAI_API_KEY": KEY}
    pkb("config", "trust")
    pkb("reindex", env=env)
    assert server.seen[-1].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(pkb("search", "retry upload", "--json", env=env).out)["mode"] == "hybrid"
    with serving("compatible") as other:
        repo.commit({".pkb/config.toml": tracked(other)})
        pkb("reindex", code=2, env=env)
        assert other.seen == []


def test_the_estimate_is_the_plan(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """What estimate counts is what reindex asks for, next and full; a second run asks for nothing."""
    repo.commit(SOURCES)
    use(pkb, server)
    before = json.loads(pkb("estimate", "--json").out)
    assert server.seen == []
    done = json.loads(pkb("reindex", "--json").out)
    assert before["next"]["chunks_to_embed"] == done["chunks_embedded"] == len(set(texts(server))) == 12
    asked = len(server.seen)
    again = json.loads(pkb("reindex", "--json").out)
    assert again["chunks_embedded"] == 0
    assert len(server.seen) == asked
    repo.commit({"src/part3.py": "def upload_3(path):\n    retry_forever(path)\n"})
    after = json.loads(pkb("estimate", "--json").out)
    assert (after["next"]["chunks_to_embed"], after["full"]["chunks_to_embed"]) == (1, 12)


def test_an_estimate_for_people_says_where_it_comes_from(repo: Any, pkb: Pkb) -> None:
    """Each item, the cap, the date of the prices and the counting rule; nothing of it when all is free."""
    repo.commit(SOURCES)
    free = pkb("estimate").out
    assert free.startswith("next reindex: $0.00, 12 new, 0 reused\n  embedding: 12 texts")
    assert "prices" not in free
    for name, value in {"provider": "mock", "model": "mock-paid"}.items():
        pkb("config", "set", "--local", f"embedding.{name}", value)
    pkb("config", "set", "--local", "maxReindexCost", "0.0001")
    said = pkb("estimate").out
    assert "mock mock-paid" in said
    assert "full reindex:" in said
    assert "the next run would stop" in said
    assert "prices as of 20" in said
    assert "1 token for every 3 bytes" in said


def test_the_gate_stops_before_anything_is_spent(repo: Any, pkb: Pkb) -> None:
    """Above the cap: exit 5 and no call; a flag raises the cap for one run."""
    repo.commit(SOURCES)
    log = repo.path.parent / "log"
    env = {"PKB_MOCK_LOG": str(log)}
    for name, value in {"provider": "mock", "model": "mock-paid"}.items():
        pkb("config", "set", "--local", f"embedding.{name}", value)
    pkb("config", "set", "--local", "maxReindexCost", "0.0001")
    stopped = pkb("reindex", code=5, env=env)
    assert "nothing was spent" in stopped.err
    assert not log.exists()
    assert not (repo.path / ".pkb" / "index").exists()
    done = json.loads(pkb("reindex", "--json", "--max-reindex-cost", "1", env=env).out)
    assert 0 < done["cost_usd"] < 0.01
    assert log.read_text().startswith("embed ")


def test_a_failing_provider_ends_with_4_and_keeps_what_was_right(
    repo: Any, pkb: Pkb, server: VendorServer
) -> None:
    """Artifacts of answers that came are written; the next run asks only for the rest."""
    repo.commit({f"src/part{i}.py": f"def upload_{i}():\n    pass\n" for i in range(200)})
    use(pkb, server, concurrency="1")
    server.faults = [Fault(), Fault(401)]
    failed = pkb("reindex", code=4)
    assert "refused" in failed.err
    assert "hint:" in failed.err
    kept = len(list((repo.path / ".pkb" / "index").rglob("*.vec")))
    assert kept == 64
    server.seen.clear()
    pkb("reindex")
    assert len(set(texts(server))) == 200 - kept
    pkb("check")


def test_wrong_answers_write_nothing(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """NaN instead of numbers: exit 4, and no artifact that a later run would trust."""
    repo.commit(SOURCES)
    use(pkb, server)

    def spoil(answer: Any) -> Any:
        answer["data"][0]["embedding"][0] = float("nan")
        return answer

    server.faults = [Fault(spoil=spoil)]
    assert "bad answer" in pkb("reindex", code=4).err
    assert list((repo.path / ".pkb").rglob("*.vec")) == []


def test_a_failing_question_falls_back_to_keywords(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """The index is there, the provider is not: an answer by words, said on stderr and in the JSON."""
    repo.commit(SOURCES)
    use(pkb, server)
    pkb("reindex")
    server.faults = [Fault(500)] * 10
    found = pkb("search", "retry upload", "--json")
    answer = json.loads(found.out)
    assert answer["mode"] == "keyword"
    assert answer["results"]
    assert answer["warnings"]
    assert "keyword" in found.err


def test_another_model_never_mixes_with_the_old_one(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """A question by another model is an error that names both; reindex embeds everything anew."""
    repo.commit(SOURCES)
    use(pkb, server)
    pkb("reindex")
    pkb("config", "set", "--local", "embedding.dimensions", "128")
    refused = pkb("search", "retry upload", code=None)
    said = refused.err + refused.out
    assert "openai-compatible:minilm:256:int8" in said
    assert "openai-compatible:minilm:128:int8" in said
    estimate = json.loads(pkb("estimate", "--json").out)
    assert estimate["next"]["chunks_to_embed"] == 12
    assert json.loads(pkb("reindex", "--json").out)["chunks_embedded"] == 12
    assert json.loads(pkb("search", "retry upload", "--json").out)["mode"] == "hybrid"


def test_ctrl_c_keeps_everything_paid_for(repo: Any, pkb: Pkb, server: VendorServer) -> None:
    """An interrupted run has written what was answered; the next one asks for the rest alone."""
    repo.commit({f"src/part{i}.py": f"def upload_{i}():\n    pass\n" for i in range(640)})
    use(pkb, server, concurrency="2")
    server.work = 0.3
    process = subprocess.Popen(
        ["git-pkb", "reindex"], cwd=repo.path, stderr=subprocess.PIPE, env=dict(os.environ), text=True
    )
    while len(server.seen) < 4:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    asked = set(texts(server))
    assert len(asked) < 640
    kept = len(list((repo.path / ".pkb" / "index").rglob("*.vec")))
    assert kept == len(asked)
    server.seen.clear()
    server.work = 0.0
    pkb("reindex")
    assert len(set(texts(server))) == 640 - kept


def test_voyage_cuts_the_text_and_not_the_code(repo: Any, pkb: Pkb, monkeypatch: pytest.MonkeyPatch) -> None:
    """Auto-chunking: text files whole, code by pieces; an edited text file is embedded again, code is not."""
    guide = "# Guide\n\nHow to install.\n\n## Use\n\nHow to use it.\n"
    repo.commit({"guide.md": guide, "src/a.py": SOURCES["src/part1.py"]})
    monkeypatch.setenv("VOYAGE_API_KEY", KEY)
    with serving("voyage") as voyage:
        for name, value in {"provider": "voyage", "baseurl": voyage.url}.items():
            pkb("config", "set", "--local", f"embedding.{name}", value)
        pkb("reindex")
        whole = [seen.body for seen in voyage.seen if seen.body.get("enable_auto_chunking")]
        assert [body["inputs"] for body in whole] == [[[guide]]]
        assert len(voyage.seen) == 2
        assert "voyage:voyage-context-4:256:int8:auto" in repo.read(".pkb/index/guide.md.meta")
        repo.commit({"guide.md": guide + "\nMore.\n"})
        voyage.seen.clear()
        pkb("reindex")
        assert [seen.body["inputs"] for seen in voyage.seen] == [[[guide + "\nMore.\n"]]]
        found = json.loads(pkb("search", "install", "--json").out)
        assert found["mode"] == "hybrid"
        assert voyage.seen[-1].body["input_type"] == "query"


def test_summaries_are_stored_shown_and_never_made_twice(repo: Any, pkb: Pkb) -> None:
    """A piece is summarized once; its summary is in the artifact and in results, and is what is embedded."""
    repo.commit(SOURCES)
    log = repo.path.parent / "log"
    env = {"PKB_MOCK_LOG": str(log)}
    for name, value in {"embedding.provider": "mock", "summarizer.provider": "mock"}.items():
        pkb("config", "set", "--local", name, value)
    pkb("reindex", env=env)
    assert sum(int(line.split()[1]) for line in log.read_text().splitlines() if "summarize" in line) == 12
    assert "Part 3." in repo.read(".pkb/index/src/part3.py.meta")
    found = json.loads(pkb("search", "upload_3", "--json", env=env).out)
    first = found["results"][0]
    assert first["path"] == "src/part3.py"
    assert first["summary"]
    assert first["symbols"][0]["summary"]
    log.unlink()
    pkb("reindex", "--json", env=env)
    repo.git("mv", "src/part3.py", "src/moved.py")
    repo.commit()
    pkb("reindex", env=env)
    assert not log.exists()


def test_vendor_clients_stay_unloaded(repo: Any, pkb: Pkb) -> None:
    """A search with the local model imports no vendor's client and no HTTP."""
    repo.commit(SOURCES)
    pkb("reindex")
    code = (
        "import sys; from git_pkb.cli import main; main(['search', 'upload']);"
        "print(sorted({'voyageai', 'boto3', 'anthropic', 'requests', 'urllib.request'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
