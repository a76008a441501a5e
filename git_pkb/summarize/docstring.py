"""A summarizer without a model: the first sentences of what the authors wrote themselves.

In: passages. Out: the beginning of the first doc comment or docstring, or of a comment block, or of prose.
Invariant: nothing is made up; a passage without such words has no summary.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from git_pkb.net.usage import Usage
from git_pkb.summarize.base import Outline, Passage
from git_pkb.summarize.prompts import first_sentences

if TYPE_CHECKING:
    from git_pkb.config import Config

PROSE = frozenset({"markdown", "text"})
_DOCSTRING = re.compile(r'^[ \t]*[rRuU]?("""|\'\'\')(.*?)\1', re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"/\*[*!]?(.*?)\*/|\{-\s*\|?(.*?)-\}|<!--(.*?)-->", re.DOTALL)
_LINES = re.compile(
    r"(?:^[ \t]*(?:///?!?|#+(?!\[|!)|--+(?!\[)[ \t]*\|?|;;+|%%*)(?=[ \t]|$)[^\n]*(?:\n|\Z))+", re.MULTILINE
)
_MARKER = re.compile(r"^[ \t]*(?:///?!?|#+|--+[ \t]*\|?|;;+|%+|\*+)[ \t]?", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*(?:[@\\:]\w+|Args:|Returns:|Raises:|Parameters\b|Example)", re.MULTILINE)
_DIRECTIVE = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|eslint|noqa|pylint|type: ignore|-\*-|vim:", re.IGNORECASE
)
_WORDS = re.compile(r"\w+")


class DocstringSummarizer:
    """See the module."""

    provider = "docstring"
    model = "1"
    identity = "docstring:1"
    paid = False
    network = False

    def __init__(self, config: "Config | None" = None) -> None:  # noqa: ARG002 - made as all others are
        self.usage = Usage()

    def summarize(self, passages: Sequence[Passage]) -> Iterator[tuple[int, str]]:
        """What the authors say about each passage."""
        for i, passage in enumerate(passages):
            yield i, _said(passage)

    def roll_up(self, outlines: Sequence[Outline]) -> Iterator[tuple[int, str]]:
        """The first thing that is said in a file."""
        for i, outline in enumerate(outlines):
            yield i, next((summary for _, summary in outline.pieces if summary), "")


def _said(passage: Passage) -> str:
    if passage.language in PROSE:
        return first_sentences(_HEADING.sub("", passage.text))
    candidates = []
    if passage.language == "python":
        candidates += [(match.start(), match[2]) for match in _DOCSTRING.finditer(passage.text)]
    candidates += [
        (match.start(), next(filter(None, match.groups()), "")) for match in _BLOCK.finditer(passage.text)
    ]
    candidates += [(match.start(), match[0]) for match in _LINES.finditer(passage.text)]
    for _, text in sorted(candidates):
        plain = _TAG.split(_MARKER.sub("", text), maxsplit=1)[0]
        if len(_WORDS.findall(plain)) >= 3 and not _DIRECTIVE.search(plain):
            return first_sentences(plain)
    return ""
