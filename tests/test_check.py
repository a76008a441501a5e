"""`git pkb check`: pair by pair, with exit code and the mend."""

import pytest
from indexed import Calls, snapshot, source


@pytest.fixture(autouse=True)
def indexed(repo, pkb, tmp_path, monkeypatch):
    """A repository whose index is committed and in line."""
    calls = Calls(tmp_path / "calls", monkeypatch)
    repo.commit({"a.py": source("one"), "b.py": source("two", "three"), "empty.txt": ""})
    pkb("reindex")
    repo.commit()
    return calls


def problems(pkb):
    """Path -> what."""
    ran = pkb("check", "--json", code=None)
    found = {each["path"]: each["what"] for each in ran.json()["problems"]}
    assert ran.code == (1 if found else 0)
    return found


def test_a_sound_index(pkb):
    """Exit 0, in a sentence."""
    assert "all sound" in pkb("check").out
    assert problems(pkb) == {}


def test_every_problem_is_named_and_mended(repo, pkb):
    """Damaged, missing, stale and left over; `--fix` mends all, and no source is touched."""
    index = repo.path / ".pkb" / "index"
    good = snapshot(repo.path)
    repo.commit({"a.py": source("edited"), "new.py": source("new"), "b.py": source("two", "three")})
    (index / "b.py.vec").write_bytes(good["b.py.vec"][:-1])
    (index / "gone.py.meta").write_bytes(good["a.py.meta"])
    (index / "gone.py.vec").write_bytes(good["a.py.vec"])
    (index / "half.vec").write_bytes(b"x")
    assert problems(pkb) == {
        "a.py": "stale",
        "b.py": "damaged",
        "new.py": "missing",
        "gone.py": "left over",
        ".pkb/index/half.vec": "left over",
    }
    ran = pkb("check", code=1)
    assert "hint: " in ran.err
    assert pkb("check", "--fix").out.endswith("mended 5\n")
    assert problems(pkb) == {}
    assert snapshot(repo.path)["b.py.vec"] == good["b.py.vec"]


def test_an_artifact_that_describes_other_bytes_is_damage(repo, pkb):
    """A well-formed record whose length is not the blob's is found only here, and mended."""
    path = repo.path / ".pkb" / "index" / "a.py.meta"
    good = path.read_bytes()
    head, first, rest = good.split(b"\n", 2)
    size, others = first.split(b" ", 1)
    path.write_bytes(b"\n".join([head, b"%d %s" % (int(size) + 1, others), rest]))
    assert problems(pkb) == {"a.py": "damaged"}
    pkb("check", "--fix")
    assert path.read_bytes() == good


def test_another_model_is_stale(pkb, monkeypatch):
    """Artifacts of other settings are sound, but not what the next run makes."""
    monkeypatch.setenv("GIT_PKB_EMBEDDING_DIMENSIONS", "32")
    assert set(problems(pkb).values()) == {"stale"}


def test_skipped_files_are_no_problem(repo, pkb):
    """What is not indexed lacks no artifact."""
    repo.commit({"x.png": b"\0", "big.txt": b"line\n" * 300_000})
    assert problems(pkb) == {}


def test_where_artifacts_are_not_written_staleness_is_no_problem(repo, pkb, monkeypatch):
    """On a branch of the workflow default-branch only damage counts."""
    monkeypatch.setenv("GIT_PKB_INDEX_WRITE", "default-branch")
    repo.branch("topic")
    repo.commit({"a.py": source("edited")})
    assert problems(pkb) == {}
