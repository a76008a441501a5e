"""`git pkb reindex` on real repositories: only what changed costs, nothing is written twice."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from indexed import Calls, snapshot, source, stamps

from git_pkb.mirror.format import load


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The mock model instead of the local one, counted."""
    return Calls(tmp_path / "calls", monkeypatch)


def reindex(pkb, *options, **more):
    """Run it; gives its JSON."""
    return pkb("reindex", "--json", *options, **more).json()


def changes(report):
    """Added, changed, moved, removed."""
    return tuple(report[f"files_{what}"] for what in ("added", "changed", "moved", "removed"))


def test_a_second_run_embeds_nothing_and_writes_nothing(repo, pkb, calls):
    """Idempotent to the byte and the inode, also when the first run's result has been committed."""
    repo.commit({"a.py": source("one", "two"), "docs/b.md": "# B\n\ntext\n", "empty.txt": ""})
    first = reindex(pkb)
    assert (changes(first), first["files_skipped"]) == ((3, 0, 0, 0), 0)
    assert calls.take() == first["chunks_embedded"] > 0
    before = stamps(repo.path)
    second = reindex(pkb)
    assert (changes(second), second["chunks_embedded"], calls.take()) == ((0, 0, 0, 0), 0, 0)
    repo.commit()
    third = reindex(pkb)
    assert (changes(third), third["files"], third["chunks"]) == ((0, 0, 0, 0), 3, first["chunks"])
    assert (calls.take(), stamps(repo.path), repo.status()) == (0, before, "")


def test_without_its_cache_a_run_finds_the_index_in_line(repo, pkb, calls):
    """A fresh clone with the artifacts embeds nothing, writes nothing."""
    repo.commit({"a.py": source("one"), "b.md": "# B\n"})
    reindex(pkb)
    repo.commit()
    clone = repo.path.parent / "clone"
    repo.git("clone", "--quiet", ".", clone)
    calls.take()
    report = reindex(pkb, cwd=clone)
    assert (changes(report), calls.take()) == ((0, 0, 0, 0), 0)
    done = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, check=True)
    assert done.stdout == b""


def test_only_the_edited_function_is_embedded(repo, pkb, calls):
    """The other rows are taken over bit for bit, one line and the header of `.meta` change."""
    repo.commit({"a.py": source("one", "two", "three"), "b.py": source("four")})
    reindex(pkb)
    before = snapshot(repo.path)
    calls.take()
    repo.commit({"a.py": source("one", "edited", "three")})
    report = reindex(pkb)
    assert (changes(report), report["chunks_embedded"], calls.take()) == ((0, 1, 0, 0), 1, 1)
    after = snapshot(repo.path)
    assert {name for name in after if after[name] != before[name]} == {"a.py.meta", "a.py.vec"}
    old, new = (load(s["a.py.meta"], s["a.py.vec"]) for s in (before, after))
    same = [r.key for r in new.records if r.key in {o.key for o in old.records}]
    assert len(same) == len(new.records) - 1
    lines = zip(before["a.py.meta"].split(b"\n"), after["a.py.meta"].split(b"\n"), strict=True)
    assert sum(a != b for a, b in lines) == 2


@pytest.mark.parametrize(("new", "expected"), [("sub/b.py", (0, 0, 1, 0)), ("c.pyi", (0, 0, 1, 0))])
def test_a_rename_costs_nothing(repo, pkb, calls, new, expected):
    """A moved blob of the same language takes its artifact along; the old one and its folder go."""
    repo.commit({"old/a.py": source("one", "two")})
    reindex(pkb)
    before = snapshot(repo.path)
    calls.take()
    (repo.path / new).parent.mkdir(exist_ok=True)
    repo.git("mv", "old/a.py", new)
    repo.commit()
    report = reindex(pkb)
    assert (changes(report), report["chunks_embedded"], calls.take()) == (expected, 0, 0)
    after = snapshot(repo.path)
    assert after == {name.replace("old/a.py", new): data for name, data in before.items()}
    assert not (repo.path / ".pkb/index/old").exists()


def test_a_copy_costs_nothing(repo, pkb, calls):
    """Equal blobs are embedded once, in one run and over runs."""
    repo.commit({"a.py": source("one"), "b.py": source("one")})
    first = reindex(pkb)
    assert calls.take() == first["chunks_embedded"] == first["chunks"] // 2
    repo.commit({"c.py": source("one")})
    second = reindex(pkb)
    assert (changes(second), second["chunks_embedded"], calls.take()) == ((1, 0, 0, 0), 0, 0)


def test_a_rename_with_an_edit_keeps_the_other_rows(repo, pkb, calls):
    """Rows of the file that went serve the file that came."""
    repo.commit({"a.py": source("one", "two", "three")})
    reindex(pkb)
    calls.take()
    repo.commit({"a.py": None, "b.py": source("one", "edited", "three")})
    report = reindex(pkb)
    assert (changes(report), calls.take()) == ((1, 0, 0, 1), 1)


def test_a_revert_costs_nothing(repo, pkb, calls):
    """A content that recent history has an artifact of is not embedded again."""
    repo.commit({"a.py": source("one", "two")})
    reindex(pkb)
    repo.commit()
    repo.commit({"a.py": source("other")})
    reindex(pkb)
    repo.commit()
    calls.take()
    repo.commit({"a.py": source("one", "two")})
    report = reindex(pkb)
    assert (changes(report), calls.take()) == ((0, 1, 0, 0), 0)


def test_lost_artifacts_come_back_from_head(repo, pkb, calls):
    """A deleted folder of artifacts is restored from the commit, without embedding."""
    repo.commit({"a.py": source("one")})
    reindex(pkb)
    repo.commit()
    (repo.path / ".pkb/index/a.py.vec").unlink()
    (repo.path / ".pkb/index/a.py.meta").unlink()
    calls.take()
    report = reindex(pkb)
    assert (changes(report), calls.take()) == ((1, 0, 0, 0), 0)
    assert repo.git("status", "--porcelain", ".pkb/index") == ""


@pytest.mark.usefixtures("calls")
def test_a_deleted_file_takes_its_artifacts_along(repo, pkb):
    """Both halves go, and a half that belongs to nothing goes too."""
    repo.commit({"a.py": source("one"), "b/c.py": source("two")})
    reindex(pkb)
    (repo.path / ".pkb/index/stray.py.vec").write_bytes(b"x")
    repo.commit({"b/c.py": None})
    report = reindex(pkb)
    assert changes(report) == (0, 0, 0, 1)
    assert sorted(snapshot(repo.path)) == ["a.py.meta", "a.py.vec"]


def test_work_tree_edits_do_not_count(repo, pkb):
    """HEAD is indexed, whatever the file says now; a touched or dirty file costs nothing."""
    repo.commit({"a.py": source("one")})
    reindex(pkb)
    before = snapshot(repo.path)
    repo.write("a.py", source("dirty"))
    assert changes(reindex(pkb)) == (0, 0, 0, 0)
    assert snapshot(repo.path) == before


def test_staged_content_is_indexed_and_staged(repo, pkb, calls):
    """With --staged the staged blob counts, not the work tree; the artifacts join it in the staging area."""
    repo.commit({"a.py": source("one"), "b.py": source("two")})
    repo.write("a.py", source("one", "staged"))
    repo.git("add", "a.py")
    repo.write("a.py", source("one", "staged", "dirty"))
    report = reindex(pkb, "--staged")
    assert (changes(report), report["indexed_commit"]) == ((2, 0, 0, 0), None)
    assert repo.read(".pkb/index/a.py.meta").startswith(f"git-pkb 1 {repo.git('rev-parse', ':a.py')} python")
    staged = repo.git("diff", "--cached", "--name-only").splitlines()
    assert set(staged) == {
        ".pkb/.gitattributes", ".pkb/.gitignore", ".pkb/state.toml", "a.py",
        *(f".pkb/index/{name}" for name in snapshot(repo.path)),
    }  # fmt: skip
    repo.git("commit", "--quiet", "--message", "with index")
    assert repo.status() == " M a.py"
    calls.take()
    assert changes(reindex(pkb, "--staged")) == (0, 0, 0, 0)
    assert calls.take() == 0
    repo.git("checkout", "--quiet", "--", "a.py")
    repo.git("rm", "--quiet", "b.py")
    assert changes(reindex(pkb, "--staged")) == (0, 0, 0, 1)
    assert "D  .pkb/index/b.py.vec" in repo.status()


@pytest.mark.usefixtures("calls")
def test_the_staging_area_of_a_hook_counts(repo, pkb, tmp_path):
    """GIT_INDEX_FILE names what is indexed and where artifacts are staged."""
    repo.commit({"a.py": source("one")})
    other = str(tmp_path / "next-index")
    repo.git("read-tree", "HEAD", env={"GIT_INDEX_FILE": other})
    reindex(pkb, "--staged", env={"GIT_INDEX_FILE": other})
    assert ".pkb/index/a.py.vec" in repo.git("ls-files", env={"GIT_INDEX_FILE": other})
    assert ".pkb" not in repo.git("ls-files")


@pytest.mark.usefixtures("calls")
def test_index_only_leaves_the_work_tree_alone(repo):
    """For callers that may not touch files: everything is in the staging area, nothing on disk."""
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.index import indexer

    repo.commit({"a.py": source("one")})
    here = discover(str(repo.path))
    summary = indexer.run(here, config.load(here), staged=True, index_only=True)
    assert summary.files_added == 1
    assert not (repo.path / ".pkb" / "index").exists()
    staged = repo.git("ls-files", ".pkb").splitlines()
    assert {".pkb/index/a.py.meta", ".pkb/index/a.py.vec", ".pkb/state.toml", ".pkb/.gitignore"} <= set(
        staged
    )


def test_conflicting_artifacts_are_settled_in_one_go(repo, pkb, calls):
    """Without the merge driver: both sides' rows are used, and no conflict under `.pkb` is left."""
    repo.commit({"a.py": source("one", "two", "three")})
    reindex(pkb, "--staged")
    repo.commit()
    repo.branch("side")
    for branch, names in (("side", ("one", "two", "theirs")), ("main", ("ours", "two", "three"))):
        repo.switch(branch)
        repo.write("a.py", source(*names))
        repo.git("add", "a.py")
        reindex(pkb, "--staged")
        repo.git("commit", "--quiet", "--message", branch)
    repo.merge("side", check=False)
    assert ".pkb" in repo.git("diff", "--name-only", "--diff-filter=U")
    calls.take()
    report = reindex(pkb, "--staged")
    assert (report["chunks_embedded"], calls.take()) == (0, 0)
    assert repo.git("diff", "--name-only", "--diff-filter=U") == ""
    repo.git("commit", "--quiet", "--no-edit")
    assert repo.status() == ""
    assert changes(reindex(pkb)) == (0, 0, 0, 0)


@pytest.mark.usefixtures("calls")
def test_incremental_equals_full(repo, pkb):
    """After any sequence of edits the index is byte for byte what a run from nothing makes."""
    rng = random.Random(7)  # noqa: S311 - the same edits each time
    names = [f"f{i}" for i in range(12)]
    paths = ["a.py", "b.py", "d/c.py", "d/e/f.md", "A.py", "g.txt", "d/a.py.meta/x.py"]
    content: dict[str, str] = {}
    for step in range(8):
        edits: dict[str, str | None] = {}
        for path in rng.sample(paths, rng.randint(1, 4)):
            if path in content and rng.random() < 0.3:
                edits[path] = None
                del content[path]
            else:
                body = source(*rng.sample(names, rng.randint(0, 5)))
                edits[path] = content[path] = f"# Head {step}\n\n{body}" if path.endswith("md") else body
        repo.commit(edits)
        reindex(pkb, *(["--staged"] if rng.random() < 0.4 else []))
        if rng.random() < 0.5:
            repo.commit()
    repo.commit()
    reindex(pkb)
    incremental = snapshot(repo.path)
    fresh = repo.path.parent / "fresh"
    repo.git("clone", "--quiet", ".", fresh)
    for name in ("index", "state.toml"):
        subprocess.run(["rm", "-rf", str(fresh / ".pkb" / name)], check=True)
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x"], cwd=fresh, check=True
    )
    reindex(pkb, "--full", cwd=fresh)
    assert snapshot(fresh) == incremental


def test_full_makes_everything_anew(repo, pkb, calls):
    """--full embeds again, and what comes out equal is not written."""
    repo.commit({"a.py": source("one")})
    first = reindex(pkb)
    calls.take()
    before = stamps(repo.path)
    report = reindex(pkb, "--full")
    assert calls.take() == report["chunks_embedded"] == first["chunks"]
    assert stamps(repo.path) == before


def test_a_dry_run_does_nothing(repo, pkb, calls):
    """It says what would be done, embeds nothing and leaves no trace."""
    repo.commit({"a.py": source("one"), "b.py": source("one", "two")})
    dry = reindex(pkb, "--dry-run")
    assert calls.take() == 0
    assert not (repo.path / ".pkb").exists()
    real = reindex(pkb)
    same = ("files_added", "chunks_embedded", "chunks_reused", "files", "chunks")
    assert [dry[name] for name in same] == [real[name] for name in same]


def test_the_cost_cap_stops_before_anything_is_spent(repo, pkb, calls, monkeypatch):
    """Exit 5, no call, nothing written; --max-reindex-cost lets it through and the cost is reported."""
    monkeypatch.setenv("GIT_PKB_EMBEDDING_MODEL", "mock-paid")
    repo.commit({"a.py": source("one", "two", "three")})
    refused = pkb("reindex", "--max-reindex-cost", "0.000001", code=5)
    assert "nothing was spent" in refused.err
    assert (calls.take(), (repo.path / ".pkb" / "index").exists()) == (0, False)
    report = reindex(pkb, "--max-reindex-cost", "1")
    assert report["cost_usd"] > 0
    assert calls.take() == report["chunks_embedded"]


def test_a_failing_provider_keeps_what_was_paid_for(repo, pkb, calls, monkeypatch):
    """Exit 4; the next run asks only for the rest."""
    repo.commit({f"f{i}.py": source(f"a{i}", f"b{i}", f"c{i}") for i in range(20)})
    monkeypatch.setenv("PKB_MOCK_FAIL", "embed:2")
    failed = pkb("reindex", code=4)
    assert "hint:" in failed.err
    done = calls.take()
    kept = len([name for name in snapshot(repo.path) if name.endswith(".vec")])
    assert done >= kept > 0
    monkeypatch.delenv("PKB_MOCK_FAIL")
    report = reindex(pkb)
    assert report["files_added"] == 20 - kept
    assert calls.take() == report["chunks_embedded"] < report["chunks"]


def test_another_model_embeds_everything_again(repo, pkb, calls, monkeypatch):
    """Vector spaces are never mixed; state.toml names the new model."""
    repo.commit({"a.py": source("one"), "b.py": source("two")})
    first = reindex(pkb)
    calls.take()
    monkeypatch.setenv("GIT_PKB_EMBEDDING_DIMENSIONS", "32")
    second = reindex(pkb)
    assert (changes(second), calls.take()) == ((0, 2, 0, 0), first["chunks"])
    assert 'model = "mock:mock-1:32:int8"' in repo.read(".pkb/state.toml")


def test_none_keeps_records_without_vectors(repo, pkb, monkeypatch):
    """The provider `none` writes no `.vec`, and a change to it takes the old ones away."""
    repo.commit({"a.py": source("one")})
    reindex(pkb)
    monkeypatch.setenv("GIT_PKB_EMBEDDING_PROVIDER", "none")
    assert changes(reindex(pkb)) == (0, 1, 0, 0)
    assert list(snapshot(repo.path)) == ["a.py.meta"]
    assert changes(reindex(pkb)) == (0, 0, 0, 0)


@pytest.mark.usefixtures("calls")
def test_the_marker_names_the_commit(repo, pkb):
    """Only a run of HEAD that changed something sets it; the hook's runs leave it alone."""
    head = repo.commit({"a.py": source("one")})
    reindex(pkb)
    state = repo.read(".pkb/state.toml")
    assert f'commit = "{head}"' in state
    repo.commit()
    repo.write("a.py", source("two"))
    repo.git("add", "a.py")
    reindex(pkb, "--staged")
    assert repo.read(".pkb/state.toml") == state


def test_pieces_of_shebang_files_have_their_language(repo, pkb):
    """A file without an extension is known by its first line, and a second run does not forget."""
    repo.commit({"tool": "#!/usr/bin/env python3\n" + source("one"), "NOTES": "plain words\n"})
    reindex(pkb)
    assert " python " in repo.read(".pkb/index/tool.meta").split("\n")[0]
    assert " text " in repo.read(".pkb/index/NOTES.meta").split("\n")[0]
    repo.commit({"x.py": "x = 1\n"})
    assert changes(reindex(pkb)) == (1, 0, 0, 0)


def test_local_workflow_touches_nothing_tracked(repo, pkb, calls, monkeypatch):
    """Everything goes into the cache, a second run is free, and `git status` shows nothing."""
    monkeypatch.setenv("GIT_PKB_INDEX_WRITE", "local")
    repo.commit({"a.py": source("one"), "tool": "#!/bin/sh\necho\n"})
    first = reindex(pkb)
    assert (changes(first), first["written_to"]) == ((2, 0, 0, 0), "cache")
    assert (repo.status(), (repo.path / ".pkb").exists()) == ("", False)
    calls.take()
    second = reindex(pkb)
    assert (changes(second), calls.take(), second["chunks"]) == ((0, 0, 0, 0), 0, first["chunks"])
    repo.git("mv", "a.py", "b.py")
    repo.commit()
    third = reindex(pkb)
    assert (third["chunks_embedded"], calls.take()) == (0, 0)


def test_default_branch_workflow(repo, pkb, calls, monkeypatch):
    """Artifacts are written on the default branch; elsewhere rows go to the cache and serve after merging."""
    monkeypatch.setenv("GIT_PKB_INDEX_WRITE", "default-branch")
    repo.commit({"a.py": source("one")})
    assert reindex(pkb)["written_to"] == "tree"
    repo.commit()
    committed = snapshot(repo.path)
    repo.branch("topic")
    repo.commit({"a.py": source("one", "two"), "b.py": source("three")})
    calls.take()
    report = reindex(pkb)
    assert (report["written_to"], report["chunks_embedded"], calls.take()) == ("cache", 2, 2)
    assert (snapshot(repo.path), repo.status()) == (committed, "")
    repo.switch("main")
    repo.merge("topic")
    merged = reindex(pkb)
    assert (changes(merged), merged["written_to"], calls.take()) == ((1, 1, 0, 0), "tree", 0)
    repo.git("checkout", "--quiet", "--detach")
    repo.commit({"c.py": source("four")})
    assert reindex(pkb)["written_to"] == "cache"
    assert reindex(pkb, "--write")["written_to"] == "tree"


@pytest.mark.usefixtures("calls")
def test_an_ignored_pkb_is_never_staged(repo, pkb):
    """Where `/.pkb/` stands in .gitignore the index is local: --staged updates it and stages nothing."""
    repo.commit({".gitignore": "/.pkb/\n", "a.py": source("one")})
    reindex(pkb, "--staged")
    assert (repo.path / ".pkb/index/a.py.meta").exists()
    assert repo.status() == ""


@pytest.mark.usefixtures("calls")
def test_a_rule_of_the_repository_does_not_hide_artifacts(repo, pkb):
    """`build/` or `*.meta` in .gitignore is about sources; the index of tracked files is not ignored."""
    repo.write("build/a.py", source("one"))
    repo.write(".gitignore", "build/\n*.meta\ncache/\n")
    repo.write("cache/b.py", source("two"))
    repo.git("add", "--force", "build/a.py", "cache/b.py", ".gitignore")
    repo.git("commit", "--quiet", "--message", "x")
    reindex(pkb)
    repo.commit()
    assert {".pkb/index/build/a.py.meta", ".pkb/index/cache/b.py.vec"} <= set(repo.tracked())
    assert not any(name.startswith(".pkb/cache") for name in repo.tracked())


def test_reuse_from_another_commit(repo, calls):
    """Artifacts of a commit that is named (the other side of a merge) serve whole."""
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.index import indexer

    repo.commit({"a.py": source("one")})
    repo.branch("side")
    repo.commit({"b.py": source("two", "three")})
    here = discover(str(repo.path))
    indexer.run(here, config.load(here))
    side = repo.commit()
    repo.switch("main")
    repo.git("checkout", "--quiet", "side", "--", "b.py")
    repo.commit()
    calls.take()
    here = discover(str(repo.path))
    summary = indexer.run(here, config.load(here), reuse_from=[side])
    assert (summary.files_added, summary.chunks_embedded, calls.take()) == (2, 0, 0)


def test_progress_is_silent_without_a_terminal(repo, pkb):
    """Nothing on stderr when nobody looks."""
    repo.commit({"a.py": source("one")})
    assert pkb("reindex").err == ""


def test_a_person_reads_what_was_done(repo, pkb):
    """Two short lines, then one when there is nothing to do."""
    repo.commit({"a.py": source("one"), "x.png": b"\x89PNG\0"})
    out = pkb("reindex").out
    assert "indexed 1 file" in out
    assert "1 added, 1 skipped" in out
    assert pkb("reindex").out.startswith("up to date: 1 file, ")


def test_ctrl_c_keeps_what_is_done(repo):
    """SIGINT in the middle exits 130; what was finished stays and is not done again; no litter remains."""
    repo.commit({f"d{i % 7}/f{i}.py": source(*(f"f{i}_{k}" for k in range(12))) for i in range(900)})
    process = subprocess.Popen(
        ["git-pkb", "reindex"],
        cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    index = repo.path / ".pkb" / "index"
    while not index.exists() or not any(index.rglob("*.meta")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    _, err = process.communicate()
    assert process.returncode in (130, -signal.SIGINT), err
    assert b"Traceback" not in err
    done = len(list(index.rglob("*.meta")))
    assert 0 < done < 900
    assert not list(Path(index).rglob("*.tmp"))
    finished = subprocess.run(
        ["git", "pkb", "reindex", "--json"], cwd=repo.path, capture_output=True, check=True
    )
    report = json.loads(finished.stdout)
    assert report["files_added"] == 900 - done
    assert report["files"] == 900
