"""Cut the packages' files into pairs of a question and the code that answers it.

In: WORK/packages (sources.py). Out: WORK/pairs/USE+NAME.jsonl, one pair a line: kind, question, code, names.
Invariant: the same files give the same bytes; every choice is drawn from a generator seeded with the path.

    python scripts/train/pairs.py WORK

Kinds: `doc` first sentence of a doc comment -> the definition without it, or the whole piece that holds it;
`name` a symbol's name, taken apart -> its code; `inline` a comment inside code, or a file's header -> what
follows; `path` the end of a file's path -> a piece of it. `names` are words of the symbol that are taken out
of the code, so that not every answer holds its question. Cutting and finding comments is the product's own.
"""

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from sources import Package, files, packages

from git_pkb.chunk import comment_spans, cut
from git_pkb.embed.wordpiece import words
from git_pkb.model import Definition, Piece

Pair = tuple[str, str, str, str]

#: Pairs a package gives at most, by kind.
MOST = {"doc": 6000, "name": 3000, "inline": 1500, "path": 600}
_CODE = 1500  # characters, as long as a piece
_NAMES_DROPPED = 0.4
_SYMBOL_ADDED = 0.15
_WHOLE_PIECE = 0.4
_VALUES = frozenset({"constant", "variable", "field", "section"})
_PREFIX = re.compile(r"\s*(@\w|#\[|\[[\w.:]+[\](]|template\s*<|\}\s*$)")
_MARK = re.compile(
    r"^\s*(/\*+!?|\*+/?|//+[!<]?|#+[!:]?|--+\[*|;+|\{-\s*\|?|\"\"\"|'''|[rRuU]?\"\"\"|-\}|\|)\s?"
)
_DOC_WORD = re.compile(r"^\s*@(module|type)?doc\s+(~[sS])?(\"\"\")?")
_MARKUP = re.compile(r"</?\w+[^>]*>|\{@\w+ ([^}]*)\}|``?|\[`?([^\]`]*)`?\](\([^)]*\))?|\*\*|\\[a-z]+\b")
_END = re.compile(r"(?<=[a-z0-9)'\"\]])[.!?:](\s|$)|\n\s*\n|\n\s*[@:\\-]\s?\w")
_NOISE = re.compile(
    r"copyright|licen[cs]e|eslint|prettier|noqa|type: ignore|pylint|todo|fixme|pragma|istanbul|@ts-|"
    r"^\W*(param|returns?|inheritdoc|see|deprecated|internal)\b|https?://|={5}|-{5}|"
    r"[;{}]\s*$|\)\s*$",
    re.IGNORECASE,
)


def of_file(path: str, language: str, content: bytes) -> Iterator[Pair]:
    """All pairs of a file."""
    chance = random.Random(path)  # noqa: S311 - not for secrets; seeded with a string, the same everywhere
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.split("\n")
    pieces = cut(text.encode(), language)
    comments = _comment_lines(text, lines, language)
    documented: set[int] = set()
    for piece in pieces:
        for found in piece.definitions:
            yield from _of_definition(lines, comments, language, piece, found, chance, documented)
    yield from _inline(lines, comments, documented)
    parts = re.split(r"[/.]", path.rpartition(".")[0])[-2:]
    if pieces:
        yield "path", " ".join(parts), _text(lines, *_extent(chance.choice(pieces))), ""


def _of_definition(
    lines: list[str],
    comments: dict[int, str],
    language: str,
    piece: Piece,
    found: Definition,
    chance: random.Random,
    documented: set[int],
) -> Iterator[Pair]:
    first = piece.line - 1 + found.line
    last = min(first + found.lines, len(lines))
    doc = _doc_lines(lines, comments, language, first, last)
    documented.update(doc)
    start, end = first, last
    if chance.random() < _WHOLE_PIECE:
        start, end = _extent(piece)
    hidden = set(doc)
    code = _text(lines, start, end, hidden)
    name = " ".join(words(found.name))
    if len(code) < 40 or not name:
        return
    question = first_sentence([comments[n] for n in doc])
    if question:
        scope = found.scope.rpartition(".")[2]
        if chance.random() < _SYMBOL_ADDED:
            question = f"{chance.choice([name, ' '.join(words(scope))])} {question}"
        yield "doc", question, code, name if chance.random() < _NAMES_DROPPED else ""
    if found.kind not in _VALUES and found.lines > 2 and len(name) > 3:
        scope = " ".join(words(found.scope.rpartition(".")[2]))
        asked = f"{scope} {name}" if scope and chance.random() < 0.3 else name
        dropped = chance.random() < _NAMES_DROPPED
        yield "name", asked, _text(lines, first, last, hidden), name if dropped else ""


def _doc_lines(lines: list[str], comments: dict[int, str], language: str, first: int, last: int) -> list[int]:
    """Numbers of the comment's lines that adjoin a definition, above it or, in Python, as its docstring."""
    if language == "python":
        at = first
        while at < min(last, first + 12) and at not in comments:
            at += 1
        if at < last and lines[at].lstrip(" rRuU")[:3] in {'"""', "'''"}:
            return _run(comments, at, 1)
    at = first - 1
    while at >= 0 and first - at < 6 and at not in comments and _PREFIX.match(lines[at]):
        at -= 1
    return sorted(_run(comments, at, -1)) if at in comments else []


def _run(comments: dict[int, str], at: int, step: int) -> list[int]:
    found = []
    while at in comments:
        found.append(at)
        at += step
    return found


def _inline(lines: list[str], comments: dict[int, str], documented: set[int]) -> Iterator[Pair]:
    """Comments that are nobody's doc comment, and the twelve lines below."""
    at = 0
    while at < len(lines):
        if at not in comments or at in documented:
            at += 1
            continue
        block = _run(comments, at, 1)
        at = block[-1] + 1
        question = first_sentence([comments[n] for n in block], 4)
        if question:
            span = 40 if block[0] < 3 else 12
            code = _text(lines, at, min(at + span, len(lines)))
            if len(code) > 60:
                yield "inline", question, code, ""


def first_sentence(comment: list[str], least: int = 3) -> str:
    """The first sentence of a comment's lines without marks and markup, or "" when it says nothing."""
    bare = [_MARK.sub("", _DOC_WORD.sub("", line), count=1) for line in comment]
    text = "\n".join(re.sub(r"(\*/|-\}|\"\"\"|''')\s*$", "", line).strip() for line in bare).strip()
    text = _MARKUP.sub(lambda match: match[1] or match[2] or " ", text)
    sentence = " ".join(_END.split(text, maxsplit=1)[0].split())
    if not least <= len(sentence.split()) <= 40 or _NOISE.search(sentence):
        return ""
    letters = sum(c.isascii() and (c.isalpha() or c == " ") for c in sentence)
    return sentence if letters > 0.8 * len(sentence) else ""


def _comment_lines(text: str, lines: list[str], language: str) -> dict[int, str]:
    """The lines that hold nothing but a comment, by number."""
    found: dict[int, str] = {}
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    at = 0
    for start, end in comment_spans(text, language):
        while starts[at + 1] <= start:
            at += 1
        if text[starts[at] : start].strip(" \trRuU"):
            continue
        number = at
        while number < len(lines) and starts[number] < end:
            found[number] = lines[number]
            number += 1
        if end < starts[number] - 1 and text[end : starts[number] - 1].strip(" \t;,"):
            found.pop(number - 1)
    return found


def _extent(piece: Piece) -> tuple[int, int]:
    return piece.line - 1, piece.line + piece.newlines


def _text(lines: list[str], start: int, end: int, hidden: set[int] | None = None) -> str:
    kept = [lines[n] for n in range(start, min(end, len(lines))) if not hidden or n not in hidden]
    return "\n".join(kept)[:_CODE]


def of_package(package: Package, work: Path) -> list[Pair]:
    """Its pairs, at most MOST of a kind, chosen at random but the same each time."""
    by_kind: dict[str, list[Pair]] = {kind: [] for kind in MOST}
    for path, language, content in files(package, work):
        for pair in dict.fromkeys(of_file(path, language, content)):
            by_kind[pair[0]].append(pair)
    chance = random.Random(package.key)  # noqa: S311 - as above
    result = []
    for kind, found in by_kind.items():
        chosen = sorted(chance.sample(range(len(found)), min(MOST[kind], len(found))))
        result += [found[n] for n in chosen]
    return result


def main(work: str) -> int:
    """Write the pairs of every package that has none yet; print how many of each kind."""
    folder = Path(work, "pairs")
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages():
        target = folder / f"{package.key}.jsonl"
        if not target.exists():
            found = of_package(package, Path(work))
            lines = [json.dumps(pair, ensure_ascii=False) + "\n" for pair in found]
            target.write_text("".join(lines), "utf-8", "replace")
            counts = {kind: sum(pair[0] == kind for pair in found) for kind in MOST}
            print(package.name, package.use, *(f"{n} {kind}" for kind, n in counts.items()), flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1]))
