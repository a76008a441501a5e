"""What a run has asked of a provider so far.

In: each answer's count. Out: requests, tokens and dollars, for progress and the closing line.
Invariant: only what was really answered is counted, so a failed run states what it cost.
"""

from _thread import allocate_lock  # `threading` has the same lock, and takes 1.5 ms to load


class Usage:
    """Running totals of one embedder or summarizer; safe to add to from several threads."""

    __slots__ = ("_lock", "output_tokens", "requests", "texts", "tokens", "usd")

    def __init__(self) -> None:
        self.requests = self.texts = self.tokens = self.output_tokens = 0
        self.usd = 0.0
        self._lock = allocate_lock()

    def add(self, *, texts: int = 0, tokens: int = 0, output_tokens: int = 0, usd: float = 0.0) -> None:
        """Count one answered request."""
        with self._lock:
            self.requests += 1
            self.texts += texts
            self.tokens += tokens
            self.output_tokens += output_tokens
            self.usd += usd
