"""`git pkb init`: set this repository up, by questions or by flags, and take that back."""

import argparse
import sys
from typing import TYPE_CHECKING

from git_pkb.errors import UsageError

if TYPE_CHECKING:
    from git_pkb.git import Repository
    from git_pkb.onboarding.asking import Given
    from git_pkb.onboarding.setup import Setup

PROVIDERS = ("local", "voyage", "bedrock", "openai", "openai-compatible", "ollama", "mock", "none")
AGENTS = ("claude", "cursor", "codex", "vscode", "gemini", "opencode", "windsurf", "zed", "other")
DONE = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = (
        "Without flags it asks, on a terminal. `--agent` and `--session-start` alone do only that. "
        "Running it again changes only its own lines."
    )
    parser.add_argument("--yes", action="store_true", help="take the defaults for all that is not said")
    parser.add_argument("--provider", choices=PROVIDERS, help="who makes the vectors (default: local)")
    parser.add_argument("--model", metavar="NAME", help="model of the provider")
    parser.add_argument("--baseurl", metavar="URL", help="address of the provider's server, without /v1")
    parser.add_argument(
        "--workflow",
        choices=("every-commit", "default-branch", "local"),
        help="when the index is committed (default: local for the local model)",
    )
    parser.add_argument("--hooks", action=argparse.BooleanOptionalAction, help="install the git hooks")
    parser.add_argument("--ci", choices=("github", "gitlab", "none"), help="write a CI job for the index")
    parser.add_argument(
        "--agents",
        action=argparse.BooleanOptionalAction,
        help="write a section on git pkb into AGENTS.md and CLAUDE.md",
    )
    parser.add_argument("--agent", choices=AGENTS, help="register the MCP server with an agent")
    parser.add_argument(
        "--session-start", action="store_true", help="print the overview when Claude Code starts a session"
    )
    parser.add_argument("--uninstall", action="store_true", help="take back what init has done")


def run(args: argparse.Namespace) -> int:
    """Set up and say what was done."""
    from git_pkb.git import discover
    from git_pkb.onboarding.setup import Setup

    repo = discover()
    setup = Setup(repo)
    given = _given(args)
    if args.uninstall:
        if args.yes or _says_something(given) or given.agent or given.session_start:
            raise UsageError("--uninstall stands alone", "leave out the other options")
        setup.uninstall()
        _report(setup, "nothing of `git pkb init` was found")
        return DONE
    _set_up(repo, setup, given, yes=args.yes, color=args.color)
    _report(setup, "everything is set up already")
    return DONE


def _set_up(repo: "Repository", setup: "Setup", given: "Given", *, yes: bool, color: str) -> None:
    from git_pkb.onboarding.choices import Choices

    if not yes and not _says_something(given) and (given.agent or given.session_start):
        setup.apply(Choices(agent=given.agent, session_start=given.session_start, manual=False))
        return
    from git_pkb import config as settings
    from git_pkb.onboarding import asking, prompt

    asker = None
    if not yes and not _says_something(given):
        if not prompt.is_possible():
            raise UsageError(
                "there is no terminal to ask on",
                "`git pkb init --yes` takes the defaults; `git pkb init -h` lists what flags can say",
            )
        from git_pkb.output.terminal import of_stream

        asker = prompt.Prompt(of_stream(color, sys.stderr))
    config = settings.load(repo)
    setup.apply(asking.choices(repo, config, given, asker))
    _next_steps(setup)


def _given(args: argparse.Namespace) -> "Given":
    from git_pkb.onboarding.asking import Given

    return Given(
        provider=args.provider,
        model=args.model,
        baseurl=args.baseurl,
        workflow=args.workflow,
        hooks=args.hooks,
        ci=args.ci,
        agents=args.agents,
        agent=args.agent,
        session_start=args.session_start,
    )


def _says_something(given: "Given") -> bool:
    """Whether flags chose anything but the registration of an agent."""
    said = (given.provider, given.model, given.baseurl, given.workflow, given.hooks, given.ci, given.agents)
    return any(value is not None for value in said)


def _next_steps(setup: "Setup") -> None:
    from git_pkb import config as settings

    if not setup.lines:
        return
    workflow = settings.load(setup.repo).index.write
    changed = [line.split(" ", 1)[1] for line in setup.lines if line.startswith(("wrote ", "changed "))]
    tracked = sorted({name.split("/")[0] if name.startswith(".pkb/") else name for name in changed})
    if tracked:
        setup.notes.append(f"commit what was written: git add {' '.join(tracked)}")
    if workflow == "local":
        setup.notes.append('search at once, the index makes itself: git pkb search "where do we …"')
    else:
        setup.notes.append("make the index and commit it: git pkb reindex && git add .pkb")


def _report(setup: "Setup", nothing: str) -> None:
    """What was done on stdout, what to know on stderr."""
    for line in setup.lines:
        print(line)
    if not setup.lines and not setup.notes:
        print(nothing)
    for note in setup.notes:
        print(note, file=sys.stderr)
