"""Parsers and definition queries, loaded when a language is first met and kept for the process.

In: a row of languages.py. Out: a `Grammar`, or None where the pack has none that loads. Invariant: a language
whose grammar does not load behaves like one that has none; nothing here raises for that.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import cast

import tree_sitter
import tree_sitter_language_pack

from git_pkb.chunk.languages import LANGUAGES
from git_pkb.slotted import value

_QUERIES = Path(__file__).with_name("queries")


@value
class Grammar:
    """A parser and the query whose captures are definitions (see queries/README)."""

    parser: tree_sitter.Parser
    query: tree_sitter.Query | None

    def parse(self, content: bytes, ranges: Sequence[tree_sitter.Range] | None = None) -> tree_sitter.Tree:
        """The tree of the content, or of some ranges of it."""
        self.parser.included_ranges = list(ranges or ())
        return self.parser.parse(content)


@cache
def load(language: str) -> Grammar | None:
    """The grammar of a language of the table."""
    row = LANGUAGES.get(language)
    if row is None or not row.grammar:
        return None
    try:
        grammar = tree_sitter_language_pack.get_language(
            cast("tree_sitter_language_pack.SupportedLanguage", row.grammar)
        )
        parser = tree_sitter.Parser(grammar)
    except (LookupError, ValueError, TypeError, ImportError, OSError):
        return None
    return Grammar(parser, compile_query(grammar, patterns(row.query or row.name)))


def patterns(names: str) -> list[str]:
    """The patterns of some query files, one a line (see queries/README)."""
    lines = [
        line for name in names.split() for line in (_QUERIES / f"{name}.scm").read_text("utf-8").splitlines()
    ]
    return [line for line in lines if line and not line.startswith(";")]


def compile_query(grammar: tree_sitter.Language, lines: list[str]) -> tree_sitter.Query | None:
    """One query of all the patterns; those that another version of the grammar does not know are left out."""
    try:
        return tree_sitter.Query(grammar, "\n".join(lines))
    except tree_sitter.QueryError:
        known = [line for line in lines if _compiles(grammar, line)]
        return tree_sitter.Query(grammar, "\n".join(known)) if known else None


def _compiles(grammar: tree_sitter.Language, pattern: str) -> bool:
    try:
        tree_sitter.Query(grammar, pattern)
    except tree_sitter.QueryError:
        return False
    return True
