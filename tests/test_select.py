"""Which tracked files are indexed, and the reason for each that is not."""

import pytest

from git_pkb.config import Config
from git_pkb.model import Entry
from git_pkb.select import MAX_BYTES, content_skip, name_reason, select


class NoAttributes:
    """A repository in which nothing sets an attribute."""

    def attributes(self, _paths, _names):
        """Nothing."""
        return {}


class Attributes:
    """A repository with these attributes."""

    def __init__(self, values):
        self.values = values

    def attributes(self, paths, _names):
        """Those of the paths that are asked for."""
        return {path: self.values[path] for path in paths if path in self.values}


def chosen(*paths, reader=None, mode=0o100644, **settings):
    """Kept paths, and skipped ones with their reasons."""
    entries = {path: Entry(path, "0" * 40, mode) for path in paths}
    selection = select(entries, reader or NoAttributes(), Config(**settings))
    return set(selection.kept), {skip.path: skip.reason for skip in selection.skipped}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (".env", "may hold credentials"),
        ("app/.env.production", "may hold credentials"),
        ("keys/server.PEM", "may hold credentials"),
        (".ssh/id_rsa", "may hold credentials"),
        ("id_ed25519", "may hold credentials"),
        (".netrc", "may hold credentials"),
        ("secrets.yml", "may hold credentials"),
        ("infra/terraform.tfstate", "may hold credentials"),
        ("package-lock.json", "lock file"),
        ("sub/Cargo.lock", "lock file"),
        ("go.sum", "lock file"),
        ("logo.png", "binary"),
        ("jquery.min.js", "minified"),
        ("dist/app.js.map", "minified"),
    ],
)
def test_names_that_are_skipped(path, reason):
    """Secrets, lock files, pictures and minified files are known by their names."""
    assert name_reason(path) == reason
    assert chosen(path) == (set(), {path: reason})


@pytest.mark.parametrize(
    "path",
    [
        "src/id_map.py",
        "environment.py",
        "src/env.ts",
        "key.go",
        "src/lock.rs",
        "locksmith.md",
        "png",
        "a.min.txt",
    ],
)
def test_names_that_only_look_alike(path):
    """A rule does not reach beyond what it means."""
    assert chosen(path) == ({path}, {})


def test_what_is_no_file_is_skipped():
    """Links and submodules are never indexed, not even when included; `.pkb` is not even mentioned."""
    assert chosen("a", mode=0o120000, include=("a",)) == (set(), {"a": "symbolic link"})
    assert chosen("sub", mode=0o160000, include=("sub",)) == (set(), {"sub": "submodule"})
    assert chosen(".pkb/state.toml", include=(".pkb",)) == (set(), {})


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("node_modules", ["node_modules/a.js", "x/node_modules/b.js"], ["node_modules2/a.js"]),
        ("vendor/generated", ["vendor/generated/a.go"], ["x/vendor/generated/a.go", "vendor/generatedx"]),
        ("docs/", ["docs/a.md", "x/docs/b.md"], ["docs.md"]),
        ("*.test.ts", ["a.test.ts", "x/b.test.ts"], ["a.ts"]),
        ("src/*.c", ["src/a.c"], ["src/x/a.c", "a.c"]),
        ("src/**/gen", ["src/gen/a", "src/x/y/gen/b"], ["gen/a"]),
        ("**/snap.txt", ["snap.txt", "x/snap.txt"], ["snap.txt2"]),
        ("a?c", ["abc"], ["a/c", "ac"]),
        ("[ab].txt", ["a.txt", "x/b.txt"], ["c.txt"]),
        ("[!ab].txt", ["c.txt"], ["a.txt"]),
        ("a[", ["a["], ["a"]),
        ("./top.md", ["top.md"], ["x.md"]),
        ("we(ird+.md", ["we(ird+.md"], ["weird.md"]),
    ],
)
def test_exclude_patterns(pattern, matching, other):
    """A basename at any depth, a path from the top, or a glob; each covers what lies below."""
    kept, skipped = chosen(*matching, *other, exclude=(pattern,))
    assert kept == set(other)
    assert skipped == dict.fromkeys(matching, f"excluded by {pattern!r}")


def test_include_brings_back():
    """An extension or a path counts although a rule or `exclude` names it; the rest stays out."""
    kept, skipped = chosen(
        "a.lock", "b.pem", "docs/api/x.md", "docs/y.md", include=(".lock", "docs/api"), exclude=("docs",)
    )
    assert kept == {"a.lock", "docs/api/x.md"}
    assert set(skipped) == {"b.pem", "docs/y.md"}


def test_attributes_of_linguist():
    """Generated and vendored files are skipped when the attribute is set, not when it is unset."""
    reader = Attributes(
        {
            "gen.go": {"linguist-generated": "set"},
            "gen2.go": {"linguist-generated": "true"},
            "lib/x.c": {"linguist-vendored": "set"},
            "ours.c": {"linguist-vendored": "unset", "linguist-generated": "false"},
        }
    )
    kept, skipped = chosen("gen.go", "gen2.go", "lib/x.c", "ours.c", reader=reader)
    assert kept == {"ours.c"}
    assert skipped == {
        "gen.go": "marked linguist-generated",
        "gen2.go": "marked linguist-generated",
        "lib/x.c": "marked linguist-vendored",
    }
    assert chosen("gen.go", reader=reader, include=("gen.go",))[0] == {"gen.go"}


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", None),
        (b"text\n", None),
        (b"caf\xe9 is not UTF-8\n", None),
        (b"\xef\xbb\xbfwith a BOM\r\n", None),
        (b"a\0b", "binary"),
        (b"x" * 9000 + b"\0", None),
        (LFS, "Git LFS pointer"),
        (b"ab\n" * (MAX_BYTES // 3 + 1), "larger than 1 MB"),
        (b"x" * 10_001, "a line longer than 10 kB (minified or generated)"),
        (b"x" * 10_000 + b"\n" + b"y" * 10_000, None),
    ],
)
def test_content_that_is_skipped(content, reason):
    """NUL bytes, LFS pointers, more than a megabyte, endless lines."""
    assert content_skip(content, "a.txt") == reason


def test_include_lifts_limits_but_not_nature():
    """A large or minified file can be asked for; a binary one cannot."""
    assert content_skip(b"x" * 2_000_000, included=True) is None
    assert content_skip(b"a\0b", included=True) == "binary"
    assert content_skip(b"ab\n" * 6_000_000, included=True) == "larger than 16 MB"
