"""Questions over code: the first sentence of a doc comment asks for its definition, the comment removed.

In: source files. Out: the same files without the asked comments, and cases. Invariant: the asked comments
are in no file any more; a question never holds the name it asks for; the name is unique in its file, and no
other definition's comment says the same.

Which definitions there are is the chunker's word; which lines above them (or below, for Python's
docstrings) are their comment is found here.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from git_pkb.evaluate.model import Case, SymbolTarget, Target
from git_pkb.tokens import STOP_WORDS, words

PER_FILE = 3
_SEED = 7
_FEWEST_WORDS, _MOST_WORDS = 4, 40
_MARKS = re.compile(
    r"^\s*(?:/\*+!?|\*+/|\*(?!\*)|//[/!]?|#+|--+\|?|;+|%+|\"\"\"|'''|[rRuU]?\"\"\"|\{-\|?|-\})\s?"
)
_CLOSING = re.compile(r"\s*(?:\*+/|\"\"\"|'''|-\})\s*$")
_STOP = re.compile(r"^\s*(?:@\w|:\w+|\\\w|Args:|Arguments:|Returns:|Parameters|Example|-{3,}|={3,}|```|#\s)")
_TAG = re.compile(
    r"\{@link\w*\s+(?:\S+\s+(?=[^\s}]))?([^}]*)\}|\{@\w+\s+([^}]*)\}|"
    r"</?\w+[^>]*>|`+|\[([^\]]+)\](?:\([^)]*\))?|\*\*|:\w+:"
)
_SENTENCE = re.compile(r"(?<=[^\d\s.][.!?])\s+(?=[^a-z])|[.:]\s*$")
_NOISE = re.compile(
    r"\b(?:eslint|noqa|pylint|type: ignore|copyright|licen[cs]e|todo|fixme|nolint|rubocop|prettier|"
    r"inheritdoc)\b|\bcall-seq:|https?://",
    re.IGNORECASE,
)
#: Languages whose comments begin with the name by custom; elsewhere such a sentence makes no question.
_NAME_FIRST = frozenset({"go"})
_KINDS = frozenset("function method class struct enum interface trait type module macro".split())


@dataclass(frozen=True, slots=True)
class Documented:
    """A definition with its comment: lines from 0, the comment's `first` to before `last`."""

    name: str
    kind: str
    first: int
    last: int
    question: str


def questions(files: Mapping[str, bytes], most: int) -> tuple[dict[str, bytes], list[Case]]:
    """The files changed, and at most `most` cases, ordered by path."""
    chance = random.Random(_SEED)  # noqa: S311 - a sample, no secret
    usable = []
    said: Counter[str] = Counter()
    for path, content in sorted(files.items()):
        found = list(documented(path, content))
        said.update(_plain(each.question) for each in found)
        picked = sorted(sorted(found, key=lambda _: chance.random())[:PER_FILE], key=lambda each: each.first)
        usable += [(path, each) for each in picked]
    usable = [(path, each) for path, each in usable if said[_plain(each.question)] == 1]
    if len(usable) > most:
        chosen = sorted(range(len(usable)), key=lambda _: chance.random())[:most]
        usable = [usable[i] for i in sorted(chosen)]
    gone: dict[str, set[int]] = {}
    cases = []
    for path, each in usable:
        gone.setdefault(path, set()).update(range(each.first, each.last))
        symbol = SymbolTarget(each.name, path)
        cases.append(Case(f"{path}::{each.name}", each.question, (Target(path),), (symbol,), (each.kind,)))
    changed = {}
    for path, lines in gone.items():
        kept = [line for number, line in enumerate(files[path].split(b"\n")) if number not in lines]
        changed[path] = b"\n".join(kept)
    return changed, cases


def documented(path: str, content: bytes) -> Iterator[Documented]:
    """The definitions of a file whose comment makes a question."""
    from git_pkb.chunk import comment_spans, cut, is_code, language_of

    language = language_of(path, content[:256])
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return
    if not is_code(language) or "\r" in text:
        return
    lines = text.split("\n")
    commented = _whole_lines(text, comment_spans(text, language))
    definitions = [
        (d.name, d.kind, piece.line + d.line - 1, d.lines)
        for piece in cut(content, language)
        for d in piece.definitions
        if d.kind in _KINDS
    ]
    names = Counter(name for name, _, _, _ in definitions)
    for name, kind, start, length in definitions:
        if names[name] > 1 or not 0 <= start < len(lines):
            continue
        span = _above(commented, lines, start)
        if language == "python":
            span = _docstring(commented, lines, start, length) or span
        if span is None:
            continue
        question = first_sentence(lines[span[0] : span[1]], name, language)
        if question is not None:
            yield Documented(name, kind, *span, question)


def _whole_lines(text: str, spans: list[tuple[int, int]]) -> set[int]:
    """Numbers of the lines that hold nothing but comments."""
    found: set[int] = set()
    line, at = 0, 0
    for start, end in spans:
        line += text.count("\n", at, start)
        at = start
        height = text.count("\n", start, end)
        before = text[text.rfind("\n", 0, start) + 1 : start]
        stop = text.find("\n", end)
        after = text[end : stop if stop >= 0 else len(text)]
        if not before.strip() and not after.strip():
            found.update(range(line, line + height + 1))
    return found


def _above(commented: set[int], lines: list[str], start: int) -> tuple[int, int] | None:
    """The comment that ends right above a line."""
    first = start
    while first > 0 and first - 1 in commented and lines[first - 1].strip():
        first -= 1
    return (first, start) if first < start else None


def _docstring(commented: set[int], lines: list[str], start: int, length: int) -> tuple[int, int] | None:
    """Python's: the string after the line that ends the signature, unless it is the whole body."""
    at = start
    while at < min(start + length, len(lines)) and not lines[at].rstrip().endswith(":"):
        at += 1
    first = at + 1
    if first not in commented or lines[first].lstrip()[:3] not in ('"""', "'''", 'r""'):
        return None
    mark = '"""' if '"""' in lines[first] else "'''"
    last = first + 1
    if lines[first].count(mark) < 2:
        while last in commented and mark not in lines[last]:
            last += 1
        last += 1
    rest = any(line.strip() for line in lines[last : start + length])
    return (first, last) if rest and last <= start + length else None


def first_sentence(comment: list[str], name: str, language: str) -> str | None:
    """The first sentence of a comment without marks; None when it is no question for `name`."""
    taken: list[str] = []
    for line in comment:
        bare = _CLOSING.sub("", _MARKS.sub("", line)).strip()
        if not bare:
            if taken:
                break
            continue
        if _STOP.match(bare):
            break
        taken.append(bare)
    text = " ".join(_TAG.sub(lambda found: found[1] or found[2] or found[3] or "", " ".join(taken)).split())
    text = _SENTENCE.split(text, maxsplit=1)[0].strip()
    first, _, rest = text.partition(" ")
    if language in _NAME_FIRST and first == name:
        text = rest
    said = words(text)
    if not _FEWEST_WORDS <= sum(1 for word in said if word.lower() not in STOP_WORDS) <= _MOST_WORDS:
        return None
    if _fold(name) in {_fold(word) for word in said} or name.lower() in text.lower() or _NOISE.search(text):
        return None
    return text


def _plain(question: str) -> str:
    return " ".join(words(question.lower()))


def _fold(word: str) -> str:
    return re.sub(r"[\W_]+", "", word).lower()
