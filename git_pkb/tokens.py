"""Words of code and prose: identifiers taken apart, lower-cased, stemmed.

In: text. Out: terms, the unit of the word index and of questions. Used by the cache when it counts and by
the ranking when it reads a question, so that both always agree. Invariant: the terms of a text depend on
nothing but the text and TOKENIZER.

Stemming was measured to be worth 0.03 NDCG@10, the compound token 0.02 (ranking.md).
"""

import re
from collections import Counter
from functools import cache
from typing import Any

#: Version of the recipe; a cache that was built with another one is rebuilt.
TOKENIZER = "1"

_ASCII_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]{2,}")
_WORD = re.compile(r"[^\W\d]\w*|[0-9]{2,}")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+")
_LONGEST_WORD = 64  # hashes, keys and base64 are no words

STOP_WORDS = frozenset(
    "a an and are as at be by do does for from has have how if in into is it its not of on or that the their "
    "then there this to was were what when where which who why with via using used use uses can".split()
)


def words(text: str) -> list[str]:
    """Words of a text in order: identifiers as they are written, numbers of two digits or more."""
    return (_ASCII_WORD if text.isascii() else _WORD).findall(text)


@cache
def _scripts() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What separates words, and runs of scripts without spaces (1.2 ms to compile; ASCII needs neither)."""
    # Thai, Lao; Myanmar; Khmer; Kana; Han; Hangul
    ranges = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
    return re.compile(r"[\W_]+"), re.compile(f"[{ranges}]+")


class Tokenizer:
    """Turns words into terms, remembering every word it has seen (code repeats its words)."""

    def __init__(self) -> None:
        import Stemmer

        self._stem: Any = Stemmer.Stemmer("english").stemWord
        self._terms: dict[str, tuple[str, ...]] = {}

    def terms(self, word: str) -> tuple[str, ...]:
        """Terms of one word: its parts, then the compound of all when there is more than one part."""
        found = self._terms.get(word)
        if found is None:
            found = self._terms[word] = self._split(word)
        return found

    def count(self, text: str) -> dict[str, int]:
        """How often each term occurs in a text."""
        counts: dict[str, int] = {}
        terms = self._terms
        for word, n in Counter(words(text)).items():
            found = terms.get(word)
            if found is None:
                found = terms[word] = self._split(word)
            for term in found:
                counts[term] = counts.get(term, 0) + n
        return counts

    def stem(self, part: str) -> str:
        """Snowball English stem of a lower-case part; short ones and ones with digits stay."""
        if len(part) <= 3 or not part.isalpha() or not part.isascii():
            return part
        stem: str = self._stem(part)
        return stem

    def _split(self, word: str) -> tuple[str, ...]:
        if len(word) > _LONGEST_WORD:
            return ()
        if not word.isascii():
            return self._split_unicode(word)
        parts = [part.lower() for piece in word.split("_") for part in _PART.findall(piece)]
        stems = [self.stem(part) for part in parts]
        if len(parts) > 1:
            stems.append(self.stem("".join(parts)))
        return tuple(stems)

    def _split_unicode(self, word: str) -> tuple[str, ...]:
        """Words of other scripts: folded; runs without spaces become characters and pairs of characters."""
        import unicodedata

        between, unspaced = _scripts()
        terms: list[str] = []
        for piece in between.split(unicodedata.normalize("NFC", word.casefold())):
            at = 0
            for run in unspaced.finditer(piece):
                if piece[at : run.start()]:
                    terms.append(piece[at : run.start()])
                text = run.group()
                terms.extend(text)
                terms.extend(text[i : i + 2] for i in range(len(text) - 1))
                at = run.end()
            if piece[at:]:
                terms.append(piece[at:])
        return tuple(terms)
