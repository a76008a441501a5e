"""Search in every state git can leave a repository in: it answers, and marks what is stale; real git."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran, Repo
from hooked import Calls, module, own_status

PKB = Callable[..., Ran]

OLD, NEW = module(frobnicate_gadget="old"), module(polish_widget="new")
OFF = {"GIT_PKB_SEARCH_REFRESH": "false"}
PAID = {"GIT_PKB_EMBEDDING_PROVIDER": "mock", "GIT_PKB_EMBEDDING_MODEL": "mock-paid"}


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls of the mock embedder."""
    log = tmp_path / "calls.log"
    monkeypatch.setenv("PKB_MOCK_LOG", str(log))
    return Calls(log)


@pytest.fixture
def story(repo: Repo) -> Repo:
    """Two commits on main, tagged: `m.py` turns from OLD to NEW beside files that stay."""
    stays = {"src/stays.py": module(stays_the_same="1"), "docs/guide.md": "# Guide\n\nHow to use it.\n"}
    repo.commit({"m.py": OLD, **stays})
    repo.git("tag", "old")
    repo.commit({"m.py": NEW, "later.py": module(came_later="1")})
    repo.git("tag", "new")
    return repo


def answer(
    pkb: PKB, *query: str, cwd: Path, env: dict[str, str] | None = None
) -> tuple[dict[str, bool], int]:
    """What a search by words finds: path -> stale, and how many files of the whole index are."""
    ran = pkb("search", "--json", "--mode", "keyword", "-k", "9", *query, cwd=cwd, env=env, code=None)
    found = {result["path"]: result["stale"] for result in ran.json()["results"]}
    assert ran.code == (0 if found else 1), ran.err
    return found, ran.json()["stale_files"]


def symbol_lines(
    pkb: PKB, name: str, *, cwd: Path, env: dict[str, str] | None = None
) -> tuple[str, list[int]]:
    """Path and lines of the symbol of that name in the best result."""
    best = pkb("search", "--json", name, cwd=cwd, env=env).json()["results"][0]
    return best["path"], next(s["lines"] for s in best["symbols"] if s["name"] == name)


def text_at(repo: Repo, path: str, lines: list[int]) -> str:
    """The lines of a file of the work tree that a result points at."""
    return "\n".join(repo.read(path).split("\n")[lines[0] - 1 : lines[1]])


def switch_back(repo: Repo) -> None:
    """A branch that never saw the second commit."""
    repo.git("switch", "-q", "--create", "side", "old")


def reset_hard(repo: Repo) -> None:
    """The second commit is given up, and its files with it."""
    repo.git("reset", "-q", "--hard", "old")


def reset_soft(repo: Repo) -> None:
    """The second commit is given up, its files stay, staged."""
    repo.git("reset", "-q", "--soft", "old")


def reset_mixed(repo: Repo) -> None:
    """The second commit is given up, its files stay, one of them untracked."""
    repo.git("reset", "-q", "old")


def detach(repo: Repo) -> None:
    """HEAD names no branch."""
    repo.git("checkout", "-q", "--detach", "old")


def rebase_stop(repo: Repo) -> None:
    """A rebase stops with a conflict in `m.py`."""
    repo.git("switch", "-q", "--create", "side", "old")
    repo.commit({"m.py": module(polish_widget="side")})
    repo.git("rebase", "-q", "main", check=False)
    assert "m.py" in repo.git("ls-files", "-u")


def bisect(repo: Repo) -> None:
    """`git bisect` has checked out the older commit."""
    repo.git("bisect", "start", "new", "old")
    repo.git("checkout", "-q", "old")


BACK = [switch_back, reset_hard, detach, bisect]
FORWARD = [reset_soft, reset_mixed, rebase_stop]


@pytest.mark.parametrize("change", [*BACK, *FORWARD], ids=lambda change: change.__name__)
def test_the_answer_is_that_of_the_work_tree(story: Repo, pkb: PKB, change: Callable[[Repo], None]) -> None:
    """Whatever moved HEAD, the next search finds what the work tree holds, nothing stale."""
    answer(pkb, "polish_widget", cwd=story.path)
    change(story)
    back = change in BACK
    found, stale = answer(pkb, "frobnicate_gadget", cwd=story.path)
    assert (found, stale) == ({"m.py": False} if back else {}, 0)
    found, stale = answer(pkb, "polish_widget", cwd=story.path)
    assert (found, stale) == ({} if back else {"m.py": False}, 0)
    found, _ = answer(pkb, "came_later", cwd=story.path)
    assert found == ({} if back else {"later.py": False})


@pytest.mark.parametrize("change", BACK, ids=lambda change: change.__name__)
def test_without_refreshing_what_differs_is_marked(
    story: Repo, pkb: PKB, change: Callable[[Repo], None]
) -> None:
    """With `search.refresh = false` the answer is of the index, and exactly what differs is stale."""
    answer(pkb, "polish_widget", cwd=story.path)
    change(story)
    found, stale = answer(pkb, "polish_widget", cwd=story.path, env=OFF)
    assert (found, stale) == ({"m.py": True}, 2)
    assert answer(pkb, "stays_the_same", cwd=story.path, env=OFF)[0] == {"src/stays.py": False}
    assert answer(pkb, "came_later", cwd=story.path, env=OFF)[0] == {"later.py": True}
    assert answer(pkb, "frobnicate_gadget", cwd=story.path, env=OFF) == ({}, 2)


@pytest.mark.parametrize("change", [*BACK, *FORWARD], ids=lambda change: change.__name__)
def test_a_paid_index_says_how_stale_it_is(
    story: Repo, pkb: PKB, calls: Calls, change: Callable[[Repo], None]
) -> None:
    """Search never embeds for money: changed files are found by words, marked stale, at their lines."""
    pkb("reindex", env=PAID)
    calls.texts()
    change(story)
    query = "frobnicate_gadget" if change in BACK else "polish_widget"
    found, stale = answer(pkb, query, cwd=story.path, env=PAID)
    assert calls.texts() == 0
    changed = change in BACK or change is rebase_stop
    assert found == {"m.py": changed}
    assert stale == int(changed)
    assert answer(pkb, "stays_the_same", cwd=story.path, env=PAID)[0]["src/stays.py"] is False


def test_pull(story: Repo, pkb: PKB) -> None:
    """What a pull brings is in the next answer; without refreshing, what it changed is stale."""
    clone = Repo(story.path.parent / "clone")
    story.git("clone", "-q", str(story.path), str(clone.path))
    answer(pkb, "polish_widget", cwd=clone.path)
    story.commit({"m.py": module(brush_gizmo="1"), "later.py": None})
    clone.git("pull", "-q")
    assert answer(pkb, "polish_widget", cwd=clone.path, env=OFF) == ({"m.py": True}, 2)
    assert answer(pkb, "polish_widget", cwd=clone.path) == ({}, 0)
    assert answer(pkb, "brush_gizmo", cwd=clone.path) == ({"m.py": False}, 0)
    assert answer(pkb, "came_later", cwd=clone.path) == ({}, 0)


@pytest.mark.parametrize("env", [{}, OFF], ids=["refreshed", "not refreshed"])
def test_lines_are_those_of_the_file_as_it_is(story: Repo, pkb: PKB, env: dict[str, str]) -> None:
    """Text that an edit above it moved is pointed at where it stands now, refreshed or not."""
    assert symbol_lines(pkb, "polish_widget", cwd=story.path)[1][0] == 1
    story.write("m.py", "# a line\n" * 7 + module(above="1") + NEW)
    path, lines = symbol_lines(pkb, "polish_widget", cwd=story.path, env=env)
    assert text_at(story, path, lines).startswith("def polish_widget(value):\n")
    assert text_at(story, path, lines).rstrip().endswith("return value")
    found, stale = answer(pkb, "polish_widget", cwd=story.path, env=env)
    assert (found, stale) == ({"m.py": bool(env)}, int(bool(env)))


def test_lines_of_text_that_is_gone_stay_those_of_the_index(story: Repo, pkb: PKB) -> None:
    """Where the work tree no longer has the text, the stale mark is what is left to say."""
    before = symbol_lines(pkb, "polish_widget", cwd=story.path)
    story.write("m.py", "nothing = 0\n")
    assert symbol_lines(pkb, "polish_widget", cwd=story.path, env=OFF) == before
    (story.path / "m.py").unlink()
    assert symbol_lines(pkb, "polish_widget", cwd=story.path, env=OFF) == before
    assert answer(pkb, "polish_widget", cwd=story.path, env=OFF)[0] == {"m.py": True}


@pytest.mark.parametrize("mode", [["--cone", "docs"], ["--no-cone", "/docs/"], ["--no-cone", "*.md"]])
def test_sparse_checkout(story: Repo, pkb: PKB, mode: list[str]) -> None:
    """Files that are left out of the work tree are searched as HEAD has them; none of them appears in it."""
    story.git("sparse-checkout", "set", *mode)
    assert not (story.path / "src").exists()
    assert answer(pkb, "stays_the_same", cwd=story.path) == ({"src/stays.py": False}, 0)
    assert symbol_lines(pkb, "stays_the_same", cwd=story.path)[0] == "src/stays.py"
    assert answer(pkb, "Guide", cwd=story.path) == ({"docs/guide.md": False}, 0)
    story.write("docs/guide.md", "# Guide\n\nAbout zymurgy.\n")
    assert answer(pkb, "zymurgy", cwd=story.path) == ({"docs/guide.md": False}, 0)
    assert not (story.path / "src").exists()
    assert story.status() == " M docs/guide.md"


@pytest.mark.parametrize("mode", [["--cone", "docs"], ["--no-cone", "/docs/"]])
def test_sparse_checkout_without_the_artifacts(story: Repo, pkb: PKB, calls: Calls, mode: list[str]) -> None:
    """A committed index serves where the sparse checkout leaves out `.pkb`, and comes back untouched."""
    pkb("reindex", env=PAID)
    story.commit()
    calls.texts()
    clone = Repo(story.path.parent / "clone")
    story.git("clone", "-q", "--sparse", str(story.path), str(clone.path))
    clone.git("sparse-checkout", "set", *mode)
    assert not (clone.path / ".pkb/index").exists()
    best = pkb("search", "--json", "--mode", "semantic", "stays the same", cwd=clone.path, env=PAID).json()
    assert best["results"][0]["path"] == "src/stays.py"
    assert best["stale_files"] == 0
    assert calls.texts() == 0
    assert clone.status() == ""


def test_a_bare_clone_has_the_committed_vectors(story: Repo, pkb: PKB, calls: Calls) -> None:
    """A bare repository is searched by meaning with the vectors of HEAD's index."""
    pkb("reindex", env=PAID)
    story.commit()
    calls.texts()
    bare = story.path.parent / "bare.git"
    story.git("clone", "-q", "--bare", str(story.path), str(bare))
    best = pkb("search", "--json", "--mode", "semantic", "stays the same", cwd=bare, env=PAID).json()
    assert (best["results"][0]["path"], best["stale_files"]) == ("src/stays.py", 0)
    assert calls.texts() == 0


def test_shallow_clone(story: Repo, pkb: PKB) -> None:
    """One commit is enough to search, and a deeper history changes nothing."""
    clone = Repo(story.path.parent / "clone")
    story.git("clone", "-q", "--depth=1", story.path.as_uri(), str(clone.path))
    assert answer(pkb, "polish_widget", cwd=clone.path) == ({"m.py": False}, 0)
    story.commit({"m.py": OLD})
    clone.git("fetch", "-q", "--depth=1")
    clone.git("reset", "-q", "--hard", "origin/main")
    assert answer(pkb, "polish_widget", cwd=clone.path) == ({}, 0)
    assert answer(pkb, "frobnicate_gadget", cwd=clone.path) == ({"m.py": False}, 0)


def partial_clone(story: Repo, *options: str) -> Repo:
    """A clone without blobs (those of a checkout are fetched by git itself)."""
    story.git("config", "uploadpack.allowFilter", "true")
    story.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone = Repo(story.path.parent / "partial")
    story.git("clone", "-q", "--filter=blob:none", *options, story.path.as_uri(), str(clone.path))
    return clone


def missing(repo: Repo) -> set[str]:
    """The objects a partial clone lacks."""
    listed = repo.git("rev-list", "--objects", "--all", "--missing=print").splitlines()
    return {line for line in listed if line.startswith("?")}


@pytest.mark.parametrize("there", [True, False], ids=["remote there", "remote gone"])
def test_a_partial_clone_is_never_fetched_into(story: Repo, pkb: PKB, tmp_path: Path, there: bool) -> None:
    """Searching asks no remote for anything, whether it could answer or not."""
    clone = partial_clone(story)
    before = missing(clone)
    assert before
    if not there:
        story.path.rename(story.path.with_name("gone"))
    log = tmp_path / "trace"
    trace = {"GIT_TRACE": str(log), "GIT_TRACE_PACKET": str(log)}
    assert answer(pkb, "polish_widget", cwd=clone.path, env=trace) == ({"m.py": False}, 0)
    clone.write("m.py", "# moved\n" + NEW)
    assert answer(pkb, "polish_widget", cwd=clone.path, env=trace) == ({"m.py": False}, 0)
    clone.git("switch", "-q", "--create", "side")
    clone.git("commit", "-qam", "side")
    assert answer(pkb, "polish_widget", cwd=clone.path, env=trace) == ({"m.py": False}, 0)
    said = log.read_text()
    assert "rev-parse" in said  # it did trace
    assert "upload-pack" not in said
    assert "fetch" not in said.replace("fetch.", "")
    assert missing(clone) == before


def test_a_partial_clone_of_part_of_the_tree(story: Repo, pkb: PKB, tmp_path: Path) -> None:
    """Files whose blobs are not here cannot be read: the rest is found, the answer says what is lacking."""
    clone = partial_clone(story, "--sparse")
    clone.git("sparse-checkout", "set", "docs")
    before = missing(clone)
    log = tmp_path / "trace"
    assert answer(pkb, "Guide", cwd=clone.path, env={"GIT_TRACE": str(log)})[0] == {"docs/guide.md": False}
    ran = pkb("search", "--json", "--mode", "keyword", "stays_the_same", cwd=clone.path, code=1)
    assert ran.json()["results"] == []
    assert any("1 file" in line and "not in this clone" in line for line in ran.json()["warnings"])
    assert "upload-pack" not in log.read_text()
    assert missing(clone) == before
    clone.git("sparse-checkout", "disable")  # git fetches what it checks out
    assert answer(pkb, "stays_the_same", cwd=clone.path) == ({"src/stays.py": False}, 0)


def test_linked_worktree(story: Repo, pkb: PKB) -> None:
    """Each worktree answers for its own files, and neither disturbs the other."""
    other = Repo(story.path.parent / "worktree")
    story.git("worktree", "add", "-q", "-b", "side", str(other.path), "old")
    for _ in range(2):
        assert answer(pkb, "polish_widget", cwd=story.path) == ({"m.py": False}, 0)
        assert answer(pkb, "frobnicate_gadget", cwd=story.path) == ({}, 0)
        assert answer(pkb, "frobnicate_gadget", cwd=other.path) == ({"m.py": False}, 0)
        assert answer(pkb, "polish_widget", cwd=other.path) == ({}, 0)
    assert (story.status(), other.status()) == ("", "")


def test_submodule(story: Repo, new_repo: Callable[..., Repo], pkb: PKB) -> None:
    """A submodule is searched on its own, and is no part of the repository around it."""
    outer = new_repo("outer")
    outer.git("submodule", "add", "-q", str(story.path), "inner")
    outer.commit({"outer.py": module(outer_function="1")})
    inner = outer.path / "inner"
    assert answer(pkb, "polish_widget", cwd=inner) == ({"m.py": False}, 0)
    assert answer(pkb, "polish_widget", cwd=outer.path) == ({}, 0)
    assert answer(pkb, "outer_function", cwd=outer.path) == ({"outer.py": False}, 0)
    assert answer(pkb, "outer_function", cwd=inner) == ({}, 0)
    Repo(inner).git("checkout", "-q", "old")
    assert answer(pkb, "frobnicate_gadget", cwd=inner) == ({"m.py": False}, 0)
    assert outer.status() == " M inner"


def sha256(new_repo: Callable[..., Repo]) -> Repo:
    """Object names of 64 digits."""
    return new_repo("odd", "--object-format=sha256")


def reftable(new_repo: Callable[..., Repo]) -> Repo:
    """References in a binary file."""
    help_text = subprocess.run(["git", "init", "-h"], capture_output=True, text=True, check=False).stdout
    if "--ref-format" not in help_text:
        pytest.skip("this git has no reftable")
    return new_repo("odd", "--ref-format=reftable")


def sparse_index(new_repo: Callable[..., Repo]) -> Repo:
    """A staging area that lists whole folders."""
    return new_repo("odd")


def split_index(new_repo: Callable[..., Repo]) -> Repo:
    """A staging area in two files."""
    repo = new_repo("odd")
    repo.git("config", "core.splitIndex", "true")
    return repo


ODD = [sha256, reftable, sparse_index, split_index]


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
@pytest.mark.parametrize("provider", ["local", "mock"])
def test_repositories_libgit2_cannot_open(
    new_repo: Callable[..., Repo], pkb: PKB, make: Callable[..., Repo], provider: str
) -> None:
    """They index with the hook on, search, mark what is stale, and follow a switch, like any other."""
    repo = make(new_repo)
    repo.git("config", "pkb.embedding.provider", provider)
    repo.git("config", "pkb.embedding.model", "mock-paid") if provider == "mock" else None
    pkb("install-hooks", cwd=repo.path)
    stays = {"src/stays.py": module(stays_the_same="1"), "docs/guide.md": "# Guide\n\nHow to use it.\n"}
    repo.commit({"m.py": OLD, **stays})
    repo.git("tag", "old")
    if make is sparse_index:
        repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "docs", ".pkb")
    repo.commit({"m.py": NEW})
    assert own_status(repo) == ""
    assert ".pkb/index/m.py.vec" in repo.tracked()
    assert answer(pkb, "polish_widget", cwd=repo.path) == ({"m.py": False}, 0)
    assert answer(pkb, "stays_the_same", cwd=repo.path) == ({"src/stays.py": False}, 0)
    repo.git("switch", "-q", "--create", "side", "old")
    assert answer(pkb, "frobnicate_gadget", cwd=repo.path) == ({"m.py": False}, 0)
    repo.write("m.py", "# moved\n" + module(brush_gizmo="1"))
    found, stale = answer(pkb, "brush_gizmo", cwd=repo.path)
    assert (found, stale) == ({"m.py": provider == "mock"}, int(provider == "mock"))
    assert answer(pkb, "frobnicate_gadget", cwd=repo.path)[0] == {}
    assert repo.status() == " M m.py"
