"""A marked section inside someone else's text file: put in, brought up to date, taken out.

In: the text of a file and the body of the section. Out: the new text. Pure. Invariant: everything outside
the two marks stays as it is, and taking out what was put in gives the text back.
"""

from dataclasses import dataclass

from git_pkb.errors import UsageError


@dataclass(frozen=True, slots=True)
class Marks:
    """The two lines around a section."""

    begin: str
    end: str


MARKDOWN = Marks("<!-- git pkb: begin (written by `git pkb init`) -->", "<!-- git pkb: end -->")
YAML = Marks("# >>> git pkb >>> (written by `git pkb init`)", "# <<< git pkb <<<")


def put(text: str, body: str, marks: Marks, name: str) -> str:
    """The text with the section as `body`: in its place, or at the end. `name` is for an error."""
    block = f"{marks.begin}\n{body.rstrip()}\n{marks.end}\n"
    found = _find(text, marks, name)
    if found is not None:
        return text[: found[0]] + block + text[found[1] :]
    if text and not text.endswith("\n"):
        text += "\n"
    return text + ("\n" if text else "") + block


def take_out(text: str, marks: Marks, name: str) -> str:
    """The text without the section and the blank line that was put before it."""
    found = _find(text, marks, name)
    if found is None:
        return text
    before, after = text[: found[0]], text[found[1] :]
    if before.endswith("\n\n") or before == "\n":
        before = before[:-1]
    return before + after


def _find(text: str, marks: Marks, name: str) -> tuple[int, int] | None:
    """Where the section begins and ends; None where there is none. Marks count at the start of a line."""
    lines = text.split("\n")
    begins = [n for n, line in enumerate(lines) if line.rstrip() == marks.begin]
    ends = [n for n, line in enumerate(lines) if line.rstrip() == marks.end]
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise UsageError(
            f"the marks of git pkb in {name} do not form one section",
            f"leave one line `{marks.begin}` and, below it, one line `{marks.end}`; or remove both",
        )
    start = sum(len(line) + 1 for line in lines[: begins[0]])
    end = sum(len(line) + 1 for line in lines[: ends[0] + 1])
    return start, min(end, len(text))
