"""Which artifact is of what, without reading it again: headers remembered by signature.

In: a listing of artifacts (files with their stat signature, or blobs with their names). Out: header and
number of records for each, None for one that is damaged. Invariant: the remembered table is derived and
local; losing it costs one look at every artifact (20,000: a second or two), and an entry whose signature
differs is not used.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterable

from git_pkb.mirror.format import BadArtifact, Header, verify
from git_pkb.mirror.tree import Found
from git_pkb.slotted import value

_VERSION = 1
_FEW = 32
_VERDICTS = "skips.json"


@value
class Known:
    """What is known of a sound artifact."""

    header: Header
    records: int


def signature_of(found: Found) -> str:
    """Both halves' signatures in one word."""
    return f"{_word(found.meta)} {_word(found.vec) if found.vec is not None else '-'}"


def _word(signature: tuple[int, int, int] | str) -> str:
    return signature if isinstance(signature, str) else "{}.{}.{}".format(*signature)


class Memory:
    """The table of one kind of listing, in a file of the cache folder: stem -> signature, header, records.

    `off`: remember nothing. Reading a few artifacts is quicker than reading the table, and to write it all of
    them must have been listed.
    """

    def __init__(self, folder: str, name: str, *, off: bool = False) -> None:
        self._folder, self._name, self._off = folder, f"{name}.json", off
        self._rows: dict[str, tuple[str, Known]] | None = {} if off else None
        self._added: dict[str, tuple[str, Known]] = {}
        self._listed: set[str] | None = None

    def look(
        self, found: Iterable[Found], read: Callable[[Found], tuple[bytes, bytes | None]]
    ) -> dict[str, Known | None]:
        """Header and size of each artifact by source path; those not remembered are read and checked."""
        rows = self._load()
        self._listed = listed = set()
        result: dict[str, Known | None] = {}
        for each in found:
            listed.add(each.stem)
            signature = signature_of(each)
            row = rows.get(each.stem)
            if row is not None and row[0] == signature:
                result[each.path] = row[1]
                continue
            try:
                known = Known(*verify(*read(each)))
            except (BadArtifact, OSError):
                result[each.path] = None
                continue
            result[each.path] = known
            self.remember(each.stem, signature, known)
        return result

    def remember(self, stem: str, signature: str, known: Known) -> None:
        """Add an artifact that was just written."""
        self._added[stem] = (signature, known)

    def save(self, folder: str) -> None:
        """Write the table when more than a few rows are new: a few are read again sooner.

        A cache that cannot be written is done without.
        """
        if self._off or len(self._added) <= _FEW:
            return
        rows = self._load()
        if self._listed is not None:
            rows = {stem: row for stem, row in rows.items() if stem in self._listed}
        rows.update(self._added)
        shared: dict[tuple[str, str, str], int] = {}
        plain = {}
        for stem, (signature, known) in rows.items():
            h = known.header
            number = shared.setdefault((h.language, h.cutter, h.model), len(shared))
            plain[stem] = [signature, h.blob, number, known.records]
        # dumps, not dump: only the former uses the fast encoder
        _put(folder, self._name, json.dumps({"version": _VERSION, "shared": list(shared), "rows": plain}))
        self._added.clear()

    def _load(self) -> dict[str, tuple[str, Known]]:
        if self._rows is None:
            try:
                self._rows = self._read()
            except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError):
                self._rows = {}  # absent, or not what this program wrote
        return self._rows

    def _read(self) -> dict[str, tuple[str, Known]]:
        with open(os.path.join(self._folder, self._name), encoding="ascii") as file:
            data = json.loads(file.read())
        if data["version"] != _VERSION:
            return {}
        shared = [(str(a), str(b), str(c)) for a, b, c in data["shared"]]
        return {
            stem: (signature, Known(Header(blob, *shared[number]), int(records)))
            for stem, (signature, blob, number, records) in data["rows"].items()
        }


class Verdicts:
    """Blobs whose content is not indexed, and why: remembered, so that pictures are not read in each run."""

    def __init__(self, folder: str, rules: str) -> None:
        self._path = os.path.join(folder, _VERDICTS)
        self._rules = rules
        self._reasons: dict[str, str] | None = None
        self._dirty = False

    def get(self, blob: str) -> str | None:
        """The reason, or None when nothing is known of this blob."""
        return self._load().get(blob)

    def add(self, blob: str, reason: str) -> None:
        """Remember a reason."""
        self._load()[blob] = reason
        self._dirty = True

    def save(self, folder: str, live: set[str] | None) -> None:
        """Write the table if it changed; beyond twice the `live` blobs (if told) others are forgotten."""
        if not self._dirty or self._reasons is None:
            return
        if live is not None and len(self._reasons) > 2 * len(live) + 1000:
            self._reasons = {blob: why for blob, why in self._reasons.items() if blob in live}
        _put(folder, _VERDICTS, json.dumps({"rules": self._rules, "reasons": self._reasons}))
        self._dirty = False

    def _load(self) -> dict[str, str]:
        if self._reasons is None:
            self._reasons = {}
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
                with open(self._path, encoding="ascii") as file:
                    data = json.loads(file.read())
                if data["rules"] == self._rules:
                    self._reasons = {str(blob): str(why) for blob, why in data["reasons"].items()}
        return self._reasons


def _put(folder: str, name: str, text: str) -> None:
    path = os.path.join(folder, name)
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        temporary = f"{path}.{os.getpid()}"
        with open(temporary, "w", encoding="ascii") as file:
            file.write(text)
        os.replace(temporary, path)
