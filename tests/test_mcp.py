"""`git pkb mcp`, asked by the official client over stdio."""

import asyncio
import os
import subprocess
import sys

import pytest

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402

FILES = {
    "README.md": "# Shop\n\nShop sells things over the network.\n",
    "src/retry.py": "def retry_upload(attempts):\n    # a failed upload, with backoff\n    return attempts\n",
    "src/again.py": "def retry_fetch(attempts):\n    # a failed fetch, with backoff\n    return attempts\n",
    "src/paint.py": 'def mix_colors(hue):\n    """Mix two colours."""\n    return hue\n',
    ".env": "TOKEN=secret\n",
}


def ask(path, *calls):
    """Start the server in a folder and call tools in turn; gives the results, and the tools' names."""

    async def talk():
        server = StdioServerParameters(command="git", args=["pkb", "mcp"], cwd=path, env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            listed = await client.list_tools()
            return [await client.call_tool(name, arguments) for name, arguments in calls], listed.tools

    return asyncio.run(asyncio.wait_for(talk(), 120))


@pytest.fixture
def shop(repo):
    """A repository to serve."""
    repo.commit(FILES)
    return repo


def text(result):
    """The text of a result."""
    return "".join(part.text for part in result.content)


def test_the_tools_are_listed_with_schemas_and_descriptions(shop):
    """An agent learns from the list alone how to call them."""
    _, tools = ask(shop.path)
    by_name = {tool.name: tool for tool in tools}
    assert sorted(by_name) == ["overview", "read", "related", "search", "stats"]
    assert by_name["search"].input_schema["required"] == ["query"]
    assert "Args:" in by_name["search"].description


def test_search_read_related_overview_and_stats_answer(shop):
    """Each tool says what its command says."""
    (search, read, related, overview, stats), _ = ask(
        shop.path,
        ("search", {"query": "retry failed upload", "k": 2}),
        ("read", {"reference": "retry.py:1"}),
        ("related", {"place": "src/retry.py:2", "k": 1}),
        ("overview", {}),
        ("stats", {}),
    )
    assert search.structured_content["results"][0]["path"] == "src/retry.py"
    assert len(search.structured_content["results"]) == 2
    assert read.structured_content["text"] == "def retry_upload(attempts):\n"
    assert related.structured_content["results"][0]["path"] == "src/again.py"
    assert "Shop sells things over the network." in text(overview)
    assert stats.structured_content["files"] == 4
    assert stats.structured_content["languages"]["python"] == 3
    assert not any(result.is_error for result in (search, read, related, overview, stats))


def test_an_edit_is_seen_by_the_next_call(shop):
    """The server holds nothing that outlives a change of the work tree."""

    async def talk():
        server = StdioServerParameters(
            command="git", args=["pkb", "mcp"], cwd=shop.path, env=dict(os.environ)
        )
        async with Client(stdio_client(server)) as client:
            await client.call_tool("stats", {})
            shop.write("src/invoice.py", "def send_invoice():\n    return 'sent by mail'\n")
            return await client.call_tool("search", {"query": "send invoice", "k": 1})

    found = asyncio.run(asyncio.wait_for(talk(), 120))
    assert found.structured_content["results"][0]["path"] == "src/invoice.py"


def test_nothing_outside_the_repository_is_reachable(shop, tmp_path):
    """Climbing paths, absolute paths, links and files that are not indexed give no content."""
    secret = tmp_path / "secret.txt"
    secret.write_text("top secret\n")
    (shop.path / "link.txt").symlink_to(secret)
    (shop.path / "linked").symlink_to(tmp_path)
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "--message", "links")
    places = [
        "../secret.txt", str(secret), "link.txt", "linked/secret.txt", ".env", "/etc/passwd", ".git/config",
        "src/../../secret.txt", f"[[{secret}]]", ".pkb/../../secret.txt", "\0", "src/retry.py\0",
    ]  # fmt: skip
    results, _ = ask(shop.path, *(("read", {"reference": place}) for place in places))
    for place, result in zip(places, results, strict=True):
        assert "secret" not in str((result.structured_content or {}).get("text", "")), place
        assert (result.structured_content or {}).get("text") is None, place
    scoped, _ = ask(
        shop.path,
        ("search", {"query": "x", "scope": "../"}),
        ("search", {"query": "x", "scope": "src/../../.."}),
        ("overview", {"folder": "../.."}),
    )
    for result in scoped:
        assert result.is_error
        assert "outside the repository" in text(result)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {"query": " "}, "query is empty"),
        ("search", {"query": "x", "k": 0}, "k must be between 1 and 50"),
        ("search", {"query": "x", "k": 10_000}, "k must be between 1 and 50"),
        ("search", {"query": "x", "kind": "tests"}, "kind is code or docs"),
        ("read", {"reference": ""}, "reference is empty"),
        ("read", {"reference": "retry.py:0"}, "no range of lines"),
        ("related", {"place": "src/retry.py"}, "names no line"),
        ("overview", {"max_tokens": 1}, "max_tokens must be between"),
        ("search", {}, "query"),
    ],
)
def test_bad_arguments_are_results_the_agent_can_read(shop, tool, arguments, said):
    """A mistake is answered with a sentence; the server goes on."""
    (bad, good), _ = ask(shop.path, (tool, arguments), ("stats", {}))
    assert bad.is_error
    assert said in text(bad)
    assert not good.is_error


def test_a_miss_lists_what_may_have_been_meant(shop):
    """A reference that matches nothing is no error of the protocol."""
    (read, related), _ = ask(
        shop.path, ("read", {"reference": "rerty.py"}), ("related", {"place": "rerty.py:1"})
    )
    assert read.structured_content["suggestions"] == ["src/retry.py"]
    assert related.structured_content["results"] == []


def test_a_long_file_is_shortened_and_says_so(shop):
    """No answer floods an agent; the rest is a line range away."""
    shop.commit({"long.txt": "".join(f"line {n}\n" for n in range(1, 5001))})
    (first, rest), _ = ask(
        shop.path, ("read", {"reference": "long.txt"}), ("read", {"reference": "long.txt:2001-2002"})
    )
    assert first.structured_content["lines"] == [1, 2000]
    assert first.structured_content["shortened"] is True
    assert first.structured_content["total_lines"] == 5000
    assert rest.structured_content["text"] == "line 2001\nline 2002\n"


def test_stdout_carries_the_protocol_alone(shop):
    """Even while the cache is made, progress goes to stderr: each line of stdout is a JSON message."""
    import json

    shop.commit({f"m{n}.py": f"def function_{n}(): ...\n" for n in range(60)})
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "stats", "arguments": {}}}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    process = subprocess.Popen(
        ["git", "pkb", "mcp"],
        cwd=shop.path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for each in (message, ready, call):
        process.stdin.write(json.dumps(each).encode() + b"\n")
    process.stdin.flush()
    lines = [process.stdout.readline(), process.stdout.readline()]
    process.stdin.close()
    lines += process.stdout.read().splitlines()
    process.wait(timeout=60)
    process.stdout.close()
    process.stderr.close()
    answers = [json.loads(line) for line in lines]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert process.returncode == 0


def test_a_missing_extra_names_the_command_that_installs_it(shop, pkb):
    """Without the SDK: exit 2 and the way to get it."""
    blocked = "import sys; sys.modules['mcp'] = None; from git_pkb.cli import main; sys.exit(main(['mcp']))"
    done = subprocess.run(
        [sys.executable, "-c", blocked], cwd=shop.path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'pip install "git-pkb[mcp]"' in done.stderr
    assert pkb("mcp", "extra", code=2).err.startswith("error: ")


def test_outside_a_repository_it_does_not_start(tmp_path, pkb):
    """There is nothing to serve: exit 2, nothing on stdout."""
    folder = tmp_path / "plain"
    folder.mkdir()
    assert pkb("mcp", cwd=folder, code=2).out == ""
