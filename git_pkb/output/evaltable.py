"""An evaluation as a table for people.

In: a `Report` and a `Terminal`. Out: text. Invariant: columns are as wide as they must be, numbers have
three digits, and a difference whose interval holds zero is not coloured: it may be chance.
"""

from collections.abc import Sequence

from git_pkb.evaluate.model import METRICS, Asked, Comparison, Report
from git_pkb.evaluate.report import of_tag, summary, tags
from git_pkb.output.terminal import BOLD, DIM, GREEN, RED, Terminal, display_width, safe

_HEADINGS = {**METRICS, "compression": "returned/read"}
_WORST = 5


def table(report: Report, terminal: Terminal, *, worst: int = 0) -> str:
    """The whole report; `worst`: how many of the poorest questions of the first run to list."""
    blocks = [_heading(report)]
    if len(report.runs) == 1:
        blocks.append(_by_tag(report, report.runs[0], terminal))
    else:
        blocks.append(_by_run(report, terminal))
        if tags(report):
            blocks.append(_runs_by_tag(report, terminal))
    if report.comparisons:
        blocks.append(_comparisons(report.comparisons, terminal))
    if worst:
        blocks.append(_poorest(report, worst))
    if report.left_out:
        blocks.append(_left_out(report))
    return "\n".join(blocks)


def _heading(report: Report) -> str:
    count = len(report.asked)
    return f"{count:,} question{'' if count == 1 else 's'} from {safe(report.source)}\n"


def _by_tag(report: Report, run: str, terminal: Terminal) -> str:
    """Rows: all questions, then each tag."""
    groups: list[tuple[str, list[Asked]]] = [(run, list(report.asked))]
    groups += [(tag, of_tag(report, tag)) for tag in tags(report)]
    means = [summary(asked, run) for _, asked in groups]
    metrics = [metric for metric in _HEADINGS if any(metric in mean for mean in means)]
    rows = [["", "questions", *(_HEADINGS[metric] for metric in metrics)]]
    for (name, asked), mean in zip(groups, means, strict=True):
        rows.append([safe(name), str(len(asked)), *(_number(mean.get(metric)) for metric in metrics)])
    return grid(rows, terminal)


def _by_run(report: Report, terminal: Terminal) -> str:
    means = {run: summary(report.asked, run) for run in report.runs}
    metrics = [metric for metric in _HEADINGS if any(metric in mean for mean in means.values())]
    rows = [["", *(_HEADINGS[metric] for metric in metrics)]]
    rows += [[run, *(_number(mean.get(metric)) for metric in metrics)] for run, mean in means.items()]
    return grid(rows, terminal)


def _runs_by_tag(report: Report, terminal: Terminal) -> str:
    rows = [["NDCG@10", "questions", *report.runs]]
    for tag in tags(report):
        asked = of_tag(report, tag)
        means = [summary(asked, run).get("ndcg10") for run in report.runs]
        rows.append([safe(tag), str(len(asked)), *map(_number, means)])
    return grid(rows, terminal)


def _comparisons(comparisons: Sequence[Comparison], terminal: Terminal) -> str:
    """A block for each pair of runs."""
    pairs = dict.fromkeys((c.run, c.other) for c in comparisons)
    return "\n".join(
        _pair([c for c in comparisons if (c.run, c.other) == (run, other)], safe(run), safe(other), terminal)
        for run, other in pairs
    )


def _pair(comparisons: Sequence[Comparison], run: str, other: str, terminal: Terminal) -> str:
    rows = [[f"{run} against {other}", "questions", other, run, "difference", "95 % interval"]]
    colours: list[tuple[str, ...]] = [()]
    for c in comparisons:
        name = METRICS[c.metric] + (f", {safe(c.tag)}" if c.tag else "")
        numbers = [f"{c.other_value:.3f}", f"{c.value:.3f}", f"{c.difference:+.3f}"]
        rows.append([name, str(c.questions), *numbers, f"[{c.low:+.3f}, {c.high:+.3f}]"])
        colours.append((GREEN,) if c.low > 0 else (RED,) if c.high < 0 else ())
    return grid(rows, terminal, colours)


def _poorest(report: Report, count: int) -> str:
    run = report.runs[0]
    ranked = sorted(report.asked, key=lambda asked: asked.outcomes[run].values.get("ndcg10", 1.0))
    lines = [f"poorest answers ({run}):\n"]
    for asked in ranked[:count]:
        outcome = asked.outcomes[run]
        lines.append(f"  {_number(outcome.values.get('ndcg10'))}  {safe(asked.query)}\n")
        lines.append(f"         wanted {safe(', '.join(asked.expected))}\n")
        lines.append(f"         found  {safe(', '.join(outcome.found[:3])) or 'nothing'}\n")
    return "".join(lines)


def _left_out(report: Report) -> str:
    total = sum(report.left_out.values())
    reasons = sorted(report.left_out.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{total:,} commits were not asked:\n"]
    return "".join([*lines, *(f"  {count:>6,}  {reason}\n" for reason, count in reasons)])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def grid(rows: Sequence[Sequence[str]], terminal: Terminal, colours: Sequence[tuple[str, ...]] = ()) -> str:
    """Rows as columns: the first flush left, the others right; the first row is the heading."""
    widths = [max(display_width(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        cells = [cell + " " * (widths[0] - display_width(cell)) if at == 0 else cell.rjust(widths[at])
                 for at, cell in enumerate(row)]  # fmt: skip
        line = "  ".join(cells).rstrip()
        codes = (DIM,) if number == 0 else colours[number] if colours else (BOLD,) if number == 1 else ()
        lines.append((terminal.paint(line, *codes) if codes else line) + "\n")
    return "".join(lines)
