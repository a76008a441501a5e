"""Which definitions to point at inside the pieces of a file that was found.

In: the text of a piece, its definitions, the weights of the question's terms. Out: a score a definition.
Invariant: uses the same terms and weights as the ranking of files, so that what is shown is why it was found.

A definition is scored by BM25 over its own lines and the comment above it, its name counted as four words
more: a piece holds several small definitions and the file is known, so length matters little and names most.
"""

from collections.abc import Mapping, Sequence

from git_pkb.model import Definition
from git_pkb.rank.files import fold
from git_pkb.rank.query import Question
from git_pkb.slotted import value
from git_pkb.tokens import Tokenizer, words

K1 = 1.5
_LENGTH_SHARE, _TYPICAL_LENGTH = 0.75, 40.0
_NAME, _EXACT_NAME, _FOLDED_NAME = 4.0, 1.0, 0.4


@value
class Extent:
    """A definition with its lines in the piece (0-based, half open), the comment above it among them.

    `own_end`: where the first definition inside it begins; what lies behind is about its members.
    """

    definition: Definition
    first: int
    end: int
    own_end: int


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


class LineCounts:
    """Lines of a piece as a question sees them: how many terms each has, and how often those asked for."""

    def __init__(self, lines: Sequence[str], weights: Mapping[str, float], tokenizer: Tokenizer) -> None:
        self.sizes: list[int] = []
        self.hits: list[dict[str, int]] = []
        wanted = weights.keys()
        asked: dict[str, tuple[int, tuple[str, ...]]] = {}  # word -> its number of terms, those asked for
        for line in lines:
            size = 0
            hits: dict[str, int] = {}
            for word in words(line):
                known = asked.get(word)
                if known is None:
                    terms = tokenizer.terms(word)
                    known = asked[word] = len(terms), tuple(term for term in terms if term in wanted)
                size += known[0]
                for term in known[1]:
                    hits[term] = hits.get(term, 0) + 1
            self.sizes.append(size)
            self.hits.append(hits)

    def count(self, first: int, end: int) -> tuple[int, dict[str, int]]:
        """Terms in the lines `first` .. `end`: how many, and how often those asked for."""
        counts: dict[str, int] = {}
        for hits in self.hits[first:end]:
            for term, n in hits.items():
                counts[term] = counts.get(term, 0) + n
        return sum(self.sizes[first:end]), counts

    def most_telling(self, weights: Mapping[str, float]) -> int | None:
        """The line with most of the question's weight, the earliest of equals; None when none has any."""
        values = [sum(map(weights.__getitem__, hits)) for hits in self.hits]
        best = max(values, default=0.0)
        return values.index(best) if best > 0.0 else None


def score_definitions(
    found: Sequence[Extent],
    lines: LineCounts,
    question: Question,
    weights: Mapping[str, float],
    tokenizer: Tokenizer,
) -> list[float]:
    """Scores in the order of `found`; `lines` are the lines of the piece, `weights` sum to one."""
    scores = []
    identifiers = {fold(name): name for name in question.identifiers}
    for extent in found:
        size, counts = lines.count(extent.first, extent.own_end)
        named = tokenizer.count(extent.definition.name)
        norm = 1.0 - _LENGTH_SHARE + _LENGTH_SHARE * size / _TYPICAL_LENGTH
        score = 0.0
        for term, weight in weights.items():
            tf = counts.get(term, 0) / norm + _NAME * named.get(term, 0)
            if tf:
                score += weight * tf / (K1 + tf)
        wanted = identifiers.get(fold(extent.definition.name))
        if wanted is not None:
            score += _EXACT_NAME if wanted == extent.definition.name else _FOLDED_NAME
        scores.append(score)
    return scores
