"""Spread work over processes, keep its order, hold little at once.

In: batches, and a factory that makes the worker in each process. Out: results in the order of the batches.
Invariant: at most two batches a process are under way; an error or an interruption ends every process.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_worker: Any = None


def _start(make: Callable[[], Any]) -> None:
    import signal

    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _worker = make()


def _work(batch: Any) -> Any:
    return _worker.segment(batch)


def spread(batches: Iterable[Any], make: Callable[[], Any], processes: int) -> Iterator[Any]:
    """Results of `make().segment(batch)` for each batch, in order."""
    context = multiprocessing.get_context(
        "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    )
    with context.Pool(processes, _start, (make,)) as pool:
        waiting: deque[Any] = deque()
        for batch in batches:
            waiting.append(pool.apply_async(_work, (batch,)))
            if len(waiting) >= 2 * processes:
                yield waiting.popleft().get()
        while waiting:
            yield waiting.popleft().get()
