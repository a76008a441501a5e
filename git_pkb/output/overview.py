"""An overview as text and as JSON.

In: an `Overview`. Out: text for people and agents alike, or the fields of one JSON object. Invariant: the
text is the same for a pipe and a terminal but for colours; nothing in it can control a terminal.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from git_pkb.output.jsonout import path_fields
from git_pkb.output.terminal import BOLD, CYAN, DIM, MAGENTA, Terminal, display_width, pad, quote_path, safe

if TYPE_CHECKING:
    from git_pkb.overview.values import Folder, Overview

_WIDEST = 48


def text(overview: "Overview", terminal: Terminal) -> str:
    """The whole overview."""
    parts = [_head(overview, terminal)]
    if overview.folders:
        parts.append(_folders(overview, terminal))
    if overview.entry_points:
        rows = [(quote_path(entry.path), safe(entry.what)) for entry in overview.entry_points]
        parts.append(_section("Entry points", rows, terminal))
    if overview.symbols:
        rows = [
            (f"{safe(symbol.name)}", f"{symbol.kind}, {quote_path(symbol.path)}:{symbol.line}")
            for symbol in overview.symbols
        ]
        parts.append(_section("Most referenced", rows, terminal))
    return "\n".join(parts)


def _head(overview: "Overview", terminal: Terminal) -> str:
    counts = f"{_count(overview.files, 'file')}, {_count(overview.pieces, 'piece')}"
    languages = ", ".join(f"{name} {number:,}" for name, number in overview.languages)
    where = f"{safe(quote_path(overview.below))}/: " if overview.below else ""
    lines = [terminal.paint(f"{where}{counts}", BOLD) + (f" ({languages})" if languages else "")]
    if overview.keywords:
        lines.append(f"about: {_words(overview.keywords)}")
    if overview.opening:
        lines += ["", safe(overview.opening)]
    return "".join(f"{line}\n" for line in lines)


def _folders(overview: "Overview", terminal: Terminal) -> str:
    names = [f"{'  ' * folder.level}{safe(quote_path(folder.path))}/" for folder in overview.folders]
    column = min(max(map(display_width, names)), _WIDEST)
    digits = max(len(f"{folder.files:,}") for folder in overview.folders)
    lines = [terminal.paint("Folders", BOLD) + " (files below, words that tell them apart)"]
    for name, folder in zip(names, overview.folders, strict=True):
        number = terminal.paint(f"{folder.files:,}".rjust(digits), CYAN)
        lines.append(
            f"  {terminal.paint(pad(name, column), MAGENTA)} {number}  {_words(folder.keywords)}".rstrip()
        )
        if folder.opening:
            lines.append(f"  {'  ' * folder.level}  {terminal.paint(safe(folder.opening), DIM)}")
    if overview.folders_left_out:
        lines.append(terminal.paint(f"  … and {_count(overview.folders_left_out, 'more folder')}", DIM))
    return "".join(f"{line}\n" for line in lines)


def _section(title: str, rows: Sequence[tuple[str, str]], terminal: Terminal) -> str:
    column = min(max(display_width(name) for name, _ in rows), _WIDEST)
    lines = [terminal.paint(title, BOLD)]
    lines += [f"  {terminal.paint(pad(name, column), MAGENTA)}  {note}".rstrip() for name, note in rows]
    return "".join(f"{line}\n" for line in lines)


def _words(words: Sequence[str]) -> str:
    return safe(", ".join(words))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def as_json(overview: "Overview") -> dict[str, object]:
    """The fields of the JSON object."""
    return {
        "folder": overview.below,
        "files": overview.files,
        "pieces": overview.pieces,
        "languages": [{"language": name, "files": number} for name, number in overview.languages],
        "keywords": list(overview.keywords),
        "opening": overview.opening,
        "folders": [_folder(folder) for folder in overview.folders],
        "folders_left_out": overview.folders_left_out,
        "entry_points": [{**path_fields(entry.path), "what": entry.what} for entry in overview.entry_points],
        "symbols": [
            {
                "name": symbol.name,
                "kind": symbol.kind,
                **path_fields(symbol.path),
                "line": symbol.line,
                "files": symbol.files,
            }
            for symbol in overview.symbols
        ],
    }


def _folder(folder: "Folder") -> dict[str, object]:
    return {
        **path_fields(folder.path),
        "files": folder.files,
        "level": folder.level,
        "keywords": list(folder.keywords),
        "opening": folder.opening,
    }
