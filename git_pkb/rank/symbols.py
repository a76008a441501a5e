"""Which definitions to point at in the files that were found, and how well each answers.

In: definitions with what they say of themselves, and a question. Out: a score a definition; scores compare
over files. Invariant: uses the same terms and weights as the ranking of files, so that what is shown is why
it was found; the same input gives the same score on every machine, to six digits.

The score is the sum of WEIGHTS times features, plus what the kind is worth. Fitted by a softmax over all
definitions of the first twelve files of each question of the symbol yardstick (23 repositories; eight others
were kept to measure on), then shrunk and rounded: scripts/fit_symbols.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from math import log
from operator import mul

from git_pkb.model import Definition
from git_pkb.rank.files import fold
from git_pkb.rank.query import Question
from git_pkb.slotted import value
from git_pkb.tokens import Tokenizer, words

#: What a definition is scored by.
WEIGHTS = {
    "meaning": 7.0,  # cosine of its name and signature with the question
    "name meaning": 4.5,  # cosine of its scope and name; of prose and pieces without a definition none
    "piece": 4.5,  # the score by words of the piece it stands in
    "words": 3.5,  # share of the question's weight in its name, its scope and its signature
    "beginnings": 1.5,  # share that begins a part of its name, or is begun by one: `config`, `configuration`
    "lines": 0.4,  # ln(1 + lines): what does something is longer than what only names it
    "size": -0.5,  # ln(1 + characters without its members): long text has some of every question
    "predicate": 2.5,  # whether the question asks for a yes or no, and the name is one: `is_open`
    "name": 10.0,  # whether the question is this name
    "mentioned": 1.5,  # whether it stands in the question; not fitted: the yardstick never asks by name
    "test": -3.0,  # whether it is a test or stands among tests, and the question is not about tests
}
_BY_MEANING, _BY_WORDS = tuple(WEIGHTS.values())[:2], tuple(WEIGHTS.values())[2:]
#: What a kind is worth: a question in words mostly asks for what does something.
KIND = {
    "field": -3.0, "constant": -3.0, "variable": -3.0, "module": -3.0, "section": -3.0, "text": -3.0,
    "code": -3.0, "prototype": -1.5, "impl": -1.0,
}  # fmt: skip
#: How much the score of its file adds to that of a definition, where definitions of several files compare.
OF_FILE = 0.5
_FOLDED_NAME = 0.6
_TEST_SCOPES = frozenset({"test", "tests"})
_NO_TERMS: frozenset[str] = frozenset()
_LONGEST = 4000  # characters of what a definition says that are looked at
_SHORTEST_TERM, _SHORTEST_PART = 4, 3
_TEXTS = frozenset({"section", "text", "code"})  # their names say little: a heading, the name around them
_ASKS_WHETHER = frozenset("true false whether check checks determine determines".split())
_PREDICATES = frozenset("is has can should check contain equal match need support valid".split())


@value
class Extent:
    """A definition with its lines in the piece (0-based, half open), the comment above it among them.

    `own_end`: where the first definition inside it begins; what lies behind is about its members.
    """

    definition: Definition
    first: int
    end: int
    own_end: int


@value
class Place:
    """A definition, or a piece that defines nothing, as far as its score needs it.

    `says`: its signature; of prose and pieces without a definition their whole text. `lines`: how many it
    spans; `size`: characters of its own text; `piece`: score by words of the piece it stands in.
    """

    name: str
    kind: str
    scope: str
    says: str
    lines: int
    size: int
    piece: float


def extents(definitions: Sequence[Definition], lines: int) -> list[Extent]:
    """Give each definition the lines from the end of what is before it on the same level to its own end."""
    found: list[tuple[Definition, int, int]] = []
    open_until: list[int] = []
    previous_end = 0
    for definition in sorted(definitions, key=lambda d: (d.line, -d.lines)):
        while open_until and definition.line >= open_until[-1]:
            previous_end = max(previous_end, open_until.pop())
        end = min(lines, definition.line + max(1, definition.lines))
        found.append((definition, min(previous_end, definition.line), end))
        open_until.append(end)
        previous_end = definition.line + 1
    result = []
    for place, (definition, first, end) in enumerate(found):
        inside = found[place + 1][0].line if place + 1 < len(found) else end
        own_end = inside if definition.line < inside < end else end
        result.append(Extent(definition, first, end, own_end))
    return result


class Scorer:
    """Scores definitions against one question."""

    def __init__(
        self,
        question: Question,
        weights: Mapping[str, float],
        tokenizer: Tokenizer,
        cosine: Callable[[str], float] | None,
    ) -> None:
        """Get ready for one question.

        `weights`: of its terms, their sum 1, none when words do not count; `cosine`: of a text with it, None
        when meaning does not count.
        """
        self._weights, self._tokenizer, self._cosine = weights, tokenizer, cosine
        self._long_terms = [term for term in weights if len(term) >= _SHORTEST_TERM]
        self._asks_whether = not _ASKS_WHETHER.isdisjoint(question.words)
        self._is_name, self._about_tests = question.is_name, question.about_tests
        self._named = {fold(name): name for name in question.identifiers}
        self._by_word: dict[str, frozenset[str]] = {}
        # Most words need no stemming: a term has the first two letters of the words it comes from, or else a
        # word of the question has them (`dying` becomes `die`).
        starts = sorted({re.escape(each[:2]) for each in (*weights, *question.words)})
        self._has_start = re.compile("|".join(starts) or "(?!)", re.IGNORECASE).search

    def score(self, place: Place) -> float:
        """How well a definition answers, without its file: about -10 to 30, more is better."""
        return self.of_words(place) + self.of_meaning(place)

    @property
    def asks_meaning(self) -> bool:
        """Whether meaning counts."""
        return self._cosine is not None

    def _may_match(self, word: str) -> bool:
        return not word.isascii() or self._has_start(word) is not None

    def of_words(self, place: Place) -> float:
        """The part of the score that is quick to know."""
        total: float = sum(map(mul, _BY_WORDS, self._of_words(place)))
        if place.kind in KIND and fold(place.name) not in self._named:
            total += KIND[place.kind]  # but who says a name wants what has it, whatever that is
        return total

    def of_meaning(self, place: Place) -> float:
        """The other part; 0 where meaning does not count."""
        return sum(map(mul, _BY_MEANING, self._of_meaning(place))) if self._cosine is not None else 0.0

    def features(self, place: Place) -> tuple[float, ...]:
        """In the order of WEIGHTS."""
        return (*self._of_meaning(place), *self._of_words(place))

    def _of_meaning(self, place: Place) -> tuple[float, float]:
        if self._cosine is None:
            return 0.0, 0.0
        of_text = self._cosine(f"{place.name} {place.says}"[:_LONGEST])
        return of_text, 0.0 if place.kind in _TEXTS else self._cosine(
            f"{place.scope} {place.name}"[:_LONGEST]
        )

    def _of_words(self, place: Place) -> tuple[float, ...]:
        name = place.name
        parts = self._parts(name) if self._asks_whether or self._may_match(name) else []
        named = self._named.get(fold(name)) if self._named else None
        alike = 0.0 if named is None else 1.0 if named == name else _FOLDED_NAME
        return (
            place.piece,
            self._covered(f"{place.scope} {name} {place.says}"[:_LONGEST]),
            self._begun(parts) if parts else 0.0,
            log(1 + place.lines),
            log(1 + place.size),
            float(self._asks_whether and bool(parts) and parts[0] in _PREDICATES),
            alike if self._is_name else 0.0,
            0.0 if self._is_name else alike,
            float(not self._about_tests and named is None and is_test(name, place.scope)),
        )

    def _parts(self, name: str) -> list[str]:
        """Terms of a name without those that join several."""
        parts: list[str] = []
        for word in words(name):
            terms = self._tokenizer.terms(word)
            parts += terms[:-1] if len(terms) > 1 else terms
        return parts

    def _covered(self, text: str) -> float:
        """Share of the question's weight whose terms occur."""
        found: set[str] = set()
        known = self._by_word
        for word in words(text):
            asked = known.get(word)
            if asked is None:
                asked = _NO_TERMS
                if self._may_match(word):
                    asked = frozenset(self._tokenizer.terms(word)) & self._weights.keys()
                known[word] = asked
            if asked:
                found |= asked
        return sum(weight for term, weight in self._weights.items() if term in found) if found else 0.0

    def _begun(self, parts: Sequence[str]) -> float:
        """Share of the question's weight whose terms and a part of the name begin alike."""
        long = [part for part in parts if len(part) >= _SHORTEST_PART]
        total = 0.0
        for term in self._long_terms:
            if term not in parts and any(term.startswith(part) or part.startswith(term) for part in long):
                total += self._weights[term]
        return total


def is_test(name: str, scope: str) -> bool:
    """Whether a definition is named as a test is, or stands in a module of tests (Rust has them inside)."""
    if name.startswith("test_") or not _TEST_SCOPES.isdisjoint(scope.split(".")):
        return True
    return name[:4] in ("test", "Test") and (name[4:5].isupper() or name[4:5].isdigit() or name == "Test")


def most_telling(lines: Sequence[str], weights: Mapping[str, float], tokenizer: Tokenizer) -> int | None:
    """The line with most of the question's weight, the earliest of equals; None when none has any."""
    best, found = 0.0, None
    for number, line in enumerate(lines):
        terms = dict.fromkeys(term for word in words(line) for term in tokenizer.terms(word))
        weight = sum(weights.get(term, 0.0) for term in terms)
        if weight > best:
            best, found = weight, number
    return found
