"""Settings: precedence, checks and their messages, what the table promises, edits that keep comments."""

import dataclasses
import json
import os
import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb import config
from git_pkb.config import KEYS, KnowledgeBase, editor
from git_pkb.config.schema import SECTIONS, Config
from git_pkb.config.values import from_text, from_toml
from git_pkb.errors import ConfigError
from git_pkb.git import discover


def load(text: str = "", environment: dict[str, str] | None = None, **flags: Any) -> Config:
    """Settings from a tracked file, an environment and flags, without a repository."""
    return config.load(None, flags, text=text.encode(), environment=environment or {})


def refused(text: str = "", environment: dict[str, str] | None = None) -> ConfigError:
    """The error a tracked file or an environment gives."""
    with pytest.raises(ConfigError) as caught:
        load(text, environment)
    return caught.value


def test_defaults():
    """Without any setting the local model answers, nothing needs a key, and a run may cost 5 dollars."""
    plain = load()
    assert plain.embedding.provider == "local"
    assert plain.embedding.dimensions == 256
    assert plain.index.dtype == "int8"
    assert plain.index.write == "every-commit"
    assert (plain.max_reindex_cost, plain.hook_max_cost) == (5.0, 0.25)
    assert set(plain.origins.values()) == {config.DEFAULT}


def test_each_source_overrides_the_one_before(repo, monkeypatch):
    """Defaults < .pkb/config.toml < git config < environment < flags, and each value knows its origin."""
    repo.write(".pkb/config.toml", "[search]\nk = 6\nmode = 'keyword'\nsymbolsPerFile = 1\nrefresh = false\n")
    repo.git("config", "pkb.search.k", "7")
    repo.git("config", "pkb.search.symbolsperfile", "2")
    repo.git("config", "pkb.search.mode", "semantic")
    monkeypatch.setenv("GIT_PKB_SEARCH_K", "8")
    monkeypatch.setenv("GIT_PKB_SEARCH_SYMBOLSPERFILE", "4")
    monkeypatch.chdir(repo.path)
    got = config.load(discover(), {"search.k": 9, "search.refresh": None})
    assert got.search == config.SearchConfig(k=9, symbols_per_file=4, mode="semantic", refresh=False)
    assert {name: got.origins[name] for name in KEYS if name.startswith("search.")} == {
        "search.k": "flag",
        "search.symbolsPerFile": "environment",
        "search.mode": "git config",
        "search.refresh": ".pkb/config.toml",
        "search.knowledgeBases": "default",
    }


def test_git_config_takes_any_case_and_global_settings(repo, monkeypatch):
    """A user's global `pkb.*` counts in every repository, whatever the case of the key."""
    repo.git("config", "--global", "PKB.maxReindexCost", "1.5")
    monkeypatch.chdir(repo.path)
    assert config.load(discover()).max_reindex_cost == 1.5


def test_a_bare_repository_reads_the_tracked_file_from_head(repo, new_repo, monkeypatch):
    """Without a work tree the settings of HEAD count."""
    repo.commit({".pkb/config.toml": "[search]\nk = 11\n"})
    bare = new_repo("bare.git", "--bare")
    repo.git("push", "--quiet", str(bare.path), "HEAD:main")
    monkeypatch.chdir(bare.path)
    assert config.load(discover()).search.k == 11


@pytest.mark.parametrize(
    ("text", "line", "meant"),
    [
        ("[embeding]\nprovider = 'mock'\n", 2, "embedding.provider"),
        ("# a comment\nprovider = 'mock'\n", 2, "embedding.provider"),
        ("maxreindexcost = 1\n", 1, "maxReindexCost"),
        ("[search]\nk = 1\n\nsymbolperfile = 2\n", 4, "search.symbolsPerFile"),
        ("[index.write]\nx = 1\n", 1, "index.write"),
        ('"exlude" = []\n', 1, "exclude"),
    ],
)
def test_unknown_keys_name_the_line_and_the_nearest(text, line, meant):
    """A key that does not exist is refused with its place and the key that was probably meant."""
    error = refused(text)
    assert error.message.startswith(f".pkb/config.toml:{line}: ")
    assert meant in f"{error.message} {error.hint}"


def test_unknown_keys_in_git_config_and_environment(repo, monkeypatch):
    """The same outside the file, naming the key or the variable."""
    error = refused(environment={"GIT_PKB_SEARCH_MOD": "x"})
    assert error.message == "environment GIT_PKB_SEARCH_MOD: unknown setting `search.mod`"
    assert "`search.mode`" in (error.hint or "")
    repo.git("config", "pkb.serch.k", "1")
    monkeypatch.chdir(repo.path)
    with pytest.raises(ConfigError, match=r"git config pkb\.serch\.k: unknown setting `serch\.k`"):
        config.load(discover())


def test_own_records_and_variables_are_no_settings(repo, monkeypatch):
    """What this program keeps in git's configuration, and variables that are no settings, are left alone."""
    repo.git("config", "pkb.trust.pinned", "x")
    repo.git("config", "pkb.hooks.before", "y")
    monkeypatch.setenv("GIT_PKB_SKIP", "1")
    monkeypatch.chdir(repo.path)
    assert config.load(discover()).search.k == 5


@pytest.mark.parametrize(
    "text",
    [
        "[search]\nk = true\n",
        "[search]\nk = 1.5\n",
        "[search]\nk = 0\n",
        "[search]\nmode = 'best'\n",
        "[search]\nrefresh = 'no'\n",
        "exclude = 'node_modules'\n",
        "exclude = [1]\n",
        "search = 3\n",
        "maxReindexCost = '5'\n",
        "maxReindexCost = nan\n",
        "maxReindexCost = inf\n",
        "[embedding]\nmodel = 3\n",
        "[embedding]\ntimeout = 0\n",
        "[extOverrides]\n'.tsx' = 'prose'\n",
        "[extOverrides]\n'tsx' = 'code'\n",
        "extOverrides = 'code'\n",
        "[search]\nknowledgeBases = [{ region = 'x' }]\n",
        "[search]\nknowledgeBases = [{ id = 'x', color = 'y' }]\n",
        "[search]\nknowledgeBases = 3\n",
    ],
)
def test_wrong_types_and_values_name_the_line(text):
    """A value of the wrong type or out of range is refused with its line."""
    assert re.match(r"\.pkb/config\.toml:[12]: ", refused(text).message)


@pytest.mark.parametrize("text", ["[search", "k = [", "\0"])
def test_what_is_not_toml(text):
    """A syntax error says where, as tomllib does."""
    assert refused(text).message.startswith(".pkb/config.toml is not valid TOML: ")


def test_what_is_not_utf8():
    """A file in another encoding is refused, not read wrong."""
    with pytest.raises(ConfigError, match="not UTF-8"):
        config.load(None, text=b"exclude = ['\xff']", environment={})


@pytest.mark.parametrize("name", ["apiKey", "apikey", "api_key", "token"])
def test_a_key_itself_is_refused(name):
    """A secret in the tracked file is refused, naming apikeyenv and not repeating the secret."""
    error = refused(f'[summarizer]\n{name} = "sk-123456"\n')
    assert "summarizer.apikeyenv" in (error.hint or "")
    assert "sk-123456" not in f"{error.message}{error.hint}"


@pytest.mark.parametrize("secret", ["sk-ant-1234", "pa-abc", "abcdefgh0123456789abcdefgh0123"])
def test_apikeyenv_that_holds_a_key_is_refused(secret):
    """A key put where the name of its variable belongs is refused without being printed."""
    error = refused(f'[embedding]\napikeyenv = "{secret}"\n')
    assert "must name an environment variable" in error.message
    assert secret not in f"{error.message}{error.hint}"
    assert load('[embedding]\napikeyenv = "VOYAGE_API_KEY_2"\n').embedding.apikeyenv == "VOYAGE_API_KEY_2"


def test_values_as_text():
    """Lists, tables, switches and numbers can be written in an environment variable."""
    got = load(
        environment={
            "GIT_PKB_EXCLUDE": "node_modules, dist",
            "GIT_PKB_INCLUDE": '["a,b"]',
            "GIT_PKB_EXTOVERRIDES": ".TSX=code,.vue=text",
            "GIT_PKB_SEARCH_REFRESH": "off",
            "GIT_PKB_MAXREINDEXCOST": "-1",
            "GIT_PKB_SEARCH_KNOWLEDGEBASES": '[{"id": "A", "region": "eu-west-1"}]',
            "GIT_PKB_INDEX_BRANCH": "",
        }
    )
    assert got.exclude == ("node_modules", "dist")
    assert got.include == ("a,b",)
    assert got.ext_overrides == {".tsx": "code", ".vue": "text"}
    assert got.search.refresh is False
    assert got.max_reindex_cost == -1.0
    assert got.search.knowledge_bases == (KnowledgeBase("A", "eu-west-1"),)
    assert got.origins["index.branch"] == config.DEFAULT


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SEARCH_REFRESH", "maybe"),
        ("SEARCH_K", "many"),
        ("MAXREINDEXCOST", "five"),
        ("EXCLUDE", "[1,"),
        ("EXTOVERRIDES", ".a"),
    ],
)
def test_wrong_text_names_the_variable(variable, value):
    """A variable that cannot be read is refused by its name."""
    assert refused(environment={f"GIT_PKB_{variable}": value}).message.startswith(
        f"environment GIT_PKB_{variable}: "
    )


def test_every_field_is_in_the_table_once():
    """Each field of each section is a row, names are unique in any case, and each says what it is."""
    fields = [f for owner in (Config, *SECTIONS.values()) for f in dataclasses.fields(owner)]
    assert len(KEYS) == len([f for f in fields if f.name not in (*SECTIONS, "origins")])
    assert len({name.lower() for name in KEYS}) == len(KEYS)
    assert len({key.variable for key in KEYS.values()}) == len(KEYS)
    assert all(key.doc for key in KEYS.values())
    assert all("_" not in key.name for key in KEYS.values())  # git forbids it


@pytest.mark.parametrize("name", KEYS)
def test_every_default_is_a_value_the_checks_accept(name):
    """A default passes the checks of its own row, and its TOML form reads back as the same value."""
    key = KEYS[name]
    if key.default is None:
        assert key.type == str | None
        return
    assert from_toml(key, key.default, "here") == key.default
    again = tomllib.loads(f"x = {editor.toml_text(key.default)}")["x"]
    assert from_toml(key, again, "here") == key.default


def test_what_decides_where_things_go_needs_trust():
    """Providers, hosts, key variables, profiles and caps are marked; how results look is not."""
    trusted = {name for name, key in KEYS.items() if key.trust}
    for section in ("embedding", "summarizer"):
        parts = ("provider", "model", "apikeyenv", "baseurl", "awsregion", "awsprofile")
        assert {f"{section}.{part}" for part in parts} <= trusted
    assert {"store.provider", "store.baseurl", "store.apikeyenv"} <= trusted
    assert {"maxReindexCost", "hookMaxCost", "search.knowledgeBases"} <= trusted
    assert not {"search.k", "exclude", "index.dtype", "overview.depth"} & trusted


TEXT = """\
# our settings
exclude = [ "dist", ]   # built

# the model
[embedding]
provider = "mock"  # for now
"""


def test_an_edit_keeps_comments_and_everything_else():
    """Only the line of the key changes."""
    assert editor.set_value(TEXT.encode(), "embedding.provider", "local").decode() == TEXT.replace(
        "mock", "local"
    )


def test_a_new_top_level_key_stands_above_the_sections():
    """Below a heading it would belong to that section."""
    edited = editor.set_value(TEXT.encode(), "chunking", "manual").decode()
    assert edited == TEXT.replace("# built\n", '# built\nchunking = "manual"\n')
    headed = editor.set_value(b"# mine\n[search]\nk = 1\n", "chunking", "manual").decode()
    assert headed == 'chunking = "manual"\n\n# mine\n[search]\nk = 1\n'


def test_windows_line_ends_stay():
    """A file with CRLF keeps it in the line that is added."""
    assert (
        editor.set_value(b"cutter = 'auto'\r\n", "chunking", "auto")
        == b"cutter = 'auto'\r\nchunking = \"auto\"\r\n"
    )


def test_unset_takes_the_key_and_an_empty_section():
    """What is unset leaves no trace; unsetting twice is no error."""
    data = editor.set_value(TEXT.encode(), "search.k", 3)
    assert editor.unset_value(data, "search.k").decode().rstrip() == TEXT.rstrip()
    assert editor.unset_value(TEXT.encode(), "search.k").decode() == TEXT


VALUES = {
    "exclude": st.lists(st.text(max_size=8), max_size=3).map(tuple),
    "search.k": st.integers(1, 1000),
    "maxReindexCost": st.floats(allow_nan=False, allow_infinity=False),
    "search.refresh": st.booleans(),
    "embedding.model": st.text(max_size=20),
    "extOverrides": st.dictionaries(
        st.sampled_from([".a", ".b"]), st.sampled_from(["code", "text"]), min_size=1
    ),
    "index.branch": st.text(st.characters(codec="utf-8"), max_size=8),
}


@given(
    st.lists(
        st.sampled_from(sorted(VALUES)).flatmap(lambda name: st.tuples(st.just(name), VALUES[name])),
        max_size=6,
    )
)
def test_what_is_set_is_loaded(changes):
    """Whatever is set in whatever order, loading the file gives the last value of each key."""
    data = b""
    for name, value in changes:
        data = editor.set_value(data, name, value)
    got = config.load(None, text=data, environment={})
    for name, value in dict(changes).items():
        assert config.value_of(got, name) == value


def test_set_get_list_unset(pkb, repo):
    """The command edits the tracked file, shows the effective value and its origin, and takes it out."""
    pkb("config", "set", "SEARCH.k", "9")
    assert repo.read(".pkb/config.toml") == "[search]\nk = 9\n"
    assert pkb("config", "get", "search.k").out == "9\n"
    assert pkb("config", "list", "--changed").out == "search.k\t9\t.pkb/config.toml\n"
    pkb("config", "set", "--local", "search.k", "10")
    assert pkb("config", "list", "--changed", "--json").json()["settings"] == [
        {"name": "search.k", "value": 10, "origin": "git config", "default": 5}
    ]
    pkb("config", "unset", "--local", "search.k")
    pkb("config", "unset", "search.k")
    assert pkb("config", "list", "--changed").out == ""
    assert repo.git("config", "--get-regexp", "pkb", check=False) == ""


def test_get_of_an_unset_value_exits_1(pkb):
    """A setting without a value prints nothing."""
    assert pkb("config", "get", "index.branch", code=1).out == ""


def test_list_shows_every_key(pkb):
    """One line a setting, in the order of the documentation."""
    assert [line.split("\t")[0] for line in pkb("config", "list").out.splitlines()] == list(KEYS)


def test_set_refuses_what_load_would_refuse(pkb, repo):
    """A wrong key or value changes nothing and creates nothing."""
    assert "did you mean `search.k`?" in pkb("config", "set", "serch.k", "1", code=2).err
    assert "must be a whole number" in pkb("config", "set", "search.k", "many", code=2).err
    assert not (repo.path / ".pkb").exists()


def test_set_writes_the_ignore_file_first(pkb, repo):
    """A first write under .pkb brings the rules that keep the cache untracked."""
    pkb("config", "set", "search.k", "9")
    assert "/cache/" in repo.read(".pkb/.gitignore")
    assert (repo.path / ".pkb" / ".gitattributes").exists()


def test_set_does_not_write_through_a_link(pkb, repo, tmp_path):
    """A `.pkb` that is a link to somewhere else is refused, and nothing is written there."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.path / ".pkb").symlink_to(outside)
    assert pkb("config", "set", "search.k", "9", code=74).err.startswith("error: .pkb is a symbolic link")
    assert list(outside.iterdir()) == []


def test_set_in_a_bare_repository(pkb, new_repo):
    """Without a work tree only --local works, and the error says so."""
    bare = new_repo("bare.git", "--bare")
    assert "--local" in pkb("config", "set", "search.k", "9", cwd=bare.path, code=2).err
    pkb("config", "set", "--local", "search.k", "9", cwd=bare.path)
    assert pkb("config", "get", "search.k", cwd=bare.path).out == "9\n"


def test_a_fifo_in_place_of_the_file_does_not_hang(pkb, repo):
    """A hostile tree that puts something else there is refused at once."""
    (repo.path / ".pkb").mkdir()
    os.mkfifo(repo.path / ".pkb" / "config.toml")
    assert "no regular file" in pkb("config", "list", code=2).err


def test_trust_pins_what_is_tracked(pkb, repo):
    """`config trust` prints what it agrees to; a later change is untrusted again; --revoke takes it back."""
    repo.write(".pkb/config.toml", '[embedding]\nprovider = "voyage"\nbaseurl = "https://a.example"\n')
    wanted = 'embedding.provider = "voyage"\nembedding.baseurl = "https://a.example"\n'
    assert pkb("config", "trust", "--show").out == wanted
    assert pkb("config", "trust").out == wanted
    assert pkb("config", "trust", "--show").out == ""
    repo.write(".pkb/config.toml", repo.read(".pkb/config.toml").replace("a.example", "b.example"))
    assert "b.example" in pkb("config", "trust", "--show").out
    pkb("config", "trust")
    pkb("config", "trust", "--revoke")
    assert "b.example" in pkb("config", "trust", "--show").out


def test_trust_needs_nothing_for_what_stays_here(pkb, repo):
    """The user's own settings and providers on this machine ask for no trust."""
    repo.write(".pkb/config.toml", '[embedding]\nprovider = "mock"\n[search]\nk = 3\n')
    repo.git("config", "pkb.embedding.baseurl", "https://mine.example")
    ran = pkb("config", "trust")
    assert (ran.out, ran.err) == ("", "nothing in the tracked settings needs trust\n")
    assert repo.git("config", "--get-regexp", "pkb.trust", check=False) == ""


def test_from_text_reads_what_json_writes():
    """The JSON form of a list of tables is the one `config list --json` prints."""
    key = KEYS["search.knowledgeBases"]
    bases = (KnowledgeBase("A", label="wiki"), KnowledgeBase("B"))
    assert from_text(key, json.dumps(editor.plain(bases)), "here") == bases
