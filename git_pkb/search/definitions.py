"""The files that were found, looked into: their definitions scored, the files ordered once more by the best.

In: files best first, as words, meaning and path order them. Out: at most `most` of them, each with its
definitions best first. Invariant: a file whose artifact or text cannot be read keeps its score; definitions
are scored as a whole file or not at all, so what is shown does not depend on how many are asked for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from git_pkb.mirror.format import BadArtifact, decode_meta
from git_pkb.model import Artifact, Record
from git_pkb.rank.files import Scored, with_definition
from git_pkb.rank.symbols import Extent, Place, Scorer, extents
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.cache.reader import FileFacts
    from git_pkb.rank.lexical import Matches
    from git_pkb.search.refresh import Current

MORE = 5  # files looked into beyond those that are wanted
FEWEST = 15  # so that the first five of ten are the five
_REACH = 2.0  # a definition is not worth more to a file: what is further behind is not looked into
_PIECES = 32  # of each file whose definitions are scored
_MEANT, _MEANT_ALONE = 8, 40  # definitions of each file whose meaning is looked at; where words do not count
_WHOLE = 4  # of these, those without a definition, and prose, of which all the text is read
_PROSE = ("section", "text")
_SIGNATURE = 5  # lines
_OPENS = ("{", ":", ";", "=", "=>", "do", "then")


@value
class Found:
    """A definition that answers, or a piece that defines nothing (`extent` None).

    `lines`: the text of its piece, `[]` where it cannot be read.
    """

    score: float
    place: Place
    record: Record
    extent: Extent | None
    lines: Sequence[str]


@value
class Looked:
    """A file with its definitions, best first; `content` as it was indexed, None when it cannot be read."""

    scored: Scored
    facts: "FileFacts"
    artifact: Artifact | None
    content: bytes | None
    found: Sequence[Found]


def look_into(
    current: "Current", files: Sequence[Scored], matches: "Matches | None", scorer: Scorer, most: int
) -> list[Looked]:
    """Score the definitions of these files; the `most` best files with them."""
    if len(files) > most:
        least = files[most - 1].score - _REACH
        files = [*files[:most], *(file for file in files[most:] if file.score >= least)]
    facts = {f.id: f for f in current.reader.files([scored.file.id for scored in files])}
    texts = current.contents(facts.values())
    looked = []
    for scored in files:
        file = facts[scored.file.id]
        artifact = _artifact(current.reader.meta(file.id))
        content = texts.get(file.path)
        found = _definitions(scored, artifact, content, matches, scorer) if artifact is not None else []
        looked.append(Looked(scored, file, artifact, content, found))
    looked = _with_definitions(looked)
    looked.sort(key=lambda each: (-round(each.scored.score, 6), each.facts.path))
    return looked[:most]


def _with_definitions(files: Sequence[Looked]) -> list[Looked]:
    """The files with what their best definitions add to their scores.

    Prose, settings and data define nothing: to them counts what is usual among the others, so that their
    place between them stays as it was.
    """
    best = [
        max(
            (f.score for f in file.found if f.extent is not None and f.place.kind not in _PROSE), default=None
        )
        for file in files
    ]
    known = sorted(each for each in best if each is not None)
    usual = known[len(known) // 2] if known else 0.0
    return [
        Looked(
            with_definition(file.scored, usual if each is None else each),
            file.facts, file.artifact, file.content, file.found,
        )
        for file, each in zip(files, best, strict=True)
    ]  # fmt: skip


def _artifact(meta: bytes) -> Artifact | None:
    try:
        return decode_meta(meta)
    except BadArtifact:
        return None


def _definitions(
    scored: Scored, artifact: Artifact, content: bytes | None, matches: "Matches | None", scorer: Scorer
) -> list[Found]:
    """The definitions of the best pieces; a piece that defines nothing stands for itself.

    What meaning adds is asked of the best by words alone; the others stay behind these.
    """
    found = _by_words(scored, artifact, content, matches, scorer)
    found.sort(key=_place_in_list)
    most = _MEANT if matches is not None else _MEANT_ALONE
    best = [_added(f, scorer.of_meaning(f.place)) for f in found[:most]]
    least = min((f.score for f in best), default=0.0) - 1.0
    best.sort(key=_place_in_list)
    return best + [_added(f, min(0.0, least - f.score)) for f in found[most:]]


def _place_in_list(found: Found) -> tuple[float, int, bool]:
    start = found.record.piece.line
    line = start + found.extent.definition.line if found.extent is not None else start
    return -round(found.score, 6), line, found.extent is None


def _added(found: Found, more: float) -> Found:
    return Found(found.score + more, found.place, found.record, found.extent, found.lines)


def _by_words(
    scored: Scored, artifact: Artifact, content: bytes | None, matches: "Matches | None", scorer: Scorer
) -> list[Found]:
    found: list[Found] = []
    whole = 0
    for piece_id, _ in scored.pieces[:_PIECES]:
        number = piece_id - scored.file.first
        if not 0 <= number < len(artifact.records):
            continue
        record = artifact.records[number]
        piece = record.piece
        read_whole = not piece.definitions or piece.kind in _PROSE
        whole += read_whole
        if read_whole and whole > _WHOLE:
            continue
        by_words = matches.scores[piece_id] if matches is not None else 0.0
        lines: Sequence[str] = ()
        if content is not None:
            lines = content[piece.start : piece.end].decode("utf-8", "replace").split("\n")
        if not lines or not piece.definitions:
            place = _whole(record, lines, by_words)
            found.append(Found(scorer.of_words(place), place, record, None, lines))
            continue
        for extent in extents(piece.definitions, len(lines)):
            place = _place(extent, lines, by_words)
            found.append(Found(scorer.of_words(place), place, record, extent, lines))
    return found


def _whole(record: Record, lines: Sequence[str], by_words: float) -> Place:
    piece = record.piece
    says = "\n".join(lines) or record.excerpt
    kind = piece.kind if piece.kind in _PROSE else "code"
    name = piece.breadcrumb.rsplit(" > ", 1)[-1]
    return Place(name, kind, "", says, piece.newlines + 1, len(says), by_words)


def _place(extent: Extent, lines: Sequence[str], by_words: float) -> Place:
    definition = extent.definition
    own = lines[extent.first : extent.own_end]
    if definition.kind in _PROSE:
        says = "\n".join(own)
    else:
        says = " ".join(signature(lines[definition.line : extent.end]))
    return Place(
        definition.name, definition.kind, definition.scope, says, definition.lines,
        sum(map(len, own)) + len(own), by_words,
    )  # fmt: skip


def signature(lines: Sequence[str]) -> list[str]:
    """The first lines of a definition, without decorators, to the one that opens its body."""
    found: list[str] = []
    for line in lines:
        text = line.strip()
        if not found and (not text or text.startswith(("@", "#[", "["))):
            continue
        found.append(text)
        if text.endswith(_OPENS) or "{" in text or ")" in text or len(found) == _SIGNATURE:
            break
    return found
