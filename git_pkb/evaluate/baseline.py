"""Plain BM25 over whole files: what any search has to beat.

In: files and texts. Out: paths, best first. Invariant: nothing of the product's ranking is in here: whole
words, stemmed, no splitting of identifiers, no paths, no priors; ties break by path.

Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), with k1 = 1.2, b = 0.75 and the idf
ln(1 + (N - df + .5) / (df + .5)).
"""

import math
import re
from collections import Counter
from typing import Any

BASELINE = "bm25"  # its name among the runs
K1, B = 1.2, 0.75
_WORD = re.compile(r"[^\W\d]\w*|\d+")


class Baseline:
    """An index in memory that follows changes file by file."""

    def __init__(self) -> None:
        import Stemmer

        self._stem: Any = Stemmer.Stemmer("english").stemWord
        self._terms: dict[str, str] = {}
        self._files: dict[str, Counter[str]] = {}
        self._lengths: dict[str, int] = {}
        self._postings: dict[str, dict[str, int]] = {}

    def __len__(self) -> int:
        return len(self._files)

    def put(self, path: str, text: str) -> None:
        """Add a file, or replace it."""
        self.drop(path)
        counts = self.count(text)
        self._files[path] = counts
        self._lengths[path] = sum(counts.values())
        for term, count in counts.items():
            self._postings.setdefault(term, {})[path] = count

    def drop(self, path: str) -> None:
        """Take a file out, if it is there."""
        for term in self._files.pop(path, ()):
            del self._postings[term][path]
        self._lengths.pop(path, None)

    def count(self, text: str) -> "Counter[str]":
        """How often each stemmed word occurs."""
        counts: Counter[str] = Counter()
        for word, count in Counter(_WORD.findall(text)).items():
            term = self._terms.get(word)
            if term is None:
                term = self._terms[word] = self._stem(word.lower())
            counts[term] += count
        return counts

    def search(self, text: str, k: int) -> list[str]:
        """The `k` best files."""
        scores: dict[str, float] = {}
        files = len(self._files)
        average = sum(self._lengths.values()) / files if files else 1.0
        for term in self.count(text):
            postings = self._postings.get(term, {})
            idf = math.log(1 + (files - len(postings) + 0.5) / (len(postings) + 0.5))
            for path, count in postings.items():
                norm = K1 * (1 - B + B * self._lengths[path] / (average or 1.0))
                scores[path] = scores.get(path, 0.0) + idf * count * (K1 + 1) / (count + norm)
        return sorted(scores, key=lambda path: (-round(scores[path], 9), path))[:k]
