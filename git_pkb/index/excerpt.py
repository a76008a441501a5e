"""The one line that shows what a piece is about.

In: the text of a piece and what is known of it. Out: a single line. Invariant: no line feed, no control
character, at most LONGEST characters; empty only for a text without a letter, digit or sign.
"""

from git_pkb.model import Piece

LONGEST = 80
_COMMENT_STARTS = ("#", "//", "/*", "*", "--", "<!--", '"""', "'''", ";;", "%", "{-", "(*", "@", "[assembly")


def excerpt(text: str, piece: Piece) -> str:
    """The signature of the main definition, else the first line that says something, cut to LONGEST."""
    lines = text.split("\n", 400)[:400]
    if piece.definitions and piece.kind != "section":
        start = piece.definitions[0].line
        found = _first_telling(lines[start : start + 20]) or _first_telling(lines)
    elif piece.kind == "section":
        below = [line for line in lines[1:] if line.strip(" #=-*~_`\t\r")]
        found = below[0] if below else _first_line(lines)
    else:
        found = _first_telling(lines)
    return _tidy(found or _first_line(lines))


def _first_telling(lines: list[str]) -> str:
    """The first line that is neither blank, nor a comment, a decorator or mere punctuation."""
    for line in lines:
        stripped = line.strip()
        if any(c.isalnum() for c in stripped[:40]) and not stripped.startswith(_COMMENT_STARTS):
            return line
    return ""


def _first_line(lines: list[str]) -> str:
    return next((line for line in lines if line.strip()), "")


def _tidy(line: str) -> str:
    kept = " ".join(line[: 4 * LONGEST].split())
    if not kept.isprintable():
        kept = "".join(c if c.isprintable() else " " for c in kept)
    return kept if len(kept) <= LONGEST else kept[: LONGEST - 1].rstrip() + "…"
