"""What an evaluation says as a whole: means per run and per tag, comparisons, and the way to JSON and back.

In: a `Report`, maybe a former one. Out: summaries, comparisons, plain values for JSON. Raises UsageError
for a former report that cannot be compared. Invariant: `load` gives back what `fields` wrote, as far as a
comparison needs it; numbers in JSON have 6 digits.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from git_pkb.errors import UsageError
from git_pkb.evaluate.bootstrap import interval
from git_pkb.evaluate.model import METRICS, Asked, Comparison, Outcome, Report

DIGITS = 6
FORMER = "former "


def tags(report: Report) -> list[str]:
    """All tags, in alphabetical order."""
    return sorted({tag for asked in report.asked for tag in asked.tags})


def of_tag(report: Report, tag: str | None) -> list[Asked]:
    """The questions with a tag; all when None."""
    return [asked for asked in report.asked if tag is None or tag in asked.tags]


def summary(questions: Iterable[Asked], run: str) -> dict[str, float]:
    """Means of a run: each metric that applies anywhere, and `compression` (tokens returned / read)."""
    outcomes = [asked.outcomes[run] for asked in questions if run in asked.outcomes]
    means: dict[str, float] = {}
    for metric in METRICS:
        found = [outcome.values[metric] for outcome in outcomes if metric in outcome.values]
        if found:
            means[metric] = math.fsum(found) / len(found)
    read = sum(outcome.read for outcome in outcomes)
    if read:
        means["compression"] = sum(outcome.returned for outcome in outcomes) / read
    return means


def compare_runs(report: Report, run: str, other: str) -> Report:
    """The report with comparisons of two of its runs, as a whole and per tag."""
    found = list(report.comparisons)
    for tag in (None, *tags(report)):
        questions = of_tag(report, tag)
        metrics = METRICS if tag is None else ("ndcg10",)
        for metric in metrics:
            pairs = [
                (a, b)
                for asked in questions
                if (a := _value(asked, run, metric)) is not None
                and (b := _value(asked, other, metric)) is not None
            ]
            if pairs:
                found.append(_comparison(metric, run, other, pairs, tag))
    return replace(report, comparisons=tuple(found))


def compare_former(report: Report, former: Report, name: str) -> Report:
    """The report with comparisons against a former one, run by run over the questions both have."""
    known = {asked.id: asked for asked in former.asked}
    common = [asked for asked in report.asked if asked.id in known]
    if not common:
        raise UsageError(f"{name} has none of these questions", "compare evaluations of the same cases")
    warnings = list(report.warnings)
    missing = len(report.asked) - len(common)
    if missing or len(common) < len(former.asked):
        warnings.append(f"compared over the {len(common)} questions that {name} has as well")
    together = []
    pairs = [
        (run, run if run in former.runs else former.runs[0])
        for run in report.runs
        if run in former.runs or len(report.runs) == 1
    ]
    for asked in common:
        theirs = {FORMER + run: outcome for run, outcome in known[asked.id].outcomes.items()}
        together.append(replace(asked, outcomes={**asked.outcomes, **theirs}))
    joined = Report(report.source, report.runs, tuple(together))
    for run, other in pairs:
        joined = compare_runs(joined, run, FORMER + other)
    return replace(report, warnings=tuple(warnings), comparisons=(*report.comparisons, *joined.comparisons))


def _value(asked: Asked, run: str, metric: str) -> float | None:
    outcome = asked.outcomes.get(run)
    return None if outcome is None else outcome.values.get(metric)


def _comparison(
    metric: str, run: str, other: str, pairs: Sequence[tuple[float, float]], tag: str | None
) -> Comparison:
    low, high = interval([a - b for a, b in pairs])
    count = len(pairs)
    return Comparison(
        metric, run, other, count,
        math.fsum(a for a, _ in pairs) / count, math.fsum(b for _, b in pairs) / count,
        low, high, tag,
    )  # fmt: skip


def fields(report: Report) -> dict[str, Any]:
    """The report as plain values for JSON."""
    return {
        "source": report.source,
        "questions": len(report.asked),
        "warnings": list(report.warnings),
        "left_out": dict(report.left_out),
        "runs": {
            run: {
                "overall": _rounded(summary(report.asked, run)),
                "tags": {
                    tag: {
                        "questions": len(of_tag(report, tag)),
                        **_rounded(summary(of_tag(report, tag), run)),
                    }
                    for tag in tags(report)
                },
            }
            for run in report.runs
        },
        "comparisons": [_comparison_fields(comparison) for comparison in report.comparisons],
        "cases": [
            {
                "id": asked.id,
                "query": asked.query,
                "tags": list(asked.tags),
                "expected": list(asked.expected),
                "runs": {run: _outcome_fields(outcome) for run, outcome in asked.outcomes.items()},
            }
            for asked in report.asked
        ],
    }


def _comparison_fields(c: Comparison) -> dict[str, Any]:
    numbers = {"value": c.value, "other_value": c.other_value, "difference": c.difference}
    return {
        "metric": c.metric, "run": c.run, "other": c.other, "tag": c.tag, "questions": c.questions,
        **_rounded(numbers), "interval": [round(c.low, DIGITS), round(c.high, DIGITS)],
    }  # fmt: skip


def _outcome_fields(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {**_rounded(outcome.values), "found": list(outcome.found)}
    if outcome.read:
        fields |= {"tokens_returned": outcome.returned, "tokens_read": outcome.read}
    return fields


def _rounded(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, DIGITS) for name, value in numbers.items()}


def load(path: str) -> Report:
    """A report that a former run wrote with `--json`."""
    try:
        with open(path, encoding="utf-8") as source:
            return parse(json.load(source), path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise _not_a_report(path) from None


def parse(data: Any, name: str) -> Report:
    """What `fields` gave, as far as a comparison needs it; `name` is for messages."""
    try:
        asked = tuple(
            Asked(
                item["id"], item["query"], tuple(item["tags"]), tuple(item["expected"]),
                {run: _outcome(outcome) for run, outcome in item["runs"].items()},
            )
            for item in data["cases"]
        )  # fmt: skip
        return Report(data["source"], tuple(data["runs"]), asked)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _not_a_report(name) from None


def _outcome(fields: Mapping[str, Any]) -> Outcome:
    return Outcome({m: float(fields[m]) for m in METRICS if m in fields}, tuple(fields["found"]))


def _not_a_report(name: str) -> UsageError:
    return UsageError(
        f"{name} is not the output of `git pkb eval --json`", "make one: git pkb eval … --json > FILE"
    )
