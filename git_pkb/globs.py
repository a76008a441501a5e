"""Patterns over paths, as `exclude`, `include` and `--filter` have them.

In: patterns as a person writes them. Out: one function that says whether a path matches any. Invariant: a
pattern without `/` is about a name at any depth, one with `/` starts at the top, and both cover what lies
below.
"""

import re
from collections.abc import Callable, Iterable


def matcher(patterns: Iterable[str], *, extensions: bool = False) -> Callable[[str], object] | None:
    """One regular expression over paths for all patterns; None when there are none."""
    alternatives = [_translate(pattern, extensions) for pattern in patterns if pattern.strip("/")]
    if not alternatives:
        return None
    return re.compile("|".join(alternatives), re.DOTALL).match


def _translate(pattern: str, extensions: bool) -> str:
    """A basename matches at any depth, what has a slash from the top; both cover what lies below."""
    anchored = "/" in pattern.rstrip("/")
    body = pattern.removeprefix("./").strip("/")
    if extensions and not anchored and re.fullmatch(r"\.\w[\w.]*", body):
        return f"(?:.*/)?[^/]*{re.escape(body)}$"
    return ("" if anchored else "(?:.*/)?") + _glob(body) + "(?:/|$)"


def _glob(body: str) -> str:
    """`*` and `?` stay inside a component, `**/` spans any number of them, `[…]` is a set."""
    out = []
    for part in re.findall(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|.", body, re.DOTALL):
        if part == "**/":
            out.append("(?:.*/)?")
        elif part == "**":
            out.append(".*")
        elif part == "*":
            out.append("[^/]*")
        elif part == "?":
            out.append("[^/]")
        elif len(part) > 1:
            inner = part[1:-1]
            negated = inner[0] in "!^"
            inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
            out.append(f"[{'^/' if negated else ''}{inside}]")
        else:
            out.append(re.escape(part))
    return "".join(out)
