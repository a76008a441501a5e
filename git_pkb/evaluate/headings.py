"""Questions over documentation: a heading asks for its section, the heading removed.

In: Markdown files. Out: the same files without the asked headings, and cases. Invariant: one heading a file
at most is asked, chosen by a fixed seed; no file still holds an asked heading line; the lines in a case are
those of the new text.

Not asked: titles (level 1), headings of fewer than two telling words, those that stand in more than one
file, and those of sections under SHORTEST characters.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from git_pkb.evaluate.model import Case, SymbolTarget, Target
from git_pkb.tokens import STOP_WORDS, words

SHORTEST = 200
_SEED = 7
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_MARKUP = re.compile(r"\{[^}]*\}|<[^>]*>|!?\[([^\]]*)\]\([^)]*\)|[`*]")
_NUMBER = re.compile(r"^\s*(?:\d+\.)*\d*\.?\s+")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its section: lines from 0; `end` is after the last, at the next heading of any level."""

    line: int
    end: int
    level: int
    title: str


def questions(files: Mapping[str, str], most: int) -> tuple[dict[str, str], list[Case]]:
    """The files changed, and at most `most` cases, ordered by path."""
    found = {path: sections(text) for path, text in sorted(files.items())}
    titles = Counter(title for each in found.values() for title in {s.title.lower() for s in each})
    chance = random.Random(_SEED)  # noqa: S311 - a sample, no secret
    asked: list[tuple[str, Section]] = []
    for path, each in found.items():
        lines = files[path].split("\n")
        usable = [s for s in each if titles[s.title.lower()] == 1 and _is_question(s, lines)]
        if usable:
            asked.append((path, usable[int(chance.random() * len(usable))]))
    if len(asked) > most:
        picked = sorted(range(len(asked)), key=lambda _: chance.random())[:most]
        asked = [asked[i] for i in sorted(picked)]
    changed, cases = {}, []
    for path, section in asked:
        lines = files[path].split("\n")
        changed[path] = "\n".join(lines[: section.line] + lines[section.line + 1 :])
        # the body moved up by the one line that is gone: 1-based first line = line of the heading + 1
        span = section.line + 1, section.end - 1
        cases.append(
            Case(
                id=f"{path}#{section.title}",
                query=section.title,
                files=(Target(path),),
                symbols=(SymbolTarget(path=path, start=span[0], end=span[1]),),
                tags=("docs",),
            )
        )
    return changed, cases


def sections(text: str) -> list[Section]:
    """The headings of a Markdown text, code blocks left out."""
    lines = text.split("\n")
    heads: list[tuple[int, int, str]] = []
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        elif not fence and (head := _HEADING.match(line)):
            heads.append((number, len(head[1]), _clean(head[2])))
    ends = [*(number for number, _, _ in heads[1:]), len(lines)]
    return [Section(line, end, level, title) for (line, level, title), end in zip(heads, ends, strict=False)]


def _clean(title: str) -> str:
    return " ".join(_NUMBER.sub("", _MARKUP.sub(lambda found: found[1] or "", title)).split())


def _is_question(section: Section, lines: list[str]) -> bool:
    telling = [word for word in words(section.title) if word.lower() not in STOP_WORDS]
    body = "\n".join(lines[section.line + 1 : section.end]).strip()
    return section.level > 1 and len(telling) > 1 and len(body) >= SHORTEST
