"""Retries, concurrency and interruption, which all providers share."""

import os
import signal
import subprocess
import sys
import threading
import time
from email.utils import formatdate

import pytest

from git_pkb.errors import ProviderError
from git_pkb.net import network
from git_pkb.net.network import Failure, Policy, Service, Stopped, retrying, run_all, seconds

SOON = Policy(attempts=4, first_wait=0.001, longest_wait=0.002)


class Flaky:
    """A request that fails a few times before it is answered."""

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.calls = 0

    def __call__(self) -> str:
        """Fail, or answer."""
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


def test_transient_failures_are_retried() -> None:
    """429, 5xx, timeouts and broken connections are worth another try."""
    flaky = Flaky(
        Failure("slow down", status=429), Failure("oops", status=502), Failure("late", transient=True)
    )
    assert retrying(flaky, SOON) == "answer"
    assert flaky.calls == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_other_failures_are_not(status: int) -> None:
    """What the same request would meet again is not asked again."""
    flaky = Flaky(Failure("no", status=status))
    with pytest.raises(Failure):
        retrying(flaky, SOON)
    assert flaky.calls == 1


def test_retries_end() -> None:
    """After the last attempt the last failure is raised."""
    flaky = Flaky(*[Failure(f"busy {i}", status=503) for i in range(9)])
    with pytest.raises(Failure, match="busy 3"):
        retrying(flaky, SOON)
    assert flaky.calls == 4


def test_waits_grow_with_jitter_and_follow_retry_after() -> None:
    """Waits double up to a bound, half of each by chance; a server's wish counts instead, within reason."""
    policy = Policy(first_wait=1.0, longest_wait=8.0, longest_retry_after=60.0)
    assert [policy.wait(i, None, 1.0) for i in range(5)] == [1.0, 2.0, 4.0, 8.0, 8.0]
    assert [policy.wait(i, None, 0.0) for i in range(3)] == [0.5, 1.0, 2.0]
    assert policy.wait(0, 7.0, 0.0) == 7.0
    assert policy.wait(3, 7.0, 1.0) == 8.0
    assert policy.wait(0, 3600.0, 0.0) == 60.0


def test_retry_after_is_waited_for() -> None:
    """The time a server asks for passes before the next try."""
    begun = time.monotonic()
    retrying(Flaky(Failure("busy", status=429, retry_after=0.2)), SOON)
    assert time.monotonic() - begun >= 0.2


def test_retry_after_is_a_number_or_a_date() -> None:
    """Both forms of the header are read; nonsense counts as absent."""
    assert seconds("12") == 12.0
    assert seconds("0.5") == 0.5
    later = seconds(formatdate(time.time() + 30, usegmt=True))
    assert later is not None
    assert 25 < later < 35
    assert seconds(formatdate(time.time() - 30, usegmt=True)) == 0.0
    assert [seconds(value) for value in (None, "soon", "nan", b"1")] == [None, None, None, None]


def test_waiting_to_retry_ends_when_the_run_does() -> None:
    """A worker that waits for its next try stops at once when another failed for good."""
    stop = threading.Event()
    threading.Timer(0.05, stop.set).start()
    begun = time.monotonic()
    with pytest.raises(Stopped):
        retrying(Flaky(Failure("busy", status=429, retry_after=30.0)), SOON, stop)
    assert time.monotonic() - begun < 10


def test_at_most_so_many_jobs_run_at_a_time() -> None:
    """Concurrency is bounded, and every job's answer arrives once."""
    lock, running, most = threading.Lock(), 0, 0

    def work(job: int, _: threading.Event) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1
        return job * job

    assert dict(run_all(range(40), work, 3)) == {i: i * i for i in range(40)}
    assert most == 3


def test_answers_under_way_are_given_out_before_an_error() -> None:
    """When one job fails, no new one begins, and what others had under way is not lost."""
    begun: list[int] = []
    release = threading.Event()

    def work(job: int, _: threading.Event) -> int:
        begun.append(job)
        if job == 0:
            release.wait(5)
        if job == 1:
            release.set()
            raise ProviderError("refused")
        return job

    received = []
    with pytest.raises(ProviderError):
        received.extend(run_all(range(50), work, 2))
    stream = run_all([0, 1], work, 2)
    release.clear()
    received = [next(stream)]
    with pytest.raises(ProviderError):
        next(stream)
    assert received == [(0, 0)]
    assert len(begun) <= 6


INTERRUPTED = """
import sys, threading, time
from git_pkb.net.network import run_all

def work(job, stop):
    if job == 1:
        print("running", flush=True)
        time.sleep(0.5)
    return job

kept = []
try:
    for index, answer in run_all(list(range(100)), work, 2):
        kept.append(answer)
        if answer == 0:
            # storing takes a while, and must not be torn by the interrupt
            time.sleep(0.2)
            print("stored", flush=True)
        if len(kept) > 50:
            break
except KeyboardInterrupt:
    print("interrupted", sorted(kept)[:2], len(kept) < 90, flush=True)
    sys.exit(130)
"""


def test_ctrl_c_keeps_what_is_under_way() -> None:
    """An interrupt begins no new request, waits for those under way, hands them out, then ends the run."""
    code = INTERRUPTED.replace("return job\n", "time.sleep(0.02)\n    return job\n")
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert said.splitlines() == ["stored", "interrupted [0, 1] True"]
    assert process.returncode == 130


def test_the_interrupt_handler_is_put_back() -> None:
    """After a run Ctrl-C means what it meant before."""
    before = signal.getsignal(signal.SIGINT)
    stream = run_all([1, 2], lambda job, _: job, 1)
    next(stream)
    assert signal.getsignal(signal.SIGINT) is not before
    stream.close()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Failure("bad key", status=401), ("refused", "MY_KEY", "embedding.apikeyenv")),
        (Failure("no such model", status=404), ("does not know", "embedding.model")),
        (Failure("slow down", status=429), ("rate", "embedding.concurrency")),
        (Failure("You exceeded your quota", status=429), ("paid", "billing")),
        (Failure("oops", status=500), ("failed", "again")),
        (Failure("timed out", transient=True), ("cannot be reached", "http://host")),
        (Failure("<html>", page=True, transient=False), ("not JSON", "embedding.baseurl")),
        (Failure("bad\nfield\x00", status=422), ("refused the request", "embedding.model")),
    ],
)
def test_errors_say_what_to_do(failure: Failure, words: tuple[str, ...]) -> None:
    """Each kind of failure becomes an error with exit code 4 that says what happened and what to do."""
    error = Service("vendor", "http://host", "MY_KEY").explain(failure)
    assert (error.exit_code, error.code) == (4, "provider")
    for word in words:
        assert word in f"{error.message} {error.hint}"
    assert "\n" not in error.message


def test_a_long_message_of_a_provider_is_shortened() -> None:
    """A page of text never floods the terminal."""
    assert len(Service("v", "http://host").explain(Failure("x" * 9000, status=500)).message) < 500


def test_too_long_is_told_from_other_refusals() -> None:
    """Only a refusal for length makes a batch smaller."""
    assert Failure("This model's maximum context length is 8192 tokens", status=400).too_long
    assert Failure("Payload Too Large", status=413).too_long
    assert not Failure("model does not exist", status=400).too_long
    assert not Failure("too many tokens", status=429).too_long
    assert network.QUICK.attempts < network.PATIENT.attempts
    assert os.environ.get("VOYAGE_API_KEY") is None
