"""What was asked: the terms of a question and the identifiers in it.

In: the text a person typed. Out: a `Question`. Invariant: terms keep the order of the question, are
distinct, and are made by the tokenizer that made the index.
"""

import re

from git_pkb.slotted import value
from git_pkb.tokens import STOP_WORDS, Tokenizer, words

_MOST_TERMS = 64  # a pasted page or stack trace; later words weigh little anyway
_MOST_TEXT = 20_000
_IDENTIFIER = re.compile(r"[^\W\d][\w$]*(?:(?:::|->|\\|\.|#)[^\W\d][\w$]*)*[!?]?")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2,}[a-z]")
_ABOUT_TESTS = frozenset("test tests testing tested spec specs mock mocks mocking fixture fixtures".split())
_ABOUT_DOCS = frozenset(
    "doc docs documentation readme example examples sample samples demo tutorial changelog benchmark"
    " benchmarks bench guide".split()
)
_ABOUT_SETUP = frozenset(
    "ci workflow workflows github gitlab gradle maven pom pyproject makefile cmake docker dockerfile"
    " toolchain dependencies packaging".split()
)


@value
class Question:
    """A question taken apart.

    `terms`: distinct terms in order, compounds included, and `counts` how often each occurs;
    `words`: its lower-cased words without stop words; `identifiers`: what may name a definition;
    `capitalised`: ordinary words with a capital, a weaker hint.
    """

    text: str
    terms: tuple[str, ...]
    counts: tuple[int, ...]
    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    capitalised: tuple[str, ...]
    is_name: bool
    about_tests: bool
    about_docs: bool
    about_setup: bool


def parse(text: str, tokenizer: Tokenizer) -> Question:
    """Take a question apart; one without any word has no terms."""
    text = text.strip()[:_MOST_TEXT]
    single = " " not in text
    counts: dict[str, int] = {}
    kept: list[str] = []
    for word in words(text):
        if not single and word.lower() in STOP_WORDS:
            continue
        found = tokenizer.terms(word)
        if found:
            kept.append(word.lower())
        for term in found:
            if term in counts or len(counts) < _MOST_TERMS:
                counts[term] = counts.get(term, 0) + 1
    lower = {word.lower() for word in words(text)}
    return Question(
        text=text,
        terms=tuple(counts),
        counts=tuple(counts.values()),
        words=tuple(kept),
        identifiers=_identifiers(text, single=single),
        capitalised=tuple(
            dict.fromkeys(w for w in words(text) if w[:1].isupper() and w.lower() not in STOP_WORDS)
        ),
        is_name=single,
        about_tests=bool(lower & _ABOUT_TESTS),
        about_docs=bool(lower & _ABOUT_DOCS),
        about_setup=bool(lower & _ABOUT_SETUP),
    )


def _identifiers(text: str, *, single: bool) -> tuple[str, ...]:
    """The whole question when it has no space, else its words that look like code."""
    found: dict[str, None] = {}
    for match in _IDENTIFIER.findall(text):
        like_code = _INNER_CAPITAL.search(match) or any(
            mark in match for mark in ("_", "::", "->", "\\", ".", "#")
        )
        if single or like_code:
            found[match] = None
            last = re.split(r"::|->|\\|\.|#", match)[-1]
            if last:
                found[last] = None
        if len(found) >= _MOST_TERMS:
            break
    return tuple(found)
