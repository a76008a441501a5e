"""Names of artifacts: one for each source, and back, whatever the source is called."""

import os

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from git_pkb.mirror.names import INDEX, meta_name, source_path, stem, stems, vec_name

COMPONENTS = st.one_of(
    st.text("aAbB.%é~ -\n\t\"'\\\udc80\udcff", min_size=1, max_size=8),
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=300),
    st.sampled_from(
        ["a.meta", "a.vec", "a.META", "README", "readme", "%41", "a%", ".meta", "..meta", "x" * 255]
    ),
    st.integers(200, 255).map(lambda n: "é" * (n // 2) + ".git"),
).filter(lambda c: c not in (".", "..") and len(os.fsencode(c)) <= 255)
PATHS = st.lists(COMPONENTS, min_size=1, max_size=4).map("/".join).filter(lambda p: not p.startswith(".pkb/"))


@given(PATHS)
@settings(max_examples=500, deadline=None)
def test_names_lead_back(path):
    """Both halves of an artifact tell their source, plain or as a twin."""
    assert source_path(meta_name(path)) == path
    assert source_path(vec_name(path)) == path
    assert source_path(stem(path, twin=True) + ".meta") == path


@given(PATHS)
@settings(max_examples=500, deadline=None)
def test_names_fit_a_file_system(path):
    """UTF-8, no control characters, components short enough for a suffix, nothing that leaves the index."""
    name = meta_name(path)
    assert name.startswith(f"{INDEX}/")
    for part in name.encode().split(b"/"):  # raises for what is not UTF-8
        assert 0 < len(part) <= 240
        assert part not in (b".", b"..")
        assert not any(byte < 32 or byte == 127 for byte in part)


@given(st.lists(PATHS, min_size=2, max_size=6, unique=True))
@settings(max_examples=300, deadline=None)
def test_no_two_sources_share_a_name(paths):
    """Neither as they are, nor on a file system without case, nor as a file where another needs a folder."""
    files = set(paths)
    folders = {"/".join(path.split("/")[:i]) for path in paths for i in range(1, path.count("/") + 1)}
    assume(not files & folders)
    names = [name + suffix for name in stems(paths).values() for suffix in (".meta", ".vec")]
    assert len({name.casefold() for name in names}) == len(names)
    above = {"/".join(name.split("/")[:i]) for name in names for i in range(1, name.count("/") + 1)}
    assert not {name.casefold() for name in names} & {name.casefold() for name in above}


def test_plain_paths_keep_their_names():
    """Nearly every artifact is where one looks for it."""
    assert meta_name("src/foo bar.ts") == ".pkb/index/src/foo bar.ts.meta"
    assert meta_name("docs/été.md") == ".pkb/index/docs/été.md.meta"


@pytest.mark.parametrize(
    "name",
    [
        "src/a.meta",
        ".pkb/index",
        ".pkb/index/.meta",
        ".pkb/index/a.txt",
        ".pkb/index/../../etc/passwd.meta",
        ".pkb/index/%2E%2E/x.meta",
        ".pkb/index/a//b.meta",
        ".pkb/index//a.meta",
        ".pkb/index/%61.meta",
        ".pkb/index/a%zz.meta",
        ".pkb/index/a%.meta",
        ".pkb/index/a%00.meta",
        ".pkb/index/a%2Fb.meta",
        ".pkb/index/./a.meta",
        ".pkb/index/a.meta/b.meta",
    ],
)
def test_foreign_names_belong_to_no_source(name):
    """A name that this program would not have chosen leads nowhere, least of all out of the index."""
    assert source_path(name) is None
