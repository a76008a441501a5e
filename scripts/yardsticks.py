#!/usr/bin/env python3
"""All yardsticks of search quality over folders of repositories, as tables.

    scripts/yardsticks.py --bench REPOS --annotations CASES --history REPO… --docs REPO… --symbols REPO…

bench    questions with labelled files: CASES/<name>.json about REPOS/<name>
history  what commits say against the files they changed, at their parents
docs     a heading asks for its section, the heading removed
symbols  the first sentence of a doc comment asks for its definition, the comment removed
(of docs and symbols, REPO::FOLDER takes a part of a repository)

Each is asked in every mode and of plain BM25. `--compare FILE` sets the result against a former `--out FILE`,
with intervals. Nothing is written into the repositories except their cache; the derived ones lie in `--work`,
which is kept for the next time.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from git_pkb import config as settings
from git_pkb.evaluate import cases as case_files
from git_pkb.evaluate import derive, history, replay, report, runner
from git_pkb.evaluate.model import Asked, Case, Report
from git_pkb.git import discover
from git_pkb.location import cache_dir
from git_pkb.output import jsonout
from git_pkb.output.evaltable import table
from git_pkb.output.terminal import of_stream
from git_pkb.search.refresh import current, request_for
from git_pkb.search.snapshot import start_status


def ask(folder: Path, cases: Sequence[Case], modes: Sequence[str]) -> Report:
    """The cases asked of one repository, its cache brought in line first."""
    repo = discover(str(folder))
    found = current(repo, request_for(repo, settings.load(repo)), start_status(repo))
    with found.reader:
        return runner.run(found, cases, modes, jsonout.search, baseline=True)


def ask_history(folder: Path, count: int, modes: Sequence[str], *, all_files: bool) -> Report:
    """The past of one repository."""
    repo = discover(str(folder))
    past = history.choose(repo, count, prose=history.mostly_prose(repo), all_files=all_files)
    return replay.replay(repo, request_for(repo, settings.load(repo)), past, cache_dir(repo), modes)


def derived(kind: str, folder: Path, work: Path, most: int) -> tuple[Path, list[Case]]:
    """A derived repository of one kind and its cases, made unless `work` has it."""
    where, _, below = str(folder).partition("::")
    place = work / kind / label(folder)
    listed = place.with_name(place.name + ".cases.json")
    if not listed.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        make = derive.docs if kind == "docs" else derive.symbols
        listed.write_text(case_files.dump(make(discover(where), str(place), most, below)))
    return place, [] if listed.read_text() == "[]\n" else case_files.read(str(listed))


def label(folder: Path) -> str:
    """The name of a repository in tables; with the part of it that was asked for."""
    where, _, below = str(folder).partition("::")
    return "-".join([Path(where).resolve().name, *below.strip("/").split("/")[-1:]]).strip("-")


def merged(kind: str, parts: Sequence[tuple[str, Report]]) -> Report:
    """Reports of several repositories as one; each repository is a tag."""
    asked: list[Asked] = []
    left_out: dict[str, int] = {}
    for name, part in parts:
        for each in part.asked:
            tags = (name, *each.tags) if kind == "bench" else (name,)
            asked.append(replace(each, id=f"{name}: {each.id}", tags=tags))
        for reason, count in part.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + count
    runs = parts[0][1].runs
    return Report(kind, runs, tuple(asked), (), left_out)


def overall(result: Report) -> Report:
    """The report with its first run compared with each other one, as a whole."""
    for other in result.runs[1:]:
        result = report.compare_runs(result, result.runs[0], other)
    return replace(result, comparisons=tuple(c for c in result.comparisons if c.tag is None))


def add_folders(parser: argparse.ArgumentParser) -> None:
    """The options that say what to ask, and how much."""
    parser.add_argument("--bench", type=Path, help="folder of repositories")
    parser.add_argument("--annotations", type=Path, help="folder of cases, one file a repository of --bench")
    for kind in ("history", "docs", "symbols"):
        parser.add_argument(f"--{kind}", type=Path, nargs="*", default=[], metavar="REPO")
    parser.add_argument("--count", type=int, default=100, help="questions a repository of --history")
    parser.add_argument(
        "--most", type=int, default=100, help="questions a repository of --docs and --symbols"
    )
    parser.add_argument("--work", type=Path, help="folder for derived repositories (default: temporary)")


def folders(args: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """Every yardstick with each of its repositories."""
    if args.bench:
        names = sorted(file.stem for file in args.annotations.glob("*.json"))
        yield from (("bench", args.bench / name) for name in names if (args.bench / name / ".git").exists())
    for kind in ("history", "docs", "symbols"):
        yield from ((kind, folder) for folder in getattr(args, kind))


def cases_of(kind: str, folder: Path, args: argparse.Namespace, work: Path) -> tuple[Path, list[Case]]:
    """Where to ask, and what; not for history."""
    if kind == "bench":
        return folder, case_files.read(str(args.annotations / f"{folder.name}.json"))
    return derived(kind, folder, work, args.most)


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_folders(parser)
    parser.add_argument(
        "--all-files", action="store_true", help="history: tests and docs are answers as well"
    )
    parser.add_argument("--modes", nargs="*", default=list(replay.RUNS), choices=replay.RUNS)
    parser.add_argument("--worst", type=int, default=0, help="poorest answers to list")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", type=Path)
    args = parser.parse_args()
    former = json.loads(args.compare.read_text()) if args.compare else {}
    parts: dict[str, list[tuple[str, Report]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for kind, folder in folders(args):
            started = time.perf_counter()
            if kind == "history":
                part = ask_history(folder, args.count, args.modes, all_files=args.all_files)
            else:
                part = ask(*cases_of(kind, folder, args, args.work or Path(temporary)), args.modes)
            seconds = time.perf_counter() - started
            print(f"{kind} {label(folder)}: {len(part.asked)} questions, {seconds:.1f} s", file=sys.stderr)
            parts.setdefault(kind, []).append((label(folder), part))
    results = {}
    for kind, each in parts.items():
        result = merged(kind, each)
        if kind in former:
            before = report.parse(former[kind], str(args.compare))
            result = report.compare_former(result, before, str(args.compare))
            result = replace(result, comparisons=tuple(c for c in result.comparisons if c.tag is None))
        else:
            result = overall(result)
        results[kind] = report.fields(result)
        print(table(result, of_stream(), worst=args.worst), flush=True)
    if args.out:
        args.out.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
