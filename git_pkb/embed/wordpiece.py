"""From text to token numbers, for the local model.

In: text, and the vocabulary of the package (one token a line, sorted; `##` before continuations).
Out: the words of a text, and how often each token occurs in it. Invariant: both ways to look up a token (by
bisection in the mapped file, for a question; in a dictionary, for documents) give the same number.

A text is first cut into runs of ASCII letters and digits by one `bytes.translate` and one `split`; words
never reach across such a run, so what a run means is remembered whole. That is twice as fast as a regular
expression over the text.
"""

import re
from bisect import bisect_left
from collections import Counter

_WORD = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUN_BYTES = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))
_LONGEST_WORD = 40  # letters; longer ones are hashes and keys
_REMEMBERED = 500_000  # runs; a few tens of megabytes


def runs(text: str) -> list[bytes]:
    """Stretches of ASCII letters and digits, in order, as they are written."""
    return text.encode("utf-8", "replace").translate(_RUN_BYTES).split()


def words(text: str) -> list[str]:
    """Words of a text in order, lower-cased: identifiers taken apart at case and digits."""
    return [word.decode("ascii").lower() for run in runs(text) for word in _WORD.findall(run)]


class Vocabulary:
    """The tokens of the model by number, read from its sorted list."""

    def __init__(self, tokens: bytes, offsets: bytes) -> None:
        """`tokens`: the lines of `vocab.txt`; `offsets`: where each begins and the last ends, uint32."""
        self._tokens = tokens
        self._offsets = memoryview(offsets).cast("I")
        self._numbers: dict[bytes, int] | None = None
        self._runs: dict[bytes, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def token(self, number: int) -> bytes:
        """The token with this number."""
        return self._tokens[self._offsets[number] : self._offsets[number + 1] - 1]

    def prepare(self) -> None:
        """Build the dictionary: 5 ms once, for those who look up more than a few dozen words."""
        if self._numbers is None:
            self._numbers = {token: i for i, token in enumerate(self._tokens[:].split(b"\n")[:-1])}

    def count(self, text: str) -> dict[int, int]:
        """How often each token occurs in a text; words without tokens give nothing."""
        counts: dict[int, int] = {}
        known = self._runs
        for run, n in Counter(runs(text)).items():
            numbers = known.get(run)
            if numbers is None:
                numbers = self._remember(run)
            for number in numbers:
                counts[number] = counts.get(number, 0) + n
        return counts

    def pieces(self, word: bytes) -> tuple[int, ...]:
        """Token numbers of one lower-case word by greedy longest match; `()` when it has none."""
        if len(word) > _LONGEST_WORD:
            return ()
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._find(b"##" + word[start:end] if start else word[:end])
                if number is not None:
                    break
            else:
                return ()
            found.append(number)
            start = end
        return tuple(found)

    def _remember(self, run: bytes) -> tuple[int, ...]:
        if len(self._runs) >= _REMEMBERED:
            self._runs.clear()
        numbers = tuple(n for word in _WORD.findall(run) for n in self.pieces(word.lower()))
        self._runs[run] = numbers
        return numbers

    def _find(self, token: bytes) -> int | None:
        if self._numbers is not None:
            return self._numbers.get(token)
        at = bisect_left(range(len(self)), token, key=self.token)
        return at if at < len(self) and self.token(at) == token else None
