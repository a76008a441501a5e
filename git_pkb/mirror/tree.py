"""The artifacts on disk: scanned with their signatures, read, written whole, removed.

In: the top of a repository; artifacts. Out: what is recorded, by source path. Invariant: nothing outside the
real folder `.pkb` is ever read or written (a symbolic link on the way is refused), and a reader sees a file
either as it was or as it is: each is written beside its place, flushed and renamed; `.vec` before `.meta`.

There is no fsync a file: 40,000 of them take minutes, and an artifact that a power cut left empty is damage
that reading notices and `reindex` mends. `state.toml` and the settings are synced.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Mapping, Sequence

from git_pkb.errors import CannotWrite
from git_pkb.mirror.format import encode_meta, encode_vec, has_vectors
from git_pkb.mirror.names import INDEX, META, VEC, meta_name, source_path, stem, stems, vec_name
from git_pkb.model import Artifact, Entry
from git_pkb.slotted import value

__all__ = [
    "INDEX", "META", "VEC", "Found", "Listing", "Tree", "meta_name", "pair", "scan", "scan_entries",
    "source_path", "stem", "stems", "vec_name", "walk",
]  # fmt: skip

ROOT = ".pkb"
#: `!/index/**`: a rule of the repository such as `build/` or `*.meta` must not hide artifacts.
IGNORE = "!/index/**\n/cache/\n/cache.*\n.git-pkb-*.tmp\n"
ATTRIBUTES = (
    "index/** linguist-generated merge=pkb -text -filter\n"
    "index/**/*.vec -diff\n"
    "state.toml linguist-generated merge=pkb\n"
)  # fmt: skip

#: Written before anything else under `.pkb`.
OWN_FILES = {f"{ROOT}/.gitignore": IGNORE, f"{ROOT}/.gitattributes": ATTRIBUTES}

_TEMPORARY_PREFIX, _TEMPORARY = ".git-pkb-", ".tmp"

#: How a half of an artifact is recognised without reading it: size, mtime in ns and inode of the file, or the
#: object name of its blob.
FileSignature = tuple[int, int, int]
Signature = FileSignature | str


@value
class Found:
    """The artifact of one source path: name without suffix and the signatures of its halves."""

    path: str
    stem: str
    meta: Signature
    vec: Signature | None


@value
class Listing:
    """All artifacts by source path, and names that belong to no source or lack their `.meta`."""

    found: dict[str, Found]
    strays: list[str]


def walk(top: str) -> tuple[dict[str, FileSignature], list[str]]:
    """All halves of artifacts in the work tree at `top` with their signatures, and names that are none.

    A missing `.pkb/index` is an empty one; a link or a file in its place raises CannotWrite.
    """
    signatures: dict[str, FileSignature] = {}
    strays: list[str] = []
    if not _is_folder(top, ROOT) or not _is_folder(top, INDEX):
        return signatures, strays
    pending = [INDEX]
    while pending:
        folder = pending.pop()
        with os.scandir(f"{top}/{_native(folder)}") as entries:
            for entry in entries:
                name = entry.name
                name = f"{folder}/{name if name.isascii() else _kept(name)}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(name)
                elif name.endswith((META, VEC)) and not entry.is_symlink():
                    about = entry.stat(follow_symlinks=False)
                    signatures[name] = (about.st_size, about.st_mtime_ns, about.st_ino)
                else:
                    strays.append(name)
    return signatures, strays


def scan(top: str) -> Listing:
    """List the artifacts in the work tree at `top`."""
    return pair(*walk(top))


def scan_entries(entries: Mapping[str, Entry]) -> Listing:
    """List the artifacts among the entries of a tree or of the staging area (paths from the top)."""
    return pair(
        {
            name: entry.oid
            for name, entry in entries.items()
            if entry.is_regular and name.endswith((META, VEC))
        },
        [],
    )


def pair(signatures: Mapping[str, Signature], strays: Sequence[str] = ()) -> Listing:
    """Put halves together by the source they belong to."""
    strays = list(strays)
    found: dict[str, Found] = {}
    for name, signature in signatures.items():
        if name.endswith(META):
            path = source_path(name)
            base = name[: -len(META)]
            if path is None:
                strays.append(name)
            elif path in found:  # by a plain and an escaped name, after its twin went: keep the plain one
                plain = base if base == stem(path) else found[path].stem
                other = found[path].stem if plain == base else base
                strays.extend(n for n in (other + META, other + VEC) if n in signatures)
                found[path] = Found(path, plain, signatures[plain + META], signatures.get(plain + VEC))
            else:
                found[path] = Found(path, base, signature, signatures.get(base + VEC))
        elif name[: -len(VEC)] + META not in signatures:
            strays.append(name)
    return Listing(found, strays)


def _kept(name: str) -> str:
    """A name of the file system as paths are kept: UTF-8 with surrogateescape whatever the locale says."""
    return os.fsencode(name).decode("utf-8", "surrogateescape")


def _native(name: str) -> str:
    """A kept path as this system's file functions take it."""
    return name if name.isascii() else os.fsdecode(name.encode("utf-8", "surrogateescape"))


def _is_folder(top: str, name: str) -> bool:
    """Whether it is a real folder; a link or a file in its place is refused."""
    try:
        mode = os.lstat(os.path.join(top, name)).st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _cannot(name, error) from error
    if not stat.S_ISDIR(mode):
        what = "a symbolic link" if stat.S_ISLNK(mode) else "a file"
        raise CannotWrite(
            f"{name} is {what}, not a folder", f"move {name} away; git pkb writes only into a real folder"
        )
    return True


class Tree:
    """Writes the `.pkb` folder of one work tree. Create under the lock."""

    def __init__(self, top: str) -> None:
        self.top = top
        self._folders: set[str] = set()

    def prepare(self) -> list[str]:
        """Make `.pkb` with its `.gitignore` and `.gitattributes`; gives the names that were written."""
        written = []
        for name, content in self.own_files().items():
            if self._read_small(name) != content:
                self.write(name, content)
                written.append(name)
        return written

    def own_files(self) -> dict[str, bytes]:
        """What these two are to hold: what a person put there, and our lines where they are lacking."""
        files = {}
        for name, wanted in OWN_FILES.items():
            have = self._read_small(name)
            lines = have.decode("utf-8", "replace").splitlines()
            lacking = "".join(f"{line}\n" for line in wanted.splitlines() if line not in lines)
            if lacking and have and not have.endswith(b"\n"):
                have += b"\n"
            files[name] = have + lacking.encode()
        return files

    def read(self, name: str) -> bytes:
        """The bytes of a file under `.pkb` (raises OSError)."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe of that name must not keep us waiting
        with open(os.open(self._at(name), flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileNotFoundError(errno.ENOENT, "not a regular file", name)
            return file.read()

    def write_artifact(self, base: str, artifact: Artifact) -> dict[str, bytes]:
        """Write both halves at `base` (a name without suffix); gives name -> bytes of what was written."""
        written = {}
        if has_vectors(artifact):
            written[base + VEC] = encode_vec(artifact)
        written[base + META] = encode_meta(artifact)
        for name, data in written.items():
            self.write(name, data)
        if len(written) == 1:
            self.remove(base + VEC)
        return written

    def write(self, name: str, data: bytes, *, sync: bool = False) -> None:
        """Put a file in place as a whole."""
        folder = name.rpartition("/")[0]
        try:
            self._make_folder(folder)
            target = self._at(name)
            temporary = f"{target.rpartition('/')[0]}/{_TEMPORARY_PREFIX}{os.getpid()}{_TEMPORARY}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            try:
                descriptor = os.open(temporary, flags | getattr(os, "O_BINARY", 0), 0o666)
                with open(descriptor, "wb", buffering=0) as file:
                    file.write(data)
                    if sync:
                        os.fsync(descriptor)
                os.replace(temporary, target)
            except BaseException:  # Ctrl-C too
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            raise _cannot(name, error) from error

    def remove(self, name: str) -> bool:
        """Remove a file and the folders that this leaves empty; whether there was one."""
        folder = name.rpartition("/")[0]
        try:
            if not self._is_real_folder(folder):
                return False
            os.unlink(self._at(name))
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _cannot(name, error) from error
        while folder.startswith(INDEX + "/"):
            try:
                os.rmdir(self._at(folder))
            except OSError:
                break  # not empty
            self._folders.discard(folder)
            folder = folder.rpartition("/")[0]
        return True

    def clear_temporaries(self, strays: list[str]) -> None:
        """Remove what a run that was killed left half written."""
        for name in strays:
            if name.endswith(_TEMPORARY) and f"/{_TEMPORARY_PREFIX}" in name:
                self.remove(name)

    def signature(self, name: str) -> FileSignature | None:
        """The signature of one file as `scan` gives it."""
        try:
            about = os.lstat(self._at(name))
        except OSError:
            return None
        return (about.st_size, about.st_mtime_ns, about.st_ino)

    def _at(self, name: str) -> str:
        return f"{self.top}/{_native(name)}"

    def _read_small(self, name: str) -> bytes:
        try:
            return self.read(name) if self._is_real_folder(name.rpartition("/")[0]) else b""
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise _cannot(name, error) from error

    def _is_real_folder(self, folder: str) -> bool:
        """Check every component once a run, so that nothing is written through a link."""
        if folder in self._folders:
            return True
        parent = folder.rpartition("/")[0]
        if (parent and not self._is_real_folder(parent)) or not _is_folder(self.top, _native(folder)):
            return False
        self._folders.add(folder)
        return True

    def _make_folder(self, folder: str) -> None:
        if self._is_real_folder(folder):
            return
        parent = folder.rpartition("/")[0]
        if parent:
            self._make_folder(parent)
        os.mkdir(self._at(folder))
        self._folders.add(folder)


def _cannot(name: str, error: OSError) -> CannotWrite:
    return CannotWrite(
        f"cannot write {name}: {error.strerror or error}",
        "check the permissions of .pkb and the free space; what was finished is kept",
    )
