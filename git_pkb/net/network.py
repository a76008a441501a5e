"""What all network providers share: retries, a bounded number of requests at a time, errors one can act on.

In: a request as a function that raises `Failure`. Out: its answer, or a `ProviderError` that says what to do.
Invariant: a request is repeated only when repeating can help (429, 5xx, timeouts, broken connections), never
more than `Policy.attempts` times, and what was answered is handed out before anything is raised.
"""

import random
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NoReturn, TypeVar

from git_pkb.errors import PkbError, ProviderError

Job = TypeVar("Job")
Result = TypeVar("Result")

_POLL = 0.1  # seconds between looks at whether Ctrl-C was pressed
_SHOWN = 300  # characters of a provider's own words that a message repeats
_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TOO_LONG = (
    "too many tokens", "max allowed tokens", "maximum context", "context length", "context window",
    "too long", "token limit", "tokens per", "exceeds the limit", "maxlength", "input length",
)  # fmt: skip


class Failure(Exception):
    """A request that was not answered as it should: raised by providers, turned into errors here.

    `status` is the HTTP status or None when there was no answer; `retry_after` the seconds that the server
    asks to wait; `transient` whether the same request may succeed later; `page` that the answer was no JSON.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        transient: bool | None = None,
        page: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.transient = status in _TRANSIENT if transient is None else transient
        self.page = page

    @property
    def too_long(self) -> bool:
        """Whether the request held more text than the model takes, so that a smaller one may succeed."""
        text = self.message.lower()
        return self.status in (400, 413, 422) and (
            self.status == 413 or any(phrase in text for phrase in _TOO_LONG)
        )


class Stopped(Exception):
    """The run ends (Ctrl-C, or another request failed for good): waiting to retry makes no sense any more."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How often and how patiently a request is repeated; waits are in seconds."""

    attempts: int = 6
    first_wait: float = 0.5
    longest_wait: float = 30.0
    longest_retry_after: float = 120.0

    def wait(self, attempt: int, retry_after: float | None, chance: float) -> float:
        """Seconds to wait after attempt number `attempt` (from 0): what the server asked for, else doubled.

        `chance` is between 0 and 1, the jitter. Half of the exponential wait is fixed, so that workers that
        failed together neither return together nor at once.
        """
        if retry_after is not None:
            return min(max(retry_after, 0.0), self.longest_retry_after) + chance * self.first_wait
        ceiling = min(self.longest_wait, self.first_wait * 2.0**attempt)
        return ceiling * (0.5 + 0.5 * chance)


#: For documents, where patience costs nothing, and for a question, where someone waits.
PATIENT = Policy()
QUICK = Policy(attempts=2, first_wait=0.2, longest_wait=1.0, longest_retry_after=2.0)


def retrying(request: Callable[[], Result], policy: Policy, stop: threading.Event | None = None) -> Result:
    """Make a request, again while it fails transiently; raises its last Failure, or Stopped."""
    stop = stop or threading.Event()
    for attempt in range(policy.attempts):
        if stop.is_set():
            raise Stopped
        try:
            return request()
        except Failure as failure:
            if not failure.transient or attempt + 1 == policy.attempts:
                raise
            delay = policy.wait(attempt, failure.retry_after, random.random())  # noqa: S311 - jitter
        if stop.wait(delay):
            raise Stopped
    raise AssertionError("a policy allows at least one attempt")


def run_all(
    jobs: Sequence[Job], call: Callable[[Job, threading.Event], Result], workers: int
) -> Iterator[tuple[int, Result]]:
    """Answers of `call(job, stop)` with the job's index, as they arrive, at most `workers` at a time.

    When one raises, or on Ctrl-C, no further request begins; those under way are waited for (each has its own
    time limit) and handed out, then the first error is raised. A second Ctrl-C, or any exception raised in
    the consumer, waits for nothing. While this iterator lives, Ctrl-C is only noted, so the consumer is not
    interrupted in the middle of storing.
    """
    stop = threading.Event()
    todo: SimpleQueue[tuple[int, Job] | None] = SimpleQueue()
    done: SimpleQueue[tuple[int, Callable[[], Result]]] = SimpleQueue()
    waiting = iter(enumerate(jobs))
    threads = running = 0
    error: BaseException | None = None
    with _NotedInterrupt() as interrupt:
        try:
            while True:
                while error is None and not interrupt.noted and running < max(1, workers):
                    job = next(waiting, None)
                    if job is None:
                        break
                    todo.put(job)
                    running += 1
                    if threads < running:
                        # a daemon, so that a request that hangs cannot keep the process from ending
                        threading.Thread(target=_work, args=(todo, done, call, stop), daemon=True).start()
                        threads += 1
                if not running:
                    break
                try:
                    index, result = done.get(timeout=_POLL)
                except Empty:
                    if interrupt.noted:
                        stop.set()
                    continue
                running -= 1
                try:
                    answer = result()
                except Stopped:
                    continue
                except BaseException as raised:  # raised again when the rest has arrived
                    error = error or raised
                    stop.set()
                    continue
                yield index, answer
        finally:
            stop.set()
            for _ in range(threads):
                todo.put(None)
    if interrupt.noted:
        raise KeyboardInterrupt
    if error is not None:
        raise error


def _work(
    todo: "SimpleQueue[tuple[int, Job] | None]",
    done: "SimpleQueue[tuple[int, Callable[[], Result]]]",
    call: Callable[[Job, threading.Event], Result],
    stop: threading.Event,
) -> None:
    """One worker; answers and errors go to the thread that asked, as functions that give or raise them."""
    while (job := todo.get()) is not None:
        index, what = job
        try:
            done.put((index, partial(_give, call(what, stop))))
        except BaseException as error:
            done.put((index, partial(_raise, error)))


def _give(answer: Result) -> Result:
    return answer


def _raise(error: BaseException) -> NoReturn:
    raise error


class _NotedInterrupt:
    """Ctrl-C as a note instead of an exception, once; in the main thread, over Python's own handler."""

    def __init__(self) -> None:
        self.noted = False
        self._mine = False

    def __enter__(self) -> "_NotedInterrupt":
        if threading.current_thread() is threading.main_thread():
            self._mine = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if self._mine:
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _note(self, *_: Any) -> None:
        self.noted = True
        self._restore()

    def _restore(self) -> None:
        if self._mine:
            self._mine = False
            signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True, slots=True)
class Service:
    """Who is asked, for messages: name, address, variable of the key, section of the settings."""

    name: str
    address: str
    key_variable: str | None = None
    section: str = "embedding"

    def explain(self, failure: Failure) -> PkbError:
        """The error for a request that failed for good: what happened, and what to do about it."""
        said = " ".join(failure.message.split())[:_SHOWN]
        model, base = f"{self.section}.model", f"{self.section}.baseurl"
        key = f"the key in {self.key_variable}" if self.key_variable else "the credentials"
        if failure.page:
            return ProviderError(
                f"{self.name} at {self.address} answered with something that is not JSON: {said}",
                f"is this the right address? It is set by {base}, without `/v1`",
            )
        if failure.status in (401, 403):
            return ProviderError(
                f"{self.name} refused {key} (HTTP {failure.status}): {said}",
                f"check that {key} may use this model; {self.section}.apikeyenv names the variable",
            )
        if failure.status == 404:
            return ProviderError(
                f"{self.name} at {self.address} does not know this model or address (HTTP 404): {said}",
                f"check {model} and {base}",
            )
        if failure.status == 402 or "quota" in said.lower() or "billing" in said.lower():
            return ProviderError(
                f"{self.name} wants to be paid first: {said}", "look at the plan and billing of this account"
            )
        if failure.status == 429:
            return ProviderError(
                f"{self.name} still limits the rate after all retries: {said}",
                "run again later, it goes on where it stopped; or lower embedding.concurrency",
            )
        if failure.status is None:
            return ProviderError(
                f"{self.name} cannot be reached at {self.address}: {said}",
                "is the service running, and the network up? Run again, it goes on where it stopped",
            )
        if failure.status >= 500:
            return ProviderError(
                f"{self.name} failed (HTTP {failure.status}): {said}",
                "run again later, it goes on where it stopped",
            )
        return ProviderError(
            f"{self.name} refused the request (HTTP {failure.status}): {said}",
            f"check {model} and {self.section}.dimensions",
        )


def seconds(retry_after: object) -> float | None:
    """The value of a `Retry-After` header in seconds: a number or an HTTP date; None for anything else."""
    if not isinstance(retry_after, str):
        return None
    try:
        value = float(retry_after)
    except ValueError:
        import time
        from email.utils import parsedate_to_datetime

        try:
            value = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return value if 0 <= value < 1e9 else 0.0 if value < 0 else None
