"""Does what was chosen, in an order in which each step may rely on those before it; and takes it back.

In: a repository and `Choices`. Out: lines that say what was done, and notes on what is left to do.
Invariant: a second run with the same choices writes nothing.
"""

from typing import TYPE_CHECKING

from git_pkb import config as settings
from git_pkb.errors import PkbError, UsageError
from git_pkb.onboarding import agents, ci, manual, sections
from git_pkb.onboarding.choices import GITHUB, GITLAB, KEY_VARIABLES, LOCAL, Choices
from git_pkb.onboarding.files import Files

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository

_HEADER = """\
# Settings of git pkb for everyone who works on this repository.
# `git pkb config list` shows all of them, `git pkb config set KEY VALUE` changes one.
"""


_HOOK_SETTINGS = r"^(core\.hookspath|merge\.pkb\.driver)$"


class Setup:
    """One run. `lines`: what was done; `notes`: what a person should know or still has to do."""

    def __init__(self, repo: "Repository") -> None:
        if repo.workdir is None:
            raise UsageError(
                "a bare repository has no files to set up", "run this in a clone with a work tree"
            )
        self.repo = repo
        self.top = repo.workdir
        self.files = Files(repo.workdir)
        self.notes: list[str] = []

    @property
    def lines(self) -> list[str]:
        """What was done, a line each."""
        return self.files.lines

    def apply(self, choices: Choices) -> None:
        """Do every step that was chosen."""
        if choices.settings is not None:
            self._settings(choices)
        config = settings.load(self.repo)
        if choices.settings is not None:
            self._say_of_provider(config)
        if choices.hooks:
            from git_pkb.hooks.install import install

            before = self.repo.config_matching(_HOOK_SETTINGS)
            self.notes += install(self.repo)
            if self.repo.config_matching(_HOOK_SETTINGS) != before:
                self.lines.append("installed the hooks")
        if choices.ci == GITHUB:
            self._github(config)
        elif choices.ci == GITLAB:
            self._gitlab(config)
        if choices.agents:
            self._sections(config.index.write)
        if choices.agent is not None:
            self._register(choices.agent)
        if choices.session_start:
            self._session_hook()
        if choices.manual:
            self.lines.extend(filter(None, [manual.link()]))

    # -- .pkb -----------------------------------------------------------------------------------------

    def _settings(self, choices: Choices) -> None:
        from git_pkb import trust
        from git_pkb.config import KEYS, editor, values
        from git_pkb.mirror.tree import Tree

        before = settings.read_tracked(self.repo)
        tracked = settings.parse(before) if before else {}
        asked_before = trust.untrusted(settings.load(self.repo), self.repo)
        data = before if before is not None else _HEADER.encode()
        for name, text in (choices.settings or {}).items():
            value = values.from_text(KEYS[name], text, f"value for `{name}`")
            if tracked.get(name) != value:
                data = editor.set_value(data, name, value)
        settings.parse(data)
        tree = Tree(self.top)
        written = tree.prepare()
        if data != before:
            tree.write(settings.CONFIG_FILE, data, sync=True)
            written.append(settings.CONFIG_FILE)
        self.lines.extend(f"wrote {name}" for name in written)
        config = settings.load(self.repo)
        if choices.trusted and not asked_before and trust.untrusted(config, self.repo):
            # the person has just chosen this provider here; what a stranger wrote before is not theirs
            trust.pin(config, self.repo)
        elif trust.untrusted(config, self.repo):
            self.notes.append(
                "this clone does not trust the tracked settings yet: look at them, then `git pkb config "
                "trust`"
            )

    def _say_of_provider(self, config: "Config") -> None:
        import os

        variable = _key_variable(config)
        if variable and not os.environ.get(variable):
            self.notes.append(
                f"put your key into the environment variable {variable}; it is never written to a file"
            )
        for name, value in (
            ("embedding.provider", config.embedding.provider),
            ("index.write", config.index.write),
        ):
            origin = config.origins[name]
            if origin not in ("default", settings.CONFIG_FILE):
                self.notes.append(f"in this clone {origin} overrides `{name}`: it is {value}")

    # -- CI -------------------------------------------------------------------------------------------

    def _job(self, config: "Config") -> ci.Job:
        if config.index.write == LOCAL:
            raise UsageError(
                "with the workflow `local` there is no index for CI to commit",
                "choose --workflow default-branch, or --ci none",
            )
        branch = config.index.branch or self.repo.default_branch() or self.repo.current_branch() or "main"
        return ci.Job(branch, config.embedding.provider, _key_variable(config))

    def _github(self, config: "Config") -> None:
        job = self._job(config)
        before = self.files.read(ci.GITHUB_FILE)
        if before is not None and not before.startswith(ci.GITHUB_MARK):
            self.notes.append(f"{ci.GITHUB_FILE} is not of `git pkb init` and was left as it is")
            return
        self.files.write(ci.GITHUB_FILE, ci.github(job))
        for name in job.variables:
            self.notes.append(f"give the workflow the secret {name} (repository settings, Secrets, Actions)")

    def _gitlab(self, config: "Config") -> None:
        job = self._job(config)
        before = self.files.read(ci.GITLAB_FILE) or ""
        others = sections.take_out(before, sections.YAML, ci.GITLAB_FILE)
        body = ci.gitlab(job, alone=not others.strip())
        self.files.write(ci.GITLAB_FILE, sections.put(before, body, sections.YAML, ci.GITLAB_FILE))
        names = ", ".join(("PKB_PUSH_TOKEN", *job.variables))
        self.notes.append(f"set these CI variables of the project: {names}")

    # -- agents ---------------------------------------------------------------------------------------

    def _sections(self, workflow: str) -> None:
        done: set[str] = set()
        for name in agents.SECTION_FILES:
            real = self.files.real_name(name)
            if real is None:
                self.notes.append(f"{name} leads out of the repository and was left as it is")
                continue
            before = self.files.read(name) or ""
            if real in done or _imports(before, done):
                continue  # a link to the other file, or a file that includes it
            done.add(real)
            text = sections.put(before, agents.section(workflow), sections.MARKDOWN, name)
            self.files.write(name, text)

    def _register(self, which: str) -> None:
        agent = agents.AGENTS[which]
        self._need_extra()
        if not agent.file:
            self.notes.append(agents.instruction(agent).rstrip())
            return
        before = self.files.read(agent.file)
        text = agents.register(agent, before)
        if text is None:
            self.notes.append(f"{agent.file} cannot be changed safely. {agents.instruction(agent).rstrip()}")
        else:
            self.files.write(agent.file, text)

    def _need_extra(self) -> None:
        from importlib.util import find_spec

        if find_spec("mcp") is None:
            from git_pkb.search.server import INSTALL

            self.notes.append(f"the server needs the extra `mcp`: {INSTALL}")

    def _session_hook(self) -> None:
        text = agents.add_session_hook(self.files.read(agents.SETTINGS_FILE))
        if text is None:
            self.notes.append(
                f"{agents.SETTINGS_FILE} cannot be changed safely: add a SessionStart hook that runs "
                f"`{agents.SESSION_COMMAND}`"
            )
        else:
            self.files.write(agents.SETTINGS_FILE, text)

    # -- back -----------------------------------------------------------------------------------------

    def uninstall(self) -> None:
        """Take everything back that is recognised; one step that fails does not stop the others."""
        for step in (self._remove_hooks, self._remove_ci, self._remove_agents, self._remove_settings):
            try:
                step()
            except PkbError as error:
                self.notes.append(error.message + (f" ({error.hint})" if error.hint else ""))
        self.lines.extend(filter(None, [manual.unlink()]))

    def _remove_hooks(self) -> None:
        from git_pkb.hooks.uninstall import uninstall

        self.lines.extend(uninstall(self.repo))

    def _remove_ci(self) -> None:
        if (self.files.read(ci.GITHUB_FILE) or "").startswith(ci.GITHUB_MARK):
            self.files.remove(ci.GITHUB_FILE)
        self._take_out(ci.GITLAB_FILE, sections.YAML)

    def _remove_agents(self) -> None:
        for name in agents.SECTION_FILES:
            if self.files.real_name(name) is not None:
                self._take_out(name, sections.MARKDOWN)
        for agent in agents.AGENTS.values():
            text = self.files.read(agent.file) if agent.file else None
            if text is not None and agents.SERVER in text:
                self._replace(agent.file, agents.unregister(agent, text))
        text = self.files.read(agents.SETTINGS_FILE)
        if text is not None and agents.SESSION_COMMAND in text:
            self._replace(agents.SETTINGS_FILE, agents.remove_session_hook(text))

    def _take_out(self, name: str, marks: sections.Marks) -> None:
        before = self.files.read(name)
        if before is None:
            return
        after = sections.take_out(before, marks, name)
        if after != before:
            self._replace(name, after if after.strip() else "")

    def _replace(self, name: str, text: str | None) -> None:
        if text is None:
            self.notes.append(f"{name} cannot be changed safely: remove the entry of git pkb by hand")
        elif text:
            self.files.write(name, text)
        else:
            self.files.remove(name)

    def _remove_settings(self) -> None:
        """The settings and their neighbours; an index, which cost money or minutes, stays with them."""
        import os

        if os.path.isdir(os.path.join(self.top, ".pkb", "index")):
            self.notes.append("the index and its settings stay in .pkb; to remove them too: git rm -r .pkb")
            return
        from git_pkb.config import editor

        data = settings.read_tracked(self.repo)
        if data is not None:
            for name in ("embedding.provider", "index.write"):
                data = editor.unset_value(data, name)
            rest = data.decode("utf-8", "replace").replace(_HEADER, "").strip()
            if rest:
                self.notes.append("other settings stay in .pkb/config.toml")
                self.files.write(settings.CONFIG_FILE, data.decode("utf-8", "surrogateescape"))
                return
            self.files.remove(settings.CONFIG_FILE)
        from git_pkb.mirror.tree import ATTRIBUTES, IGNORE

        for name, own in ((".pkb/.gitignore", IGNORE), (".pkb/.gitattributes", ATTRIBUTES)):
            if self.files.read(name) == own:
                self._drop_cache()
                self.files.remove(name)

    def _drop_cache(self) -> None:
        """The cache inside .pkb is ignored only as long as our .gitignore is there."""
        import os
        import shutil

        inside = os.path.join(self.top, ".pkb", "cache")
        if os.path.isdir(inside) and not os.path.islink(inside):
            shutil.rmtree(inside, ignore_errors=True)


def _imports(text: str, done: set[str]) -> bool:
    """Whether a CLAUDE.md includes a file that has the section already (by a line `@AGENTS.md`)."""
    return any(
        line.strip().removeprefix("@./").removeprefix("@") in done
        for line in text.split("\n")
        if "@" in line[:3]
    )


def _key_variable(config: "Config") -> str | None:
    """The variable that the provider's key is read from, if it needs one."""
    provider = config.embedding.provider
    if provider in ("local", "none", "mock", "ollama", "bedrock"):
        return None
    return config.embedding.apikeyenv or KEY_VARIABLES.get(provider)
