"""The errors a person can meet, each with its exit code.

In: what went wrong, in a sentence, and what to do about it. Out: `cli.py` prints `error: …` then
`hint: …` on stderr (or one JSON object on stdout with `--json`) and exits with `exit_code`.
Invariant: every error that is not a bug in this program is a `PkbError`; everything else exits 70.
"""


class PkbError(Exception):
    """Base of all reported errors: a message, an optional hint, and a process exit code."""

    exit_code = 70
    code = "internal"

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(PkbError):
    """The command line asks for something that cannot be meant."""

    exit_code = 2
    code = "usage"


class ConfigError(PkbError):
    """A setting is unknown, has the wrong type, or contradicts another."""

    exit_code = 2
    code = "config"


class NewerFormat(PkbError):
    """The index was written by a newer format than this program reads; it is never overwritten."""

    exit_code = 2
    code = "newer-format"


class NotARepository(PkbError):
    """The current folder is in no git repository, or git cannot read it."""

    exit_code = 2
    code = "not-a-repository"


class NoIndex(PkbError):
    """There is no index, and none may be built on the way."""

    exit_code = 3
    code = "no-index"


class ProviderError(PkbError):
    """An embedder, a summarizer or a store failed after its retries."""

    exit_code = 4
    code = "provider"


class CostCapExceeded(PkbError):
    """The estimated cost of the run is above the cap; nothing was spent."""

    exit_code = 5
    code = "cost-cap"


class CannotWrite(PkbError):
    """A file of the index or the cache cannot be written."""

    exit_code = 74
    code = "cannot-write"


class Locked(PkbError):
    """Another run holds the lock."""

    exit_code = 75
    code = "locked"
