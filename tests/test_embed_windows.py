"""Windows of large texts, and where returned pieces lie."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_pkb.embed.windows import Found, Misplaced, Window, merge, place, windows
from git_pkb.net.tokencount import by_rule

lines = st.lists(
    st.one_of(
        st.text(alphabet="abc é漢.", max_size=30),
        st.sampled_from(["# One", "## Two", "### Three", "", "```", "    indented"]),
    ),
    min_size=1,
    max_size=120,
)


def chunked(text: str, size: int) -> list[str]:
    """Ordered, disjoint pieces that leave blank edges out, as a provider returns them."""
    return [each for i in range(0, len(text), size) if (each := text[i : i + size].strip())]


@settings(max_examples=150, deadline=None)
@given(lines, st.integers(20, 200), st.integers(1, 9), st.integers(5, 90))
def test_pieces_cover_every_window_once(text: list[str], limit: int, tenths: int, size: int) -> None:
    """Whatever the windows and the cuts: spans are ordered, disjoint, and hold all but white space."""
    content = "\n".join(text)
    cut = windows(content, by_rule, limit, limit * tenths // 10)
    kept = merge(content, cut, [place(w, content, chunked(w.text(content), size)) for w in cut])
    spans = [(piece.start, piece.end) for _, piece in kept]
    reached = 0
    for start, end in spans:
        assert reached <= start < end
        assert not content[reached:start].strip()
        reached = end
    assert not content[reached:].strip()


@settings(max_examples=100, deadline=None)
@given(lines, st.integers(30, 300), st.integers(1, 5))
def test_windows_overlap_and_stay_within_the_limit(text: list[str], limit: int, tenths: int) -> None:
    """Windows follow each other without a gap, and only a preamble can lift one above the limit."""
    content = "\n".join(text)
    overlap = limit * tenths // 10
    cut = windows(content, by_rule, limit, overlap)
    assert (cut[0].start, cut[-1].end) == (0, len(content))
    for before, after in itertools.pairwise(cut):
        assert before.start < after.start <= before.end < after.end
        assert by_rule(content[after.start : before.end]) <= overlap
    for window in cut:
        assert by_rule(content[window.start : window.end]) <= limit
        assert by_rule(window.text(content)) <= limit + max(0, by_rule(window.preamble) - limit // 2)


def test_a_small_text_is_one_window() -> None:
    """Nothing is put before a text that fits."""
    assert windows("a text", by_rule, 100, 10) == [Window(0, 6)]


def test_later_windows_begin_with_the_head_and_the_headings() -> None:
    """A later window knows the file's head and the headings it stands under, not those in code."""
    body = "".join(f"word {i} of this section\n" for i in range(400))
    content = f"# Guide\nAll about it.\n\n## Install\n{body}```\n# no heading\n```\n### Linux\n{body}"
    cut = windows(content, by_rule, 2000, 200)
    last = cut[-1].preamble
    assert last.startswith("# Guide\nAll about it.\n")
    assert last.endswith("### Linux\n")
    assert "no heading" not in last
    assert len(last) <= 2100


def test_pieces_of_the_preamble_belong_to_no_window() -> None:
    """A piece of the repeated head is dropped; one that reaches into the window is cut off at its start."""
    content = "HEAD\nold text\nnew text\n"
    window = Window(14, 23, "HEAD\n")
    assert place(window, content, ["HEAD", "new text"]) == [Found(14, 22, 1)]
    assert place(window, content, ["HEAD\nnew", "text"]) == [Found(14, 17, 0), Found(18, 22, 1)]


@pytest.mark.parametrize("pieces", [["absent"], ["text", "new"], ["new text", "text"], [""]])
def test_a_piece_that_is_not_in_the_text_fails_loudly(pieces: list[str]) -> None:
    """Changed, reordered, repeated or empty pieces are never placed by guessing."""
    with pytest.raises(Misplaced):
        place(Window(0, 8), "new text", pieces)


def test_repeated_text_is_placed_in_order() -> None:
    """Equal pieces follow each other, each at its own place."""
    assert place(Window(0, 11), "tick tick\nx", ["tick", "tick"]) == [Found(0, 4, 0), Found(5, 9, 1)]


def test_a_torn_last_piece_is_left_to_the_next_window() -> None:
    """Where windows overlap, the piece at the earlier one's end gives way to the whole one of the later."""
    content = "aaaa bbbb cccc dddd"
    cut = [Window(0, 12), Window(5, 19)]
    first = [Found(0, 4, 0), Found(5, 9, 1), Found(10, 12, 2)]
    second = [Found(5, 9, 0), Found(10, 14, 1), Found(15, 19, 2)]
    assert merge(content, cut, [first, second]) == [
        (0, Found(0, 4, 0)),
        (0, Found(5, 9, 1)),
        (1, Found(10, 14, 1)),
        (1, Found(15, 19, 2)),
    ]


def test_what_a_provider_left_out_goes_to_the_piece_before() -> None:
    """Text that no piece holds is not lost to search."""
    content = "head aaaa lost bbbb tail"
    kept = merge(content, [Window(0, 24)], [[Found(5, 9, 0), Found(15, 19, 1)]])
    assert [content[p.start : p.end] for _, p in kept] == ["head aaaa lost ", "bbbb tail"]
