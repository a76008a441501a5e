"""`git pkb stats`: what is indexed, how current it is, what it takes, and what was skipped."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.index.stats import Stats

_LANGUAGES_SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--skipped", action="store_true", help="list every tracked file that is not indexed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print it."""
    from git_pkb import config
    from git_pkb.git import discover
    from git_pkb.index import stats

    repo = discover(args.repo)
    found = stats.collect(repo, config.load(repo))
    sys.stdout.write(as_json(found, args.skipped) if args.json else as_text(found, args.skipped))
    for line in (*found.warnings, *found.hooks):
        sys.stderr.write(f"warning: {line}\n")
    return 0


def as_json(stats: "Stats", skipped: bool) -> str:
    """One object; with `skipped` every file and its reason, else counts by reason."""
    import dataclasses

    from git_pkb.output.jsonout import dump, path_fields

    fields = {f.name: getattr(stats, f.name) for f in dataclasses.fields(stats) if f.name != "skipped"}
    fields |= {"hooks": list(stats.hooks), "warnings": list(stats.warnings), "current": stats.current}
    fields["files_skipped"] = len(stats.skipped)
    fields["skipped_by_reason"] = _reasons(stats)
    if skipped:
        fields["skipped"] = [{**path_fields(skip.path), "reason": skip.reason} for skip in stats.skipped]
    return dump(fields)


def as_text(stats: "Stats", skipped: bool) -> str:
    """For people."""
    from git_pkb.output.terminal import quote_path, safe

    if skipped:
        return "".join(f"{quote_path(skip.path)}: {safe(skip.reason)}\n" for skip in stats.skipped)
    index = stats.meta_bytes + stats.vec_bytes
    languages = [f"{name} {count:,}" for name, count in stats.languages.items()]
    more = len(languages) - _LANGUAGES_SHOWN
    rows = [
        ("indexed", f"{stats.files:,} files, {stats.chunks:,} pieces"),
        ("languages", ", ".join(languages[:_LANGUAGES_SHOWN]) + (f", and {more} more" if more > 0 else "")),
        ("state", _state(stats)),
        ("commit", stats.indexed_commit or "none"),
        ("model", _model(stats)),
        ("workflow", f"{stats.workflow}: artifacts go into the {stats.written_to}"),
        (
            "in the work tree",
            f"{_size(index)} ({_size(stats.meta_bytes)} text, {_size(stats.vec_bytes)} vectors)",
        ),
        (
            "of the source",
            f"{index / stats.source_bytes:.0%} of {_size(stats.source_bytes)}"
            if index and stats.source_bytes
            else "",
        ),
        ("in git's store", _size(stats.pack_bytes) if stats.pack_bytes else "not committed"),
        ("cache", f"{_size(stats.cache_bytes)} in {safe(stats.cache)}"),
        ("skipped", ", ".join(f"{count:,} {reason}" for reason, count in _reasons(stats).items())),
    ]
    shown = [(name, safe(value)) for name, value in rows if value]
    width = max(len(name) for name, _ in shown)
    return "".join(f"{name:<{width}}  {value}\n" for name, value in shown)


def _state(stats: "Stats") -> str:
    counts = [
        (stats.missing, "missing"),
        (stats.stale, "stale"),
        (stats.left_over, "left over"),
        (stats.damaged, "damaged"),
    ]
    found = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    if not found:
        return "in line with HEAD"
    if not stats.files and not stats.damaged and stats.written_to == "tree":
        return f"{found}: searches use the cache alone; `git pkb reindex` writes artifacts"
    return f"{found}; `git pkb reindex` brings it in line"


def _model(stats: "Stats") -> str:
    if stats.model is None or stats.model == stats.wanted_model:
        return stats.wanted_model
    return f"{stats.model}; the settings ask for {stats.wanted_model}: the next reindex embeds everything"


def _reasons(stats: "Stats") -> dict[str, int]:
    counts: dict[str, int] = {}
    for skip in stats.skipped:
        counts[skip.reason] = counts.get(skip.reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}" if unit != "B" else f"{count:.0f} B"
        count = count / 1000
    return f"{count:.3g} GB"
