"""The read conductor: a question and an up-to-date cache in, ordered results out.

In: `SearchOptions`, a `Current` index from `refresh.py`. Out: `SearchResults`. Raises nothing of its own:
when meaning fails, words answer, and the other way round, with a warning. Invariant: same index, same
question, same results, whatever the machine.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from git_pkb.errors import ConfigError, ProviderError
from git_pkb.rank import files as file_rank
from git_pkb.rank import lexical, paths, query, vectors
from git_pkb.rank.results import FileResult, SearchResults
from git_pkb.rank.symbols import Scorer
from git_pkb.search import definitions
from git_pkb.search.refresh import CENSUS
from git_pkb.slotted import value
from git_pkb.tokens import Tokenizer

if TYPE_CHECKING:
    from git_pkb.cache.reader import CacheReader
    from git_pkb.outside import Asked
    from git_pkb.search.definitions import Looked
    from git_pkb.search.refresh import Current

HYBRID, SEMANTIC, KEYWORD = "hybrid", "semantic", "keyword"
_CANDIDATES = 250
_NEAREST = 300
_LEXICAL_PIECES = 12  # of a candidate file whose cosine is computed besides the nearest of all


@value
class SearchOptions:
    """What to search and how much to return. `scopes`: folders or files; `filters`: globs over paths.

    `outside`: whether sources outside the repository are asked too, unless files are narrowed down.
    """

    k: int = 5
    mode: str = HYBRID
    scopes: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kind: str | None = None
    symbols_per_file: int = 3
    text: bool = False
    outside: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether only some of the files are wanted."""
        return bool(self.scopes or self.filters or self.languages or self.kind)


@value
class Ranking:
    """Files best first, their definitions too; `weights`: of the question's terms, their sum 1.

    `scorer`: what scored the definitions, None when nothing was asked or there is nothing to ask.
    """

    files: "list[Looked]"
    weights: dict[str, float]
    mode: str
    warnings: tuple[str, ...]
    scorer: Scorer | None = None


def search(current: "Current", text: str, options: SearchOptions) -> SearchResults:
    """Answer a question."""
    tokenizer = Tokenizer()
    asked = _ask_outside(current, text, options)
    ranking = rank(current, text, options, tokenizer)
    results: tuple[FileResult, ...] = ()
    if ranking.files:
        from git_pkb.search.present import present

        results = present(current, ranking, options, tokenizer)
    more: tuple[str, ...] = ()
    if asked is not None:
        results, more = asked.fuse(results, options.k, options.symbols_per_file, text=options.text)
    return SearchResults(
        query=text,
        mode=ranking.mode,
        warnings=(*current.warnings, *ranking.warnings, *more),
        indexed_commit=current.indexed_commit,
        stale_files=current.stale_files,
        results=results,
    )


def _ask_outside(current: "Current", text: str, options: SearchOptions) -> "Asked | None":
    """Start to ask what is outside the repository; it answers while the files are ranked."""
    if not options.outside or options.narrowed or current.config is None or not text.strip():
        return None
    bases = current.config.search.knowledge_bases
    if not bases:
        return None
    from git_pkb.outside import ask

    return ask(bases, text, options.k * max(1, options.symbols_per_file))


def rank(current: "Current", text: str, options: SearchOptions, tokenizer: Tokenizer) -> Ranking:
    """Order the files that answer a question; at most `options.k` of them."""
    reader = current.reader
    question = query.parse(text, tokenizer)
    allowed = allow(reader, options)
    if not question.text or not reader.live_files or (allowed is not None and not allowed):
        return Ranking([], {}, options.mode, ())

    terms = lexical.match_terms(question, reader)
    mode, warnings = options.mode, []
    embedded: Sequence[float] | None = None
    local: Sequence[float] | None = None
    if mode != KEYWORD:
        try:
            embedded, local = embed_question(current, question, terms, tokenizer)
        except ProviderError as error:
            warnings.append(f"{error.message}; answered by keywords alone")
        if embedded is None:
            mode = KEYWORD

    matches = match(question, terms, reader, tokenizer) if mode != SEMANTIC else None
    candidates = file_rank.provisional(matches, reader, _CANDIDATES, allowed) if matches else []
    if not candidates and mode == HYBRID:
        matches = None  # no word of the question is in the index: meaning alone
    matrices = reader.matrices() if embedded is not None or local is not None else []
    near: dict[int, list[int]] = {}  # file -> its pieces among the nearest of all
    if embedded is not None:
        for piece in _nearest(current, matrices, embedded, allowed, warnings):
            near.setdefault(reader.piece_file[piece], []).append(piece)
    known = _candidates(reader, question, {*candidates, *near})
    details = _Details(current, question, terms, matches, tokenizer, matrices, embedded, local, near)
    share = file_rank.DENSE_SHARE_OF_NAME if question.is_name and matches is not None else 1.0
    scored = file_rank.best(matches, known, max(options.k, definitions.POOL), details, share)
    if not scored:
        return Ranking([], {}, mode, tuple(warnings))
    total = sum(term.weight for term in terms) or 1.0
    weights = {term.term: term.weight / total for term in terms}
    near_to = None
    if local is not None and mode != KEYWORD:
        from git_pkb.embed.nearness import Nearness

        near_to = Nearness(local).cosine
    scorer = Scorer(question, weights if matches is not None else {}, tokenizer, near_to)
    files = definitions.look_into(
        current, scored, matches, scorer, options.k, shown=options.symbols_per_file > 0
    )
    return Ranking(files, weights, mode, tuple(warnings), scorer)


def _nearest(
    current: "Current",
    matrices: Sequence[Any],
    embedded: Sequence[float],
    allowed: set[int] | None,
    warnings: list[str],
) -> Sequence[int]:
    """Pieces near the question: of the store, else (and where only some files count) of the vectors here."""
    if allowed is None and current.config is not None and current.config.store.provider != "tree":
        from git_pkb.index.storing import nearest

        try:
            return nearest(current, current.config, embedded, _NEAREST)
        except (ProviderError, ConfigError) as error:
            warnings.append(f"{error.message}; answered without the store")
    mask = current.reader.live if allowed is None else _mask(current.reader, allowed)
    return vectors.nearest(matrices, embedded, _NEAREST, mask)


def _candidates(
    reader: "CacheReader", question: query.Question, ids: Iterable[int]
) -> list[file_rank.Candidate]:
    census = paths.load_census(reader.facts.get(CENSUS))
    penalty = partial(
        paths.penalty,
        about_tests=question.about_tests,
        about_docs=question.about_docs,
        about_setup=question.about_setup,
        mostly_prose=census.mostly_prose,
        superseded=census.superseded(),
    )
    return [
        file_rank.Candidate(
            f.id, f.path, f.size, f.first, f.pieces, penalty(f.path), paths.path_share(f.path)
        )
        for f in reader.files(ids)
    ]


class _Details:
    """What is looked up of candidates once it is clear that they may be among the best."""

    def __init__(
        self,
        current: "Current",
        question: query.Question,
        terms: list[lexical.TermMatch],
        matches: lexical.Matches | None,
        tokenizer: Tokenizer,
        matrices: Sequence[Any],
        embedded: Sequence[float] | None,
        local: Sequence[float] | None,
        near: dict[int, list[int]],
    ) -> None:
        self.reader, self.question, self.terms, self.matches = current.reader, question, terms, matches
        self.tokenizer, self.matrices, self.embedded, self.local = tokenizer, matrices, embedded, local
        self.near = near
        self.rarity = file_rank.StemRarity(self.reader)

    def by_words(self, files: Sequence[file_rank.Candidate]) -> list[tuple[float, float]]:
        """Score of the whole file by words, and coverage of its stem."""
        if self.matches is None:
            return [(0.0, 0.0)] * len(files)
        spans = {file.id: (file.first, file.pieces) for file in files}
        whole = lexical.score_files(self.terms, self.matches.total, self.reader, spans)
        stems = [file_rank.stem_parts(file.path, self.tokenizer) for file in files]
        self.rarity.learn([part for parts in stems for part in parts])
        asked = self.question.terms
        return [
            (whole[file.id], file_rank.stem_coverage(parts, asked, self.rarity))
            for file, parts in zip(files, stems, strict=True)
        ]

    def by_meaning(self, files: Sequence[file_rank.Candidate]) -> tuple[dict[int, float], dict[int, float]]:
        """Cosines of the nearest pieces of these files and of their best by words; cosines of their paths."""
        content: dict[int, float] = {}
        if self.embedded is not None:
            wanted = {piece for file in files for piece in self.near.get(file.id, ())}
            if self.matches is not None:
                for file in files:
                    wanted.update(_best_pieces(self.matches.scores, file.first, file.pieces))
            content = vectors.cosines(self.matrices, self.embedded, wanted)
        if self.local is None:
            return content, {}
        return content, vectors.path_cosines(self.matrices, self.local, [file.id for file in files])


def match(
    question: query.Question, terms: list[lexical.TermMatch], reader: "CacheReader", tokenizer: Tokenizer
) -> lexical.Matches:
    """Score every piece by words, with the bonuses for definitions and joined words."""
    matches = lexical.score_pieces(terms, reader)
    file_rank.add_definition_bonus(question, matches, reader)
    file_rank.add_joined_bonus(matches, file_rank.joined_terms(question, tokenizer), reader)
    return matches


def embed_question(
    current: "Current", question: query.Question, terms: Sequence[lexical.TermMatch], tokenizer: Tokenizer
) -> tuple[Sequence[float] | None, Sequence[float] | None]:
    """The question's vector in the index's space, and in the local model's (for paths)."""
    from git_pkb.embed.local import LocalEmbedder, query_words

    if current.embedder is None:
        return None, None
    idf = {term.term: term.idf for term in terms}
    weights = {}
    for word in query_words(question.text):
        stem = tokenizer.stem(word)
        if stem in idf:
            weights[word] = idf[stem]
    local = LocalEmbedder().embed_query(question.text, weights)
    if (
        current.embedder.network
        or current.embedder.identity.split(":")[0] != LocalEmbedder().identity.split(":")[0]
    ):
        from git_pkb.search.space import require_same

        require_same(current.repo, current.embedder)
        return current.embedder.embed_query(question.text), local
    return local, local


def allow(reader: "CacheReader", options: SearchOptions) -> set[int] | None:
    """Ids of the files that scopes, globs, languages and kind let through; None when nothing is asked."""
    if not options.narrowed:
        return None
    from git_pkb.chunk.languages import is_code
    from git_pkb.globs import matcher

    scopes = [scope.strip("/") for scope in options.scopes]
    passes = matcher(options.filters)
    kept = set()
    for file in reader.files():
        path = file.path
        if scopes and not any(s in ("", ".") or path == s or path.startswith(s + "/") for s in scopes):
            continue
        if passes is not None and not passes(path):
            continue
        if options.languages and file.language not in options.languages:
            continue
        if options.kind and is_code(file.language) != (options.kind == "code"):
            continue
        kept.add(file.id)
    return kept


def _mask(reader: "CacheReader", allowed: Iterable[int]) -> bytearray:
    """A byte a piece: whether its file is allowed."""
    mask = bytearray(reader.pieces)
    for file in allowed:
        first, end = reader.file_first[file], reader.file_first[file + 1]
        mask[first:end] = b"\1" * (end - first)
    return mask


def _best_pieces(scores: Sequence[float], first: int, count: int) -> Sequence[int]:
    pieces = range(first, first + count)
    if count <= _LEXICAL_PIECES:
        return pieces
    return sorted(pieces, key=lambda piece: (-scores[piece], piece))[:_LEXICAL_PIECES]
