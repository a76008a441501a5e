"""Where lines of an older text stand in a newer one: for results of an index that lags behind.

In: both texts as lines, a range of the older. Out: the range in the newer, or None. Invariant: what is
returned begins with the very line the older range began with.
"""

from collections.abc import Sequence

_LOOK = 200  # lines of a range that are compared


def relocate(old: Sequence[str], new: Sequence[str], lines: tuple[int, int]) -> tuple[int, int] | None:
    """The range `lines` (1-based, inclusive) of `old` in `new`; None when its first line is gone.

    Of several places that begin alike the one that goes on alike is meant, then the nearest. The end is the
    occurrence of the old last line nearest to where it would be, so that text edited inside stays whole.
    """
    first, last = lines[0] - 1, lines[1] - 1
    if not 0 <= first <= last < len(old) or not old[first].strip():
        return None
    span = old[first : min(last + 1, first + _LOOK)]
    starts = [number for number, line in enumerate(new) if line == span[0]]
    if not starts:
        return None
    start = max(starts, key=lambda at: (_alike(span, new, at), -abs(at - first)))
    expected = min(start + last - first, len(new) - 1)
    reach = range(start, min(len(new), expected + last - first + 1))
    ends = [number for number in reach if new[number] == old[last]] if old[last].strip() else []
    end = min(ends, key=lambda at: abs(at - expected)) if ends else expected
    return start + 1, end + 1


def _alike(span: Sequence[str], new: Sequence[str], at: int) -> int:
    """How many lines of a range are the same when it stands at `at`."""
    return sum(a == b for a, b in zip(span, new[at : at + len(span)], strict=False))
