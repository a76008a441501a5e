"""An evaluation as a chart: one HTML file with inline SVG that needs no network and no script.

In: a `Report`. Out: HTML. Invariant: every text that comes from a repository or a file of cases is escaped;
the page refers to nothing outside of itself.
"""

import html
import math
from collections.abc import Sequence

from git_pkb.evaluate.model import METRICS, Comparison, Report
from git_pkb.evaluate.report import of_tag, summary, tags

_COLOURS = ("#2563eb", "#d97706", "#059669", "#7c3aed", "#64748b")
_LEFT, _PLOT, _RIGHT, _BAR, _GAP = 190, 520, 80, 15, 14
_MOST_TAGS = 30
_STEPS = 10  # of the histogram

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root {{ color-scheme: light dark; --ink: #1e293b; --soft: #64748b; --line: #cbd5e1; --page: #fff }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e2e8f0; --soft: #94a3b8; --line: #475569; --page: #0f172a }}
}}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 820px; padding: 0 1rem;
  color: var(--ink); background: var(--page) }}
h1 {{ font-size: 1.3rem }} h2 {{ font-size: 1rem; margin: 2rem 0 .3rem }}
svg {{ width: 100%; height: auto }} svg text {{ font: 12px system-ui, sans-serif; fill: var(--ink) }}
svg text.soft {{ fill: var(--soft) }} svg line {{ stroke: var(--line) }} p {{ color: var(--soft) }}
</style></head><body>
<h1>{title}</h1>
<p>{legend}</p>
{charts}
</body></html>
"""


def page(report: Report) -> str:
    """The whole page."""
    count = len(report.asked)
    title = f"{count:,} question{'' if count == 1 else 's'} from {html.escape(report.source)}"
    means = {run: summary(report.asked, run) for run in report.runs}
    metrics = [metric for metric in METRICS if any(metric in mean for mean in means.values())]
    groups = [(METRICS[m], [means[run].get(m) for run in report.runs]) for m in metrics]
    charts = [_section("Means", _bars(groups))]
    if tags(report):
        by_tag = [(f"{tag} ({len(of_tag(report, tag))})", _of_tag(report, tag)) for tag in tags(report)]
        charts.append(_section("NDCG@10 by tag", _bars(by_tag[:_MOST_TAGS])))
    if report.comparisons:
        charts.append(_section("Differences with 95 % intervals", _intervals(report.comparisons)))
    charts.append(_section("How many questions scored how much (NDCG@10)", _histogram(report)))
    return _PAGE.format(title=title, legend=_legend(report.runs), charts="\n".join(charts))


def _of_tag(report: Report, tag: str) -> list[float | None]:
    asked = of_tag(report, tag)
    return [summary(asked, run).get("ndcg10") for run in report.runs]


def _section(title: str, chart: str) -> str:
    return f"<h2>{title}</h2>\n{chart}"


def _legend(runs: Sequence[str]) -> str:
    return " &nbsp; ".join(
        f'<span style="color:{_colour(i)}">&#9632;</span> {html.escape(run)}' for i, run in enumerate(runs)
    )


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _svg(height: float, parts: Sequence[str], label: str) -> str:
    width = _LEFT + _PLOT + _RIGHT
    box = f'viewBox="0 0 {width} {height:.0f}" role="img" aria-label="{label}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, style: str = "") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {style}/>'


def _bars(groups: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """A group of bars for each name, one bar a run, on a scale from 0 to 1."""
    parts: list[str] = []
    y = 8.0
    for name, numbers in groups:
        height = len(numbers) * _BAR
        parts.append(_text(_LEFT - 10, y + height / 2 + 4, _short(name), "end"))
        for number, value in enumerate(numbers):
            if value is None:
                continue
            top = y + number * _BAR
            bar = f'x="{_LEFT}" y="{top:.1f}" width="{max(value, 0) * _PLOT:.1f}" height="{_BAR - 2}"'
            parts.append(f'<rect {bar} fill="{_colour(number)}"/>')
            parts.append(_text(_LEFT + value * _PLOT + 6, top + _BAR - 4, f"{value:.3f}", kind="soft"))
        y += height + _GAP
    for tenth in range(0, 11, 2):
        x = _LEFT + _PLOT * tenth / 10
        parts.insert(0, _line(x, 4, x, y - 4))
        parts.append(_text(x, y + 10, f"{tenth / 10:g}", "middle", "soft"))
    return _svg(y + 18, parts, "bars")


def _intervals(comparisons: Sequence[Comparison]) -> str:
    """A dot and its interval for each comparison; the line in the middle is no difference."""
    reach = max([0.01, *(abs(end) for c in comparisons for end in (c.low, c.high, c.difference))])
    middle, scale = _LEFT + _PLOT / 2, _PLOT / 2 / reach
    parts: list[str] = []
    y = 10.0
    for c in comparisons:
        name = METRICS[c.metric] + (f", {c.tag}" if c.tag else "")
        sure = c.low > 0 or c.high < 0
        colour = "#64748b" if not sure else "#059669" if c.difference > 0 else "#dc2626"
        parts.append(f"<g><title>{html.escape(f'{c.run} - {c.other}')}</title>")
        parts.append(_text(_LEFT - 10, y + 9, _short(name), "end"))
        ends = middle + c.low * scale, middle + c.high * scale
        parts.append(_line(ends[0], y + 5, ends[1], y + 5, f'style="stroke:{colour};stroke-width:2"'))
        parts.append(
            f'<circle cx="{middle + c.difference * scale:.1f}" cy="{y + 5:.1f}" r="4" fill="{colour}"/>'
        )
        parts.append(_text(_LEFT + _PLOT + 8, y + 9, f"{c.difference:+.3f}", kind="soft"))
        parts.append(_text(_LEFT + 4, y + 9, _short(f"{c.run} - {c.other}"), kind="soft") + "</g>")
        y += 22
    parts.insert(0, _line(middle, 4, middle, y))
    return _svg(y + 8, parts, "differences")


def _histogram(report: Report) -> str:
    """Lines over ten steps of NDCG@10, one a run."""
    height, base = 150.0, 165.0
    counts = []
    for run in report.runs:
        column = [0] * (_STEPS + 1)
        for asked in report.asked:
            value = asked.outcomes[run].values.get("ndcg10") if run in asked.outcomes else None
            if value is not None:
                column[min(_STEPS, math.floor(value * _STEPS + 1e-9))] += 1
        counts.append(column)
    most = max(1, *(number for column in counts for number in column))
    steps = [(_LEFT + _PLOT * step / _STEPS, f"{step / _STEPS:g}") for step in range(_STEPS + 1)]
    parts = [_line(_LEFT, base, _LEFT + _PLOT, base)]
    parts += [_text(x, base + 15, label, "middle", "soft") for x, label in steps]
    for number, column in enumerate(counts):
        points = " ".join(
            f"{_LEFT + _PLOT * step / _STEPS:.1f},{base - height * count / most:.1f}"
            for step, count in enumerate(column)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{_colour(number)}" stroke-width="2"/>')
    parts.append(_text(_LEFT - 10, base - height + 4, f"{most:,}", "end", "soft"))
    return _svg(base + 24, parts, "histogram")


def _short(text: str) -> str:
    return text if len(text) <= 26 else text[:25] + "…"
