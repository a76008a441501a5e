"""A hostile clone gets no key, no source text, no question and no raised cap."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from git_pkb import trust
from git_pkb.config import KEYS, TRACKED, Config, load
from git_pkb.errors import ConfigError
from git_pkb.git import discover
from git_pkb.trust import COST, EMBEDDING, SOURCES, STORE, SUMMARIZER, Untrusted


class Clone:
    """The git configuration of a clone."""

    workdir = None

    def __init__(self, **settings: str) -> None:
        self.settings = {name.replace("_", "."): value for name, value in settings.items()}

    def config(self) -> dict[str, str]:
        """All of git's `pkb.*`."""
        return dict(self.settings)

    def set_config(self, key: str, value: str) -> None:
        """Set a key."""
        self.settings[key] = value

    def unset_config(self, key: str) -> None:
        """Remove a key."""
        self.settings.pop(key, None)

    def git(self, *_: str, check: bool = True) -> bytes:
        """Nothing else is asked of it."""
        raise AssertionError(check)


def settings(text: str, clone: Clone | None = None, **environment: str) -> Config:
    """Effective settings with this tracked file."""
    return load(clone, text=text.encode(), environment=environment)


VOYAGE = '[embedding]\nprovider = "voyage"\n'
HOSTILE = {
    "provider": (VOYAGE, EMBEDDING),
    "ollama elsewhere": ('[embedding]\nprovider = "ollama"\nbaseurl = "https://evil.example"\n', EMBEDDING),
    "key": (
        ('[embedding]\nprovider = "openai-compatible"\nmodel = "m"\n'
        'baseurl = "https://evil.example"\napikeyenv = "AWS_SECRET_ACCESS_KEY"\n'),
        EMBEDDING,
    ),
    "profile": ('[embedding]\nprovider = "bedrock"\nawsprofile = "production"\n', EMBEDDING),
    "summarizer": ('[summarizer]\nprovider = "anthropic"\n', SUMMARIZER),
    "store": ('[store]\nprovider = "qdrant"\nbaseurl = "https://evil.example"\n', STORE),
    "sources": ('[[search.knowledgeBases]]\nid = "KB1"\nprofile = "production"\n', SOURCES),
}  # fmt: skip


@pytest.mark.parametrize(("text", "section"), HOSTILE.values(), ids=HOSTILE)
def test_what_reaches_out_needs_a_yes(text: str, section: str) -> None:
    """Providers, hosts, key variables, profiles, stores and sources are not used unasked."""
    clone, config = Clone(), settings(text)
    items = trust.untrusted(config, clone)
    assert {item.section for item in items} == {section}
    with pytest.raises(Untrusted) as caught:
        trust.require(config, clone, trust.SECTIONS)
    assert isinstance(caught.value, ConfigError)
    assert (caught.value.exit_code, caught.value.code) == (2, "untrusted")
    assert "git pkb config trust" in str(caught.value.hint)
    for item in items:
        assert item.name in caught.value.message
    trust.pin(config, clone)
    assert trust.untrusted(config, clone) == ()
    trust.require(config, clone, trust.SECTIONS)
    trust.unpin(clone)
    assert trust.untrusted(config, clone) != ()


def test_until_then_search_goes_on_without_them() -> None:
    """The rest of the settings works on: an untrusted embedder is switched off, caps are the defaults."""
    text = f"maxReindexCost = 0\nhookMaxCost = 90.0\n[search]\nk = 9\n{VOYAGE}" + HOSTILE["summarizer"][0]
    config, why = trust.restrained(settings(text), Clone())
    assert (config.embedding.provider, config.summarizer.provider) == ("none", "none")
    assert (config.max_reindex_cost, config.hook_max_cost) == (5.0, 0.25)
    assert config.search.k == 9
    assert why is not None
    assert 'embedding.provider = "voyage"' in why
    sources, _ = trust.restrained(settings(HOSTILE["sources"][0]), Clone())
    assert sources.search.knowledge_bases == ()
    assert sources.embedding.provider == "local"
    store, _ = trust.restrained(settings(HOSTILE["store"][0]), Clone())
    assert store.store.provider == "tree"


def test_trusted_settings_are_used_as_they_are() -> None:
    """After a yes nothing is held back."""
    clone, config = Clone(), settings(f"maxReindexCost = 50\n{VOYAGE}")
    trust.pin(config, clone)
    assert trust.restrained(config, clone) == (config, None)


@pytest.mark.parametrize(
    "changed",
    [
        VOYAGE + 'baseurl = "https://evil.example"\n',
        VOYAGE + 'apikeyenv = "GITHUB_TOKEN"\n',
        VOYAGE + 'model = "voyage-3-large"\n',
        "maxReindexCost = 500\n" + VOYAGE,
        "maxReindexCost = 0\n" + VOYAGE,
        "hookMaxCost = 500\n" + VOYAGE,
        VOYAGE + HOSTILE["summarizer"][0],
        VOYAGE + HOSTILE["sources"][0],
        '[embedding]\nprovider = "openai"\n',
    ],
)
def test_a_pull_that_changes_them_asks_again(changed: str) -> None:
    """The yes was to these values, not to whatever the file says tomorrow."""
    clone = Clone()
    trust.pin(settings(VOYAGE), clone)
    assert trust.untrusted(settings(changed), clone)
    # and going back needs no second yes
    assert trust.untrusted(settings(VOYAGE), clone) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        '[embedding]\nprovider = "local"\n',
        '[embedding]\nprovider = "none"\nbaseurl = "https://evil.example"\n',
        '[embedding]\nprovider = "mock"\n',
        '[summarizer]\nprovider = "docstring"\n',
        "maxReindexCost = 0\n",
        'exclude = ["vendor"]\n[search]\nk = 7\n',
    ],
)
def test_harmless_settings_never_ask(text: str) -> None:
    """What stays on this machine and costs nothing works in every clone at once."""
    assert trust.untrusted(settings(text), Clone()) == ()
    assert trust.pin(settings(text), Clone()) == ()


def test_a_lower_cap_never_asks() -> None:
    """A repository may be stricter than its users."""
    config = settings(f"maxReindexCost = 1\nhookMaxCost = 0.01\n{VOYAGE}")
    assert {item.name for item in trust.sensitive(config)} == {"embedding.provider"}


def test_what_the_user_set_is_trusted_but_not_what_the_file_adds() -> None:
    """A provider of the user's own needs no yes; a host that the tracked file slips under it does."""
    clone = Clone(pkb_embedding_provider="openai")
    assert trust.untrusted(settings("", clone), clone) == ()
    assert trust.untrusted(settings("", None, GIT_PKB_EMBEDDING_PROVIDER="voyage"), Clone()) == ()
    slipped = settings('[embedding]\nbaseurl = "https://evil.example"\n', clone)
    assert [item.name for item in trust.untrusted(slipped, clone)] == ["embedding.baseurl"]
    capped = settings("maxReindexCost = 0\n", clone)
    assert [(item.section, item.name) for item in trust.untrusted(capped, clone)] == [
        (COST, "maxReindexCost")
    ]
    assert trust.restrained(capped, clone)[0].max_reindex_cost == 5.0


def test_a_setting_the_user_overrides_no_longer_asks() -> None:
    """The tracked value is not used, so nobody has to agree to it."""
    clone = Clone(pkb_embedding_provider="local")
    assert trust.untrusted(settings(VOYAGE, clone), clone) == ()


def test_every_setting_that_names_a_place_or_a_secret_is_covered() -> None:
    """A new setting of this kind must be marked in the table of settings."""
    named = {name for name in KEYS if name.endswith((".provider", ".baseurl", ".apikeyenv", ".awsprofile"))}
    assert {name for name in named if not KEYS[name].trust} == set()
    covered = set(named) | {"maxReindexCost", "hookMaxCost", "search.knowledgeBases"}
    assert covered <= {key.name for key in KEYS.values() if key.trust}


def test_every_such_setting_changes_the_hash() -> None:
    """With a provider that reaches out, each tracked setting of its section is part of what is agreed to."""
    base = settings(VOYAGE + 'model = "voyage-context-4"\n')
    clone = Clone()
    trust.pin(base, clone)
    for key in KEYS.values():
        if key.trust and key.section == EMBEDDING and key.name != "embedding.provider":
            other = dataclasses.replace(
                base,
                embedding=dataclasses.replace(base.embedding, **{key.attribute: "changed"}),
                origins={**base.origins, key.name: TRACKED},
            )
            assert trust.untrusted(other, clone), key.name


def test_old_answers_are_forgotten_in_the_end() -> None:
    """A clone remembers the last few configurations it agreed to, not all."""
    clone = Clone()
    for i in range(40):
        trust.pin(settings(VOYAGE + f'model = "m{i}"\n'), clone)
    assert len(clone.settings[trust.PINS].split()) == 16
    assert trust.untrusted(settings(VOYAGE + 'model = "m39"\n'), clone) == ()
    assert trust.untrusted(settings(VOYAGE + 'model = "m0"\n'), clone)


def test_a_yes_is_kept_where_no_pull_reaches(repo: Any, pkb: Any) -> None:
    """`config trust` lists the settings and pins them in this clone's own git configuration."""
    folder = Path(repo.path) / ".pkb"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(VOYAGE + 'baseurl = "https://voyage.example"\n')
    clone = discover(str(repo.path))
    assert trust.untrusted(load(clone, environment={}), clone)
    said = pkb("config", "trust", cwd=repo.path)
    assert 'embedding.baseurl = "https://voyage.example"' in said.out
    assert trust.untrusted(load(clone, environment={}), clone) == ()
    assert "trust" in (Path(repo.path) / ".git" / "config").read_text()
    assert "trust" not in (folder / "config.toml").read_text()


# --- who sets something agrees to it ---


def pinned(repo: Any) -> bool:
    """Whether all that is tracked is trusted in this clone, and there is something to trust."""
    clone = discover(str(repo.path))
    config = load(clone, environment={})
    return bool(trust.sensitive(config)) and not trust.untrusted(config, clone)


def test_who_sets_a_provider_here_agrees_to_it_here(repo: Any, pkb: Any) -> None:
    """`config set` of such keys, and `unset`, need no second yes; it is said what others need."""
    said = pkb("config", "set", "embedding.provider", "voyage")
    assert "trusted in this clone" in said.err
    assert pinned(repo)
    pkb("config", "set", "embedding.model", "voyage-code-3")
    pkb("config", "set", "maxReindexCost", "50")
    assert pinned(repo)
    pkb("config", "unset", "embedding.model")
    assert pinned(repo)
    pkb("config", "set", "search.knowledgeBases", '[{"id": "KBWIKI0000"}]')
    assert pinned(repo)


def test_in_a_clone_of_it_everyone_is_asked(repo: Any, pkb: Any, tmp_path: Path) -> None:
    """The yes stays in the clone it was given in."""
    pkb("config", "set", "embedding.provider", "voyage")
    repo.commit()
    repo.git("clone", "--quiet", repo.path, tmp_path / "clone")
    clone = discover(str(tmp_path / "clone"))
    assert trust.untrusted(load(clone, environment={}), clone)


def test_an_edit_does_not_agree_to_what_was_there_before(repo: Any, pkb: Any) -> None:
    """Settings of a stranger that nobody has agreed to stay so, whatever is set beside them."""
    repo.commit({".pkb/config.toml": VOYAGE})
    said = pkb("config", "set", "maxReindexCost", "50")
    assert "embedding.provider" in said.err
    assert "git pkb config trust" in said.err
    assert not pinned(repo)
    pkb("config", "set", "embedding.provider", "openai")
    assert not pinned(repo)


def test_a_provider_does_not_wake_a_strangers_address(repo: Any, pkb: Any) -> None:
    """An address or a key variable that did nothing until now is not agreed to with the provider."""
    for dormant in ('baseurl = "https://evil.example"', 'apikeyenv = "GITHUB_TOKEN"'):
        repo.commit({".pkb/config.toml": f"[embedding]\n{dormant}\n"})
        said = pkb("config", "set", "embedding.provider", "openai")
        assert f"embedding.{dormant.split()[0]}" in said.err
        assert not pinned(repo)
    repo.commit({".pkb/config.toml": "maxReindexCost = 0\n"})
    assert "maxReindexCost" in pkb("config", "set", "embedding.provider", "openai").err
    assert not pinned(repo)


def test_a_revoked_yes_is_not_given_by_an_edit(repo: Any, pkb: Any) -> None:
    """After `config trust --revoke` an edit of another key agrees to nothing."""
    pkb("config", "set", "embedding.provider", "voyage")
    pkb("config", "trust", "--revoke")
    pkb("config", "set", "maxReindexCost", "50")
    assert not pinned(repo)


def test_a_harmless_edit_says_and_pins_nothing(repo: Any, pkb: Any) -> None:
    """No hint, no pin, for what nobody needs to agree to."""
    assert pkb("config", "set", "embedding.provider", "none").err == ""
    assert pkb("config", "set", "search.k", "9").err == ""
    assert "trust" not in (Path(repo.path) / ".git" / "config").read_text()


def test_an_edit_may_mend_a_broken_setting(repo: Any, pkb: Any) -> None:
    """Settings that do not load can be set right, and what is set right so is not agreed to by that."""
    repo.commit({".pkb/config.toml": VOYAGE + "timeout = -1.0\n[store]\nprovider = 3\n"})
    pkb("config", "set", "embedding.timeout", "9", code=2)
    repo.commit({".pkb/config.toml": VOYAGE + "dimensions = 0\n"})
    pkb("config", "set", "embedding.dimensions", "256")
    assert not pinned(repo)
