"""What a reference can mean: `[[Note#Heading]]`, `src/a.py:10-40`, `src/a.py::Class.method`, a basename.

In: the text of a reference, and the paths it may name. Out: `Reference`s in the order they should be tried,
the paths that one of them matches, near misses. Pure. Invariant: a file whose name is the whole text always
comes first, so that `#`, `:` and `|` in names hide nothing; nothing is guessed: all matches are returned.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from git_pkb.slotted import value

_WIKI = re.compile(r"!?\[\[(?P<inside>.*)\]\]", re.DOTALL)
_MARKDOWN = re.compile(r"!?\[[^\]]*\]\((?P<inside>.+)\)", re.DOTALL)
#: `:10`, `:10-40`, `:10:5` (a column, as compilers print it), `#L10`, `#L10-L40` (as hosts link to lines)
_LINES = re.compile(
    r"(?P<target>.+?)(?::(?P<a>[0-9]{1,9})(?:-(?P<b>[0-9]{1,9})|:[0-9]{1,9})?:?"
    r"|#L(?P<c>[0-9]{1,9})(?:-L?(?P<d>[0-9]{1,9}))?)",
    re.DOTALL,
)
#: What a note is written in, the likeliest first.
_NOTES = ((".md", ".markdown", ".mdx"), (".txt", ".rst", ".org", ".adoc"))
_MOST_SUGGESTIONS = 5


@value
class Reference:
    """One reading of a reference: a file, and at most one of lines, a symbol, a heading (several: nested).

    `wiki`: written in double brackets, where a name without suffix means a note.
    """

    target: str
    lines: tuple[int, int] | None = None
    symbol: str = ""
    headings: tuple[str, ...] = ()
    wiki: bool = False

    @property
    def whole(self) -> bool:
        """Whether it names a file and nothing in it."""
        return self.lines is None and not self.symbol and not self.headings


def readings(text: str) -> list[Reference]:
    """All ways to read a reference, the most literal first; none for a blank one."""
    text = text.strip()
    wiki = _WIKI.fullmatch(text)
    if wiki:
        from dataclasses import replace

        return [replace(each, wiki=True) for each in _unwrapped(wiki["inside"])]
    link = _MARKDOWN.fullmatch(text)
    if link:
        from urllib.parse import unquote

        inside = link["inside"].split(' "', 1)[0].strip("<> ")
        return [*_split(text), *_split(unquote(inside, errors="surrogateescape"))]
    return list(_split(text))


def _unwrapped(inside: str) -> Iterator[Reference]:
    """What stands in double brackets; an alias after `|` says nothing (in tables a backslash precedes it)."""
    if "|" in inside:
        inside = inside.split("|", 1)[0].removesuffix("\\")
    yield from _split(inside.strip())


def _split(text: str) -> Iterator[Reference]:
    if not text:
        return
    yield Reference(text)
    lines = _LINES.fullmatch(text)
    if lines:
        first = int(lines["a"] or lines["c"])
        yield Reference(lines["target"], lines=(first, int(lines["b"] or lines["d"] or first)))
    for mark in re.finditer("::", text):
        if mark.start() and text[mark.end() :].strip():
            yield Reference(text[: mark.start()], symbol=text[mark.end() :].strip())
    for mark in re.finditer("#", text):
        parts = tuple(part.strip() for part in text[mark.end() :].split("#") if part.strip())
        if mark.start() and parts:
            yield Reference(text[: mark.start()].rstrip(), headings=parts)


def match(reference: Reference, paths: Sequence[str], prefix: str = "", top: str | None = None) -> list[str]:
    """The paths a reference can mean, sorted; `prefix` is the folder it was typed in, `top` the work tree.

    The first of these that names anything: the path itself, seen from `prefix` or from the top; the path
    without its suffix; the end of paths, with or without suffix; the same regardless of case.
    """
    target = reference.target
    if top and target.startswith(top + "/"):
        target = target[len(top) :]
    places = (
        [_normal(target.lstrip("/"))]
        if target.startswith("/")
        else [_normal(prefix + target), _normal(target)]
    )
    known = set(paths)
    for place in places:
        if place in known:
            return [place]
    explicit = target.startswith(("./", "../", "/"))
    wanted = _normal(target.lstrip("/"))
    if not wanted or wanted == "." or _is_outside(places[0]):
        return []
    if "/" in wanted or explicit:
        for place in places:
            found = [path for path in paths if _stem(path) == place]
            if found:
                return _notes_first(reference, found)
        if explicit:
            return []
    for fold in (_same, str.casefold):
        found = _ending(paths, fold(wanted), fold)
        if found:
            return _notes_first(reference, found)
    return []


def _ending(paths: Iterable[str], wanted: str, fold: Callable[[str], str]) -> list[str]:
    found = []
    tail = "/" + wanted
    for path in paths:
        folded = "/" + fold(path)
        if folded.endswith(tail) or _stem(folded).endswith(tail):
            found.append(path)
    return found


def _notes_first(reference: Reference, found: list[str]) -> list[str]:
    """In double brackets, a name without suffix is a note where there is one of that name."""
    if reference.wiki and len(found) > 1:
        for suffixes in _NOTES:
            notes = [path for path in found if path.lower().endswith(suffixes)]
            if notes:
                return sorted(notes)
    return sorted(found)


def is_outside(reference: Reference, prefix: str) -> bool:
    """Whether a relative path climbs out of the repository."""
    return not reference.target.startswith("/") and _is_outside(_normal(prefix + reference.target))


def suggest(reference: Reference, paths: Sequence[str]) -> list[str]:
    """Paths whose names resemble a reference that matches none, the nearest first."""
    import difflib

    wanted = posixpath.basename(reference.target.rstrip("/")).casefold()
    wanted_stem = _stem(wanted)
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(posixpath.basename(path).casefold(), []).append(path)
    by_stem: dict[str, list[str]] = {}
    for name in by_name:
        by_stem.setdefault(_stem(name), []).append(name)
    near = difflib.get_close_matches(wanted_stem, by_stem, _MOST_SUGGESTIONS, 0.65)
    if len(wanted_stem) >= 4:
        near += sorted(stem for stem in by_stem if wanted_stem in stem and stem not in near)
    found = [path for stem in near for name in by_stem[stem] for path in sorted(by_name[name])]
    return found[:_MOST_SUGGESTIONS]


def fold_heading(heading: str) -> str:
    """A heading as links write it: letters and digits alone, so that `#from-source` finds `From *source*`."""
    return "".join(c for c in heading.casefold() if c.isalnum()) or heading.strip().casefold()


def fold_symbol(symbol: str) -> str:
    """A qualified name with dots, however its parts were joined."""
    name = symbol.strip().removesuffix("()")
    return re.sub(r"\s*(?:::|->|>|[.#/])\s*", ".", name).strip(".")


def _normal(path: str) -> str:
    return posixpath.normpath(path) if path else ""


def _is_outside(path: str) -> bool:
    return path == ".." or path.startswith("../")


def _stem(path: str) -> str:
    """A path without the last suffix of its name; a leading dot begins no suffix."""
    at = path.rfind(".")
    return path[:at] if at > path.rfind("/") + 1 else path


def _same(text: str) -> str:
    return text
