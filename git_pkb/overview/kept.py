"""Remembers the last overview beside the cache it was made from.

In: an open cache and options. Out: the overview that was made of this very state, or None. Invariant: what
is kept counts only while every fact of the cache and every option is the same; anything odd in the file
means None.
"""

import contextlib
import json
import os
from typing import TYPE_CHECKING

from git_pkb.overview.values import EntryPoint, Folder, Overview, Symbol

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = "overview.json"
_VERSION = "1"  # raise it when the same index gives another overview


def load(folder: str, facts: "Mapping[str, str]", options: object) -> Overview | None:
    """What was kept for these facts and options."""
    try:
        with open(os.path.join(folder, _NAME), encoding="utf-8", errors="surrogatepass") as file:
            kept = json.load(file)
        if kept["key"] != _key(facts, options):
            return None
        value = kept["overview"]
        return Overview(
            below=value["below"],
            files=value["files"],
            pieces=value["pieces"],
            languages=tuple((name, number) for name, number in value["languages"]),
            keywords=tuple(value["keywords"]),
            opening=value["opening"],
            folders=tuple(
                Folder(**{**each, "keywords": tuple(each["keywords"])}) for each in value["folders"]
            ),
            folders_left_out=value["folders_left_out"],
            entry_points=tuple(EntryPoint(**each) for each in value["entry_points"]),
            symbols=tuple(Symbol(**each) for each in value["symbols"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(folder: str, facts: "Mapping[str, str]", options: object, overview: Overview) -> None:
    """Keep an overview; where nothing can be written, nothing is kept."""
    from dataclasses import asdict

    path = os.path.join(folder, _NAME)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump({"key": _key(facts, options), "overview": asdict(overview)}, file)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _key(facts: "Mapping[str, str]", options: object) -> str:
    import hashlib

    text = json.dumps([_VERSION, sorted(facts.items()), repr(options)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
