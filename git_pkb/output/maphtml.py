"""A map as one page that works from a file, without a network.

In: a `Map`, and the parts in the folder `map`. Out: HTML. Invariant: names and excerpts are data, never
markup: they stand in a JSON block in which no `<` survives, and reach the page as text; the page's own policy
lets nothing run but the one script here, and lets nothing be loaded at all.
"""

import base64
import hashlib
import html
import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from git_pkb.output.jsonout import lossy

if TYPE_CHECKING:
    from git_pkb.search.mapping import Map

#: Distinct for most eyes, on light and on dark ground (Tableau 10).
COLORS = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1",
    "#76b7b2", "#edc948", "#ff9da7", "#9c755f", "#8cd17d",
)  # fmt: skip
_OTHER = "#9a9a9a"


def page(of: "Map", color_by: str = "folder") -> str:
    """The whole page; `color_by` is `folder` or `language` at first."""
    folders = _legend(of, [file.group or "." for file in of.files])
    languages = _legend(of, [file.language for file in of.files])
    data = {
        "files": [
            [lossy(file.path), folders.index(file.group or "."), languages.index(file.language)]
            for file in of.files
        ],
        "points": [
            [p.x, p.y, p.file, p.lines[0], p.lines[1], lossy(p.title), lossy(p.excerpt)] for p in of.points
        ],
        "groups": {"folder": [lossy(f) for f in folders], "language": languages},
        "colors": [*COLORS, _OTHER],
        "by": color_by,
    }
    template, style, script = (_part(name) for name in ("page.html", "style.css", "script.js"))
    policy = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    left_out = f" · {of.left_out:,} not shown" if of.left_out else ""
    parts = {
        "policy": policy,
        "style": style,
        "script": script,
        "facts": f"{len(of.points):,} pieces of {len(of.files):,} files{left_out}",
        "name": html.escape(lossy(of.name)),
        "data": _inert(data),
    }
    return re.sub("@(" + "|".join(parts) + ")@", lambda found: parts[found[1]], template)


def _part(name: str) -> str:
    """A file of the folder `map` beside this module."""
    with open(os.path.join(os.path.dirname(__file__), "map", name), encoding="utf-8") as file:
        return file.read()


def _legend(of: "Map", names: list[str]) -> list[str]:
    """Groups, those with most points first."""
    counts = Counter(names[point.file] for point in of.points)
    counts.update(dict.fromkeys(names, 0))
    return sorted(counts, key=lambda name: (-counts[name], name))


def _inert(data: object) -> str:
    """JSON that can stand inside a script element whatever its strings hold."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
