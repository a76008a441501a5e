"""What the README of a folder begins with.

In: files and folders. Out: a sentence or a few, as plain text. Invariant: at most the first 16 kB of a
README are read, one README a folder, and never through a link.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from git_pkb.cache.reader import FileFacts
    from git_pkb.search.refresh import Current

#: Files that introduce their folder, the most telling first.
_NAMES = (
    "_about.md",
    "readme.md",
    "readme.rst",
    "readme.markdown",
    "readme.txt",
    "readme.org",
    "readme.adoc",
    "readme",
)
_READ = 16_000
LONG, SHORT = 700, 160
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_NOISE = re.compile(
    r"<!--.*?-->|<(?!https?:)[^>\n]*>|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])"
    r"|^[ \t]*\.\. [^\n]*$|^[ \t]*:[\w-]+:[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|`([^`<]*?)\s*<[^>`]*>`_+")
_UNDERLINE = re.compile(r"^[=\-~^*#\"'+]{3,}$")
_SENTENCE_END = re.compile(r"[.!?](?=\s)")


def find(current: "Current", files: "Sequence[FileFacts]", folders: Iterable[str]) -> dict[str, str]:
    """The opening of each folder that has a README; the first folder gets more room."""
    from git_pkb.search.reading import content_of

    wanted = list(folders)
    best: dict[str, tuple[int, FileFacts]] = {}
    known = set(wanted)
    for file in files:
        folder, _, name = file.path.rpartition("/")
        if folder in known and name.lower() in _NAMES:
            rank = _NAMES.index(name.lower())
            if folder not in best or rank < best[folder][0]:
                best[folder] = (rank, file)
    found = {}
    for folder, (_, file) in best.items():
        content = content_of(current, file)
        if content:
            text = opening(content[:_READ].decode("utf-8", "replace"), LONG if folder == wanted[0] else SHORT)
            if text:
                found[folder] = text
    return found


def opening(text: str, limit: int) -> str:
    """The first paragraphs of prose up to a limit: no headings, badges, markup or front matter."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    text = _NOISE.sub("", _FRONT_MATTER.sub("", text))
    kept = ""
    for block in re.split(r"\n\s*\n", text):
        paragraph = _prose(block)
        if not paragraph:
            if kept:  # a heading, a list or code ends what introduces
                break
            continue
        joined = f"{kept} {paragraph}".strip()
        if kept and len(joined) > limit:
            break
        kept = joined
    return _cut(kept, limit)


def _prose(block: str) -> str:
    lines = [line.strip() for line in block.strip("\n").split("\n")]
    if any(_UNDERLINE.match(line) for line in lines[:3]) or block.startswith(("    ", "\t")):
        return ""
    if lines[0].startswith(("#", "```", "~~~", "|", "- ", "* ", "+ ", "1.", "$ ")):
        return ""
    joined = " ".join(line.removeprefix("> ") for line in lines)
    joined = _LINK.sub(lambda found: found[1] or found[2] or "", joined).replace("**", "").replace("__", "")
    joined = " ".join(joined.split())
    return joined if len(re.findall(r"\w{2,}", joined)) >= 3 else ""


def _cut(text: str, limit: int) -> str:
    """At most `limit` characters, to the end of a sentence where that leaves at least a third."""
    if len(text) <= limit:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, limit)]
    if ends and ends[-1] >= limit // 3:
        return text[: ends[-1]]
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;:") + "…"
