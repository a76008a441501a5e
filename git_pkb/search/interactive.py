"""`git pkb search -i`: the picker over this repository's index.

In: a repository, its settings, the options of the search, the first question. Out: an exit code; what was
picked stands on stdout as `PATH:LINE`, or is open in git's editor. Invariant: the screen is drawn on the
terminal itself, so that stdout may be a pipe.
"""

import os
import posixpath
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from git_pkb.errors import UsageError
from git_pkb.search.picker import Item, Picked, Picker, check, items_of

if TYPE_CHECKING:
    from git_pkb.git import Repository
    from git_pkb.search.refresh import Current
    from git_pkb.search.searcher import SearchOptions

FOUND, NOTHING = 0, 1
MOST_FILES = 30


def run(repo: "Repository", found: "Current", options: "SearchOptions", query: str, *, given_k: bool) -> int:
    """Pick a piece; 1 when nothing was picked. `given_k`: `options.k` was asked for, else it is more here."""
    from dataclasses import replace

    check()
    if not (sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())):
        raise UsageError(
            "there is no terminal for the interactive search", "leave out -i, or run it in a terminal"
        )
    options = replace(options, k=options.k if given_k else MOST_FILES, text=False)
    picker = Picker(Searching(found, options), lambda item: _source(found, item), query, output=_screen())
    picked = picker.run()
    return NOTHING if picked is None else finish(repo, picked)


class Searching:
    """Answers questions in the picker's thread, with a reader of its own: SQLite ties one to its thread."""

    def __init__(self, found: "Current", options: "SearchOptions") -> None:
        self._found, self._options = found, options
        self._own: Current | None = None

    def __call__(self, text: str) -> list[Item]:
        """Lines for a question."""
        from git_pkb.search.searcher import search

        if self._own is None:
            from dataclasses import replace

            from git_pkb.cache.reader import open_reader

            reader = open_reader(self._found.reader.folder)
            if reader is None:
                return []
            self._own = replace(self._found, reader=reader, config=None)  # nothing far away at every key
        return items_of(search(self._own, text, self._options).results)


def _source(found: "Current", item: Item) -> str:
    """The lines of a piece, as they are now."""
    from git_pkb.search.reading import content_of

    file = found.reader.file_named(item.path)
    content = content_of(found, file) if file is not None else None
    if content is None:
        return ""
    lines = content.decode("utf-8", "replace").split("\n")
    return "\n".join(line.removesuffix("\r") for line in lines[item.lines[0] - 1 : item.lines[1]])


def _screen() -> Any:
    """Where to draw: stdout, or the terminal behind stderr when stdout is a pipe."""
    if sys.stdout.isatty():
        return None
    from prompt_toolkit.output import create_output

    return create_output(stdout=sys.stderr)


def finish(repo: "Repository", picked: Picked) -> int:
    """Print what was picked, or open it in the editor git would use."""
    item = picked.item
    if not picked.edit:
        from git_pkb.output.terminal import quote_path

        path = posixpath.relpath(item.path, repo.prefix) if repo.prefix else item.path
        print(f"{quote_path(path)}:{item.lines[0]}")
        return FOUND
    editor = repo.git("var", "GIT_EDITOR", check=False).decode("utf-8", "surrogateescape").strip() or "vi"
    full = os.path.join(repo.workdir or "", item.path)
    return FOUND if _edit(editor, item.lines[0], full) == 0 else NOTHING


def _edit(editor: str, line: int, path: str) -> int:
    """Run the editor, which is a line of shell, as for git."""
    place = [f"+{line}"] if _takes_line(editor) else []
    return subprocess.run(["sh", "-c", f'{editor} "$@"', editor, *place, path], check=False).returncode


def _takes_line(editor: str) -> bool:
    name = os.path.basename(editor.split()[0]) if editor.split() else ""
    return name in {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "kak", "joe", "micro", "ed"}
