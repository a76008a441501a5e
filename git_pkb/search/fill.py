"""From files to segments of the cache: what a search builds when something changed.

In: `Job`s (a file's content, and its artifact where there is one). Out: `Segment`s of bounded size. Many
files are spread over processes. Invariant: a list of jobs gives the same segments whether one process made
them or many.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from git_pkb.cache.segment import DefinitionRow, FileRow, Segment
from git_pkb.errors import NewerFormat, ProviderError
from git_pkb.index.produce import Halves, Item, stream
from git_pkb.index.recipe import Recipe
from git_pkb.mirror.format import BadArtifact, load
from git_pkb.model import Artifact, Vectors
from git_pkb.rank.files import fold
from git_pkb.rank.paths import name_fields
from git_pkb.slotted import value
from git_pkb.tokens import Tokenizer
from git_pkb.workers import batches, processes, spread

if TYPE_CHECKING:
    from array import array

    from git_pkb.embed.base import Embedder

_PART_FILES, _PART_BYTES = 64, 1_500_000
_SEGMENT_PIECES = 50_000
_FEW = 48  # files; below, starting processes costs more than it brings


@value
class Job:
    """A file to put into the cache.

    `halves`: its current artifact, else it is made; `old`: artifacts whose rows may serve again.
    """

    path: str
    blob: str
    language: str
    content: bytes
    halves: Halves | None = None
    old: tuple[Halves, ...] = ()


class Unasked:
    """Stands for an embedder that must not be asked now: gives zero rows, which no question is near to."""

    auto = False
    paid = network = False

    def __init__(self, embedder: "Embedder") -> None:
        self.identity, self.model = embedder.identity, embedder.model
        self.dims, self.dtype = embedder.dims, embedder.dtype
        self.contextual, self.usage = embedder.contextual, embedder.usage

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A zero row for each text."""
        width = self.dims if self.dtype == "int8" else (self.dims + 7) // 8
        scales = bytes(4 * len(texts)) if self.dtype == "int8" else b""
        return Vectors(self.dims, self.dtype, scales, bytes(width * len(texts)))

    def embed_stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """All of them at once."""
        yield 0, self.embed(texts)

    def embed_query(self, _text: str, _weights: object = None) -> "array[float]":
        """Nothing is near to anything."""
        raise ProviderError(f"{self.identity} is not asked while the cache is filled")


class Filler:
    """Makes segments; one a process. With `embed` false, pieces without a row are left for `reindex`."""

    def __init__(self, recipe: Recipe, *, embed: bool) -> None:
        embedder = recipe.embedder
        if embedder is not None and not embed:
            recipe = replace(recipe, embedder=Unasked(embedder), summarizer=None)
        self.recipe, self.embed = recipe, embed
        self.tokenizer = Tokenizer()

    def segment(self, jobs: Sequence[Job]) -> Segment:
        """One segment of all jobs, in their order."""
        from git_pkb.embed.local import DIMS, embed_paths
        from git_pkb.mirror.format import encode_meta

        embedder = self.recipe.embedder
        segment = Segment(
            dims=embedder.dims if embedder else 0,
            row_dtype=embedder.dtype if embedder else "int8",
            path_dims=DIMS if embedder else 0,
        )
        path_rows = _single_rows(embed_paths([job.path for job in jobs])) if embedder else None
        for number, (job, made) in enumerate(zip(jobs, self._artifacts(jobs), strict=True)):
            artifact, stale, meta = made
            records = len(artifact.records)
            row = FileRow(
                job.path,
                job.blob,
                job.language,
                len(job.content),
                records,
                stale,
                meta or encode_meta(artifact),
            )
            self._add(segment, row, artifact, job)
            segment.add_rows(artifact.vectors, records, path_rows[number] if path_rows else None)
        return segment

    def _artifacts(self, jobs: Sequence[Job]) -> Iterator[tuple[Artifact, bool, bytes | None]]:
        """For each job its artifact, whether rows are missing in it, and its `.meta` when that is at hand."""
        there: dict[int, tuple[Artifact, bool, bytes | None]] = {}
        items: dict[tuple[str, str], Item] = {}
        for number, job in enumerate(jobs):
            found = _load(job)
            if found is not None and job.halves is not None:
                there[number] = found, False, job.halves[0]
            else:
                items[job.blob, job.language] = Item(job.blob, job.language, job.content, job.old)
        made = {(m.artifact.blob, m.artifact.language): m for m in stream(items.values(), self.recipe)}
        for number, job in enumerate(jobs):
            if number in there:
                yield there[number]
            else:
                new = made[job.blob, job.language]
                yield new.artifact, not self.embed and new.embedded > 0, None

    def _add(self, segment: Segment, row: FileRow, artifact: Artifact, job: Job) -> None:
        from git_pkb.chunk import comment_spans, embedded_text, is_code

        texts, comments, names, definitions = [], [], [], []
        code = is_code(job.language)
        for number, record in enumerate(artifact.records):
            text = embedded_text(job.content, record.piece)
            if record.summary:
                text = f"{record.summary}\n{text}"
            texts.append(text)
            comments.append(
                " ".join(text[a:b] for a, b in comment_spans(text, job.language)) if code else record.summary
            )
            names.append([d.name for d in record.piece.definitions])
            definitions += [
                DefinitionRow(fold(d.name), d.name, d.kind, d.lines, number) for d in record.piece.definitions
            ]
        segment.add_file(row, texts, comments, names, definitions, name_fields(job.path), self.tokenizer)


def _load(job: Job) -> Artifact | None:
    """The job's artifact, if it has one that is whole."""
    if job.halves is None:
        return None
    try:
        return load(*job.halves)
    except (BadArtifact, NewerFormat):
        return None


def _single_rows(vectors: Vectors) -> list[Vectors]:
    """Take a block of int8 vectors apart, one a row."""
    dims, scales, rows = vectors.dims, vectors.scales, vectors.rows
    return [
        Vectors(dims, "int8", scales[4 * i : 4 * i + 4], rows[i * dims : (i + 1) * dims])
        for i in range(len(vectors))
    ]


def fill(
    jobs: Iterable[Job],
    make: Callable[[], Filler],
    *,
    expected: int,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Iterator[Segment]:
    """Segments of all jobs, at most about 50,000 pieces each; `expected` is how many jobs there will be."""
    whole: Segment | None = None
    files = pieces = 0
    for part in _parts(jobs, make, expected):
        files += len(part.files)
        pieces += part.pieces
        progress(files, pieces)
        if whole is None:
            whole = part
        else:
            whole.extend(part)
        if whole.pieces >= _SEGMENT_PIECES:
            yield whole
            whole = None
    if whole is not None:
        yield whole


def _parts(jobs: Iterable[Job], make: Callable[[], Filler], expected: int) -> Iterator[Segment]:
    parts = batches(jobs, _PART_FILES, _PART_BYTES)
    if expected <= _FEW or processes() == 1:
        filler = make()
        for batch in parts:
            yield filler.segment(batch)
    else:
        yield from spread(parts, make, processes())
