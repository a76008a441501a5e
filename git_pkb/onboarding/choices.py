"""What `init` is to do, and what it proposes when nothing is said.

In: flags, the repository, its settings. Out: `Choices`. Invariant: a proposal depends on the repository
alone, never on the machine.
"""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository

LOCAL, EVERY_COMMIT, DEFAULT_BRANCH = "local", "every-commit", "default-branch"
GITHUB, GITLAB, NO_CI = "github", "gitlab", "none"

#: provider -> what to say of it in a line
PROVIDERS = {
    "local": "the model inside the package: no key, no network, nothing to pay",
    "voyage": "Voyage AI, the strongest on code; needs VOYAGE_API_KEY",
    "openai": "OpenAI; needs OPENAI_API_KEY",
    "ollama": "an Ollama server of your own",
    "openai-compatible": "any other server that speaks OpenAI's protocol",
    "bedrock": "Amazon Bedrock, by your AWS credentials",
    "none": "no vectors: search by words alone",
}
WORKFLOWS = {
    LOCAL: "nothing is committed: every clone makes its own index in seconds",
    EVERY_COMMIT: "a hook commits the index together with each change",
    DEFAULT_BRANCH: "the index is committed on the default branch only, by CI",
}
#: provider -> the variable its key is read from unless the settings name another
KEY_VARIABLES = {"voyage": "VOYAGE_API_KEY", "openai": "OPENAI_API_KEY"}

#: storage.md's table in a sentence.
MERGE_FACTS = (
    "when two branches change the same file (44 % of real merges), a committed index conflicts too: this "
    "clone's merge driver settles that, but the merge button of a host runs no driver and refuses the merge"
)


@dataclass(frozen=True, slots=True)
class Choices:
    """One step a field; None or `False` leaves it out.

    `settings`: canonical name -> value for .pkb/config.toml; `trusted`: the person chose the provider here
    and now; `agent`: the agent that is registered; `session_start`: its hook that prints the overview.
    """

    settings: dict[str, str] | None = None
    trusted: bool = False
    hooks: bool = False
    ci: str = NO_CI
    agents: bool = False
    agent: str | None = None
    session_start: bool = False
    manual: bool = True


def propose_workflow(repo: "Repository", config: "Config", provider: str) -> str:
    """The workflow the settings name; else `local` for the local model, and what suits a network one."""
    if config.origins.get("index.write") != "default":
        return config.index.write
    if provider in ("local", "none", "mock"):
        return LOCAL
    return DEFAULT_BRANCH if host(repo) else EVERY_COMMIT


def propose_ci(repo: "Repository", workflow: str) -> str:
    """A job where the default branch is to carry the index and the host is known."""
    return host(repo) or NO_CI if workflow == DEFAULT_BRANCH else NO_CI


def host(repo: "Repository") -> str | None:
    """The host of the repository by its own files, else by the address of `origin`."""
    top = repo.workdir or ""
    if os.path.isdir(os.path.join(top, ".github")):
        return GITHUB
    if os.path.isfile(os.path.join(top, ".gitlab-ci.yml")):
        return GITLAB
    address = repo.git("config", "--get", "remote.origin.url", check=False).decode("utf-8", "replace").lower()
    return GITHUB if "github" in address else GITLAB if "gitlab" in address else None
