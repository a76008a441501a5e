"""The values of an evaluation: questions, what answers them, how an answer scored.

In: nothing. Out: frozen dataclasses. Invariant: a path is relative to the top of the repository; lines are
1-based and inclusive; a metric that does not apply to a question is missing from its scores, never zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

DEFAULT_TOP_K = 10

#: name in JSON -> heading in tables; all are means over questions, 0 to 1, more is better.
METRICS = {
    "ndcg10": "NDCG@10",
    "recall": "recall@k",
    "mrr": "MRR",
    "symbol_recall": "symbol recall",
    "symbol_mrr": "symbol MRR",
    "symbol_mrr_by_score": "symbol MRR by score",
}


@dataclass(frozen=True, slots=True)
class Target:
    """A file that answers a question, or some lines of it (then a listed piece must overlap them)."""

    path: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class SymbolTarget:
    """A piece that answers a question: by name (`load`, `Config.load`), by lines of a file, or both."""

    name: str | None = None
    path: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A question and its answers. `id` tells it from others when two evaluations are compared."""

    id: str
    query: str
    files: tuple[Target, ...]
    symbols: tuple[SymbolTarget, ...] = ()
    tags: tuple[str, ...] = ()
    top_k: int = DEFAULT_TOP_K


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one way of searching answered to one question.

    `values`: metric -> value, those that apply; `found`: the paths, best first; `returned`, `read`: tokens of
    the answer as printed, and of the files it names (0 where that was not measured).
    """

    values: Mapping[str, float]
    found: tuple[str, ...] = ()
    returned: int = 0
    read: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its outcome in every run."""

    id: str
    query: str
    tags: tuple[str, ...]
    expected: tuple[str, ...]
    outcomes: Mapping[str, Outcome]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric in two runs over the same questions; `low`, `high`: 95 % interval of `difference`."""

    metric: str
    run: str
    other: str
    questions: int
    value: float
    other_value: float
    low: float
    high: float
    tag: str | None = None

    @property
    def difference(self) -> float:
        """How much better `run` is than `other`."""
        return self.value - self.other_value


@dataclass(frozen=True, slots=True)
class Report:
    """A finished evaluation. `runs`: the ways of searching; `left_out`: reason -> commits not asked."""

    source: str
    runs: tuple[str, ...]
    asked: tuple[Asked, ...]
    warnings: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    comparisons: tuple[Comparison, ...] = ()
