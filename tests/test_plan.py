"""The plan: what is added, changed, moved, dropped and kept."""

from hypothesis import given
from hypothesis import strategies as st

from git_pkb.index.plan import Identity, Target, make_plan
from git_pkb.mirror.format import Header

IDENTITY = Identity("1", "local-1:256:int8")
PATHS = st.sampled_from(["a", "b", "c", "d/e", "f"])
BLOBS = st.sampled_from(["1" * 40, "2" * 40, "3" * 40])


def targets(**blobs):
    """Python files by path."""
    return {path: Target(path, blob, "python") for path, blob in blobs.items()}


def headers(**blobs):
    """Their artifacts."""
    return {path: Header(blob, "python", "1", "local-1:256:int8") for path, blob in blobs.items()}


def test_each_change_has_its_place():
    """One of each kind."""
    plan = make_plan(
        targets(same="1", edited="2", new="3", moved="4"),
        headers(same="1", edited="0", old="4", gone="5"),
        IDENTITY,
    )
    assert plan.kept == ("same",)
    assert [t.path for t in plan.changed] == ["edited"]
    assert [t.path for t in plan.added] == ["new"]
    assert [(old, t.path) for old, t in plan.moved] == [("old", "moved")]
    assert plan.dropped == ("gone", "old")


def test_another_identity_or_language_or_damage_is_a_change():
    """Whatever differs in the header, and a header that cannot be read, means: make it anew."""
    for header in (
        Header("1", "text", "1", IDENTITY.model),
        Header("1", "python", "0", IDENTITY.model),
        Header("1", "python", "1", "mock"),
        None,
    ):
        assert [t.path for t in make_plan(targets(a="1"), {"a": header}, IDENTITY).changed] == ["a"]


def test_full_keeps_nothing():
    """Everything is written again."""
    plan = make_plan(targets(a="1"), headers(a="1"), IDENTITY, full=True)
    assert (plan.kept, [t.path for t in plan.changed]) == ((), ["a"])


def test_a_source_moves_once():
    """Two copies of a file that went: one is the move, the other an addition."""
    plan = make_plan(targets(b="1", c="1"), headers(a="1"), IDENTITY)
    assert [(old, t.path) for old, t in plan.moved] == [("a", "b")]
    assert [t.path for t in plan.added] == ["c"]


@given(st.dictionaries(PATHS, BLOBS), st.dictionaries(PATHS, st.none() | BLOBS))
def test_every_path_has_one_place(wanted, there):
    """Nothing is forgotten and nothing done twice."""
    recorded = {p: b and Header(b, "python", "1", IDENTITY.model) for p, b in there.items()}
    plan = make_plan({p: Target(p, b, "python") for p, b in wanted.items()}, recorded, IDENTITY)
    placed = [t.path for t in plan.writes] + list(plan.kept)
    assert sorted(placed) == sorted(wanted)
    assert sorted(plan.dropped) == sorted(set(there) - set(wanted))
    assert all(there.get(path) == wanted[path] for path in plan.kept)
