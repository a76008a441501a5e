"""Keeps an overview within a number of tokens.

In: an `Overview` and the function that prints it. Out: one that fits. Invariant: what is dropped first is
what says least: openings of small folders, then the smallest folders of the deepest level, then symbols,
entry points, and the README's own words last.
"""

import re
from collections.abc import Callable, Iterator

from git_pkb.overview.values import Overview

_TOKEN = re.compile(r"[^\W_]{1,5}|[^\w\s]|_|\n|  +")


def tokens(text: str) -> int:
    """About how many tokens a model sees: rather too many than too few (words count one for five letters)."""
    return len(_TOKEN.findall(text))


def fit(overview: Overview, most: int, show: Callable[[Overview], str]) -> Overview:
    """The fullest form that is printed in at most `most` tokens; the barest one if none is."""
    last = overview
    for smaller in _smaller(overview):
        last = smaller
        if tokens(show(smaller)) <= most:
            return smaller
    return last


def _smaller(overview: Overview) -> Iterator[Overview]:
    yield overview
    from dataclasses import replace

    short = replace(overview, folders=tuple(replace(f, opening="") for f in overview.folders))
    if len(overview.folders) > 1:
        yield replace(
            overview,
            folders=tuple(f if f.level == 0 else replace(f, opening="") for f in overview.folders),
        )
        yield short
    order = sorted(
        range(len(short.folders)), key=lambda i: (short.folders[i].level, -short.folders[i].files, i)
    )
    count = len(order)
    while count > 3:
        count = count * 4 // 5
        short = _with_folders(short, overview, order[:count])
        yield short
    for symbols, entries, folders in ((6, 6, 3), (3, 3, 3), (0, 3, 3), (0, 0, 3), (0, 0, 0)):
        short = replace(
            _with_folders(short, overview, order[:folders]),
            symbols=overview.symbols[:symbols],
            entry_points=overview.entry_points[:entries],
        )
        yield short
    for length in (400, 200, 100, 0):
        short = replace(short, opening=_cut(overview.opening, length), keywords=())
        yield short


def _with_folders(short: Overview, whole: Overview, kept: list[int]) -> Overview:
    from dataclasses import replace

    folders = tuple(replace(whole.folders[i], opening="") for i in sorted(kept))
    return replace(
        short,
        folders=folders,
        folders_left_out=whole.folders_left_out + len(whole.folders) - len(folders),
    )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: max(0, length - 1)].rstrip() + "…" if length else ""
