"""One writer at a time: a lock that ends with its process.

In: the path of a lock file. Out: a context in which nobody else holds it, or `Locked` naming who does.
Invariant: the operating system holds the lock, not the existence of the file, so a killed run leaves none.
"""

import contextlib
import os
import time
from collections.abc import Iterator

from git_pkb.errors import CannotWrite, Locked
from git_pkb.location import Place, state_dir

DEFAULT_WAIT = 3.0  # seconds; a hook must not keep a commit waiting
_POLL = 0.05


def writer_lock(repo: Place, wait: float = DEFAULT_WAIT) -> contextlib.AbstractContextManager[None]:
    """The lock of everything that writes `.pkb` or the cache of this worktree."""
    folder = state_dir(repo)
    if not os.access(folder if os.path.isdir(folder) else repo.git_dir, os.W_OK):
        from git_pkb.location import cache_dir

        folder = cache_dir(repo)
    return hold(os.path.join(folder, "lock"), wait)


@contextlib.contextmanager
def hold(path: str, wait: float = DEFAULT_WAIT) -> Iterator[None]:
    """Hold the lock file at `path`; `Locked` when another process keeps it longer than `wait` seconds."""
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise CannotWrite(
            f"cannot write {path}: {error.strerror}", "check the permissions of the git directory"
        ) from error
    try:
        until = time.monotonic() + wait
        while not _try_lock(descriptor):
            if time.monotonic() >= until:
                raise Locked(
                    f"another git pkb is writing the index ({_holder(path)})",
                    "wait for it to end, then run this again",
                )
            time.sleep(_POLL)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}\n".encode(), 0)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _holder(path: str) -> str:
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.readline(80).strip() or "an unknown process"
    return "an unknown process"


if os.name == "nt":  # pragma: no cover - exercised on Windows only
    import msvcrt

    _FAR = 1 << 30  # lock a byte past the text, which then stays readable

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
