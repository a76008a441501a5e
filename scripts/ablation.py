#!/usr/bin/env python3
"""What each signal of the file score is worth: NDCG@10 without it, on every yardstick.

    scripts/ablation.py --bench REPOS --annotations CASES --history REPO… --docs REPO… --symbols REPO…

Each question is asked once, and the features of its candidates are kept; taking a signal out sets its weight
to 0 and orders the same candidates again, the other weights unchanged; a refit could make up for a part.
`--dump FILE` writes the features, for experiments with weights that need no index.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from pathlib import Path

from yardsticks import add_folders, cases_of, folders, label

from git_pkb import config as settings
from git_pkb.evaluate import history, metrics
from git_pkb.evaluate.bootstrap import interval
from git_pkb.evaluate.model import Target
from git_pkb.evaluate.replay import MovingIndex
from git_pkb.git import discover
from git_pkb.location import cache_dir
from git_pkb.output.evaltable import grid
from git_pkb.output.terminal import of_stream
from git_pkb.rank.files import WEIGHTS
from git_pkb.rank.results import FileResult
from git_pkb.search.refresh import Current, current, request_for
from git_pkb.search.searcher import SearchOptions, rank
from git_pkb.search.snapshot import start_status
from git_pkb.tokens import Tokenizer

CANDIDATES = 60  # of each question that are kept; what is below never comes into the first ten
#: Signals that are about the same thing, taken out together.
GROUPS = {
    "all of the path": ("stem hit", "stem cover", "folder hit", "path"),
    "all of meaning": ("content", "path"),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One question: the files wanted, and the candidates with their features in the order of WEIGHTS."""

    yardstick: str
    repository: str
    query: str
    wanted: tuple[str, ...]
    candidates: tuple[tuple[str, tuple[float, ...]], ...]

    def ndcg(self, weights: Sequence[float]) -> float:
        """NDCG@10 when the candidates are ordered by these weights."""
        scored = sorted(
            (-round(sum(map(mul, weights, features)), 6), path) for path, features in self.candidates
        )
        best = [FileResult(path, 0.0, "", stale=False, summary="") for _, path in scored[: metrics.DEPTH]]
        return metrics.ndcg(metrics.file_ranks(best, [Target(path) for path in self.wanted]))


def sample(
    kind: str, name: str, query: str, wanted: Sequence[str], index: Current, words: Tokenizer
) -> Sample:
    """Ask one question and keep what it was answered by."""
    scored = [each.scored for each in rank(index, query, SearchOptions(k=CANDIDATES), words).files]
    candidates = tuple((each.file.path, tuple(each.features)) for each in scored)
    return Sample(kind, name, query, tuple(wanted), candidates)


def collect(args: argparse.Namespace, work: Path) -> Iterator[Sample]:
    """Every question of every yardstick."""
    words = Tokenizer()
    for kind, folder in folders(args):
        print(f"{kind} {label(folder)}", file=sys.stderr)
        if kind == "history":
            repo = discover(str(folder))
            past = history.choose(repo, args.count, prose=history.mostly_prose(repo))
            request = request_for(repo, settings.load(repo))
            moving = MovingIndex(repo, request, str(Path(cache_dir(repo)) / "eval"))
            for question in past.questions:
                index = moving.at(question.parent)
                with index.reader as reader:
                    wanted = [path for path in question.targets if reader.file_named(path)]
                    if wanted:
                        yield sample(kind, label(folder), question.query, wanted, index, words)
            continue
        place, cases = cases_of(kind, folder, args, work)
        repo = discover(str(place))
        index = current(repo, request_for(repo, settings.load(repo)), start_status(repo))
        with index.reader:
            for case in cases:
                wanted = [target.path for target in case.files]
                yield sample(kind, label(folder), case.query, wanted, index, words)


def variants() -> Mapping[str, Mapping[str, float]]:
    """Name of what is taken out -> the weights then."""
    alone = {name: {**WEIGHTS, name: 0.0} for name in WEIGHTS}
    return alone | {name: WEIGHTS | dict.fromkeys(group, 0.0) for name, group in GROUPS.items()}


def rows(samples: Sequence[Sample]) -> list[list[str]]:
    """The table: what is taken out, and for each yardstick the change with its interval."""
    kinds = list(dict.fromkeys(each.yardstick for each in samples))
    table = [["without", *(part for kind in kinds for part in (kind, "95 % interval"))]]
    whole = {
        kind: [each.ndcg(list(WEIGHTS.values())) for each in samples if each.yardstick == kind]
        for kind in kinds
    }
    first = ["nothing"]
    for values in whole.values():
        first += [f"{sum(values) / len(values):.3f}", f"{len(values)} questions"]
    table.append(first)
    for name, weights in variants().items():
        row = [name]
        for kind in kinds:
            now = [each.ndcg(list(weights.values())) for each in samples if each.yardstick == kind]
            changes = [a - b for a, b in zip(now, whole[kind], strict=True)]
            low, high = interval(changes)
            row += [f"{sum(changes) / len(changes):+.3f}", f"[{low:+.3f}, {high:+.3f}]"]
        table.append(row)
    return table


def main() -> int:
    """Collect and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_folders(parser)
    parser.add_argument("--dump", type=Path, help="write the samples as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        samples = list(collect(args, args.work or Path(temporary)))
    if args.dump:
        fields = [{name: getattr(each, name) for name in Sample.__slots__} for each in samples]
        args.dump.write_text(json.dumps({"features": list(WEIGHTS), "samples": fields}))
    print(grid(rows(samples), of_stream()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
