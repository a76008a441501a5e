"""Progress on stderr, when somebody is looking and the work is long.

In: how much there is, steps. Out: one line that is redrawn. Invariant: without a terminal, or before a second
has passed, nothing is written; the line is wiped at the end, so results never share it.
"""

import os
import sys
import time
from typing import TextIO

_QUIET_SECONDS = 1.0
_REDRAW_SECONDS = 0.2


class Progress:
    """Counts files and pieces towards a total."""

    def __init__(self, stream: TextIO | None = None, *, now: float | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._visible = self._stream.isatty()
        self._label, self._total = "", 0
        self._files = self._pieces = 0
        self._usd = 0.0
        self._started = time.monotonic() if now is None else now
        self._drawn = 0.0
        self._width = 0

    def start(self, label: str, files: int) -> None:
        """Begin with this many files ahead."""
        self._label, self._total = label, files
        self._files = self._pieces = 0
        self._started = time.monotonic()

    def step(self, files: int = 0, pieces: int = 0, usd: float = 0.0) -> None:
        """More is done; `usd`: what the run has cost so far."""
        self._files += files
        self._pieces += pieces
        self._usd = usd
        if not self._visible:
            return
        now = time.monotonic()
        if now - self._started >= _QUIET_SECONDS and now - self._drawn >= _REDRAW_SECONDS:
            self._drawn = now
            self._draw(self.line(now - self._started))

    def line(self, seconds: float) -> str:
        """What is shown after so many seconds."""
        parts = [f"{self._label} {self._files:,}/{self._total:,} files", f"{self._pieces:,} pieces"]
        if self._files and seconds > 0:
            rate = self._files / seconds
            parts.append(f"{rate:,.0f} files/s")
            parts.append(f"{_duration((self._total - self._files) / rate)} left")
        if self._usd:
            parts.append(f"${self._usd:.2f}")
        return " · ".join(parts)

    def note(self, text: str) -> None:
        """Say something that stays, terminal or not."""
        self.done()
        self._stream.write(f"{text}\n")

    def done(self) -> None:
        """Wipe the line."""
        if self._width:
            self._draw("")
            self._width = 0

    def _draw(self, text: str) -> None:
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 80
        text = text[: max(columns - 1, 10)]
        self._stream.write(f"\r{text.ljust(self._width)}\r{text}")
        self._stream.flush()
        self._width = len(text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
