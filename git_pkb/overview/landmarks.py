"""Where programs begin, and what the code leans on.

In: a `Current` index. Out: entry points and most referenced symbols. Invariant: tests, examples and vendored
code are no landmarks; what is read is bounded (`_SAMPLE_FILES`, `_SAMPLE_BYTES`), so a large repository
costs no more.

A symbol's references are the files of the sample that mention it and do not define it: all of them in a small
repository, an evenly spread part of a large one. Names defined in several files, or that prose uses too
(a lower-case word, unless it is called), say nothing and are left out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from git_pkb.overview.values import EntryPoint, Symbol
from git_pkb.rank.paths import penalty
from git_pkb.tokens import STOP_WORDS

if TYPE_CHECKING:
    from git_pkb.cache.reader import CacheReader, FileFacts
    from git_pkb.search.refresh import Current

_SAMPLE_FILES, _SAMPLE_BYTES, _MOST_BYTES = 150, 1_500_000, 60_000
_CANDIDATES = 400
_TYPES = frozenset("class struct enum interface trait type macro module".split())
_FUNCTIONS = frozenset(("function", "method"))
#: Not a part of a path or of a namespace (`use App\Http\Kernel`).
_WORD = re.compile(r"(?<![\w/\\$])[A-Za-z_]\w{2,}(?![\\/])")
_CALLED = re.compile(r"([A-Za-z_]\w{3,})\(")
_DISTINCTIVE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z0-9][A-Z]")

#: Names of files that begin something. `index.*` counts only near the top: every folder may have one.
_BEGINS = re.compile(
    r"(?:^|/)(?:__main__\.py|manage\.py|wsgi\.py|asgi\.py|config\.ru|artisan|Program\.cs"
    r"|Main\.(?:java|hs|scala)|[mM]ain\.(?:py|go|rs|c|cc|cpp|kt|swift|ts|js|mjs|dart|zig|lua|ml|ex|rb)"
    r"|(?:app|server|cli)\.(?:py|rb|js|ts|mjs|go)|src/bin/[^/]+\.rs|src/lib\.rs|(?:bin|exe)/(?!tests?$|setup$|console$)[^/.]+)$"
    r"|^(?:src/)?index\.(?:[jt]sx?|mjs|php)$|^(?:packages|apps|crates)/[^/]+/src/(?:index|main|lib)\.\w+$"
)
_MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml")


def entry_points(current: "Current", files: "Sequence[FileFacts]") -> list[EntryPoint]:
    """Commands that manifests declare, then files that are named for it, the shallowest first."""
    paths = {file.path for file in files}
    found: dict[str, EntryPoint] = {}
    for file in sorted(files, key=lambda f: (f.path.count("/"), f.path)):
        name = file.path.rpartition("/")[2]
        if name in _MANIFESTS and file.path.count("/") <= 2 and not _aside(file.path):
            for entry in _declared(current, file, paths):
                found.setdefault(f"{entry.path} {entry.what}", entry)
    told = {entry.path for entry in found.values()}
    named = [path for path in paths if path not in told and _BEGINS.search(path) and not _aside(path)]
    named.sort(key=lambda path: (path.count("/"), path))
    return [*found.values(), *map(EntryPoint, named)]


def _aside(path: str) -> bool:
    return penalty(path) >= 1.0


def _declared(current: "Current", file: "FileFacts", paths: set[str]) -> Iterator[EntryPoint]:
    from git_pkb.search.reading import content_of

    content = content_of(current, file)
    if not content:
        return
    folder = file.path.rpartition("/")[0]
    base = folder + "/" if folder else ""
    try:
        for command, target in _commands(file.path, content):
            place = _place(target, base, paths)
            if place is not None:
                yield EntryPoint(place, f"`{command}`")
    except (ValueError, AttributeError, TypeError):
        return  # a manifest that is not what it should be declares nothing


def _commands(path: str, content: bytes) -> list[tuple[str, str]]:
    """Commands of a manifest with what they run."""
    if path.endswith("package.json"):
        document: Any = json.loads(content)
        commands = document.get("bin") or {}
        if isinstance(commands, str):
            commands = {str(document.get("name", "bin")): commands}
        return [(str(name), str(target)) for name, target in commands.items()]
    if b"scripts" not in content and b"[bin]" not in content:
        return []
    import tomllib

    document = tomllib.loads(content.decode("utf-8", "replace"))
    scripts = document.get("project", {}).get("scripts") or document.get("tool", {}).get("poetry", {}).get(
        "scripts"
    )
    found = [(str(name), str(target)) for name, target in (scripts or {}).items()]
    return found + [
        (str(each["name"]), str(each["path"])) for each in document.get("bin", []) if "path" in each
    ]


def _place(target: str, base: str, paths: set[str]) -> str | None:
    """The file a command runs: a path, or a Python module."""
    module = target.partition(":")[0].replace(".", "/")
    plain = target.removeprefix("./")
    tries = [
        base + plain,
        *(f"{base}{root}{module}{end}" for root in ("", "src/", "lib/") for end in (".py", "/__init__.py")),
    ]
    return next((each for each in tries if each in paths), None)


def referenced(current: "Current", files: "Sequence[FileFacts]", most: int) -> list[Symbol]:
    """The definitions that most files of a sample mention."""
    from git_pkb.chunk.languages import is_code

    code = [file for file in files if file.size and is_code(file.language)]
    mentioned, called = _mentions(current, _spread([file for file in code if file.size <= _MOST_BYTES]))
    counts = {word: n for word, n in mentioned.items() if n > 1}
    by_id = {file.id: file for file in code}
    found = []
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    for word in _candidates(ordered, called):
        definition = _definition(current.reader, word, by_id)
        if definition is None:
            continue
        kind, piece, file = definition
        plain = not _DISTINCTIVE.search(word) and not word[:1].isupper()
        if plain and kind not in _FUNCTIONS:
            continue
        seen = called[word] if plain else counts[word]
        if seen > 1:
            found.append((seen - 1, word, kind, piece, file))
    found.sort(key=lambda item: (-item[0], item[1]))
    return [
        Symbol(word, kind, file.path, _line(current.reader, file, piece, word), seen)
        for seen, word, kind, piece, file in found[:most]
    ]


def _candidates(ordered: Sequence[str], called: Counter[str]) -> list[str]:
    kept = [
        word
        for word in ordered
        if not word.startswith("__")
        and word.lower() not in STOP_WORDS
        and (_DISTINCTIVE.search(word) or word[:1].isupper() or called[word] > 1)
    ]
    return kept[:_CANDIDATES]


def _spread(code: "list[FileFacts]") -> "list[FileFacts]":
    """Evenly spread files, within the bounds of the sample."""
    step = max(1.0, len(code) / (2 * _SAMPLE_FILES))
    tries = [code[int(number * step)] for number in range(min(len(code), 2 * _SAMPLE_FILES))]
    useful = [file for file in tries if not _aside(file.path)]
    step = max(1.0, len(useful) / _SAMPLE_FILES)
    kept = []
    size = 0
    for number in range(min(len(useful), _SAMPLE_FILES)):
        file = useful[int(number * step)]
        size += file.size
        if size > _SAMPLE_BYTES:
            break
        kept.append(file)
    return kept


def _mentions(current: "Current", files: "Sequence[FileFacts]") -> tuple[Counter[str], Counter[str]]:
    """In how many files each word stands, and in how many it is called."""
    mentioned: Counter[str] = Counter()
    called: Counter[str] = Counter()
    for content in current.contents(files).values():
        text = content.decode("utf-8", "replace")
        mentioned.update(set(_WORD.findall(text)))
        called.update(set(_CALLED.findall(text)))
    return mentioned, called


def _definition(
    reader: "CacheReader", word: str, files: "dict[int, FileFacts]"
) -> "tuple[str, int, FileFacts] | None":
    """The one definition of a name, or None: of several places none is the landmark."""
    rows = reader.db.execute(
        "SELECT kind, piece FROM definitions WHERE folded=? AND name=? ORDER BY piece",
        (word.replace("_", "").lower(), word),
    ).fetchall()
    here = [
        (kind, piece, files[reader.piece_file[piece]])
        for kind, piece in rows
        if reader.piece_file[piece] in files
    ]
    here = [item for item in here if item[0] in _TYPES or item[0] in _FUNCTIONS]
    if not here or len({file.id for _, _, file in here}) > 1 or _aside(here[0][2].path):
        return None
    kind = here[0][0]
    if kind == "method" and not _DISTINCTIVE.search(word):
        return None
    return here[0]


def _line(reader: "CacheReader", file: "FileFacts", piece: int, name: str) -> int:
    from git_pkb.mirror.format import BadArtifact, decode_meta

    try:
        record = decode_meta(reader.meta(file.id)).records[piece - file.first]
    except (BadArtifact, IndexError):
        return 1
    return next(
        (record.piece.line + d.line for d in record.piece.definitions if d.name == name), record.piece.line
    )
