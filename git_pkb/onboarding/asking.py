"""The questions of `init`, each with a default that return takes.

In: a repository, its settings, what flags have said already. Out: `Choices`. Invariant: what a flag said is
not asked, and pressing return to everything gives what `--yes` does.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_pkb.errors import UsageError
from git_pkb.onboarding import agents
from git_pkb.onboarding.choices import (
    DEFAULT_BRANCH,
    EVERY_COMMIT,
    LOCAL,
    MERGE_FACTS,
    NO_CI,
    PROVIDERS,
    WORKFLOWS,
    Choices,
    propose_ci,
    propose_workflow,
)

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.onboarding.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Given:
    """What flags have said; None: nothing."""

    provider: str | None = None
    model: str | None = None
    baseurl: str | None = None
    workflow: str | None = None
    hooks: bool | None = None
    ci: str | None = None
    agents: bool | None = None
    agent: str | None = None
    session_start: bool = False


def choices(repo: "Repository", config: "Config", given: Given, prompt: "Prompt | None") -> Choices:
    """Ask what is open, or take the defaults where there is nobody to ask."""
    provider = given.provider or config.embedding.provider
    if prompt and given.provider is None:
        known = PROVIDERS if provider in PROVIDERS else {provider: "as the settings say", **PROVIDERS}
        provider = prompt.choose("Which model makes the vectors?", known, provider)
    settings = {"embedding.provider": provider}
    settings |= _server(config, given, provider, prompt)

    workflow = given.workflow or propose_workflow(repo, config, provider)
    if prompt and given.workflow is None:
        prompt.say(f"Where the index lives. To know: {MERGE_FACTS}.")
        workflow = prompt.choose("How does the index travel?", WORKFLOWS, workflow)
    settings["index.write"] = workflow

    hooks = given.hooks if given.hooks is not None else workflow == EVERY_COMMIT
    if prompt and given.hooks is None and workflow != LOCAL:
        hooks = prompt.confirm("Install the git hooks in this clone?", default=hooks)
    ci = given.ci or propose_ci(repo, workflow)
    if prompt and given.ci is None and workflow != LOCAL:
        about = {
            "github": "a workflow for GitHub Actions",
            "gitlab": "a job for GitLab CI",
            NO_CI: "I run `git pkb reindex` myself" if workflow == DEFAULT_BRANCH else "the hooks are enough",
        }
        ci = prompt.choose("Refresh the index on the default branch by CI?", about, ci)
    section = given.agents if given.agents is not None else True
    if prompt and given.agents is None:
        section = prompt.confirm("Tell coding agents about it in AGENTS.md and CLAUDE.md?", default=True)
    agent = given.agent
    if prompt and agent is None:
        names = {"none": "not now"} | {name: each.title for name, each in agents.AGENTS.items()}
        answer = prompt.choose("Register the MCP server with an agent?", names, "none")
        agent = None if answer == "none" else answer
    return Choices(
        settings=settings,
        trusted=given.provider is not None or prompt is not None,
        hooks=hooks,
        ci=ci,
        agents=section,
        agent=agent,
        session_start=given.session_start,
    )


def _server(config: "Config", given: Given, provider: str, prompt: "Prompt | None") -> dict[str, str]:
    """Model and address: as flags say; a server of one's own cannot be guessed."""
    found = {}
    if given.model:
        found["embedding.model"] = given.model
    if given.baseurl:
        found["embedding.baseurl"] = given.baseurl
    if provider != "openai-compatible":
        return found
    for name, have in (("baseurl", config.embedding.baseurl), ("model", config.embedding.model)):
        key = f"embedding.{name}"
        if key in found or have:
            continue
        if prompt is None:
            raise UsageError(
                f"the provider {provider} needs --{name}", "e.g. --baseurl http://127.0.0.1:8080"
            )
        question = "Address of the server, without /v1" if name == "baseurl" else "Name of the model"
        found[key] = prompt.text(question)
    return found
