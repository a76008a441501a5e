"""Cutting files into pieces that are embedded, each with the definitions inside it.

In: the bytes of a file and its language. Out: `model.Piece` values. Invariant: the pieces are in order, do
not overlap, cover every non-blank byte, cut no UTF-8 character, and depend on nothing but (bytes, language,
CUTTER).

A piece starts with a line (its indentation included) and ends with the last non-blank byte of a line, so that
`piece.line + piece.newlines` is its last line; the white space between two pieces belongs to neither. Only a
line longer than a piece may be is cut inside.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from git_pkb.chunk.comments import comment_spans
    from git_pkb.chunk.languages import is_code, language_of
    from git_pkb.model import Piece

__all__ = ["CUTTER", "comment_spans", "cut", "embedded_text", "is_code", "language_of"]

#: Version of the cutting; an artifact made by another one is made anew. Raise it when any piece may change.
CUTTER = "1"


def __getattr__(name: str) -> Any:
    """Load the tables when they are needed: a search only wants to know CUTTER."""
    if name == "comment_spans":
        from git_pkb.chunk.comments import comment_spans

        return comment_spans
    if name in ("is_code", "language_of"):
        from git_pkb.chunk import languages

        return getattr(languages, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def cut(content: bytes, language: str) -> "list[Piece]":
    """The pieces of a file; none for blank content. An unknown language is cut like plain text."""
    from git_pkb.chunk.languages import LANGUAGES

    row = LANGUAGES.get(language)
    if row is not None and row.grammar:
        from git_pkb.chunk import code

        return code.cut_or_plain(content, language)
    from git_pkb.chunk import markdown, plain

    if language in markdown.HEADED:
        return markdown.cut_prose(content, language)
    return plain.cut_text(content) if row is None or row.prose else plain.cut_lines(content)


def embedded_text(content: bytes, piece: "Piece") -> str:
    """The text of a piece; bytes that are no UTF-8 become U+FFFD, a byte order mark is dropped."""
    return content[piece.start : piece.end].decode("utf-8", "replace").removeprefix("\ufeff")
