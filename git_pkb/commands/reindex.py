"""`git pkb reindex`: bring the index in line with HEAD or the staging area."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.index.indexer import Summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--staged", action="store_true", help="index the staging area and stage the artifacts"
    )
    parser.add_argument("--full", action="store_true", help="make every artifact anew")
    parser.add_argument(
        "--write", action="store_true", help="write artifacts whatever the workflow and the branch (for CI)"
    )
    parser.add_argument(
        "--max-reindex-cost",
        type=float,
        metavar="USD",
        help="most this run may cost; 0 or below: no limit",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument(
        "--fetch", action="store_true", help="in a partial clone: fetch what is missing, in one request"
    )
    parser.add_argument("--json", action="store_true", help="end with one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Run it; prints a line, or one JSON object."""
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.index import indexer
    from git_pkb.output.progress import Progress

    repo = discover(args.repo)
    summary = indexer.run(
        repo,
        config.load(repo),
        staged=args.staged,
        full=args.full,
        dry_run=args.dry_run,
        write=args.write,
        max_cost=args.max_reindex_cost,
        fetch=args.fetch,
        progress=Progress(),
    )
    for warning in summary.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    sys.stdout.write(as_json(summary) if args.json else as_text(summary))
    return 0


def as_json(summary: "Summary") -> str:
    """The object of design section 1."""
    from git_pkb.output.jsonout import dump

    fields = "files_added files_changed files_moved files_removed files_skipped".split()
    fields += ["chunks_embedded", "chunks_reused"]
    shown: dict[str, object] = {name: getattr(summary, name) for name in fields}
    shown |= {
        "cost_usd": round(summary.cost_usd, 6),
        "seconds": round(summary.seconds, 3),
        "files": summary.files,
        "chunks": summary.chunks,
        "indexed_commit": summary.commit,
        "written_to": "tree" if summary.to_tree else "cache",
        "dry_run": summary.dry_run,
        "warnings": summary.warnings,
    }
    return dump(shown)


def as_text(summary: "Summary") -> str:
    """One or two lines for people."""
    s = summary
    if not s.changed:
        rest = f", {s.files_skipped:,} skipped" if s.files_skipped else ""
        return f"up to date: {_plural(s.files, 'file')}, {_plural(s.chunks, 'piece')}{rest}\n"
    counts = [
        (s.files_added, "added"), (s.files_changed, "changed"), (s.files_moved, "moved"),
        (s.files_removed, "removed"), (s.files_skipped, "skipped"),
    ]  # fmt: skip
    files = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    verb = "would index" if s.dry_run else "indexed"
    cost = f", ${s.cost_usd:.4f}" if s.cost_usd else ""
    where = "" if s.to_tree else " into the cache"
    return (
        f"{verb} {_plural(s.files, 'file')}, {_plural(s.chunks, 'piece')}{where}: {files}\n"
        f"{s.chunks_embedded:,} embedded, {s.chunks_reused:,} reused in {s.seconds:.1f} s{cost}\n"
    )


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
