"""Marked insertions into files of others: hook scripts, lefthook's and pre-commit's configuration.

In: the text of a file. Out: the text with our part in it, or None where it is not clear how to put it in
(then the person is shown what to add). Invariant: no line of the file is changed, `without_block` gives
them all back.
"""

import re

from git_pkb.hooks.hookfile import BEGIN, END, HOOKS, block, call

_SHELLS = re.compile(r"#!.*\b(sh|bash|dash|zsh|ksh)\b")
#: Lines after these are not reached: a script that ends by itself is not appended to.
_ENDS = re.compile(r"(exec|exit|return)\b")
_TOP_KEY = re.compile(r"[^\s#'\"-][^:]*:(\s|$)")


def has_block(text: str) -> bool:
    """Whether our marked lines are in the text."""
    return any(line.strip() == BEGIN for line in text.splitlines())


def without_block(text: str) -> str:
    """The text without our marked lines."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.strip() == BEGIN:
            inside = True
        if not inside:
            kept.append(line)
        if line.strip() == END:
            inside = False
    return "".join(kept)


def into_script(text: str | None, name: str) -> str | None:
    """A hook script (None: there is none yet) with our line at its end."""
    if text is None:
        return f"#!/bin/sh\n{block(name)}"
    text = without_block(text)
    lines = text.splitlines()
    if lines and lines[0].startswith("#!") and not _SHELLS.match(lines[0]):
        return None
    if any(_ENDS.match(line) for line in lines) or "\r\n" in text:
        return None
    return _ended(text) + block(name)


def into_lefthook(text: str) -> str | None:
    """lefthook.yml with a command in pre-commit, and in those of our other hooks it has anyway.

    Not in all: lefthook prints a banner for each hook it runs, after every commit and every `git add` then.
    """
    lines = _ended(without_block(text)).splitlines(keepends=True)
    for name in HOOKS:
        start = _section(lines, name)
        if start is None:
            if name not in lefthook_hooks(text):
                continue
            return None  # written in one line, or quoted
        place = _place_in(lines, start)
        if place is None:
            return None
        at, indent, listed = place
        entry = _lefthook_entry(name, indent, listed=listed)
        lines[at:at] = [f"{line}\n" for line in (f"{indent}{BEGIN}", *entry, f"{indent}{END}")]
    if _section(lines, "pre-commit") is None:
        new = [BEGIN, "pre-commit:", "  commands:", *_lefthook_entry("pre-commit", "    "), END]
        lines += [f"{line}\n" for line in new]
    return "".join(lines)


def lefthook_hooks(text: str) -> list[str]:
    """Those of our hooks that a lefthook.yml already has a section for."""
    keys = {line.split(":", 1)[0].strip("\"' ") for line in without_block(text).splitlines() if ":" in line}
    return [name for name in HOOKS if name in keys]


def _section(lines: list[str], name: str) -> int | None:
    """The number of the line that begins a hook's section."""
    return next((i for i, line in enumerate(lines) if re.match(rf"{name}:\s*(#.*)?$", line)), None)


def _lefthook_entry(name: str, indent: str, *, listed: bool = False) -> list[str]:
    """One command of lefthook, as a key of `commands:` or an item of `jobs:`.

    Commands without a priority run last, in the order of their names: ours is to see what formatters staged.
    """
    run = call(name).replace("$1", "{1}")  # lefthook's own placeholder of the first argument
    if listed:
        return [f"{indent}- name: git-pkb", f"{indent}  run: |", f"{indent}    {run}"]
    return [f"{indent}zz-git-pkb:", f"{indent}  run: |", f"{indent}    {run}"]


def _place_in(lines: list[str], start: int) -> tuple[int, str, bool] | None:
    """Where in the section at `start` an entry goes: line number, its indent, whether in a list."""
    end = _section_end(lines, start)
    for number in range(start + 1, end):
        if not (match := re.match(r"(\s+)(commands|jobs):\s*(#.*)?$", lines[number])):
            continue
        first = next((line for line in lines[number + 1 : end] if line.strip()), "")
        indent = first[: len(first) - len(first.lstrip())]
        listed = match[2] == "jobs"
        if len(indent) < len(match[1]) + (0 if listed else 1) or listed != first.lstrip().startswith("- "):
            return None
        at = number + 1
        while at < end and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) >= len(indent)):
            at += 1
        while not lines[at - 1].strip():
            at -= 1
        return at, indent, listed
    return None


def into_pre_commit(text: str) -> str | None:
    """.pre-commit-config.yaml with a local hook as the last of its `repos:`."""
    lines = _ended(without_block(text)).splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if re.match(r"repos:\s*(#.*)?$", line)), None)
    if start is None:
        return None
    end = _section_end(lines, start, lists=True)
    items = [match[1] for line in lines[start + 1 : end] if (match := re.match(r"(\s*)- ", line))]
    if not items:
        return None
    while not lines[end - 1].strip() or lines[end - 1].startswith("#"):
        end -= 1
    entry = [f"{items[0]}{line}\n" for line in (BEGIN, *_PRE_COMMIT_ENTRY, END)]
    return "".join([*lines[:end], *entry, *lines[end:]])


def _section_end(lines: list[str], start: int, *, lists: bool = False) -> int:
    """The number of the line after the section of the top-level key at `start`."""
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if _TOP_KEY.match(line) or (not lists and line.startswith("- ")) or line.startswith(("---", "...")):
            return number
    return len(lines)


def _pre_commit_hook(name: str) -> list[str]:
    return [
        f"    - id: git-pkb-{name}",
        f"      name: git pkb ({name})",
        "      entry: >-",
        f"        sh -c '{call(name)}'",
        "      language: system",
        "      always_run: true",
        "      pass_filenames: false",
        "      require_serial: true",
        f"      stages: [{name}]",
    ]


#: The names of stages are those of pre-commit 3.2 and later.
_PRE_COMMIT_ENTRY = [
    "- repo: local",
    "  hooks:",
    *(line for name in HOOKS[:3] for line in _pre_commit_hook(name)),
]


def _ended(text: str) -> str:
    """The text with a line feed at its end."""
    return text if not text or text.endswith("\n") else f"{text}\n"
