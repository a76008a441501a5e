"""A commit message as a question: what changed and why, without what only git people read.

In: a message. Out: one line of text, or `""` when nothing is left. Invariant: pure; trailers, issue
numbers, links, conventional prefixes, object names and quoted output never reach the question.
"""

import re

_TRAILER = re.compile(
    r"^\s*(?:signed-off-by|co-authored-by|co-developed-by|reviewed-by|acked-by|tested-by|reported-by|suggested-by|"
    r"helped-by|approved-by|cc|change-id|reviewed-on|commit-queue|auto-submit|bug|issue|issues|pr|pr-url|link|links|"
    r"refs?|references?|see(?: also)?|related(?: to)?|part of|reviewable|differential revision|"
    r"(?:fix|fixes|fixed|close|closes|closed|resolve|resolves|resolved|address|addresses)"
    r"(?=\s*:?\s*(?:[\w./-]*#\d|gh-\d|https?://|[a-z]+-\d)))(?:\s*:\s*|\s+(?=\S*#\d|https?://)).*$",
    re.IGNORECASE,
)
_CHERRY = re.compile(r"^\s*\(cherry picked from commit [0-9a-f]+\)\s*$", re.IGNORECASE)
_SCISSORS = re.compile(r"^-{5,}.*$|^\s*```.*$")
_URL = re.compile(r"<?\bhttps?://\S+")
_EMAIL = re.compile(r"<?\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+>?")
_ISSUE = re.compile(
    r"\(?(?:\b(?:fix|fixes|fixed|close|closes|closed|resolve|resolves|resolved|see|refs?|issues?|pr|bug|gh|re)\b[\s:]*)?"
    r"(?:\b[\w.-]+/[\w.-]+)?#\d+(?:\s*,\s*#\d+)*\)?",
    re.IGNORECASE,
)
_TICKET = re.compile(r"[\[(]?\b(?:[A-Z][A-Z0-9]{1,9}-\d+|GH-\d+|gh-\d+)\b[\])]?:?")
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b")
_EMOJI = re.compile(r":[a-z0-9_+-]+:(?=\s|$)|[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")
_TYPES = (
    "feat feature fix bugfix hotfix docs? doc style refactor refact perf tests? build ci chore chores revert "
    "types? dx deps release wip workflow misc enhancement improvement bug security breaking polish cleanup"
)
_PREFIX = re.compile(rf"^\s*(?:{'|'.join(_TYPES.split())})\s*(?:\([^)]*\))?\s*!?\s*:\s*", re.IGNORECASE)
_BRACKETS = re.compile(r"^\s*(?:\[[^\]]{1,40}\]\s*)+:?\s*")
_MOST = 1000  # characters; the rest of a long essay says little more about where


def question(message: str) -> str:
    """The message as one line of words."""
    subject, _, body = message.strip().partition("\n")
    subject = _PREFIX.sub("", _BRACKETS.sub("", subject.strip(), count=1), count=1)
    lines = [subject]
    quoted = False
    for line in body.split("\n"):
        if line.lstrip().startswith("```"):
            quoted = not quoted
        if quoted or line.startswith(("    ", "\t", ">")) or _SCISSORS.match(line):
            continue  # output, patches and code that was pasted
        if _TRAILER.match(line) or _CHERRY.match(line):
            continue
        lines.append(line.strip().lstrip("*-+").strip())
    text = " ".join(lines)
    for noise in (_URL, _EMAIL, _ISSUE, _TICKET, _HASH, _EMOJI):
        text = noise.sub(" ", text)
    text = " ".join(text.split()).strip(" .:;,-")
    if len(text) > _MOST:
        text = text[:_MOST].rsplit(" ", 1)[0]
    return text
