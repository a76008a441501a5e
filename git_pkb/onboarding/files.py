"""Reads and writes text files of the work tree, as carefully as their owner would.

In: names relative to the top. Out: the same files; `lines` says what was done. Invariant: nothing outside
the work tree is written, through no link; line endings and modes stay; a file is replaced as a whole or not
at all.
"""

import contextlib
import os
import stat

from git_pkb.errors import CannotWrite

_MOST_BYTES = 2_000_000


class Files:
    """The files of one work tree."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.lines: list[str] = []

    def real_name(self, name: str) -> str | None:
        """The name of what a path really is, relative to the top; None when a link leads out of the tree."""
        path = os.path.realpath(os.path.join(self.top, name))
        return os.path.relpath(path, self.top) if path.startswith(self.top + os.sep) else None

    def read(self, name: str) -> str | None:
        """The text, lines ended by line feeds; None where there is no file. Raises CannotWrite."""
        real = self.real_name(name)
        if real is None:
            raise CannotWrite(f"{name} leads out of the repository", "replace the link by a file")
        path = os.path.join(self.top, real)
        try:
            mode = os.stat(path).st_mode
            if not stat.S_ISREG(mode) or os.path.getsize(path) > _MOST_BYTES:
                raise CannotWrite(f"{name} is not a text file that can be changed", "look what it is")
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CannotWrite(f"cannot read {name}: {error.strerror}", "check its permissions") from error
        return data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")

    def write(self, name: str, text: str) -> bool:
        """Put a text in place; whether anything changed."""
        before = self.read(name)
        if before == text:
            return False
        path = os.path.join(self.top, self.real_name(name) or name)
        data = text.encode("utf-8", "surrogateescape")
        if before is not None and _has_crlf(path):
            data = data.replace(b"\n", b"\r\n")
        temporary = os.path.join(os.path.dirname(path), f".git-pkb-{os.getpid()}.tmp")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            mode = stat.S_IMODE(os.stat(path).st_mode) if before is not None else None
            with open(temporary, "xb") as file:
                file.write(data)
            if mode is not None:
                os.chmod(temporary, mode)
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise CannotWrite(f"cannot write {name}: {error.strerror}", "check its permissions") from error
        self.lines.append(f"{'changed' if before is not None else 'wrote'} {name}")
        return True

    def remove(self, name: str) -> None:
        """Remove a file and the folders this leaves empty."""
        path = os.path.join(self.top, self.real_name(name) or name)
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise CannotWrite(f"cannot remove {name}: {error.strerror}", "check its permissions") from error
        self.lines.append(f"removed {name}")
        folder = os.path.dirname(path)
        while folder.startswith(self.top + os.sep):
            try:
                os.rmdir(folder)
            except OSError:
                break
            folder = os.path.dirname(folder)


def _has_crlf(path: str) -> bool:
    with open(path, "rb") as file:
        data = file.read()
    return b"\r\n" in data and data.count(b"\r\n") * 2 > data.count(b"\n")
