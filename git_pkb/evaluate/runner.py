"""Asks cases of one open index, in one process: hundreds of questions take seconds.

In: a `Current` index, cases, modes, and how an answer is printed (for its length). Out: a `Report`.
Invariant: every question goes the way `git pkb search` goes, so a score is that of the product.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from git_pkb.evaluate import metrics
from git_pkb.evaluate.baseline import BASELINE, Baseline
from git_pkb.evaluate.model import Asked, Case, Outcome, Report, Target
from git_pkb.rank.results import FileResult
from git_pkb.search.searcher import SearchOptions, search

if TYPE_CHECKING:
    from git_pkb.rank.results import SearchResults
    from git_pkb.search.refresh import Current

_NAMED = 3  # missing files that a warning lists


def run(
    current: "Current",
    cases: Sequence[Case],
    modes: Sequence[str],
    render: "Callable[[SearchResults], str]",
    *,
    source: str = "cases",
    symbols_per_file: int = 3,
    baseline: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Ask every case in every mode, and of plain BM25 with `baseline`."""
    weigher = _Weigher(current)
    plain = _baseline(current) if baseline else None
    warnings = dict.fromkeys(current.warnings)
    asked = []
    for number, case in enumerate(cases, 1):
        outcomes = {}
        for mode in modes:
            options = SearchOptions(
                k=max(case.top_k, metrics.DEPTH), mode=mode, symbols_per_file=symbols_per_file
            )
            answer = search(current, case.query, options)
            warnings.update(dict.fromkeys(answer.warnings))
            shown = replace(answer, results=answer.results[: case.top_k])
            outcomes[mode] = Outcome(
                metrics.values(answer.results, case),
                tuple(result.path for result in answer.results),
                metrics.tokens(render(shown)),
                weigher.tokens(shown.results),
            )
        if plain is not None:
            outcomes[BASELINE] = of_paths(plain.search(case.query, max(case.top_k, metrics.DEPTH)), case)
        expected = tuple(dict.fromkeys(target.path for target in case.files))
        asked.append(Asked(case.id, case.query, case.tags, expected, outcomes))
        if progress is not None:
            progress(number, len(cases))
    runs = (*modes, BASELINE) if baseline else tuple(modes)
    return Report(source, runs, tuple(asked), (*_missing(current, cases), *warnings))


def of_paths(paths: Sequence[str], case: Case) -> Outcome:
    """The outcome of a search that gives files alone."""
    results = [FileResult(path, 0.0, "", stale=False, summary="") for path in paths]
    whole = replace(case, files=tuple(Target(target.path) for target in case.files), symbols=())
    return Outcome(metrics.values(results, whole), tuple(paths))


def _baseline(current: "Current") -> Baseline:
    index = Baseline()
    for path, content in current.contents(current.reader.files()).items():
        index.put(path, content.decode("utf-8", "replace"))
    return index


class _Weigher:
    """Counts the tokens of whole files, each file once."""

    def __init__(self, current: "Current") -> None:
        self.current = current
        self.known: dict[str, int] = {}

    def tokens(self, results: "Iterable[FileResult]") -> int:
        paths = [result.path for result in results]
        new = [path for path in paths if path not in self.known]
        facts = [found for path in new if (found := self.current.reader.file_named(path)) is not None]
        for path, content in self.current.contents(facts).items():
            self.known[path] = metrics.tokens(content.decode("utf-8", "replace"))
        return sum(self.known.get(path, 0) for path in paths)


def _missing(current: "Current", cases: Sequence[Case]) -> list[str]:
    """A warning for expected files that are not in the index: they count as not found."""
    wanted = dict.fromkeys(target.path for case in cases for target in case.files)
    there = {file.path for file in current.reader.files()}
    ends = {path[at:] for path in there for at in _starts(path)}
    missing = [
        path for path in wanted if path not in ends and not any(path.endswith("/" + each) for each in there)
    ]
    if not missing:
        return []
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return [f"expected, but not in the index: {', '.join(missing[:_NAMED])}{more}"]


def _starts(path: str) -> list[int]:
    return [0, *(at + 1 for at, character in enumerate(path) if character == "/")]
