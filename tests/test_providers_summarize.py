"""Contract of the summarizers: vendors' clients against the loopback server, and those without a model."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vendor_server import KEY, Fault, VendorServer, serving

from git_pkb.config import load
from git_pkb.errors import ConfigError, ProviderError
from git_pkb.net.network import Policy
from git_pkb.summarize import prompts
from git_pkb.summarize.base import Outline, Passage, open_summarizer
from git_pkb.summarize.docstring import DocstringSummarizer
from git_pkb.summarize.remote import RemoteSummarizer

#: provider -> vendor the server plays, and the model where there is no default
PROVIDERS = {
    "anthropic": ("anthropic", None),
    "openai-compatible": ("compatible", "gpt-test"),
    "ollama": ("ollama", None),
    "bedrock": ("bedrock", None),
}


def opened(server: VendorServer, provider: str, **settings: object) -> Any:
    """The summarizer of a provider, pointed at the server and impatient."""
    flags: dict[str, object] = {
        "summarizer.provider": provider,
        "summarizer.model": PROVIDERS[provider][1],
        "summarizer.baseurl": server.url,
        "embedding.timeout": 5.0,
    }
    summarizer = open_summarizer(load(None, flags | settings, environment={}))
    assert isinstance(summarizer, RemoteSummarizer)
    summarizer.policy = Policy(attempts=3, first_wait=0.01, longest_wait=0.02)
    return summarizer


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys that the server takes."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "not for other servers")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(params=sorted(PROVIDERS))
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[VendorServer, Any]]:
    """Each provider with its server."""
    with serving(PROVIDERS[request.param][0]) as server:
        yield server, opened(server, request.param)


def sent(server: VendorServer) -> list[str]:
    """The user's messages that arrived."""
    contents = [seen.body["messages"][-1]["content"] for seen in server.seen]
    return [content if isinstance(content, str) else content[0]["text"] for content in contents]


def test_each_passage_gets_its_summary(pair: tuple[VendorServer, Any]) -> None:
    """A summary is made from the text and its breadcrumb, without the path; usage and money are counted."""
    server, summarizer = pair
    passages = [Passage("python", "class A > def f", "def f(): retry()"), Passage("rust", "", "fn g() {}")]
    found = dict(summarizer.summarize(passages))
    assert found[0] == "Summary of 16 characters: def f(): retry()."
    assert found[1] == "Summary of 9 characters: fn g() {}."
    assert any("class A > def f" in message and "python" in message for message in sent(server))
    assert summarizer.usage.texts == 2
    assert summarizer.usage.output_tokens > 0
    assert (summarizer.usage.usd > 0) == summarizer.paid


def test_blank_passages_are_not_asked_for(pair: tuple[VendorServer, Any]) -> None:
    """Nothing to say about nothing."""
    server, summarizer = pair
    assert dict(summarizer.summarize([Passage("text", "", " \n")])) == {0: ""}
    assert dict(summarizer.roll_up([Outline("text", (("", ""),)), Outline("text", ())])) == {0: "", 1: ""}
    assert server.seen == []


def test_long_passages_are_summarized_in_parts(pair: tuple[VendorServer, Any]) -> None:
    """No request is larger than the limit; the summaries of the parts become one."""
    server, summarizer = pair
    text = "".join(f"line {i} of a long function\n" for i in range(2000))
    found = dict(summarizer.summarize([Passage("go", "func Long", text)]))
    messages = sent(server)
    assert len(messages) == len(prompts.parts(text)) + 1
    assert all(len(message) < prompts.LONGEST + 1000 for message in messages)
    assert found[0].startswith("Summary of")
    assert "Summary of" in messages[-1]


def test_files_are_rolled_up_from_their_pieces(pair: tuple[VendorServer, Any]) -> None:
    """A roll-up reads the summaries, in groups when they are many; one piece needs no model."""
    server, summarizer = pair
    few = Outline("python", (("class A", "Holds a."), ("def b", "Does b.")))
    many = Outline("python", tuple((f"def f{i}", f"Does {i}. " * 30) for i in range(300)))
    one = Outline("python", (("", "All there is."), ("", "")))
    found = dict(summarizer.roll_up([few, many, one]))
    assert found[2] == "All there is."
    assert found[0].startswith("Summary of")
    assert found[1].startswith("Summary of")
    messages = sent(server)
    assert any("class A: Holds a.\ndef b: Does b." in message for message in messages)
    assert all(len(message) < prompts.LONGEST + 1500 for message in messages)


def test_transient_failures_are_retried(pair: tuple[VendorServer, Any]) -> None:
    """The shared policy holds for summaries too."""
    server, summarizer = pair
    server.faults = [Fault(429, {"Retry-After": "0"}), Fault(503)]
    assert dict(summarizer.summarize([Passage("c", "", "int x;")]))[0]
    assert len(server.seen) == 3


def test_a_refused_key_ends_the_run(pair: tuple[VendorServer, Any]) -> None:
    """401 is an error that names the setting, after one request."""
    server, summarizer = pair
    server.faults = [Fault(401)]
    with pytest.raises(ProviderError, match="refused"):
        dict(summarizer.summarize([Passage("c", "", "int x;")]))
    assert len(server.seen) == 1


def test_a_page_instead_of_json_is_reported(pair: tuple[VendorServer, Any]) -> None:
    """HTML is no summary."""
    server, summarizer = pair
    server.faults = [Fault(200, {"Content-Type": "text/html"}, b"<!doctype html><title>Sign in</title>")]
    with pytest.raises(ProviderError):
        dict(summarizer.summarize([Passage("c", "", "int x;")]))


def test_an_answer_of_another_shape_is_reported(pair: tuple[VendorServer, Any]) -> None:
    """JSON without the fields of the protocol is no summary either."""
    server, summarizer = pair
    server.faults = [Fault(spoil=lambda _: {"unexpected": True})]
    with pytest.raises(ProviderError):
        dict(summarizer.summarize([Passage("c", "", "int x;")]))


def test_what_was_paid_for_is_kept_when_another_fails() -> None:
    """Summaries that arrived are handed out before the error is raised."""
    with serving("anthropic") as server:
        summarizer = opened(server, "anthropic", **{"embedding.concurrency": 1})
        server.faults = [Fault(), Fault(400)]
        stream = summarizer.summarize([Passage("c", "", f"int x{i};") for i in range(5)])
        assert next(stream)[0] == 0
        with pytest.raises(ProviderError):
            next(stream)


def test_a_missing_extra_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The anthropic client is no core dependency."""
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with serving("anthropic") as server, pytest.raises(ConfigError) as caught:
        dict(opened(server, "anthropic").summarize([Passage("c", "", "int x;")]))
    assert "pip install 'git-pkb[anthropic]'" in str(caught.value.hint)


def test_a_refusal_of_the_model_is_no_summary() -> None:
    """A model that declines leaves the passage without a summary, and the run goes on."""
    with serving("anthropic") as server:
        server.faults = [Fault(spoil=lambda answer: {**answer, "stop_reason": "refusal"})]
        assert dict(opened(server, "anthropic").summarize([Passage("c", "", "int x;")])) == {0: ""}


def test_other_servers_never_get_the_openai_key() -> None:
    """The OpenAI-compatible summarizer sends its own key or none."""
    with serving("compatible") as server:
        dict(opened(server, "openai-compatible").summarize([Passage("c", "", "int x;")]))
        assert "authorization" not in server.seen[0].headers


def test_identity_holds_model_and_instructions() -> None:
    """Another model or another word in the prompts is another identity."""
    with serving("ollama") as server:
        first = opened(server, "ollama").identity
        assert first == f"ollama:llama3.2:{prompts.VERSION}"
        assert opened(server, "ollama", **{"summarizer.model": "other"}).identity != first
    text = Path(prompts.__file__).read_text()
    changed: dict[str, Any] = {}
    exec(compile(text.replace("Name the concepts", "Name all concepts"), "prompts", "exec"), changed)  # noqa: S102
    assert changed["VERSION"] != prompts.VERSION


@given(st.text(max_size=3000))
def test_summaries_are_one_clean_line(answer: str) -> None:
    """Whatever a model writes: one line, bounded, without control characters."""
    line = prompts.clean(answer)
    assert len(line) <= 500
    assert line == " ".join(line.split())
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in line)


@given(st.text(alphabet="ab\n", max_size=200))
def test_parts_add_up(text: str) -> None:
    """Parts of a text are the text."""
    assert "".join(prompts.parts(text * 400)) == text * 400
    assert all(len(part) <= prompts.LONGEST for part in prompts.parts(text * 400))


def test_thoughts_are_not_summaries() -> None:
    """What a model thinks aloud is dropped, also when it never stops."""
    assert prompts.clean('<think>well\n…</think>\n"Retries uploads."') == "Retries uploads."
    assert prompts.clean("<think>on and on") == ""
    long = prompts.clean("A sentence. " * 100)
    assert long.endswith("A sentence.")


@pytest.mark.parametrize(
    ("language", "text", "summary"),
    [
        ("python", 'def f():\n    """Retry an upload.\n\n    Args:\n      x: y"""\n', "Retry an upload."),
        ("python", "# coding: utf-8\n# vim: sw=4\nx = 1\n", ""),
        ("python", "# Count the open tickets.\ncount = 0\n", "Count the open tickets."),
        ("javascript", "/**\n * Sends it. Waits.\n * More.\n * @param x\n */\nf()", "Sends it. Waits."),
        ("javascript", "// eslint-disable-next-line no-undef rule\nf()", ""),
        ("rust", "/// Parses a header line.\n#[derive(Debug)]\nstruct A;", "Parses a header line."),
        ("go", "// Copyright 2009 The Authors.\n\n// Walk visits nodes.\nfunc W() {}", "Walk visits nodes."),
        ("haskell", "-- | Folds over a tree.\nfold = undefined", "Folds over a tree."),
        ("lua", "--- Opens a picker for files.\nfunction f() end", "Opens a picker for files."),
        ("ruby", "# Renders a partial template.\ndef f; end", "Renders a partial template."),
        ("elixir", "# Starts the link process.\ndef f, do: 1", "Starts the link process."),
        ("c", "#include <stdio.h>\n#define X 1\nint x;", ""),
        ("cpp", "/* Frees all the nodes of a list */\nvoid f();", "Frees all the nodes of a list"),
        ("markdown", "# Install\n\nRun `pip`. Then restart. Enjoy.", "Run `pip`. Then restart."),
        ("java", "int x = 1;", ""),
    ],
)  # fmt: skip
def test_docstrings_speak_for_themselves(language: str, text: str, summary: str) -> None:
    """The first sentences of what the authors wrote, and nothing where they wrote nothing."""
    assert dict(DocstringSummarizer().summarize([Passage(language, "", text)])) == {0: summary}


def test_docstring_roll_up_is_what_is_said_first() -> None:
    """A file is introduced by its first comment."""
    outline = Outline("python", (("", ""), ("def a", "Adds. "), ("def b", "Subtracts.")))
    assert dict(DocstringSummarizer().roll_up([outline, Outline("c", ())])) == {0: "Adds. ", 1: ""}


def test_mock_writes_down_what_it_was_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tests count the calls of other processes by a file, and make them fail by a variable."""
    monkeypatch.setenv("PKB_MOCK_LOG", str(tmp_path / "log"))
    summarizer = open_summarizer(load(None, {"summarizer.provider": "mock"}, environment={}))
    assert summarizer is not None
    passages = [Passage("c", "def f", "int x;"), Passage("c", "", "int y;")]
    assert dict(summarizer.summarize(passages)) == {0: "def f: int x;", 1: "c: int y;"}
    assert dict(summarizer.roll_up([Outline("c", (("", "One."), ("", "Two.")))]))[0].endswith("One.")
    assert (tmp_path / "log").read_text() == "summarize 2\nrollup 1\n"
    monkeypatch.setenv("PKB_MOCK_FAIL", "summarize")
    with pytest.raises(ProviderError):
        dict(summarizer.summarize(passages))


@pytest.mark.parametrize(
    "settings",
    [
        {"summarizer.provider": "gpt"},
        {"summarizer.provider": "mock", "summarizer.model": "x"},
        {"summarizer.provider": "openai-compatible", "summarizer.model": "m"},
        {"summarizer.provider": "openai-compatible", "summarizer.baseurl": "http://localhost:1"},
        {"summarizer.provider": "anthropic", "summarizer.baseurl": "file:///x"},
    ],
)
def test_what_cannot_work_fails_at_start(settings: dict[str, object]) -> None:
    """Combinations that no request could make right are refused when the summarizer is opened."""
    with pytest.raises(ConfigError) as caught:
        open_summarizer(load(None, settings, environment={}))
    assert caught.value.hint


def test_none_has_no_summarizer() -> None:
    """The default: nothing is summarized."""
    assert open_summarizer(load(None, environment={})) is None
