"""Bedrock Knowledge Bases beside the index: the real boto3, a server on the loopback, the real `git pkb`."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from store_server import StoreServer, serving_store
from vendor_server import Fault

from git_pkb.outside.fusion import Passage, fuse
from git_pkb.rank.results import FileResult

pytest.importorskip("boto3")

Pkb = Callable[..., Any]
FILES = {
    "src/upload.py": "def upload(path):\n    retry(path)\n",
    "src/retry.py": "def retry(path):\n    again(path)\n",
    "docs/guide.md": "# Guide\n\nHow uploads are retried.\n",
}
WIKI_ID, OPS_ID = "KBWIKI0000", "KBOPS00000"
WIKI = f'[[search.knowledgeBases]]\nid = "{WIKI_ID}"\nregion = "eu-west-1"\nlabel = "Team wiki"\n'


def document(uri: str, text: str, score: float = 0.5, kind: str = "s3") -> dict[str, Any]:
    """One result as the service gives it."""
    field = {"s3": "uri", "web": "url", "customDocument": "id"}[kind]
    location = {"type": {"customDocument": "CUSTOM"}.get(kind, kind.upper()), f"{kind}Location": {field: uri}}
    return {"content": {"type": "TEXT", "text": text}, "location": location, "score": score}


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StoreServer]:
    """A knowledge base service, to which AWS's own variables lead."""
    with serving_store("knowledge") as running:
        running.documents = {
            WIKI_ID: [
                document("s3://wiki/retry.md", "Uploads are retried\nthree times.", 0.9),
                document("s3://wiki/retry.md", "Then they are given up.", 0.7),
                document("https://wiki.example/limits", "Limits of uploads.", 0.4, "web"),
            ],
            OPS_ID: [document("run-book-7", "Restart the uploader.", 0.8, "customDocument")],
        }
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", running.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield running


def use(pkb: Pkb, *bases: dict[str, str]) -> None:
    """The user's own settings of this clone name these knowledge bases."""
    pkb("config", "set", "--local", "search.knowledgeBases", json.dumps(bases))


def search(pkb: Pkb, *arguments: str) -> Any:
    """What a search answers, as JSON."""
    return json.loads(pkb("search", "how are uploads retried", "--json", *arguments).out)


def test_passages_stand_among_files(repo: Any, pkb: Pkb) -> None:
    """Places are fused: the best file, the best document, the next file; the fields are those of files."""
    repo.commit(FILES)
    plain = search(pkb)
    use(pkb, {"id": WIKI_ID, "region": "eu-west-1", "label": "Team wiki"})
    answer = search(pkb)
    paths = [result["path"] for result in answer["results"]]
    assert paths[:4:2] == [result["path"] for result in plain["results"]][:2]
    assert paths[1:4:2] == ["s3://wiki/retry.md", "https://wiki.example/limits"]
    assert answer["warnings"] == []
    assert answer["mode"] == "hybrid"
    document = answer["results"][1]
    assert (document["language"], document["summary"], document["stale"]) == (
        "knowledge-base", "Team wiki", False,
    )  # fmt: skip
    assert [symbol["excerpt"] for symbol in document["symbols"]] == [
        "Uploads are retried three times.",
        "Then they are given up.",
    ]
    file = answer["results"][0]
    assert set(document) == set(file)
    assert set(document["symbols"][0]) == set(file["symbols"][0])
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == round(1 / 61, 6)


def test_the_request_is_what_the_settings_say(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """The question goes out once, to the region of the entry, with as many passages as can be shown."""
    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID, "region": "eu-west-1"})
    search(pkb, "-k", "4", "--symbols-per-file", "2")
    (seen,) = server.seen
    assert seen.path == f"/knowledgebases/{WIKI_ID}/retrieve"
    assert "/eu-west-1/bedrock/aws4_request" in seen.headers["authorization"]
    assert seen.body["retrievalQuery"] == {"text": "how are uploads retried"}
    assert seen.body["retrievalConfiguration"] == {"vectorSearchConfiguration": {"numberOfResults": 8}}


def test_it_is_asked_once_although_the_work_tree_changed(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """A search that has to bring its cache in line does not ask twice."""
    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID})
    search(pkb)
    repo.write("src/upload.py", "def upload(path):\n    retry_often(path)\n")
    server.seen.clear()
    search(pkb)
    assert len(server.seen) == 1


def test_several_are_asked_side_by_side(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Each has its own list; one that waits does not keep the others waiting."""
    repo.commit(FILES)
    server.work = 0.3
    use(pkb, {"id": WIKI_ID}, {"id": OPS_ID, "label": "Run books"})
    answer = search(pkb, "-k", "10")
    assert server.most_running == 2
    found = {result["path"]: result["summary"] for result in answer["results"]}
    assert found["run-book-7"] == "Run books"
    assert found["s3://wiki/retry.md"] == WIKI_ID


def test_alone_without_an_embedder(repo: Any, pkb: Pkb) -> None:
    """Knowledge bases alone: no vectors, no file that answers, and still an answer."""
    repo.commit({"src/a.py": "x = 1\n"})
    pkb("config", "set", "--local", "embedding.provider", "none")
    use(pkb, {"id": WIKI_ID, "label": "Team wiki"})
    answer = search(pkb)
    assert [result["language"] for result in answer["results"]] == ["knowledge-base"] * 2
    assert answer["results"][0]["path"] == "s3://wiki/retry.md"


def test_with_the_text_when_asked(repo: Any, pkb: Pkb) -> None:
    """`--text` shows passages whole, `--no-symbols` documents alone, `--terse` their addresses."""
    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID})
    symbols = search(pkb, "--text")["results"][1]["symbols"]
    assert symbols[0]["text"] == "Uploads are retried\nthree times."
    assert search(pkb, "--no-symbols")["results"][1]["symbols"] == []
    assert "s3://wiki/retry.md" in pkb("search", "how are uploads retried", "--terse").out.splitlines()


def test_addresses_are_not_paths_of_the_folder(repo: Any, pkb: Pkb) -> None:
    """From within a folder files are shown relative to it, addresses as they are."""
    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID, "label": "Team wiki"})
    said = pkb("search", "how are uploads retried", cwd=repo.path / "src").out
    assert "s3://wiki/retry.md:1:Team wiki\tUploads are retried three times." in said.splitlines()
    assert any(line.startswith(("upload.py:", "retry.py:", "../docs")) for line in said.splitlines())


@pytest.mark.parametrize(
    "narrow", [("--scope", "src"), ("--filter", "*.py"), ("--lang", "python"), ("--kind", "docs")]
)
def test_who_narrows_files_down_wants_files(
    narrow: tuple[str, str], repo: Any, pkb: Pkb, server: StoreServer
) -> None:
    """With a filter over files nothing outside is asked."""
    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID})
    answer = search(pkb, *narrow)
    assert answer["results"]
    assert server.seen == []


@pytest.mark.parametrize(
    ("status", "telling"),
    [(403, "bedrock:Retrieve"), (404, "region"), (500, "InternalServer"), (429, "Throttl")],
)
def test_one_that_fails_costs_a_warning(
    status: int, telling: str, repo: Any, pkb: Pkb, server: StoreServer
) -> None:
    """Whatever the service answers, the files are found, and the rest of the sources too."""
    repo.commit(FILES)
    plain = search(pkb)
    server.faults = [Fault(status)] * 5
    use(pkb, {"id": WIKI_ID, "label": "Team wiki"})
    ran = pkb("search", "how are uploads retried", "--json")
    answer = json.loads(ran.out)
    assert answer["results"] == plain["results"]
    (warning,) = answer["warnings"]
    assert f"Team wiki ({WIKI_ID})" in warning
    assert telling in warning
    assert warning in ran.err


def test_one_that_is_unknown_or_without_credentials_warns(
    repo: Any, pkb: Pkb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No such knowledge base, no such profile, no credentials: the others answer."""
    repo.commit(FILES)
    use(pkb, {"id": "KBGONE0000"}, {"id": WIKI_ID}, {"id": OPS_ID, "profile": "nobody"})
    answer = search(pkb)
    assert len(answer["warnings"]) == 2
    assert "does not exist" in answer["warnings"][0]
    assert "nobody" in answer["warnings"][1]
    assert "s3://wiki/retry.md" in [result["path"] for result in answer["results"]]
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    use(pkb, {"id": WIKI_ID})
    assert "credentials" in search(pkb)["warnings"][0]


def test_one_that_is_silent_is_given_up(
    repo: Any, pkb: Pkb, server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time limit of all sources together the answer comes without it."""
    from git_pkb import config, outside
    from git_pkb.git import discover
    from git_pkb.search.refresh import answer, request_for
    from git_pkb.search.searcher import SearchOptions, search

    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID, "label": "Team wiki"})
    monkeypatch.setattr(outside, "SECONDS", 0.2)
    server.faults = [Fault(delay=5.0)]
    here = discover(str(repo.path))
    found = answer(
        here,
        request_for(here, config.load(here)),
        None,
        lambda current: search(current, "how are uploads retried", SearchOptions(outside=True)),
    )
    assert found.warnings == (
        f"knowledge base Team wiki ({WIKI_ID}): no answer within 0.2 seconds; answered without it",
    )
    assert found.results


def test_what_has_no_text_or_place_is_left_out(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Images and results of unknown places are no passages; the metadata may know the place."""
    image = {"content": {"type": "IMAGE", "byteContent": "data:"}, "location": {"type": "S3"}}
    nowhere = {"content": {"text": "Lost."}, "location": {"type": "KENDRA"}}
    told = {"content": {"text": "Told."}, "metadata": {"x-amz-bedrock-kb-source-uri": "s3://wiki/told.md"}}
    server.documents = {WIKI_ID: [image, nowhere, told]}
    repo.commit({"src/a.py": "x = 1\n"})
    use(pkb, {"id": WIKI_ID})
    outside = [each["path"] for each in search(pkb)["results"] if each["language"] == "knowledge-base"]
    assert outside == ["s3://wiki/told.md"]


def test_a_clone_is_not_trusted_with_questions(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """What the tracked file names is asked only after a yes; until then the files answer, and it is said."""
    repo.commit(FILES | {".pkb/config.toml": WIKI})
    answer = search(pkb)
    assert server.seen == []
    assert answer["results"]
    assert "search.knowledgeBases" in answer["warnings"][0]
    pkb("config", "trust")
    assert "s3://wiki/retry.md" in [result["path"] for result in search(pkb)["results"]]
    Path(repo.path / ".pkb/config.toml").write_text(WIKI.replace(WIKI_ID, OPS_ID))
    server.seen.clear()
    search(pkb)
    assert server.seen == []


def test_an_evaluation_asks_no_one_outside(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """Measured is the search of the repository."""
    repo.commit(FILES)
    repo.write("cases.json", '[{"query": "retry", "expected_files": ["src/retry.py"]}]')
    use(pkb, {"id": WIKI_ID})
    assert pkb("eval", "cases.json").out.startswith("1 question")
    assert server.seen == []


def test_the_picker_asks_no_one_outside(repo: Any, pkb: Pkb, server: StoreServer) -> None:
    """A question is put together key by key; nothing far away is asked at every one of them."""
    pytest.importorskip("prompt_toolkit")
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.search.interactive import Searching
    from git_pkb.search.refresh import current, request_for
    from git_pkb.search.searcher import SearchOptions

    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID})
    pkb("config", "set", "--local", "store.provider", "qdrant")
    pkb("config", "set", "--local", "store.baseurl", server.url)
    here = discover(str(repo.path))
    found = current(here, request_for(here, config.load(here)), None)
    with found.reader:
        assert Searching(found, SearchOptions(outside=True))("retry")
    assert server.seen == []


def test_agents_find_passages_too(repo: Any, pkb: Pkb) -> None:
    """The server's tool `search` gives what the command gives."""
    from git_pkb.git import discover
    from git_pkb.search.server import Tools

    repo.commit(FILES)
    use(pkb, {"id": WIKI_ID})
    found = Tools(discover(str(repo.path))).search("how are uploads retried")
    assert "s3://wiki/retry.md" in [each["path"] for each in found["results"]]


def test_fusion_is_by_places() -> None:
    """Documents of two sources add up, equal places go to files first, then by path; at most k."""
    files = [FileResult(path, 9.0 - i, "python", False, "") for i, path in enumerate(("z.py", "y.py"))]
    one = [Passage("s3://b", "B", "b", 0.1), Passage("s3://a", "A", "a", 0.1)]
    two = [Passage("s3://a", "A2", "a2", 0.9)]
    fused = fuse(files, [one, two], 9, 3, text=False)
    assert [each.path for each in fused] == ["s3://a", "z.py", "s3://b", "y.py"]
    assert fused[0].score == round(1 / 62 + 1 / 61, 6)
    assert fused[0].summary == "A, A2"
    assert [each.path for each in fuse(files, [one, two], 2, 3, text=False)] == ["s3://a", "z.py"]
