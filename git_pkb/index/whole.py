"""Text files that the provider cuts itself: sent whole, its pieces placed back into the file.

In: items of prose in UTF-8. Out: artifacts. Invariant: spans are in bytes of the blob, byte order mark
included, and headings and definitions are those that our own cutting finds at the same place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from git_pkb.index.excerpt import excerpt
from git_pkb.index.produce import Item, Made, artifact_of, key_of
from git_pkb.index.recipe import Recipe
from git_pkb.model import Piece, Record


def embed_whole(items: Sequence[Item], recipe: Recipe) -> Iterator[Made]:
    """Index text files through the provider's own cutting; given out as answers arrive."""
    from git_pkb.embed.base import as_auto

    auto = as_auto(recipe.embedder)
    if auto is None:
        return
    texts = [item.content.decode().removeprefix("\ufeff") for item in items]
    for number, found in auto.embed_auto(texts):
        item, text = items[number], texts[number]
        records = []
        for piece, (start, end) in zip(pieces_at(item, text, found.spans), found.spans, strict=True):
            inside = text[start:end]
            key = key_of(inside, found.key_material)
            records.append(Record(piece, key, excerpt(inside, piece), "", inside if recipe.text else None))
        records, summary = _summarized(item, records, [text[a:b] for a, b in found.spans], recipe)
        yield Made(artifact_of(item, recipe, records, found.vectors, summary), len(records), 0)


def _summarized(
    item: Item, records: list[Record], texts: Sequence[str], recipe: Recipe
) -> tuple[list[Record], str]:
    """Describe the pieces and the file, where there is a summarizer."""
    if recipe.summarizer is None or not records:
        return records, ""
    from git_pkb.summarize.base import Outline, Passage

    passages = [Passage(item.language, r.piece.breadcrumb, t) for r, t in zip(records, texts, strict=True)]
    for i, summary in recipe.summarizer.summarize(passages):
        records[i] = replace(records[i], summary=summary)
    outline = Outline(item.language, tuple((r.piece.breadcrumb, r.summary) for r in records))
    return records, next((text for _, text in recipe.summarizer.roll_up([outline])), "")


def pieces_at(item: Item, text: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    """Pieces at these spans of characters, with what our own cutting knows about each place."""
    from git_pkb.chunk import cut

    ours = cut(item.content, item.language)
    at = len(item.content) - len(text.encode())  # a byte order mark
    pieces = []
    before, line = 0, 1
    for start, end in spans:
        skipped, inside = text[before:start], text[start:end]
        at += len(skipped.encode())
        line += skipped.count("\n")
        size, newlines = len(inside.encode()), inside.count("\n")
        around = next((p for p in reversed(ours) if p.start <= at), None)
        definitions = tuple(
            replace(d, line=p.line + d.line - line)
            for p in ours
            for d in p.definitions
            if line <= p.line + d.line <= line + newlines
        )
        kind, breadcrumb = (around.kind, around.breadcrumb) if around is not None else ("text", "")
        pieces.append(Piece(at, at + size, line, newlines, kind, breadcrumb, definitions))
        at += size
        line += newlines
        before = end
    return pieces
