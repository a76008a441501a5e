"""`.pkb/state.toml`: format, model and cutter of the index, and which commit it was brought in line with.

In: bytes of the file. Out: a `State`, and bytes again. Invariant: only `reindex` of HEAD sets the marker
(commit, files, chunks), so that branches which write by the hook never disagree about this file.
"""

import re

from git_pkb.errors import NewerFormat
from git_pkb.slotted import value

NAME = ".pkb/state.toml"
FORMAT = 1

_LINE = re.compile(r'(\w+) = (?:"([^"\\]*)"|([0-9]{1,12}))\s*')
_TEXTS = ("model", "cutter", "commit")
_NUMBERS = ("format", "files", "chunks")


@value
class State:
    """The tracked state; `commit` is None where only hooks have written."""

    model: str
    cutter: str
    commit: str | None = None
    files: int = 0
    chunks: int = 0
    format: int = FORMAT


def parse(data: bytes) -> State | None:
    """Read the file; None for one that says nothing usable. Raises `NewerFormat`.

    The program writes it line by line, so no TOML parser is needed (8 ms of imports in each hook); what a
    merge left in it that is not such a line is passed over.
    """
    found: dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        if match := _LINE.fullmatch(line):
            found.setdefault(match[1], match[2] if match[2] is not None else match[3])
    numbers = {name: found.get(name, "") for name in _NUMBERS}
    if not numbers["format"].isdigit():
        return None
    number = int(numbers["format"])
    if number > FORMAT:
        raise NewerFormat(
            f"the index has format {number}, this git pkb reads up to {FORMAT}",
            "upgrade git-pkb (pip install --upgrade git-pkb); the index was left as it is",
        )
    commit = found.get("commit")
    return State(
        model=found.get("model", ""),
        cutter=found.get("cutter", ""),
        commit=commit if commit and re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", commit) else None,
        files=int(numbers["files"]) if numbers["files"].isdigit() else 0,
        chunks=int(numbers["chunks"]) if numbers["chunks"].isdigit() else 0,
        format=number,
    )


def render(state: State) -> bytes:
    """Write the file."""
    lines = [
        "# Written by `git pkb reindex`; `git pkb stats` shows it.",
        f"format = {state.format}",
        f'model = "{state.model}"',
        f'cutter = "{state.cutter}"',
    ]
    if state.commit is not None:
        lines += ["", "[marker]", f'commit = "{state.commit}"', f"files = {state.files}"]
        lines += [f"chunks = {state.chunks}"]
    return ("\n".join(lines) + "\n").encode()
