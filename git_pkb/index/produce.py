"""Content becomes artifacts: cut, rows taken over by key, the rest summarized and embedded in batches.

In: blobs with their language and content, old artifacts whose rows may serve again. Out: artifacts, one by
one as they are finished. Invariant: an artifact depends on blob, language and recipe alone; where its rows
came from (asked for now, an old artifact, another file of the run) cannot be told from its bytes.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from git_pkb.errors import NewerFormat
from git_pkb.index.excerpt import excerpt
from git_pkb.index.recipe import Recipe
from git_pkb.mirror.format import BadArtifact, encode_meta, encode_vec, has_vectors, load
from git_pkb.model import Artifact, Piece, Record, Vectors
from git_pkb.slotted import made_by, mutable, value

if TYPE_CHECKING:
    from git_pkb.summarize.base import Passage

#: Texts that wait before a provider is asked: enough to fill its batches, few enough to hold in memory.
_BATCH = 1024
_WHOLE_BATCH_BYTES = 2_000_000
_KNOWN_ROWS = 50_000  # rows of this run kept for equal texts of later files: 15 MB

#: The two halves of an artifact as they are stored.
Halves = tuple[bytes, bytes | None]
#: Scale (empty for sign bits), row and summary of one piece; both empty without an embedder.
Row = tuple[bytes, bytes, str]


@value
class Item:
    """A blob to be indexed; `old`: artifacts of the same path whose rows may serve again, best first."""

    blob: str
    language: str
    content: bytes
    old: tuple[Halves | Artifact, ...] = ()


@value
class Made:
    """A finished artifact, and how many of its rows were asked for and how many were there."""

    artifact: Artifact
    embedded: int
    reused: int


@value
class Encoded:
    """The same in the form that is stored and passed between processes."""

    blob: str
    language: str
    meta: bytes
    vec: bytes | None
    records: int
    embedded: int
    reused: int


def encode(made: Made) -> Encoded:
    """Turn a finished artifact into bytes."""
    a = made.artifact
    vec = encode_vec(a) if has_vectors(a) else None
    return Encoded(a.blob, a.language, encode_meta(a), vec, len(a.records), made.embedded, made.reused)


def text_to_embed(content: bytes, piece: Piece, *, contextual: bool) -> str:
    """Exactly what is embedded for a piece: its text, below its breadcrumb for models that read."""
    from git_pkb.chunk import embedded_text

    return _below_breadcrumb(embedded_text(content, piece), piece, contextual)


def _below_breadcrumb(text: str, piece: Piece, contextual: bool) -> str:
    return f"{piece.breadcrumb}\n{text}" if contextual and piece.breadcrumb else text


def key_of(text: str, material: bytes = b"") -> bytes:
    """The reuse key: 8 bytes over what is embedded (or summarized), and over what else its row depends on."""
    return hashlib.blake2b(text.encode("utf-8", "replace") + material, digest_size=8).digest()


class Draft:
    """An artifact whose rows are not all there yet.

    `waits`: for how many keys; `asked`: for how many of them it was the first.
    """

    __slots__ = ("asked", "item", "records", "rows", "summary", "waits")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.records: list[Record] = []
        self.rows: dict[bytes, Row] = {}
        self.waits = self.asked = 0
        self.summary: str | None = None


@mutable
class Batch:
    """Texts that wait to be asked for, each once, and who waits for them."""

    texts: dict[bytes, str] = made_by(dict)
    passages: "dict[bytes, Passage]" = made_by(dict)
    waiting: dict[bytes, list[Draft]] = made_by(dict)

    def wait_for(self, draft: Draft, key: bytes, text: str) -> None:
        """Let a draft wait for a text."""
        if key not in self.texts:
            self.texts[key] = text
            draft.asked += 1
        waiting = self.waiting.setdefault(key, [])
        if draft not in waiting:
            waiting.append(draft)
            draft.waits += 1


def stream(items: Iterable[Item], recipe: Recipe, known: dict[bytes, Row] | None = None) -> Iterator[Made]:
    """Index blobs one by one; an artifact is given out as soon as its last row is there.

    `known` are rows that may serve any blob (of files that moved and changed at once). When a provider fails,
    everything that was complete has been given out before its error is raised.
    """
    known = {} if known is None else known
    batch = Batch()
    whole: list[Item] = []
    whole_size = 0
    for item in items:
        if is_cut_by_provider(item, recipe):
            whole.append(item)
            whole_size += len(item.content)
            if whole_size >= _WHOLE_BATCH_BYTES:
                yield from _whole(whole, recipe)
                whole, whole_size = [], 0
            continue
        draft = begin(item, recipe, batch, known)
        if not draft.waits:
            yield from _close([draft], recipe)
        if len(batch.texts) >= _BATCH:
            yield from _ask(batch, recipe, known)
            batch = Batch()
    yield from _ask(batch, recipe, known)
    yield from _whole(whole, recipe)


def is_cut_by_provider(item: Item, recipe: Recipe) -> bool:
    """Whether the provider cuts this file: prose whose character spans can be told in bytes."""
    if recipe.embedder is None or not recipe.embedder.auto:
        return False
    from git_pkb.chunk import is_code
    from git_pkb.embed.base import as_auto

    if as_auto(recipe.embedder) is None or is_code(item.language):
        return False
    try:
        item.content.decode()
    except UnicodeDecodeError:
        return False
    return True


def begin(item: Item, recipe: Recipe, batch: Batch, known: dict[bytes, Row]) -> Draft:
    """Cut a blob, look for its rows among old ones, and let it wait in the batch for the others."""
    from git_pkb.chunk import cut, embedded_text

    draft = Draft(item)
    contextual = recipe.embedder is None or recipe.embedder.contextual
    old, summaries = _old_rows(item.old, recipe) if recipe.asks and item.old else ({}, {})
    for piece in cut(item.content, item.language):
        text = embedded_text(item.content, piece)
        to_embed = _below_breadcrumb(text, piece, contextual)
        key = key_of(to_embed)
        draft.records.append(Record(piece, key, excerpt(text, piece), "", text if recipe.text else None))
        if not recipe.asks or key in draft.rows:
            continue
        row = old.get(key) or known.get(key)
        if row is not None:
            draft.rows[key] = row
            continue
        batch.wait_for(draft, key, to_embed)
        if recipe.summarizer is not None:
            from git_pkb.summarize.base import Passage

            batch.passages.setdefault(key, Passage(item.language, piece.breadcrumb, text))
    draft.summary = summaries.get(tuple(record.key for record in draft.records))
    return draft


def _old_rows(
    old: Iterable[Halves | Artifact], recipe: Recipe
) -> tuple[dict[bytes, Row], dict[tuple[bytes, ...], str]]:
    """Rows of old artifacts by key, and summaries of whole files by their keys."""
    rows: dict[bytes, Row] = {}
    summaries: dict[tuple[bytes, ...], str] = {}
    for stored in old:
        artifact = _usable(stored, recipe)
        if artifact is not None:
            for key, row in _rows_in(artifact):
                rows.setdefault(key, row)
            summaries.setdefault(tuple(record.key for record in artifact.records), artifact.summary)
    return rows, summaries


def rows_of(stored: Halves | Artifact, recipe: Recipe) -> dict[bytes, Row]:
    """The rows of one artifact by key, none when it is damaged or was made with another model."""
    artifact = _usable(stored, recipe)
    return dict(_rows_in(artifact)) if artifact is not None else {}


def _usable(stored: Halves | Artifact, recipe: Recipe) -> Artifact | None:
    try:
        artifact = stored if isinstance(stored, Artifact) else load(*stored)
    except (BadArtifact, NewerFormat):
        return None
    wanted = recipe.identity
    if artifact.model != wanted.model or (artifact.vectors is None) != (recipe.embedder is None):
        return None
    # a summarizer that is not part of the model is part of the cutter, whose own version matters little here
    if recipe.summarizer is not None and artifact.cutter.partition("+")[2] != wanted.cutter.partition("+")[2]:
        return None
    return artifact


def _rows_in(artifact: Artifact) -> Iterator[tuple[bytes, Row]]:
    for i, record in enumerate(artifact.records):
        yield record.key, _row(artifact.vectors, i, record.summary)


def _row(vectors: Vectors | None, i: int, summary: str) -> Row:
    if vectors is None:
        return b"", b"", summary
    width = vectors.row_bytes
    return vectors.scales[4 * i : 4 * i + 4], vectors.rows[width * i : width * (i + 1)], summary


def _ask(batch: Batch, recipe: Recipe, known: dict[bytes, Row]) -> Iterator[Made]:
    """Ask for all waiting texts; gives out each artifact with the answer that completes it.

    What a summarizer answered before it failed is embedded and given out before its error is raised.
    """
    if not batch.texts:
        return
    if len(known) > _KNOWN_ROWS:
        known.clear()
    keys = list(batch.texts)
    summaries: dict[bytes, str] = {}
    failed: BaseException | None = None
    if recipe.summarizer is not None:
        try:
            for i, summary in recipe.summarizer.summarize([batch.passages[key] for key in keys]):
                summaries[keys[i]] = summary
        except BaseException as error:
            failed = error
        keys = [key for key in keys if key in summaries]
    for start, vectors in _rows_for(keys, batch, summaries, recipe):
        complete = []
        for i in range(len(keys) if vectors is None else len(vectors)):
            key = keys[start + i]
            known[key] = row = _row(vectors, i, summaries.get(key, ""))
            for draft in batch.waiting.pop(key, ()):
                draft.rows[key] = row
                draft.waits -= 1
                if not draft.waits:
                    complete.append(draft)
        yield from _close(complete, recipe)
    if failed is not None:
        raise failed


def _rows_for(
    keys: list[bytes], batch: Batch, summaries: dict[bytes, str], recipe: Recipe
) -> Iterator[tuple[int, Vectors | None]]:
    if recipe.embedder is None:
        yield 0, None
        return
    texts = [batch.texts[key] for key in keys]
    if recipe.embeds_summary:
        texts = [summaries[key] or text for key, text in zip(keys, texts, strict=True)]
    if texts:
        yield from recipe.embedder.embed_stream(texts)


def _close(drafts: list[Draft], recipe: Recipe) -> Iterator[Made]:
    """Finish drafts that have all their rows: roll up their summaries where there is a summarizer."""
    ready = []
    for draft in drafts:
        if recipe.summarizer is None or draft.summary is not None or not draft.records:
            yield _finish(draft, recipe)
        else:
            ready.append(draft)
    if ready and recipe.summarizer is not None:
        from git_pkb.summarize.base import Outline

        outlines = [
            Outline(d.item.language, tuple((r.piece.breadcrumb, d.rows[r.key][2]) for r in d.records))
            for d in ready
        ]
        for i, summary in recipe.summarizer.roll_up(outlines):
            ready[i].summary = summary
            yield _finish(ready[i], recipe)


def _finish(draft: Draft, recipe: Recipe) -> Made:
    records = draft.records
    if recipe.summarizer is not None:
        from dataclasses import replace

        records = [replace(record, summary=draft.rows[record.key][2]) for record in records]
    vectors = None
    if recipe.embedder is not None:
        rows = [draft.rows[record.key] for record in records]
        vectors = Vectors(
            recipe.embedder.dims,
            recipe.embedder.dtype,
            b"".join(row[0] for row in rows),
            b"".join(row[1] for row in rows),
        )
    made = artifact_of(draft.item, recipe, records, vectors, draft.summary or "")
    return Made(made, draft.asked, len(records) - draft.asked if recipe.asks else 0)


def artifact_of(
    item: Item, recipe: Recipe, records: Iterable[Record], vectors: Vectors | None, summary: str = ""
) -> Artifact:
    """Put an artifact together."""
    return Artifact(
        blob=item.blob,
        language=item.language,
        cutter=recipe.identity.cutter,
        model=recipe.identity.model,
        size=len(item.content),
        newlines=item.content.count(b"\n"),
        records=tuple(records),
        vectors=vectors,
        summary=summary,
    )


def _whole(items: list[Item], recipe: Recipe) -> Iterator[Made]:
    if items:
        from git_pkb.index.whole import embed_whole

        yield from embed_whole(items, recipe)
