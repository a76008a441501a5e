"""`git pkb check`: verify the index against the tree, and mend it."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.index.checker import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--fix", action="store_true", help="mend what is found: `reindex`, damage included")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """List what is wrong; 1 when there is something, unless it was mended."""
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.index import checker, indexer
    from git_pkb.output.progress import Progress

    repo = discover(args.repo)
    settings = config.load(repo)
    report = checker.check(repo, settings)
    fixed = False
    if args.fix and report.problems:
        indexer.run(repo, settings, distrust=report.damaged, progress=Progress())
        fixed = not checker.check(repo, settings).problems
    if args.json:
        sys.stdout.write(as_json(report, fixed))
    else:
        sys.stdout.write(as_text(report, fixed))
        if report.problems and not args.fix:
            sys.stderr.write("hint: mend with `git pkb check --fix`\n")
    return 1 if report.problems and not fixed else 0


def as_json(report: "Report", fixed: bool) -> str:
    """One object."""
    from git_pkb.output.jsonout import dump, path_fields

    problems = [{**path_fields(p.path), "what": p.what, "reason": p.reason} for p in report.problems]
    return dump({"files": report.files, "fixed": fixed, "problems": problems})


def as_text(report: "Report", fixed: bool) -> str:
    """A line each."""
    from git_pkb.output.terminal import quote_path, safe

    lines = [f"{p.what}: {quote_path(p.path)}: {safe(p.reason)}" for p in report.problems]
    count = len(report.problems)
    if not count:
        lines.append(f"{report.files:,} artifacts, all sound and in line with HEAD")
    elif fixed:
        lines.append(f"mended {count:,}")
    else:
        lines.append(
            f"{count:,} of {report.files:,} to mend" if count <= report.files else f"{count:,} to mend"
        )
    return "\n".join(lines) + "\n"
