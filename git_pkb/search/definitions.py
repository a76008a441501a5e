"""The files that were found, looked into: their definitions scored, the files ordered once more by the best.

In: files best first, as words, meaning and path order them. Out: the same files with their definitions, best
first. Invariant: how many files are asked for changes neither their order nor what is found in them: the
first POOL files alone are ordered again, all others stay behind them as they are. A file without a definition
(prose, settings, data, a damaged artifact) keeps its place: it is given what is usual among the others.
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

POOL = 15  # files that are ordered again
_NEAR, _REACH = 5, 2.0  # of them those whose score is at most so much below that of the fifth
_PIECES = 32  # of each file whose definitions are scored
_MOST = 400  # definitions of each file: generated and minified files have thousands
_WHOLE = 4  # pieces of prose and without a definition of which all the text is read; of others the excerpt
_MEANT, _MEANT_ALONE = 8, 40  # definitions of each file whose meaning is looked at; where words do not count
_PROSE = ("section", "text")
_SIGNATURE, _LONGEST_SIGNATURE = 5, 400  # lines, characters
_ANNOTATIONS = ("@", "#[", "[")
_OPENS = ("{", ":", ";", "=", "=>", "do", "then")


@value
class Found:
    """A definition that answers, or a piece that defines nothing (`extent` None).

    `lines`: the text of its piece, none where it cannot be read.
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
    current: "Current",
    files: Sequence[Scored],
    matches: "Matches | None",
    scorer: Scorer,
    most: int,
    *,
    shown: bool,
) -> list[Looked]:
    """The `most` best files; `shown`: whether definitions of files behind the pool are wanted as well."""
    least = files[min(_NEAR, len(files)) - 1].score - _REACH
    pool = sum(1 for file in files[:POOL] if file.score >= least)
    files = files[: max(pool, most)]
    opened = len(files) if shown else pool
    facts = {f.id: f for f in current.reader.files([scored.file.id for scored in files])}
    texts = current.contents([facts[scored.file.id] for scored in files[:opened]])
    looked = []
    for number, scored in enumerate(files):
        file = facts[scored.file.id]
        artifact = _artifact(current.reader.meta(file.id)) if number < opened else None
        content = texts.get(file.path)
        found = _definitions(scored, artifact, content, matches, scorer) if artifact is not None else []
        looked.append(Looked(scored, file, artifact, content, found))
    return _ordered(looked[:pool], looked[pool:])[:most]


def _ordered(pool: Sequence[Looked], behind: Sequence[Looked]) -> list[Looked]:
    """The pool by what the best definitions add, then the others; no score is above one before it."""
    best = [
        max(
            (f.score for f in file.found if f.extent is not None and f.place.kind not in _PROSE), default=None
        )
        for file in pool
    ]
    known = sorted(each for each in best if each is not None)
    usual = known[(len(known) - 1) // 2] if known else 0.0
    result = [
        _rescored(file, with_definition(file.scored, usual if each is None else each))
        for file, each in zip(pool, best, strict=True)
    ]
    result.sort(key=lambda each: (-round(each.scored.score, 6), each.facts.path))
    for file in behind:
        scored = with_definition(file.scored, usual)
        limit = result[-1].scored.score
        if scored.score > limit:
            scored = Scored(scored.file, limit, scored.features, scored.pieces)
        result.append(_rescored(file, scored))
    return result


def _rescored(file: Looked, scored: Scored) -> Looked:
    return Looked(scored, file.facts, file.artifact, file.content, file.found)


def _artifact(meta: bytes) -> Artifact | None:
    try:
        return decode_meta(meta)
    except BadArtifact:
        return None


def _definitions(
    scored: Scored, artifact: Artifact, content: bytes | None, matches: "Matches | None", scorer: Scorer
) -> list[Found]:
    """The definitions of the best pieces; a piece that defines nothing stands for itself.

    What meaning adds is asked of the best by words alone (of equal ones, the first in the file); the others
    stay behind these.
    """
    found = _by_words(scored, artifact, content, matches, scorer)
    found.sort(key=_place_in_list)
    if not scorer.asks_meaning:
        return found
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
        if not 0 <= number < len(artifact.records) or len(found) >= _MOST:
            continue
        record = artifact.records[number]
        piece = record.piece
        by_words = matches.scores[piece_id] if matches is not None else 0.0
        lines: Sequence[str] = ()
        if content is not None:
            lines = content[piece.start : piece.end].decode("utf-8", "replace").split("\n")
        prose = piece.kind in _PROSE
        whole += prose or not piece.definitions
        if not piece.definitions or (prose and not lines):
            says = "\n".join(lines) if whole <= _WHOLE else ""
            place = _whole(record, says or record.excerpt, by_words)
            found.append(Found(scorer.of_words(place), place, record, None, lines))
            continue
        height = len(lines) or piece.newlines + 1
        for extent in extents(piece.definitions, height)[:_MOST]:
            place = _place(extent, lines if whole <= _WHOLE or not prose else (), record, by_words)
            found.append(Found(scorer.of_words(place), place, record, extent, lines))
    return found


def _whole(record: Record, says: str, by_words: float) -> Place:
    piece = record.piece
    kind = piece.kind if piece.kind in _PROSE else "code"
    name = piece.breadcrumb.rsplit(" > ", 1)[-1]
    return Place(name, kind, "", says, piece.newlines + 1, piece.end - piece.start, by_words)


def _place(extent: Extent, lines: Sequence[str], record: Record, by_words: float) -> Place:
    """`lines`: of its piece, none where they cannot or shall not be read: then the excerpt says it all."""
    definition = extent.definition
    own = lines[extent.first : extent.own_end]
    size = sum(map(len, own)) + len(own)
    if not lines:
        says, size = record.excerpt, len(record.excerpt) * (extent.own_end - extent.first)
    elif definition.kind in _PROSE:
        says = "\n".join(own)
    else:
        says = " ".join(signature(lines[definition.line : extent.end], definition.name))[:_LONGEST_SIGNATURE]
    return Place(
        definition.name, definition.kind, definition.scope, says, definition.lines, size, by_words
    )  # fmt: skip


def signature(lines: Sequence[str], name: str) -> list[str]:
    """The first lines of the definition of `name`, without annotations, to the one that opens its body.

    An annotation may share the line: `@Override public String name() {`.
    """
    start = 0
    annotated: int | None = None  # the last annotation that holds the name
    while start < len(lines) and (not lines[start].strip() or lines[start].lstrip().startswith(_ANNOTATIONS)):
        if name in lines[start]:
            annotated = start
        start += 1
    if annotated is not None and (start == len(lines) or name not in lines[start]):
        start = annotated
    found: list[str] = []
    for line in lines[start : start + _SIGNATURE]:
        text = line.strip()
        found.append(text)
        if text.endswith(_OPENS) or "{" in text or ")" in text:
            break
    return found
