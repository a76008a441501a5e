"""`git pkb estimate`: what the next and a full reindex would cost; nothing is sent and no key is needed."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.index.costing import Forecast
    from git_pkb.index.indexer import Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--staged", action="store_true", help="of the staging area instead of HEAD")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print it."""
    from git_pkb import config, trust
    from git_pkb.git import discover
    from git_pkb.index import indexer

    repo = discover(args.repo)
    settings = config.load(repo)
    plans = {
        "next": indexer.estimate(repo, settings, staged=args.staged),
        "full": indexer.estimate(repo, settings, staged=args.staged, full=True),
    }
    cap = settings.max_reindex_cost
    sys.stdout.write(as_json(plans, cap) if args.json else as_text(plans, cap))
    for warning in plans["next"][0].warnings:
        sys.stderr.write(f"warning: {warning}\n")
    untrusted = trust.untrusted(settings, repo)
    if untrusted:
        sys.stderr.write(f"note: {trust.explain(untrusted)}; reindex asks for `{trust.COMMAND}` first\n")
    return 0


def as_json(plans: "dict[str, tuple[Summary, Forecast]]", cap: float) -> str:
    """One object: `next` and `full`, each with what it would embed and cost, item by item."""
    import dataclasses

    from git_pkb.net.cost import PRICES_AS_OF
    from git_pkb.output.jsonout import dump

    shown: dict[str, object] = {
        name: {
            "files": summary.files_added + summary.files_changed + summary.files_moved,
            "chunks_to_embed": forecast.new,
            "chunks_reused": forecast.reused,
            "tokens": forecast.estimate.tokens,
            "cost_usd": round(forecast.estimate.usd, 6),
            "items": [
                {**dataclasses.asdict(line), "usd": round(line.usd, 6)} for line in forecast.estimate.lines
            ],
        }
        for name, (summary, forecast) in plans.items()
    }
    shown |= {"max_reindex_cost": cap, "above_cap": _is_above(plans["next"][1], cap)}
    return dump({**shown, "prices_as_of": PRICES_AS_OF})


def as_text(plans: "dict[str, tuple[Summary, Forecast]]", cap: float) -> str:
    """For people: each run with its items, then the cap and where the numbers come from."""
    from git_pkb.net.cost import PRICES_AS_OF, money, report
    from git_pkb.net.tokencount import RULE

    lines = []
    for name, (_, forecast) in plans.items():
        estimate = forecast.estimate
        lines.append(
            f"{name} reindex: {money(estimate.usd)}, {forecast.new:,} new, {forecast.reused:,} reused"
        )
        lines += [f"  {line}" for line in report(estimate)]
    if any(line.usd for _, forecast in plans.values() for line in forecast.estimate.lines):
        limit = f"stops above {money(cap)}" if cap > 0 else "has no cap"
        above = ": the next run would stop" if _is_above(plans["next"][1], cap) else ""
        lines.append(f"reindex {limit} (maxReindexCost){above}")
        exact = all(line.exact for _, forecast in plans.values() for line in forecast.estimate.lines)
        counted = "the model's own tokenizer" if exact else f"a rule: {RULE}"
        lines.append(f"prices as of {PRICES_AS_OF}; tokens counted by {counted}")
    return "".join(f"{line}\n" for line in lines)


def _is_above(forecast: "Forecast", cap: float) -> bool:
    return 0 < cap < forecast.estimate.usd
