"""The folder tree of an overview, and the words that tell its folders apart.

In: paths, names of definitions and headings by file. Out: folders in the order of reading, keywords.
Invariant: a folder that only leads to one other is shown as one with it and costs no level; ties are broken
by name, so that equal trees give equal overviews.

A keyword's score is log(1 + tf) * log(1 + F / df) * sqrt(share): tf counts the word in names of
the folder (three times at most a file; file names weigh three), df is the files of all F that have it, share
the part of those that lie in the folder.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING

from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.cache.reader import CacheReader

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")
_LANGUAGES = 6
_MOST_A_FILE, _FILE_NAME = 3, 3
_SHORTEST, _LONGEST = 3, 24
#: Words that say nothing about a folder: of the language, and of programming everywhere.
_COMMON = frozenset(
    "and any are but can does for from has have how into its not one our out that the their them then there "
    "these they this use used using via was what when where which who will with you your abstract add all "
    "apply args arg base bool call check class clear cls const copy count create data def default del "
    "delete destroy dict do end enum equals error field file find first float func function get getter has "
    "hash id impl index info init input int interface invalid is item items iter key keys kind kwargs last "
    "len length list load main make map max method min mod module name names new next none null num object "
    "old on opt output param params parent pos prev print private process public push put read ref remove "
    "repr reset result return returns run self set setter setup size start static status stop str string "
    "struct sub test tests testing tmp to true tuple type types undefined update util utils val value "
    "values var void write src lib readme".split()
)


@value
class Node:
    """A folder that is shown, with the files below it."""

    path: str
    files: int
    level: int


@value
class Tree:
    """The folders that are shown, parents before children; how many were left out for room."""

    kept: tuple[Node, ...]
    left_out: int


def tree(paths: Sequence[str], below: str, depth: int, most: int) -> Tree:
    """Folders below `below` to a depth, at most `most` under each parent, those with most files first."""
    counts: Counter[str] = Counter()
    children: dict[str, set[str]] = {}
    direct: Counter[str] = Counter()
    for path in paths:
        folder = path.rpartition("/")[0]
        direct[folder] += 1
    for folder, count in direct.items():
        at = folder
        while at != below:
            counts[at] += count
            parent = at.rpartition("/")[0]
            children.setdefault(parent, set()).add(at)
            at = parent
    kept: list[Node] = []
    left_out = 0

    def visit(parent: str, level: int) -> None:
        nonlocal left_out
        under = sorted(children.get(parent, ()), key=lambda path: (-counts[path], path))
        left_out += len(under[most:])
        for child in under[:most]:
            path = child
            while not direct[path] and len(children.get(path, ())) == 1:
                (path,) = children[path]
            kept.append(Node(path, counts[child], level))
            if level + 1 < depth:
                visit(path, level + 1)

    if depth > 0:
        visit(below, 0)
    return Tree(tuple(kept), left_out)


def languages(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """The commonest languages with their files, most first."""
    counted = Counter(names)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_LANGUAGES])


def names_by_file(reader: "CacheReader") -> dict[int, list[str]]:
    """Names of definitions and headings, by the id of their file."""
    number = reader.piece_file
    found: dict[int, list[str]] = {}
    for name, piece in reader.db.execute("SELECT name, piece FROM definitions"):
        file = number[piece]
        names = found.get(file)
        if names is None:
            found[file] = [name]
        else:
            names.append(name)
    return found


class Words:
    """Counts words of names by folder, once for all folders."""

    def __init__(self, paths: Mapping[int, str], names: Mapping[int, list[str]]) -> None:
        self._files = len(paths)
        self._spread: Counter[str] = Counter()
        #: folder -> (words in the names of its own files, files that have each)
        self._by_folder: dict[str, tuple[Counter[str], Counter[str]]] = {}
        parts = _PART.findall
        for file, path in paths.items():
            folder, _, name = path.rpartition("/")
            found = [part.lower() for part in parts(" ".join(names.get(file, ())))]
            found += [part.lower() for part in parts(name.partition(".")[0])] * _FILE_NAME
            own = self._by_folder.get(folder)
            if own is None:
                own = self._by_folder[folder] = (Counter(), Counter())
            counts = Counter(found)
            own[1].update(counts.keys())
            own[0].update({word: min(n, _MOST_A_FILE) for word, n in counts.items()})
        for _, having in self._by_folder.values():
            self._spread.update(having)

    def keywords(self, folder: str, most: int) -> tuple[str, ...]:
        """The words that stand for what lies below a folder, the most telling first."""
        if most < 1:
            return ()
        inside = folder + "/" if folder else ""
        counted: Counter[str] = Counter()
        having: Counter[str] = Counter()
        for path, (counts, files) in self._by_folder.items():
            if path == folder or path.startswith(inside):
                counted.update(counts)
                having.update(files)
        scored = []
        for word, tf in counted.items():
            if word in _COMMON:
                continue
            df = self._spread[word]
            score = log(1 + tf) * log(1 + self._files / df) * sqrt(having[word] / df)
            scored.append((-round(score, 6), word))
        scored.sort()
        own = {part.lower() for part in _PART.findall(folder)}
        return tuple(_distinct((word for _, word in scored), own, most))


def _distinct(words: Iterable[str], own: set[str], most: int) -> list[str]:
    """The first words that say something, in one form each, none that the folder's path says already."""
    kept: list[str] = []
    seen = {_singular(word) for word in own}
    for word in words:
        form = _singular(word)
        if form in seen or word in _COMMON or form in _COMMON or not _is_telling(word):
            continue
        seen.add(form)
        kept.append(word)
        if len(kept) == most:
            break
    return kept


def _is_telling(word: str) -> bool:
    return (_SHORTEST <= len(word) <= _LONGEST) if word.isascii() else len(word) >= 2


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > _SHORTEST else word
