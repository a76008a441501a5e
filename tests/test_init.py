"""`git pkb init`: what it writes, that it changes only its own lines, and that it takes everything back."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from git_pkb.errors import UsageError
from git_pkb.onboarding import agents, ci, sections
from git_pkb.onboarding.ci import Job

BEGIN, END = sections.MARKDOWN.begin, sections.MARKDOWN.end


@pytest.fixture
def project(repo):
    """A repository with one commit."""
    repo.commit({"src/a.py": "def retry_upload(): ...\n"})
    return repo


def snapshot(repo):
    """All files of the work tree with their bytes and modes."""
    return {
        str(path.relative_to(repo.path)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(repo.path.rglob("*"))
        if path.is_file()
        and ".git/" not in str(path.relative_to(repo.path)) + "/"
        and ".pkb/cache" not in str(path)
    }


def settings(repo):
    """The tracked settings."""
    return tomllib.loads(repo.read(".pkb/config.toml"))


def test_defaults_are_the_local_model_and_the_local_workflow(project, pkb):
    """`--yes` writes settings, ignore rules and the section for agents; search works at once."""
    ran = pkb("init", "--yes")
    assert settings(project) == {"embedding": {"provider": "local"}, "index": {"write": "local"}}
    assert "/cache/" in project.read(".pkb/.gitignore")
    assert "merge=pkb" in project.read(".pkb/.gitattributes")
    for name in ("AGENTS.md", "CLAUDE.md"):
        assert "git pkb search" in project.read(name)
        assert f"wrote {name}" in ran.out
    assert project.git("config", "--get", "core.hooksPath", check=False) == ""
    assert not (project.path / ".github").exists()
    assert "a.py" in pkb("search", "retry upload").out
    assert pkb("init", "--yes").out == "everything is set up already\n"


def test_running_it_again_changes_nothing(project, pkb):
    """The second run is silent about files and leaves every byte."""
    arguments = ("init", "--provider", "voyage", "--workflow", "default-branch", "--ci", "github", "--hooks")
    pkb(*arguments, "--agent", "claude", "--session-start")
    before = snapshot(project)
    ran = pkb(*arguments, "--agent", "claude", "--session-start")
    assert ran.out == ""
    assert snapshot(project) == before


def test_without_a_terminal_it_asks_nothing(project, pkb):
    """No flag and no terminal: exit 2, a hint, and nothing written."""
    ran = pkb("init", code=2)
    assert "there is no terminal to ask on" in ran.err
    assert "git pkb init --yes" in ran.err
    assert project.status() == ""


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("--provider", "none"), ("none", "local")),
        (("--workflow", "every-commit"), ("local", "every-commit")),
        (("--provider", "voyage"), ("voyage", "every-commit")),
        (("--provider", "bedrock", "--workflow", "default-branch"), ("bedrock", "default-branch")),
    ],
)
def test_flags_say_provider_and_workflow(project, pkb, flags, expected):
    """What a flag does not say is proposed to fit what it says."""
    pkb("init", *flags, "--no-hooks", "--no-agents", "--ci", "none")
    written = settings(project)
    assert (written["embedding"]["provider"], written["index"]["write"]) == expected
    assert not (project.path / "AGENTS.md").exists()


def test_a_team_with_a_host_is_proposed_the_default_branch(project, pkb):
    """A network provider and a GitHub remote: the index on the default branch, by a workflow, no hooks."""
    project.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    pkb("init", "--provider", "voyage")
    assert settings(project)["index"]["write"] == "default-branch"
    assert "VOYAGE_API_KEY: ${{ secrets.VOYAGE_API_KEY }}" in project.read(".github/workflows/git-pkb.yml")
    assert project.git("config", "--get", "core.hooksPath", check=False) == ""


def test_comments_and_other_settings_stay(project, pkb):
    """Only the two keys of init change in a file that is there already."""
    project.write(
        ".pkb/config.toml",
        '# ours\nexclude = ["a"]  # why\n\n[embedding]\n# model\nprovider = "none"\ndimensions = 128\n',
    )
    pkb("init", "--provider", "local", "--workflow", "local")
    text = project.read(".pkb/config.toml")
    assert text.startswith(
        '# ours\nexclude = ["a"]  # why\n\n[embedding]\n# model\nprovider = "local"\ndimensions = 128\n'
    )
    assert tomllib.loads(text)["index"] == {"write": "local"}


def test_a_broken_settings_file_is_reported_and_left(project, pkb):
    """Nothing is written on top of what cannot be read."""
    project.write(".pkb/config.toml", "exclude = [\n")
    assert "is not valid TOML" in pkb("init", "--yes", code=2).err
    assert project.read(".pkb/config.toml") == "exclude = [\n"


def test_hooks_are_installed_when_asked_and_work(project, pkb):
    """With every-commit the next commit carries its index."""
    ran = pkb("init", "--workflow", "every-commit", "--no-agents")
    assert "installed the hooks" in ran.out
    project.commit({"src/b.py": "def other(): ...\n"})
    assert ".pkb/index/src/b.py.meta" in project.tracked()


def test_a_provider_chosen_here_is_trusted_here_and_one_of_a_stranger_is_not(project, pkb):
    """The yes covers what was just chosen, never what was in the file before."""
    pkb("init", "--provider", "voyage", "--no-agents", "--no-hooks", "--workflow", "every-commit")
    assert project.git("config", "--get-all", "pkb.trust.pins") != ""
    project.git("config", "--unset-all", "pkb.trust.pins")
    project.write(".pkb/config.toml", '[embedding]\nprovider = "openai"\nbaseurl = "https://evil.example"\n')
    ran = pkb("init", "--provider", "voyage", "--no-agents", "--no-hooks")
    assert "does not trust" in ran.err
    assert project.git("config", "--get-all", "pkb.trust.pins", check=False) == ""


def test_the_section_is_updated_in_place_and_the_rest_stays(project, pkb):
    """Text around the marks, line endings and the mode of the file survive; the section is new."""
    project.write("AGENTS.md", b"# Agents\r\n\r\nOur rules.\r\n")
    pkb("init", "--yes")
    first = (project.path / "AGENTS.md").read_bytes()
    assert first.startswith(b"# Agents\r\n\r\nOur rules.\r\n\r\n<!-- git pkb: begin")
    assert b"\n" not in first.replace(b"\r\n", b"")
    old = first.replace(b"git pkb overview", b"git pkb ancient") + b"\r\n## After\r\n"
    (project.path / "AGENTS.md").write_bytes(old)
    (project.path / "AGENTS.md").chmod(0o600)
    pkb("init", "--yes")
    assert (project.path / "AGENTS.md").read_bytes() == first + b"\r\n## After\r\n"
    assert (project.path / "AGENTS.md").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text", [f"{BEGIN}\nno end\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", f"x\n{END}\n"]
)
def test_damaged_marks_are_reported_and_the_file_is_left(project, pkb, text):
    """Which lines are ours cannot be known, so none is touched."""
    project.write("AGENTS.md", text)
    ran = pkb("init", "--yes", code=2)
    assert "the marks of git pkb in AGENTS.md do not form one section" in ran.err
    assert project.read("AGENTS.md") == text


def test_one_file_for_two_names_gets_one_section(project, pkb):
    """CLAUDE.md as a link to AGENTS.md, or one that includes it, is not written twice."""
    project.write("AGENTS.md", "# Rules\n")
    (project.path / "CLAUDE.md").symlink_to("AGENTS.md")
    pkb("init", "--yes")
    assert project.read("AGENTS.md").count(BEGIN) == 1
    assert (project.path / "CLAUDE.md").is_symlink()
    (project.path / "CLAUDE.md").unlink()
    project.write("CLAUDE.md", "@AGENTS.md\n")
    pkb("init", "--yes")
    assert project.read("CLAUDE.md") == "@AGENTS.md\n"


def test_a_link_out_of_the_repository_is_not_written_through(project, pkb, tmp_path):
    """A hostile AGENTS.md cannot make init write elsewhere."""
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (project.path / "AGENTS.md").symlink_to(outside)
    ran = pkb("init", "--yes")
    assert "AGENTS.md leads out of the repository" in ran.err
    assert outside.read_text() == "mine\n"
    (project.path / ".mcp.json").symlink_to(outside)
    assert "leads out of the repository" in pkb("init", "--agent", "claude", code=74).err
    assert outside.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("agent", "file", "keys"),
    [
        ("claude", ".mcp.json", ("mcpServers",)),
        ("cursor", ".cursor/mcp.json", ("mcpServers",)),
        ("vscode", ".vscode/mcp.json", ("servers",)),
        ("gemini", ".gemini/settings.json", ("mcpServers",)),
        ("opencode", "opencode.json", ("mcp",)),
    ],
)
def test_an_agent_is_registered_beside_what_is_there(project, pkb, agent, file, keys):
    """Other servers, key order and layout stay; `--agent` alone does nothing else."""
    other = json.dumps({"zeta": 1, keys[0]: {"other": {"command": "x"}}}, indent=4) + "\n"
    project.write(file, other)
    pkb("init", "--agent", agent)
    text = project.read(file)
    table = json.loads(text)
    for key in keys:
        table = table[key]
    assert list(table) == ["other", "git-pkb"]
    assert text.startswith(other[: other.index('"command"')])
    assert not (project.path / ".pkb").exists()
    pkb("init", "--uninstall")
    assert project.read(file) == other


@pytest.mark.parametrize("agent", ["codex", "windsurf", "zed", "other"])
def test_an_agent_without_a_file_in_the_repository_gets_instructions(project, pkb, agent):
    """Settings of the user's own are shown, not written."""
    ran = pkb("init", "--agent", agent)
    assert ran.out == ""
    assert "git-pkb" in ran.err
    assert "mcp" in ran.err
    assert project.status() == ""


@pytest.mark.parametrize(
    "text", ["// comment\n{}\n", '{"mcpServers": {  "a": 1}}\n', "[1]\n", '{"mcpServers": []}\n', "not json"]
)
def test_a_file_that_cannot_be_changed_safely_is_left(project, pkb, text):
    """Comments and layouts that would be lost: the entry is shown instead."""
    project.write(".mcp.json", text)
    ran = pkb("init", "--agent", "claude")
    assert project.read(".mcp.json") == text
    assert "cannot be changed safely" in ran.err
    assert '"mcpServers"' in ran.err


def test_the_session_hook_stands_beside_other_hooks(project, pkb):
    """Claude Code's settings keep their other hooks, and get ours once."""
    other = {
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo hi"}]}]},
        "model": "x",
    }
    project.write(".claude/settings.json", json.dumps(other, indent=2) + "\n")
    pkb("init", "--session-start")
    pkb("init", "--session-start")
    groups = json.loads(project.read(".claude/settings.json"))["hooks"]["SessionStart"]
    assert [group["hooks"][0]["command"] for group in groups] == ["echo hi", "git pkb overview"]
    pkb("init", "--uninstall")
    assert json.loads(project.read(".claude/settings.json")) == other


def test_uninstall_takes_everything_back(project, pkb):
    """After init with everything and `--uninstall`, the work tree and git's configuration are as before."""
    project.write("AGENTS.md", "# Rules\n")
    project.write(".gitlab-ci.yml", "test:\n  script: [make]\n")
    project.commit(message="files")
    before, config = snapshot(project), project.git("config", "--local", "--list")
    pkb(
        "init",
        "--workflow",
        "every-commit",
        "--hooks",
        "--ci",
        "gitlab",
        "--agent",
        "claude",
        "--session-start",
    )
    pkb("init", "--yes", "--ci", "github", "--agent", "cursor")
    assert snapshot(project) != before
    pkb("init", "--uninstall")
    assert snapshot(project) == before
    assert project.git("config", "--local", "--list") == config
    assert project.status() == ""
    assert pkb("init", "--uninstall").out == "nothing of `git pkb init` was found\n"


def test_uninstall_keeps_an_index_and_settings_of_the_user(project, pkb):
    """What cost money or was written by hand stays, and it is said."""
    pkb("init", "--yes")
    pkb("config", "set", "exclude", "dist")
    ran = pkb("init", "--uninstall")
    assert 'exclude = ["dist"]' in project.read(".pkb/config.toml")
    assert "other settings stay" in ran.err
    pkb("init", "--workflow", "every-commit", "--no-hooks", "--no-agents")
    pkb("reindex")
    ran = pkb("init", "--uninstall")
    assert "git rm -r .pkb" in ran.err
    assert (project.path / ".pkb/index/src/a.py.meta").exists()


def test_a_workflow_of_someone_else_is_left(project, pkb):
    """A file of that name that is not ours is never overwritten or removed."""
    project.write(".github/workflows/git-pkb.yml", "name: mine\n")
    ran = pkb("init", "--workflow", "default-branch", "--ci", "github")
    assert "was left as it is" in ran.err
    pkb("init", "--uninstall")
    assert project.read(".github/workflows/git-pkb.yml") == "name: mine\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workflow", "local", "--ci", "github"), "there is no index for CI to commit"),
        (("--provider", "openai-compatible"), "needs --baseurl"),
        (("--provider", "openai-compatible", "--baseurl", "http://127.0.0.1:1"), "needs --model"),
        (("--uninstall", "--yes"), "--uninstall stands alone"),
        (("--uninstall", "--agent", "claude"), "--uninstall stands alone"),
        (("--provider", "nonsense"), "invalid choice"),
        (("--workflow", "weekly"), "invalid choice"),
        (("--hookz",), "did you mean `--hooks`"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_cannot_be_meant_is_a_usage_error(pkb, arguments, said):
    """Exit 2 with a sentence."""
    assert said in pkb("init", *arguments, code=2).err


def test_a_bare_repository_cannot_be_set_up(project, pkb, tmp_path):
    """There are no files to write."""
    project.git("clone", "--quiet", "--bare", project.path, tmp_path / "bare.git")
    assert "bare repository" in pkb("init", "--yes", cwd=tmp_path / "bare.git", code=2).err


def test_it_works_from_a_subdirectory(project, pkb):
    """Files go to the top, wherever it is run."""
    pkb("init", "--yes", cwd=project.path / "src")
    assert (project.path / ".pkb/config.toml").is_file()
    assert not (project.path / "src/.pkb").exists()


@pytest.mark.usefixtures("project")
def test_the_manual_page_is_linked_only_where_man_does_not_find_it(pkb, sealed):
    """An activated environment provides the page; otherwise a link appears, and goes again."""
    page = sealed / "data" / "man" / "man1" / "git-pkb.1"
    path = os.environ["PATH"].split(os.pathsep)
    bare = sealed / "bin"
    bare.mkdir()
    (bare / "git-pkb").symlink_to(Path(path[0], "git-pkb"))
    others = [folder for folder in path if folder != path[0]]
    env = {"PATH": os.pathsep.join([str(bare), *others])}
    pkb("init", "--yes", env=env)
    assert page.is_symlink()
    assert page.resolve().name == "git-pkb.1"
    pkb("init", "--uninstall", env=env)
    assert not page.is_symlink()
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("someone else's\n")
    pkb("init", "--yes", env=env)
    pkb("init", "--uninstall", env=env)
    assert page.read_text() == "someone else's\n"


@pytest.mark.parametrize("text", ["", "one line", "# T\n", "# T\n\n", "\n", "a\n\n\n"])
def test_a_section_that_is_put_in_and_taken_out_leaves_the_text(text):
    """But for the line feed that a last line must have."""
    with_section = sections.put(text, "body\n", sections.MARKDOWN, "X.md")
    assert sections.put(with_section, "body\n", sections.MARKDOWN, "X.md") == with_section
    expected = text + "\n" if text and not text.endswith("\n") else text
    assert sections.take_out(with_section, sections.MARKDOWN, "X.md") == expected


def test_text_after_the_section_survives_its_update():
    """Only the lines between the marks are replaced."""
    text = f"before\n\n{BEGIN}\nold\n{END}\nafter\n"
    assert sections.put(text, "new", sections.MARKDOWN, "X.md") == f"before\n\n{BEGIN}\nnew\n{END}\nafter\n"
    with pytest.raises(UsageError):
        sections.put(text + BEGIN, "new", sections.MARKDOWN, "X.md")


@pytest.mark.parametrize("provider", ["local", "voyage", "bedrock"])
def test_the_github_workflow_says_what_it_must(provider):
    """It writes on the named branch, with consent and secrets where the provider needs them."""
    text = ci.github(Job("trunk", provider, "VOYAGE_API_KEY" if provider == "voyage" else None))
    assert 'branches: ["trunk"]' in text
    assert "git pkb reindex --write" in text
    assert ("git pkb config trust" in text) == (provider != "local")
    assert ("secrets.VOYAGE_API_KEY" in text) == (provider == "voyage")
    assert ("git-pkb[bedrock]" in text) == (provider == "bedrock")
    assert "\n\n\n" not in text
    assert "contents: write" in text


def test_the_session_hook_and_the_snippets_are_json():
    """What is shown can be pasted."""
    for agent in agents.AGENTS.values():
        assert agents.SERVER in json.loads(agents.snippet(agent))[agent.keys[0]] if agent.keys else True
