"""Where the artifacts of a source path lie, and back. Pure.

In: source paths. Out: names of artifacts, relative to the top of the repository. Invariant: no two sources
share a name, no name leaves `.pkb/index`, and `source_path(meta_name(path)) == path` for every path.

`src/foo.ts` is at `.pkb/index/src/foo.ts.meta`. What a file system could not hold that way is
percent-encoded: a literal `%`, control characters, bytes that are not UTF-8, the dot of a folder that ends
in `.meta` or `.vec` (a file `a` and a folder `a.meta/` would collide); a component too long for its suffix
goes on in a folder below one that ends in `%`. Paths that differ only in case get their capitals encoded,
so that a clone on a file system without case keeps both.
"""

import re
from collections.abc import Iterable
from os import fsencode

INDEX = ".pkb/index"
META, VEC = ".meta", ".vec"

_PREFIX = INDEX + "/"
_LONGEST = 220  # bytes of a component; most file systems hold 255, and a suffix must fit
_PLAIN = re.compile(r"[^%\x00-\x1f\x7f\udc80-\udcff]*")
_TO_ENCODE = re.compile(r"[%\x00-\x1f\x7f\udc80-\udcff]")
_TO_ENCODE_IN_TWIN = re.compile(r"[%\x00-\x1f\x7f-\U0010ffffA-Z]")  # capitals and all that is not ASCII too
_CODE = re.compile(r"%([0-9A-F]{2})")
_NOT_SIMPLE = re.compile(r"%|/[./]|\.(?:meta|vec)", re.IGNORECASE)
_MARKED_FOLDER = re.compile(r"\.(meta|vec)\Z", re.IGNORECASE)


def meta_name(path: str) -> str:
    """Name of the `.meta` of a source path (that has no twin, see `stems`)."""
    return stem(path) + META


def vec_name(path: str) -> str:
    """Name of the `.vec` of a source path (that has no twin, see `stems`)."""
    return stem(path) + VEC


def stem(path: str, *, twin: bool = False) -> str:
    """Name of the artifacts of a path without their suffix; `twin`: another path differs only in case."""
    if not twin and len(path) < _LONGEST and path.isascii() and _PLAIN.fullmatch(path):
        folder = path.rpartition("/")[0]
        if ".meta" not in folder.lower() and ".vec" not in folder.lower():
            return _PREFIX + path  # nearly every path
    *folders, base = path.split("/")
    parts = [part for folder in folders for part in _component(folder, twin, folder=True)]
    return _PREFIX + "/".join((*parts, *_component(base, twin, folder=False)))


def stems(paths: Iterable[str]) -> dict[str, str]:
    """Names without suffix of all paths; those that differ only in case or in Unicode form are told apart."""
    first: dict[str, str] = {}
    twins: set[str] = set()
    paths = list(paths)
    for path in paths:
        other = first.setdefault(_folded(path), path)
        if other != path:
            twins.update((path, other))
    return {path: stem(path, twin=path in twins) for path in paths}


def source_path(artifact_name: str) -> str | None:
    """The source path of an artifact's name, or None for a name that no source has."""
    for suffix in (META, VEC):
        if artifact_name.startswith(_PREFIX) and artifact_name.endswith(suffix):
            name = artifact_name[: -len(suffix)]
            inner = name[len(_PREFIX) :]
            if _is_simple(inner):
                return inner
            if "%" not in inner:
                path = inner
            else:
                joined = re.sub(r"%/", "", inner)
                data = _CODE.sub(lambda m: chr(int(m[1], 16)), fsencode(joined).decode("latin-1"))
                path = data.encode("latin-1").decode("utf-8", "surrogateescape")
            if not _may_be_source(path):
                return None
            if stem(path) == name or ("%" in inner and stem(path, twin=True) == name):
                return path
    return None


def _is_simple(inner: str) -> bool:
    """Whether a name is its own source path without a closer look: true of nearly all, and cheap to tell."""
    return (
        0 < len(inner) < _LONGEST
        and inner.isascii()
        and inner.isprintable()
        and inner[0] not in "./"
        and not _NOT_SIMPLE.search(inner)
    )


def _may_be_source(path: str) -> bool:
    return "\0" not in path and not any(part in ("", ".", "..") for part in path.split("/"))


def _folded(path: str) -> str:
    if path.isascii():
        return path.lower()
    import unicodedata

    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _component(text: str, twin: bool, *, folder: bool) -> list[str]:
    """Encode one component; more than one part when it is too long."""
    encoded = (_TO_ENCODE_IN_TWIN if twin else _TO_ENCODE).sub(_encode, text)
    if folder and (marked := _MARKED_FOLDER.search(encoded)):
        encoded = encoded[: marked.start()] + "%2E" + encoded[marked.start() + 1 :]
    parts = []
    while len(fsencode(encoded)) > _LONGEST:
        cut = _cut(encoded)
        parts.append(encoded[:cut] + "%")
        encoded = encoded[cut:]
        if encoded.startswith("."):  # never a component `.`, `..` or `.git` that the source has not
            encoded = "%2E" + encoded[1:]
    parts.append(encoded)
    return parts


def _cut(encoded: str) -> int:
    """Where to break a component: a character boundary, never inside a code, at most _LONGEST - 1 bytes."""
    head = fsencode(encoded)[: _LONGEST - 1].decode("utf-8", "ignore")
    cut = len(head)
    percent = encoded.rfind("%", cut - 2, cut)
    return percent if percent >= 0 else cut


def _encode(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in fsencode(match[0]))
