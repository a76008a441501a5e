"""Asks a past's questions where they arose: an index that moves from parent to parent, oldest first.

In: a repository and its `Past`. Out: a `Report` of keyword, semantic and hybrid search and of plain BM25.
Invariant: history is walked once, each step costs what changed; the user's own cache and work tree are
never touched.

The index lives in `eval/` of the cache and is kept, so that the next evaluation starts from it.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError
from git_pkb.evaluate.baseline import BASELINE, Baseline
from git_pkb.evaluate.history import Past, PastQuestion
from git_pkb.evaluate.model import DEFAULT_TOP_K, Asked, Case, Report, Target
from git_pkb.evaluate.runner import of_paths
from git_pkb.search.refresh import Current, Request
from git_pkb.search.refresher import Refresher
from git_pkb.search.searcher import HYBRID, KEYWORD, SEMANTIC, SearchOptions, rank
from git_pkb.search.snapshot import WorkTree
from git_pkb.tokens import Tokenizer

if TYPE_CHECKING:
    from git_pkb.cache.reader import CacheReader
    from git_pkb.git import Repository
    from git_pkb.git.reader import ObjectReader

RUNS = (HYBRID, KEYWORD, SEMANTIC)
_FOLDER = "eval"


def free(request: Request) -> tuple[Request, tuple[str, ...]]:
    """The request with an embedder that costs nothing: nobody wants to pay for a hundred states."""
    if request.recipe.cheap:
        return request, ()
    from git_pkb.config import EmbeddingConfig, SummarizerConfig
    from git_pkb.index.recipe import open_recipe

    config = replace(request.config, embedding=EmbeddingConfig(), summarizer=SummarizerConfig())
    return replace(request, config=config, recipe=open_recipe(config)), (
        "measured with the local model: the configured one costs money or needs a network",
    )


def replay(
    repo: "Repository",
    request: Request,
    past: Past,
    folder: str,
    modes: Sequence[str] = RUNS,
    *,
    source: str = "history",
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Ask every question at its commit's parent. `folder`: the cache this index may live below."""
    request, warnings = free(request)
    if request.recipe.embedder is None:
        modes = (KEYWORD,)  # provider `none`: there is no meaning to search by
    moving = MovingIndex(repo, request, os.path.join(folder, _FOLDER))
    baseline = _Follower(repo)
    left_out = Counter(past.left_out)
    tokenizer = Tokenizer()
    asked = []
    for number, question in enumerate(past.questions, 1):
        current = moving.at(question.parent)
        with current.reader as reader:
            there = baseline.follow(reader)
            targets = [path for path in question.targets if path in there]
            if targets:
                asked.append(_ask(current, question, targets, modes, baseline.index, tokenizer))
            else:
                left_out["changes only files that are not indexed"] += 1
        if progress is not None:
            progress(number, len(past.questions))
    return Report(source, (*modes, BASELINE), tuple(asked), warnings, dict(sorted(left_out.items())))


def _ask(
    current: Current,
    question: PastQuestion,
    targets: Sequence[str],
    modes: Sequence[str],
    baseline: Baseline,
    tokenizer: Tokenizer,
) -> Asked:
    case = Case(question.commit, question.query, tuple(Target(path) for path in targets))
    found = {}
    for mode in modes:
        options = SearchOptions(k=DEFAULT_TOP_K, mode=mode)
        found[mode] = [each.facts.path for each in rank(current, question.query, options, tokenizer).files]
    found[BASELINE] = baseline.search(question.query, DEFAULT_TOP_K)
    outcomes = {run: of_paths(paths, case) for run, paths in found.items()}
    return Asked(case.id, case.query, (), tuple(targets), outcomes)


def _silent(line: str) -> None:
    """What the refresher says of each step is of no interest."""
    del line


class MovingIndex:
    """A cache of its own that can be brought to any commit."""

    def __init__(self, repo: "Repository", request: Request, folder: str) -> None:
        self.repo, self.request, self.folder = repo, request, folder
        self.made_of = request.made_of()

    def at(self, commit: str) -> Current:
        """The index of a commit's tree, open; close its reader."""
        from git_pkb.cache.reader import open_reader

        tree = WorkTree(commit, {})
        Refresher(self.repo, self.request, self.folder, tree, self.made_of, "", _silent, None).run()
        reader = open_reader(self.folder)
        if reader is None:
            raise PkbError(f"the cache in {self.folder} could not be opened after it was made")
        return Current(self.repo, reader, self.request.recipe.embedder, commit, 0, committed=True)


def _text(objects: "ObjectReader", blob: str) -> str:
    """A blob as text; `""` when this clone does not have it."""
    try:
        return objects.blob(blob).decode("utf-8", "replace")
    except PkbError:
        return ""


class _Follower:
    """Keeps the baseline's files equal to those of the index."""

    def __init__(self, repo: "Repository") -> None:
        self.repo = repo
        self.index = Baseline()
        self.blobs: dict[str, str] = {}

    def follow(self, reader: "CacheReader") -> set[str]:
        """Take over what changed; gives the paths that are indexed."""
        now = {file.path: file.blob for file in reader.files()}
        for path in self.blobs.keys() - now.keys():
            self.index.drop(path)
        objects = self.repo.reader()
        for path, blob in now.items():
            if self.blobs.get(path) != blob:
                self.index.put(path, _text(objects, blob))
        self.blobs = now
        return set(now)
