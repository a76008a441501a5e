"""Keeps Python's garbage collector out of stretches that make many objects and no cycles.

In: nothing. Out: a context. Invariant: the collector is afterwards as it was before. What the stretch made is
set aside (`gc.freeze`), so that later collections do not walk it: together an eighth of a hook's time.
"""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No collection inside."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
