"""Spread work over processes, keep its order, hold little at once.

In: batches, and a factory that makes the worker in each process. Out: results in the order of the batches.
Invariant: at most two batches a process are under way; an error or an interruption ends every process.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

_worker: Any = None
_MOST_PROCESSES = 8


class HasContent(Protocol):
    """What batches are made of."""

    @property
    def content(self) -> bytes:
        """What makes the work long."""


T = TypeVar("T", bound=HasContent)


def processes() -> int:
    """How many processes this one may keep busy."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        found = os.cpu_count() or 1
    return min(found, _MOST_PROCESSES)


def batches(items: Iterable[T], most: int, most_bytes: int) -> Iterator[list[T]]:
    """Group items so that a batch is worth sending to another process and small enough to hold."""
    batch: list[T] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item.content)
        if len(batch) >= most or size >= most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _start(make: Callable[[], Any]) -> None:
    import signal

    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _worker = make()


def _work(batch: Any) -> Any:
    return _worker.segment(batch)


def spread(parts: Iterable[Any], make: Callable[[], Any], count: int) -> Iterator[Any]:
    """Results of `make().segment(batch)` for each batch, in order, from `count` processes."""
    import multiprocessing  # slow to load, and a small change needs none of it

    context = multiprocessing.get_context(
        "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    )
    with context.Pool(count, _start, (make,)) as pool:
        waiting: deque[Any] = deque()
        for batch in parts:
            waiting.append(pool.apply_async(_work, (batch,)))
            if len(waiting) >= 2 * count:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()
