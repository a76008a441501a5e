"""`git pkb stats`: what is indexed, how current, how large, what is skipped."""

from indexed import source


def stats(pkb, *options):
    """As JSON."""
    return pkb("stats", "--json", *options).json()


def test_before_and_after_indexing(repo, pkb):
    """Counts, sizes and state come from the artifacts."""
    head = repo.commit({"a.py": source("one"), "b.md": "# B\n\ntext\n", "x.png": b"\0"})
    before = stats(pkb)
    assert (before["files"], before["missing"], before["current"], before["indexed_commit"]) == (
        0,
        2,
        False,
        None,
    )
    assert "searches use the cache alone" in pkb("stats").out
    pkb("reindex")
    after = stats(pkb)
    assert (after["files"], after["missing"], after["current"], after["indexed_commit"]) == (2, 0, True, head)
    assert after["languages"] == {"markdown": 1, "python": 1}
    assert after["model"] == after["wanted_model"] == "local-1:256:int8"
    assert (after["pack_bytes"], after["skipped_by_reason"]) == (0, {"binary": 1})
    assert after["meta_bytes"] == sum(p.stat().st_size for p in (repo.path / ".pkb/index").rglob("*.meta"))
    assert after["source_bytes"] == len(source("one")) + len("# B\n\ntext\n")
    repo.commit()
    assert stats(pkb)["pack_bytes"] > 0


def test_staleness(repo, pkb):
    """Edited, new and deleted files and damaged artifacts are counted apart."""
    repo.commit({"a.py": source("one"), "b.py": source("two"), "c.py": source("three")})
    pkb("reindex")
    (repo.path / ".pkb/index/c.py.meta").write_bytes(b"junk")
    repo.commit({"a.py": source("edited"), "b.py": None, "d.py": source("four")})
    found = stats(pkb)
    assert [found[name] for name in ("stale", "left_over", "missing", "damaged")] == [1, 1, 1, 1]
    assert "1 missing, 1 stale, 1 left over, 1 damaged" in pkb("stats").out


def test_skipped_lists_every_file(repo, pkb):
    """One line a file with its reason, in JSON too."""
    repo.commit({"a.py": "x = 1\n", ".env": "KEY=1\n", "c.bin2": b"\0", "d e\n.lock": "x\n"})
    assert pkb("stats", "--skipped").out.splitlines() == [
        ".env: may hold credentials",
        "c.bin2: binary",
        '"d e\\n.lock": lock file',
    ]
    assert {each["path"] for each in stats(pkb, "--skipped")["skipped"]} == {".env", "c.bin2", "d e\n.lock"}
    assert "skipped" not in stats(pkb)


def test_the_marker_of_another_branch_does_not_count(repo, pkb):
    """A marker that is no ancestor of HEAD is passed over for the last commit that touched the index."""
    repo.commit({"a.py": source("one")})
    base = repo.head()
    pkb("reindex")
    indexed = repo.commit()
    repo.branch("side", base)
    lost = repo.commit({"z.py": source("z")})
    repo.switch("main")
    state = repo.path / ".pkb/state.toml"
    state.write_text(state.read_text().replace(base, lost))
    assert stats(pkb)["indexed_commit"] == indexed


def test_a_change_of_model_is_announced(repo, pkb, monkeypatch):
    """Which model the index has, and which the settings ask for."""
    repo.commit({"a.py": source("one")})
    pkb("reindex")
    monkeypatch.setenv("GIT_PKB_EMBEDDING_PROVIDER", "mock")
    found = stats(pkb)
    assert (found["model"], found["wanted_model"]) == ("local-1:256:int8", "mock:mock-1:256:int8")
    assert "the next reindex embeds everything" in pkb("stats").out


def test_statistics_write_nothing(repo, pkb):
    """Asking leaves no trace."""
    repo.commit({"a.py": source("one")})
    pkb("stats")
    assert repo.status() == ""
    assert not (repo.path / ".pkb").exists()


def test_no_commit_yet(pkb):
    """An empty repository is not an error."""
    found = pkb("stats", "--json")
    assert found.json()["files"] == 0
    assert "no commit yet" in found.err
