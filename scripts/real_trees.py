#!/usr/bin/env python3
"""Index real repositories, ask each five questions with known answers, print a Markdown table.

In: folders of checked-out repositories whose names stand in real_trees.toml (others are only indexed and
timed). Out: a row each: files, pieces, seconds and peak memory of the index, seconds of a run without a
change and of a search as a whole process, bytes of artifacts against source, ranks of the right files.
Works on a clone of each (`git clone --shared`), so the folder itself is not touched.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

COLUMNS = (
    "repository", "files", "pieces", "index s", "peak MB", "no change s", "search s", "artifacts / source",
    "ranks",
)  # fmt: skip
QUESTIONS = Path(__file__).with_suffix(".toml")


def run(*command: str, cwd: Path) -> tuple[float, str]:
    """Seconds and stdout of one command; exits 0 and 1 are answers."""
    started = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()[-400:]}")
    return seconds, done.stdout


def measure(source: Path, questions: dict[str, list[str]], scratch: Path) -> list[str]:
    """Index and search one repository."""
    place = scratch / source.name
    subprocess.run(["git", "clone", "--quiet", "--shared", str(source), str(place)], check=True)
    indexed, printed = run("git", "pkb", "reindex", "--json", cwd=place)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    summary = json.loads(printed)
    again = min(run("git", "pkb", "reindex", cwd=place)[0] for _ in range(3))
    run("git", "pkb", "search", "warm", cwd=place)
    ranks, times = [], []
    for question, answers in questions.items():
        seconds, printed = run("git", "pkb", "search", "--json", "-k", "20", "--", question, cwd=place)
        found = [result["path"] for result in json.loads(printed)["results"]]
        ranks.append(next((str(i) for i, path in enumerate(found, 1) if path in answers), "-"))
        times.append(seconds)
    if not times:
        times = [run("git", "pkb", "search", "--json", "open a file", cwd=place)[0] for _ in range(5)]
    artifacts = sum(f.stat().st_size for f in (place / ".pkb/index").rglob("*") if f.is_file())
    share = artifacts / max(1, source_bytes(place))
    pieces = summary["chunks_embedded"] + summary["chunks_reused"]
    row = [source.name, f"{summary['files_added']:,}", f"{pieces:,}", f"{indexed:.1f}", f"{peak / 1024:.0f}"]
    row += [f"{again:.2f}", f"{statistics.median(times):.2f}", f"{share:.2f}", " ".join(ranks)]
    return row


def source_bytes(place: Path) -> int:
    """Bytes of the files that have an artifact."""
    index = place / ".pkb/index"
    found = (place / str(meta.relative_to(index))[: -len(".meta")] for meta in index.rglob("*.meta"))
    return sum(path.stat().st_size for path in found if path.is_file())


def main() -> None:
    """Measure the folders on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    args = parser.parse_args()
    known = tomllib.loads(QUESTIONS.read_text())
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["GIT_PKB_CACHE_DIR"] = str(Path(scratch, "cache"))
        for folder in args.folders:
            row = measure(folder.resolve(), known.get(folder.name, {}), Path(scratch))
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
