"""`git pkb eval`: measure search on one's own questions, or on the repository's own past."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from git_pkb.errors import CannotWrite, UsageError

if TYPE_CHECKING:
    from git_pkb.evaluate.model import Case, Report
    from git_pkb.git import Repository

MODES = ("hybrid", "semantic", "keyword")
NOTHING, DONE = 1, 0
_HISTORY = 100  # questions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "cases",
        metavar="CASES.json",
        nargs="?",
        help="questions with the files (and symbols) that answer them",
    )
    parser.add_argument(
        "--history", metavar="N", type=int, nargs="?", const=_HISTORY,
        help=f"ask what the last N suitable commits say, at their parents (default: {_HISTORY})",
    )  # fmt: skip
    parser.add_argument(
        "--all-files", action="store_true", help="with --history: tests, docs and lock files are answers, too"
    )
    parser.add_argument("--mode", choices=MODES, help="which rankings count (default: hybrid; history: each)")
    parser.add_argument(
        "--compare",
        metavar="OTHER",
        help="a former --json output, or a second mode: differences with intervals",
    )
    parser.add_argument(
        "--baseline", action="store_true", help="ask plain BM25 as well (--history always does)"
    )
    parser.add_argument("--worst", metavar="N", type=int, default=0, help="list the N poorest answers")
    parser.add_argument("--plot", metavar="FILE.html", help="write a chart as well")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Ask, then print the table or the object; 1 when there was nothing to ask."""
    if (args.cases is None) == (args.history is None):
        raise UsageError(
            "give a file of cases, or --history", "git pkb eval CASES.json, or git pkb eval --history"
        )
    if args.all_files and args.history is None:
        raise UsageError("--all-files is about --history")
    if args.history is not None and args.history < 1:
        raise UsageError("--history must be at least 1")

    from git_pkb.evaluate import cases, report
    from git_pkb.git import discover

    other = args.compare if args.compare in MODES else None
    former = report.load(args.compare) if args.compare and other is None else None
    asked = cases.read(args.cases) if args.cases is not None else []
    repo = discover()
    result = _history(repo, args, other) if args.history is not None else _cases(repo, args, asked, other)
    if former is not None:
        result = report.compare_former(result, former, args.compare)
    _show(args, result)
    return DONE if result.asked else NOTHING


def _cases(repo: "Repository", args: argparse.Namespace, asked: "list[Case]", other: str | None) -> "Report":
    from git_pkb import config as settings
    from git_pkb.evaluate.baseline import BASELINE
    from git_pkb.evaluate.report import compare_runs
    from git_pkb.evaluate.runner import run as ask
    from git_pkb.output import jsonout
    from git_pkb.search.refresh import current, request_for
    from git_pkb.search.snapshot import start_status

    status = start_status(repo)
    config = settings.load(repo)
    mode = args.mode or config.search.mode
    modes = list(dict.fromkeys([mode, *([other] if other else [])]))
    if args.compare and len(modes) == 1 and other:
        raise UsageError(f"both are {mode}", "name another mode with --mode or --compare")
    found = current(repo, request_for(repo, config), status, say=_say)
    with found.reader:
        result = ask(
            found, asked, modes, jsonout.search, source=os.path.basename(args.cases),
            symbols_per_file=config.search.symbols_per_file, baseline=args.baseline,
            progress=_progress,
        )  # fmt: skip
    others = [*([other] if other else []), *([BASELINE] if args.baseline else [])]
    for each in others:
        result = compare_runs(result, mode, each)
    return result


def _history(repo: "Repository", args: argparse.Namespace, other: str | None) -> "Report":
    from git_pkb import config as settings
    from git_pkb.evaluate.history import choose, mostly_prose
    from git_pkb.evaluate.replay import RUNS, replay
    from git_pkb.evaluate.report import compare_runs
    from git_pkb.location import cache_dir
    from git_pkb.search.refresh import request_for

    if repo.head() is None:
        raise UsageError("there is no commit yet", "`git pkb eval CASES.json` measures without a history")
    past = choose(repo, args.history, prose=mostly_prose(repo), all_files=args.all_files)
    modes = tuple(dict.fromkeys([args.mode, *([other] if other else [])])) if args.mode else RUNS
    request = request_for(repo, settings.load(repo))
    result = replay(
        repo, request, past, cache_dir(repo), modes,
        source=f"the last {len(past.questions)} suitable commits", progress=_progress,
    )  # fmt: skip
    first, *others = result.runs
    for each in [other] if other and other in others else others:
        result = compare_runs(result, first, each)
    return result


def _show(args: argparse.Namespace, result: "Report") -> None:
    if args.plot:
        from git_pkb.output.evalplot import page

        try:
            with open(args.plot, "w", encoding="utf-8", errors="replace") as out:
                out.write(page(result))
        except OSError as error:
            raise CannotWrite(f"cannot write {args.plot}: {error.strerror}") from None
    if args.json:
        from git_pkb.evaluate.report import fields
        from git_pkb.output import jsonout

        sys.stdout.write(jsonout.dump(fields(result)))
    else:
        from git_pkb.output.evaltable import table
        from git_pkb.output.terminal import of_stream

        sys.stdout.write(table(result, of_stream(args.color), worst=args.worst))
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _progress(done: int, every: int) -> None:
    """A counter on one line, for a person who waits."""
    if sys.stderr.isatty():
        end = "\r\x1b[K" if done == every else ""
        print(f"\r{done:,} of {every:,} questions{end}", end="", file=sys.stderr, flush=True)
