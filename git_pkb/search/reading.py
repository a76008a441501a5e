"""Finds and reads what a reference names: a file, lines of it, a heading, a symbol.

In: a `Current` index and the text of a reference. Out: a `Passage`, or why there is none: several matches, or
suggestions. Invariant: only indexed files are read, never through a symbolic link, so nothing outside the
repository is shown; the content is the work tree's, or the blob's where there is no such file.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError, UsageError
from git_pkb.search import references
from git_pkb.search.references import Reference
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.cache.reader import FileFacts
    from git_pkb.model import Piece
    from git_pkb.search.refresh import Current

_SECTION, _PROTOTYPE = "section", "prototype"
_JOIN = "\x1f"  # between a heading and those above it, as headings may hold dots
_NEIGHBOURS = 4  # lines between two overloads: blank ones, a comment


@value
class Place:
    """Something a reference can mean: lines of a file, and the symbol or heading that stands there."""

    path: str
    lines: tuple[int, int] | None = None
    name: str = ""
    kind: str = ""


@value
class Passage:
    """What was found. `lines` are 1-based and inclusive ((0, 0) in an empty file); `text` its bytes.

    `name` and `kind` are those of the symbol or heading, `""` for lines and files; `total` counts the
    lines of the file; `whole`: the reference named the file and nothing in it;
    `shortened`: `text` ends before what was asked for, as `lines` say.
    """

    path: str
    language: str
    lines: tuple[int, int]
    total: int
    text: bytes
    name: str = ""
    kind: str = ""
    whole: bool = False
    shortened: bool = False


@value
class Resolution:
    """A passage; else what to tell: a sentence, the several places that match, or near misses."""

    passage: Passage | None = None
    message: str = ""
    matches: tuple[Place, ...] = ()
    suggestions: tuple[str, ...] = ()
    hint: str | None = None


def resolve(current: "Current", text: str, prefix: str = "") -> Resolution:
    """Read what `text` names; `prefix` is the folder it was typed in. Raises UsageError for a blank one."""
    readings = references.readings(text)
    if not readings:
        raise UsageError("the reference is empty", "name a file, a note or a symbol: src/a.py::Class.method")
    files = {facts.path: facts for facts in current.reader.files()}
    paths = sorted(files)
    for reference in readings:
        found = references.match(reference, paths, prefix, current.repo.workdir)
        if len(found) > 1:
            places = tuple(Place(path, reference.lines) for path in found)
            return Resolution(message=f"{text} names {len(found)} files", matches=places)
        if found:
            return _inside(current, files[found[0]], reference)
    return _nothing(current, text, readings, paths, prefix)


def shortened(resolution: Resolution, most_lines: int, most_bytes: int) -> Resolution:
    """The same with a passage of at most so many lines and bytes."""
    passage = resolution.passage
    if passage is None:
        return resolution
    rows = _rows(passage.text)[:most_lines]
    size = 0
    for number, row in enumerate(rows):
        size += len(row)
        if size > most_bytes:
            rows = rows[: max(1, number)]
            break
    from dataclasses import replace

    text = b"".join(rows)[:most_bytes]
    if text == passage.text:
        return resolution
    last = passage.lines[0] + len(rows) - 1
    return replace(
        resolution, passage=replace(passage, text=text, lines=(passage.lines[0], last), shortened=True)
    )


def _nothing(
    current: "Current", text: str, readings: Sequence[Reference], paths: list[str], prefix: str
) -> Resolution:
    """Why a reference matches no indexed file."""
    reference = readings[-1]
    if any(references.is_outside(each, prefix) for each in readings):
        return Resolution(message=f"{text} is outside the repository")
    folder = next(
        (each.target.strip("/") for each in readings if _is_folder(each.target, paths, prefix)), None
    )
    if folder is not None:
        return Resolution(
            message=f"{folder} is a folder", hint=f"see what is in it: git pkb overview {folder}"
        )
    for each in readings:
        if _is_there(current.repo.workdir, prefix, each.target):
            return Resolution(
                message=f"{each.target} is not in the index",
                hint="`git pkb stats --skipped` says which files are left out, and why",
            )
    near = tuple(references.suggest(reference, paths))
    return Resolution(message=f"nothing in the index is called {reference.target}", suggestions=near)


def _is_there(workdir: str | None, prefix: str, target: str) -> bool:
    """Whether the work tree holds such a file; of what is outside of it nothing is told."""
    if workdir is None or "\0" in target:
        return False
    path = os.path.realpath(
        os.path.join(workdir, "" if target.startswith("/") else prefix, target.lstrip("/"))
    )
    return path.startswith(workdir + "/") and os.path.lexists(path)


def _is_folder(target: str, paths: Sequence[str], prefix: str) -> bool:
    name = target.strip("/")
    inside = (prefix + name + "/", name + "/")
    return bool(name) and any(path.startswith(inside) for path in paths)


def _inside(current: "Current", file: "FileFacts", reference: Reference) -> Resolution:
    content = content_of(current, file)
    if content is None:
        return Resolution(
            message=f"the content of {file.path} is not here",
            hint="a partial clone lacks it; `git checkout` it or fetch it first",
        )
    rows = _rows(content)
    if reference.whole:
        whole = (1, len(rows)) if rows else (0, 0)
        return Resolution(Passage(file.path, file.language, whole, len(rows), content, whole=True))
    if reference.lines is not None:
        return _lines(file, rows, reference.lines)
    if reference.headings and reference.headings[-1].startswith("^"):
        return _block(file, rows, reference.headings[-1])
    places = definitions_of(current, file, content)
    wanted = places if reference.symbol else [p for p in places if p.kind == _SECTION]
    found = _named(wanted, reference)
    if not found and reference.headings:  # src/a.py#Class.method
        wanted = places
        found = _named(wanted, Reference(file.path, symbol=".".join(reference.headings)))
    asked = reference.symbol or "#".join(reference.headings)
    if not found:
        what = "heading" if reference.headings and any(p.kind == _SECTION for p in places) else "symbol"
        near = _near(asked, wanted or places)
        return Resolution(message=f"{file.path} has no {what} {asked}", suggestions=near)
    if len(found) > 1:
        return Resolution(message=f"{asked} stands {len(found)} times in {file.path}", matches=tuple(found))
    place = found[0]
    first, last = place.lines or (1, len(rows))
    return Resolution(_passage(file, rows, (first, min(last, len(rows))), place.name, place.kind))


def _rows(content: bytes) -> list[bytes]:
    """Lines as git counts them: a line feed ends one, a lone carriage return does not."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _passage(
    file: "FileFacts", rows: Sequence[bytes], lines: tuple[int, int], name: str = "", kind: str = ""
) -> Passage:
    text = b"".join(rows[max(lines[0], 1) - 1 : lines[1]])
    return Passage(file.path, file.language, lines, len(rows), text, name, kind)


def _lines(file: "FileFacts", rows: Sequence[bytes], lines: tuple[int, int]) -> Resolution:
    first, last = lines
    if first < 1 or last < first:
        raise UsageError(f"{first}-{last} is no range of lines", "lines count from 1: src/a.py:10-40")
    if first > len(rows):
        return Resolution(message=f"{file.path} has only {len(rows)} lines")
    return Resolution(_passage(file, rows, (first, min(last, len(rows)))))


def _block(file: "FileFacts", rows: Sequence[bytes], mark: str) -> Resolution:
    """The paragraph, or list item, that ends with an Obsidian block id (`^id`)."""
    for number, row in enumerate(rows):
        words = row.split()
        if words and words[-1].decode("utf-8", "replace").casefold() == mark.casefold():
            first = number
            while first and rows[first - 1].strip() and not row.lstrip().startswith((b"-", b"*")):
                first -= 1
            return Resolution(_passage(file, rows, (first + 1, number + 1), mark, "block"))
    return Resolution(message=f"{file.path} has no block {mark}")


def _named(places: Sequence[Place], reference: Reference) -> list[Place]:
    """Places of that name: the full qualified name, else its end, else either regardless of case."""
    if reference.headings:
        wanted = "".join(map(references.fold_heading, reference.headings))
        last = references.fold_heading(reference.headings[-1])
        ends = [p for p in places if references.fold_heading(p.name).endswith(wanted)]
        # the name is joined by dots that fold away: make sure the last heading is whole
        whole = [p for p in ends if references.fold_heading(_last(p)) == last]
        top = [p for p in whole if references.fold_heading(p.name) == wanted]
        return top if len(top) == 1 else whole
    asked = references.fold_symbol(reference.symbol)
    for fold in (str, str.casefold):
        exact = [p for p in places if fold(p.name) == fold(asked)]
        found = exact or [p for p in places if ("." + fold(p.name)).endswith("." + fold(asked))]
        bodies = [p for p in found if p.kind != _PROTOTYPE]
        if found:
            return _joined(bodies or found)
    return []


def _joined(places: list[Place]) -> list[Place]:
    """Take neighbours of one name as one: overloads, or the clauses of a function."""
    joined: list[Place] = []
    for place in places:
        last = joined[-1] if joined else None
        if last and place.lines and last.lines and (last.name, last.kind) == (place.name, place.kind):
            between = place.lines[0] - last.lines[1]
            if between <= _NEIGHBOURS:
                lines = (last.lines[0], max(last.lines[1], place.lines[1]))
                joined[-1] = Place(place.path, lines, place.name, place.kind)
                continue
        joined.append(place)
    return joined


def _last(place: Place) -> str:
    """The innermost heading of a place."""
    return place.name.rsplit(_JOIN, 1)[-1]


def _near(asked: str, places: Sequence[Place]) -> tuple[str, ...]:
    import difflib

    names = {shown_name(place): None for place in places}
    tails = {name.rsplit(".", 1)[-1].casefold(): name for name in names}
    close = difflib.get_close_matches(asked.rsplit(".", 1)[-1].casefold(), tails, 5, 0.5)
    return tuple(tails[each] for each in close)


def shown_name(place: Place) -> str:
    """The name of a place for people."""
    return place.name.replace(_JOIN, " > ")


def definitions_of(current: "Current", file: "FileFacts", content: bytes) -> list[Place]:
    """Every definition and heading of a file with its lines, in order."""
    places = []
    total = content.count(b"\n") + (not content.endswith(b"\n"))
    for piece in _pieces(current, file, content):
        for d in piece.definitions:
            first = piece.line + d.line
            joint = _JOIN if d.kind == _SECTION else "."
            name = f"{d.scope}{joint}{d.name}" if d.scope else d.name
            last = min(first + max(1, d.lines) - 1, max(first, total))
            places.append(Place(file.path, (first, last), name, d.kind))
    return list(dict.fromkeys(places))


def _pieces(current: "Current", file: "FileFacts", content: bytes) -> "Sequence[Piece]":
    from git_pkb.git.hashing import blob_name

    if blob_name(content, current.repo.object_format) == file.blob:
        from git_pkb.mirror.format import BadArtifact, decode_meta

        try:
            return [record.piece for record in decode_meta(current.reader.meta(file.id)).records]
        except BadArtifact:
            pass
    from git_pkb.chunk import cut

    return cut(content, file.language)


def content_of(current: "Current", file: "FileFacts") -> bytes | None:
    """A file's content now: the work tree's, else the blob's; None where neither can be read."""
    workdir = current.repo.workdir
    if workdir is not None:
        from git_pkb.search.snapshot import read_file

        folder = os.path.dirname(os.path.join(workdir, file.path))
        # a folder that was replaced by a link may lead anywhere
        if os.path.realpath(folder) == folder:
            content = read_file(workdir, file.path)
            if content is not None:
                return content
    try:
        return current.repo.reader().blob(file.blob)
    except PkbError:
        return None
