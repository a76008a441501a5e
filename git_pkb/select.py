"""Which tracked files are indexed.

In: the entries of a tree or of the staging area, the settings; the content, where a rule needs it. Out: the
files to index, and for every other one a short reason. Invariant: git's word decides what is a file of the
repository; symbolic links, submodules and `.pkb` itself are never indexed, whatever the settings say.

`include` brings back what a rule about names or sizes skips, and what `exclude` names; binary files and LFS
pointers have no text to bring back.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from git_pkb.globs import matcher
from git_pkb.model import MODE_TYPE_MASK, Entry, Skip
from git_pkb.slotted import value

#: Raised when `content_skip` changes its mind about some content: remembered verdicts are then forgotten.
RULES = "1"

MAX_BYTES = 1 << 20
MAX_INCLUDED_BYTES = 16 << 20  # `include` lifts the limit, but not to what would not fit in memory
MAX_LINE = 10_000
_BINARY_LOOK = 8192
_LFS = b"version https://git-lfs.github.com/spec/"
_LINK, _SUBMODULE = 0o120000, 0o160000
_GENERATED, _VENDORED = "linguist-generated", "linguist-vendored"

_LOCK_NAMES = frozenset(
    """package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb cargo.lock go.sum go.work.sum
    composer.lock packages.lock.json project.assets.json package.resolved cartfile.resolved gradle.lockfile
    .terraform.lock.hcl conda-lock.yml cabal.project.freeze podfile.lock stack.yaml.lock""".split()
)
_SECRET_NAMES = frozenset(
    """.netrc _netrc .npmrc .pypirc .htpasswd .pgpass .git-credentials .dockercfg .s3cfg .boto .my.cnf
    credentials credentials.json secrets.json secrets.yml secrets.yaml secrets.toml master.key""".split()
)
_SECRET = re.compile(
    r"\.env.*|.+\.env|.+\.(pem|key|p8|p12|pfx|ppk|jks|keystore|kdbx|gpg|pgp|tfstate)|id_[a-z0-9_]+"
    r"|service[-_]account.*\.json|.+_(rsa|dsa|ecdsa|ed25519)"
)
_MINIFIED = re.compile(r".+[.-]min\.(js|mjs|cjs|css)|.+\.(js|mjs|cjs|css|ts)\.map")
_BINARY_SUFFIXES = frozenset(
    """7z a apk avi bin bmp br bz2 class dll dmg doc docx dylib eot exe flac gif gz ico icns jar jpeg jpg lz4
    mo mov mp3 mp4 mpeg node o obj odt ogg otf pdf png ppt pptx psd pyc pyd rar so sqlite svgz tar tgz tif
    tiff ttf wasm wav webm webp woff woff2 xls xlsx xz zip zst""".split()
)


class Settings(Protocol):
    """What is needed of the configuration."""

    @property
    def exclude(self) -> Sequence[str]:
        """Basenames, path prefixes or globs that are not indexed."""

    @property
    def include(self) -> Sequence[str]:
        """Extensions, paths or globs that are indexed although a rule skips them."""


class Attributes(Protocol):
    """What is needed of an `ObjectReader`."""

    def attributes(self, paths: Sequence[str], names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """The git attributes among `names` that are set on each path."""


@value
class Selection:
    """What is to be indexed as far as names tell, and what is not and why; `included`: by `include`."""

    kept: dict[str, Entry]
    skipped: list[Skip]
    included: frozenset[str]


def select(entries: Mapping[str, Entry], reader: Attributes, config: Settings) -> Selection:
    """Choose by path, mode and attributes. The entries of `.pkb/` are passed over without a word."""
    excludes = [(pattern, matcher([pattern])) for pattern in config.exclude]
    excluded = matcher(config.exclude)
    brought_back = matcher(config.include, extensions=True)
    kept: dict[str, Entry] = {}
    skipped: list[Skip] = []
    included: set[str] = set()
    for path, entry in entries.items():
        if path.startswith(".pkb/") or path == ".pkb":
            continue
        reason = _mode_reason(entry.mode)
        if reason is None and brought_back is not None and brought_back(path):
            included.add(path)
        elif reason is None:
            if excluded is not None and excluded(path):
                by = next(pattern for pattern, matches in excludes if matches and matches(path))
                reason = f"excluded by {by!r}"
            else:
                reason = name_reason(path)
        if reason is None:
            kept[path] = entry
        else:
            skipped.append(Skip(path, reason))
    attributes = reader.attributes([path for path in kept if path not in included], (_GENERATED, _VENDORED))
    for path, values in attributes.items():
        for name in (_GENERATED, _VENDORED):
            if values.get(name) in ("set", "true") and path in kept:
                del kept[path]
                skipped.append(Skip(path, f"marked {name}"))
    return Selection(kept, skipped, frozenset(included))


def _mode_reason(mode: int) -> str | None:
    kind = mode & MODE_TYPE_MASK
    if kind == 0o100000:
        return None
    return {_LINK: "symbolic link", _SUBMODULE: "submodule"}.get(kind, "not a regular file")


def name_reason(path: str) -> str | None:
    """Why a file of this name is not indexed, or None."""
    name = path.rpartition("/")[2].lower()
    if name in _LOCK_NAMES or name.endswith(".lock"):
        return "lock file"
    if name in _SECRET_NAMES or _SECRET.fullmatch(name):
        return "may hold credentials"
    if name.rpartition(".")[2] in _BINARY_SUFFIXES and "." in name:
        return "binary"
    if _MINIFIED.fullmatch(name):
        return "minified"
    return None


def content_skip(content: bytes, path: str = "", *, included: bool = False) -> str | None:
    """Why this content is not indexed, or None. `path` is for messages alone; it does not decide."""
    del path
    if b"\0" in content[:_BINARY_LOOK]:
        return "binary"
    if len(content) < 1024 and content.startswith(_LFS):
        return "Git LFS pointer"
    if len(content) > (MAX_INCLUDED_BYTES if included else MAX_BYTES):
        return "larger than 16 MB" if included else "larger than 1 MB"
    if not included and len(content) > MAX_LINE and max(map(len, content.split(b"\n"))) > MAX_LINE:
        return "a line longer than 10 kB (minified or generated)"
    return None
