"""Ranges of lines found again in an edited text."""

from hypothesis import given
from hypothesis import strategies as st

from git_pkb.search.relocate import relocate

OLD = ["import os", "", "def a():", "    x = 1", "    return x", "", "def b():", "    y = 2", "    return y"]


def test_moved_as_a_whole() -> None:
    """Lines inserted above shift the range."""
    assert relocate(OLD, ["# new", "# new", *OLD], (3, 5)) == (5, 7)


def test_swapped() -> None:
    """A definition that changed places with its neighbour is found there."""
    new = [*OLD[:2], *OLD[6:], "", *OLD[2:5]]
    assert relocate(OLD, new, (3, 5)) == (7, 9)
    assert relocate(OLD, new, (7, 9)) == (3, 5)


def test_edited_inside() -> None:
    """A range that grew or shrank inside ends with the same last line."""
    assert relocate(OLD, [*OLD[:4], "    x += 1", *OLD[4:]], (3, 5)) == (3, 6)
    assert relocate(OLD, [*OLD[:3], *OLD[4:]], (3, 5)) == (3, 4)


def test_one_of_many_alike() -> None:
    """Of equal first lines the one whose body is the same wins."""
    old = ["def run():", "    one()", "", "def run():", "    two()"]
    assert relocate(old, ["def run():", "    zero()", "", *old], (4, 5)) == (7, 8)


def test_gone() -> None:
    """Without its first line there is nothing to point at; neither is there for a range outside."""
    assert relocate(OLD, ["nothing"], (3, 5)) is None
    assert relocate(OLD, OLD, (8, 99)) is None
    assert relocate([], OLD, (1, 1)) is None


@given(
    st.lists(st.sampled_from("abc "), max_size=9), st.lists(st.sampled_from("abc "), max_size=9), st.data()
)
def test_what_is_found_is_in_the_text(old: list[str], new: list[str], data: st.DataObject) -> None:
    """A found range lies inside the new text and begins with the same line; an equal text keeps it."""
    if not old:
        return
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, len(old)))
    found = relocate(old, new, (first, last))
    if found is None:
        assert not old[first - 1].strip() or old[first - 1] not in new
    else:
        assert 1 <= found[0] <= found[1] <= len(new)
        assert new[found[0] - 1] == old[first - 1]
    if old[first - 1].strip():
        assert relocate(old, old, (first, last)) == (first, last)
