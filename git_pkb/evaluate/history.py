"""A repository's past as questions: what a commit says it does, against the files it changed.

In: a repository and how many questions. Out: `PastQuestion`s, oldest first, and why other commits are left
out. Invariant: a question never names a file it asks for; its answers exist at the commit's parent, where
it is asked.

Left out: merges, reverts, bots, commits of more than MOST_FILES files, messages of fewer than three words,
commits that only add files or that only touch tests, docs and lock files, and those that name a file they
change. Test, docs and lock files of the other commits are no answers either, unless `all_files` is asked
for: they follow the change, nobody looks for them with its message. Where most files are prose, prose is
what is looked for.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_pkb.evaluate.message import question
from git_pkb.tokens import STOP_WORDS, Tokenizer, words

if TYPE_CHECKING:
    from git_pkb.git import Repository

MOST_FILES = 10
DEFAULT_COUNT = 100
_FEWEST_WORDS = 3
_MOST_LOOKED_AT = 100  # commits for each question wanted; some pasts hold nothing but version bumps

_RECORD = re.compile(rb"\x1e(?=[0-9a-f]{40,64}\x1f)")
_BOT = re.compile(
    r"\[bot\]|\bbot\b|dependabot|renovate|greenkeeper|pre-commit-ci|github-actions|snyk|mergify|bors|"
    r"weblate|transifex|crowdin|imgbot|allcontributors|copybara",
    re.IGNORECASE,
)
_REVERT = re.compile(
    r"^\s*(?:revert|reapply|back ?out)\b|^This reverts commit ", re.IGNORECASE | re.MULTILINE
)
_MERGE = re.compile(r"^\s*merge (?:branch|pull request|remote|tag|commit|upstream)\b", re.IGNORECASE)
_CHORE = re.compile(
    r"^(?:bump\b|\[maven-release|(?:version |release )?v?\d+(?:\.\d+)+\b|"
    r"(?:release|prepare(?: for)?|tag|begin|start|back to)\s+(?:the |next |new |dev\w* )*"
    r"(?:version|release|snapshot|v?\d+\.\d)|"
    r"(?:update|add|fix)\s+(?:the )?(?:version|changelog|copyright|years?|authors|submodules?)\b|"
    r"(?:update|upgrade|pin|refresh)\b.{0,30}\b(?:dependenc\w+|deps|requirements|lock ?files?|pre-commit)\b|"
    r"(?:run |apply )?(?:prettier|black|rustfmt|gofmt|clang-format|rubocop|eslint|isort)\b|"
    r"(?:fix )?typos?$)",
    re.IGNORECASE,
)

# Not the ranking's own patterns: the yardstick must not move when the ranking does.
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|specs?|__tests__|__mocks__|testdata|fixtures?|e2e|src/\w*[tT]est)/"
    r"|(?:^|/)(?:tests?[._-][^/]*|[^/]*[._-](?:tests?|specs?)\.[^/]+|conftest\.py|tests?\.[^/]+)$"
    r"|(?:^|/)[A-Z]\w*(?:Tests?|Spec|TestCase)\.\w+$"
)
_DOCS = re.compile(r"(?:^|/)(?:docs?|documentation|examples?|samples?|website)/", re.IGNORECASE)
_LOG = re.compile(
    r"(?:^|/)(?:change|changes|changelog|history|news|release[-_]?notes|authors|contributors)(?:\.\w+)?$"
    r"|(?:^|/)(?:changes?|changelogs?|news|newsfragments|\.changeset)/",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Commit:
    """What the log says of a commit that is no merge. `changed`: (letter of the change, path)."""

    id: str
    parent: str | None
    author: str
    email: str
    message: str
    changed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """What to ask at `parent`, and the files that answer it."""

    commit: str
    parent: str
    query: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """The questions of a past, oldest first; `left_out`: reason -> commits that were passed over."""

    questions: tuple[PastQuestion, ...]
    left_out: dict[str, int]


def choose(repo: "Repository", count: int, *, prose: bool = False, all_files: bool = False) -> Past:
    """The newest `count` questions of HEAD's past; `prose`: files of prose count as answers."""
    tokenizer = Tokenizer()
    chosen: list[PastQuestion] = []
    left_out: Counter[str] = Counter()
    for number, commit in enumerate(log(repo)):
        if len(chosen) == count or number == _MOST_LOOKED_AT * count:
            break
        made = ask_about(commit, tokenizer, prose=prose, all_files=all_files)
        if isinstance(made, str):
            left_out[made] += 1
        else:
            chosen.append(made)
    return Past(tuple(reversed(chosen)), dict(sorted(left_out.items())))


def ask_about(
    commit: Commit, tokenizer: Tokenizer, *, prose: bool = False, all_files: bool = False
) -> PastQuestion | str:
    """The question a commit makes, or why it makes none."""
    if commit.parent is None:
        return "the first commit"
    if _BOT.search(f"{commit.author} {commit.email}"):
        return "made by a bot"
    if _REVERT.search(commit.message):
        return "a revert"
    if _MERGE.search(commit.message):
        return "a merge"
    paths = [path for _, path in commit.changed if not path.startswith(".pkb/")]
    if len(paths) > MOST_FILES:
        return f"changes more than {MOST_FILES} files"
    text = question(commit.message)
    if (
        _CHORE.search(text)
        or sum(1 for word in words(text) if word.lower() not in STOP_WORDS) < _FEWEST_WORDS
    ):
        return "says too little"
    there = [path for letter, path in commit.changed if letter != "A" and not path.startswith(".pkb/")]
    if not there:
        return "only adds files"
    targets = there if all_files else [path for path in there if not follows(path, prose=prose)]
    if not targets:
        return "only touches tests, docs or lock files"
    if names_a_file(text, paths, tokenizer):
        return "names a file it changes"
    return PastQuestion(commit.id, commit.parent, text, tuple(targets))


def follows(path: str, *, prose: bool) -> bool:
    """Whether a file follows changes made elsewhere: tests, docs, lock files, change logs."""
    from git_pkb.chunk import is_code, language_of
    from git_pkb.select import name_reason

    if name_reason(path) is not None or _TEST.search(path) or _LOG.search(path):
        return True
    return not prose and (_DOCS.search(path) is not None or not is_code(language_of(path)))


def names_a_file(text: str, paths: list[str], tokenizer: Tokenizer) -> bool:
    """Whether a text names one of the files: its stem as a word, inflected, or spread over three words."""
    said = [_fold(word) for word in words(text)]
    runs = {"".join(said[at : at + n]) for n in (1, 2, 3) for at in range(len(said))}
    runs |= {tokenizer.stem(run) for run in runs}
    for path in paths:
        name = path.rpartition("/")[2]
        if name.lower() in text.lower():
            return True
        stem = _fold(name.lstrip(".").split(".", 1)[0])
        if len(stem) > 1 and (stem in runs or tokenizer.stem(stem) in runs):
            return True
    return False


def _fold(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def log(repo: "Repository") -> Iterator[Commit]:
    """The commits of HEAD's past that are no merges, newest first; git is stopped when enough were read."""
    process = repo.spawn(
        "log", "-z", "--no-merges", "--topo-order", "--name-status", "--no-renames", "--no-show-signature",
        "--no-color", "--no-ext-diff", "--encoding=UTF-8",
        "--format=%x1e%H%x1f%P%x1f%aN%x1f%aE%x1f%B%x1f", "HEAD", "--",
    )  # fmt: skip
    try:
        rest = b""
        stream = process.stdout
        while stream is not None and (block := os.read(stream.fileno(), 1 << 16)):
            *records, rest = _RECORD.split(rest + block)
            yield from (_commit(record) for record in records if record)
        if rest:
            yield _commit(rest)
    finally:
        process.kill()
        process.communicate()


def _commit(record: bytes) -> Commit:
    head, _, changes = record.rpartition(b"\x1f")
    identity, parents, author, email, message = head.decode("utf-8", "replace").split("\x1f", 4)
    fields = changes.lstrip(b"\0\n").split(b"\0")
    changed = tuple(
        (letter.decode("ascii", "replace").strip(), os.fsdecode(path))
        for letter, path in zip(fields[::2], fields[1::2], strict=False)
        if path
    )
    return Commit(identity, parents.split(" ")[0] or None, author, email, message, changed)


def mostly_prose(repo: "Repository") -> bool:
    """Whether more than half of what is indexed of HEAD is prose: a documentation tree, a vault of notes."""
    from git_pkb.chunk import is_code, language_of
    from git_pkb.select import name_reason

    head = repo.head()
    tree = repo.reader().tree(head) if head else {}
    paths = [path for path, entry in tree.items() if entry.is_regular and name_reason(path) is None]
    return sum(1 for path in paths if not is_code(language_of(path))) * 2 > len(paths)
