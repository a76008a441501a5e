"""What a path tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from git_pkb.rank.paths import (
    DATA,
    PROSE,
    Census,
    effective_stem,
    is_prose,
    load_census,
    name_fields,
    penalty,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/router.py", 0.0),
        ("tests/router.py", 1.0),
        ("src/test_router.py", 1.0),
        ("src/router_test.go", 1.0),
        ("src/router.spec.ts", 1.0),
        ("src/RouterTest.java", 1.0),
        ("conftest.py", 1.0),
        ("src/integrationTest/App.kt", 1.0),
        ("src/attest.py", 0.0),
        ("latest/contest.py", 0.0),
        ("Tests/x.py", 0.0),  # only as it is usually written
        ("docs/router.py", 1.0),
        ("Examples/a.py", 1.0),
        ("CHANGELOG.md", 1.0),
        ("LICENSE", 1.0),
        ("changes.py", 1.0),
        ("exchanges.py", 0.0),
        ("vendor/a.py", 1.0),
        ("third-party/a.c", 1.0),
        ("api/user_pb2.py", 1.0),
        ("lib/compat.py", 1.0),
        ("src/thing.generated.ts", 1.0),
        (".github/workflows/ci.py", DATA),
        ("package.json", DATA),
        ("Makefile", DATA),
        (".editorconfig", DATA),
        ("README", PROSE),
        ("guide/intro.rst", PROSE),
    ],
)
def test_penalties(path: str, expected: float) -> None:
    """Tests, examples, vendored and generated files cost all of it, data and prose a part."""
    assert penalty(path) == expected


def test_nothing_is_held_against_what_was_asked_for() -> None:
    """A question about tests or docs is answered by them; in a repository of prose, prose is the subject."""
    assert penalty("tests/a.py", about_tests=True) == 0.0
    assert penalty("docs/a.md", about_docs=True) == 0.0
    assert penalty("docs/a.md", mostly_prose=True) == 0.0
    assert penalty("package.json", mostly_prose=True) == 0.0
    assert penalty("tests/a.md", mostly_prose=True) == 1.0


def test_a_superseded_version_costs_all_of_it() -> None:
    """`v1` counts as old where a `v2` stands beside it."""
    old = {"superseded": ("api/v1/",)}
    assert (penalty("api/v1/a.py", **old), penalty("api/v2/a.py", **old), penalty("v1/a.py", **old)) == (
        1,
        0,
        0,
    )


PATHS = st.lists(
    st.sampled_from(["v1", "v2", "v10", "api", "src", "vx", "v"]), min_size=1, max_size=4
).flatmap(
    lambda folders: st.sampled_from(["a.md", "b.py", "README"]).map(lambda name: "/".join([*folders, name]))
)


@given(st.lists(PATHS, max_size=30, unique=True), st.data())
def test_a_census_kept_step_by_step_is_that_of_what_is_left(paths: list[str], data: st.DataObject) -> None:
    """Counting files in and out leaves what counting the rest leaves, and it survives being written."""
    gone = data.draw(st.lists(st.sampled_from(paths), unique=True)) if paths else []
    stepwise, whole = Census(), Census()
    for path in paths:
        stepwise.count(path, 1)
    for path in gone:
        stepwise.count(path, -1)
    left = [path for path in paths if path not in gone]
    for path in left:
        whole.count(path, 1)
    again = load_census(stepwise.dump())
    for census in (stepwise, again):
        assert census.superseded() == whole.superseded()
        assert census.mostly_prose == whole.mostly_prose == (2 * sum(map(is_prose, left)) > len(left))


def test_superseded_folders() -> None:
    """A version folder is old when a sibling has a greater number; other folders are no siblings."""
    census = Census()
    for path in ("api/v1/a.py", "api/v2/a.py", "api/v10/a.py", "v3/b.py", "other/v1/c.py", "api/v11"):
        census.count(path, 1)
    assert census.superseded() == ("api/v1/", "api/v2/")


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("src/router.py", "router"),
        ("src/router/__init__.py", "router"),
        ("lib/web/index.ts", "web"),
        ("index.ts", "index"),
        ("a/.gitignore", "gitignore"),
        ("a/Makefile", "Makefile"),
        ("a/x.test.ts", "x.test"),
    ],
)
def test_the_stem_names_the_subject(path: str, stem: str) -> None:
    """A file that is named after its role is about its folder."""
    assert effective_stem(path) == stem


def test_words_of_a_path() -> None:
    """Both the effective stem and the name count, and the last three folders."""
    assert name_fields("a/b/c/d/mod.rs") == (["d", "mod"], ["b", "c", "d"])
    assert name_fields("a/router.py") == (["router"], ["a"])
