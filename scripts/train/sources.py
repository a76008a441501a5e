"""Fetch the packages that the model is made from, and list their source files.

In: packages.tsv; the clients `apt-get`, `pip` and `npm`, as the machine has them set up. Out: one archive (or
folder of archives) a package under WORK/packages. Invariant: files are listed in one order on every machine,
and the same archives give the same list.

    python scripts/train/sources.py WORK            fetch what is missing, print versions and sizes

Source packages of Debian need `deb-src` entries; they are made here from the machine's own list, in a folder
of this script, so that nothing of the system changes.
"""

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from git_pkb.chunk import is_code, language_of

#: Bytes of source a package gives at most, so that no project weighs more than a few others together.
MOST_BYTES = 5_000_000
_FILE_BYTES = range(200, 200_000)
_LONGEST_LINE = 400  # on average: longer ones are minified or generated
_SKIPPED = re.compile(
    r"/(tests?|testing|testdata|fixtures?|specs?|__tests__|t|vendor|vendored|third_?party|external|deps|"
    r"node_modules|dist|build|examples?|samples?|benchmarks?|debian|locale|locales|po)/|"
    r"(_test\.go|_spec\.rb|[Tt]ests?\.(java|kt|cs|php|swift)|\.min\.js|\.d\.ts|_pb2\.py|\.pb\.(go|cc|h))$"
)
#: Headers of files under licences that ask for more than a notice.
_OTHER_LICENCE = re.compile(
    rb"General Public Licen[cs]e|GPL|Mozilla Public|MPL-|Eclipse Public|CDDL|Common Development and Dist|"
    rb"Creative Commons|CC[- ]BY|[Pp]roprietary|All rights reserved\.\s+Confidential"
)
_GENERATED = re.compile(
    rb"@generated|DO NOT (EDIT|MODIFY)|[Aa]utomatically generated|auto-generated", re.ASCII
)
_DEBIAN = Path("/etc/apt/sources.list.d/debian.sources")
_ARCHIVES = (".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".whl", ".zip")


@dataclass(frozen=True, slots=True)
class Package:
    """A row of packages.tsv; `paths` restricts its files, `use` is train or test."""

    name: str
    origin: str
    licence: str
    use: str
    paths: str

    @property
    def key(self) -> str:
        """Name of its files under WORK."""
        return self.use + "+" + self.name.replace("/", "+")


def packages() -> list[Package]:
    """All rows, in their order."""
    lines = Path(__file__).with_name("packages.tsv").read_text("utf-8").splitlines()
    return [Package(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def fetch(package: Package, work: Path) -> Path:
    """The folder with the package's archives, downloaded unless it is there."""
    folder = work / "packages" / package.origin / package.name.replace("/", "+")
    if folder.is_dir() and _archives(folder):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if package.origin == "pypi":
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation"]
        _run([*command, "-d", ".", package.name], folder)
    elif package.origin == "npm":
        _run(["npm", "pack", "--silent", package.name], folder)
    elif package.origin == "deb":
        _run(["apt-get", "download", "-q", package.name], folder)
        _run(["sh", "-c", "dpkg-deb --fsys-tarfile *.deb >data.tar && gzip -n data.tar && rm *.deb"], folder)
    else:
        try:
            _run(["apt-get", "source", "-q", "--download-only", package.name], folder, _deb_src(work))
        except subprocess.CalledProcessError:
            if not _archives(folder):  # a mirror may lack Debian's own part, which is not read
                raise
    return folder


def _archives(folder: Path) -> list[Path]:
    names = sorted(path.name for path in folder.iterdir())
    return [folder / name for name in names if name.endswith(_ARCHIVES) and ".debian.tar" not in name]


def files(package: Package, work: Path) -> list[tuple[str, str, bytes]]:
    """Up to MOST_BYTES of (path, language, content), a sample by hash of the path, sorted by path."""
    wanted = re.compile(package.paths)
    found: dict[str, tuple[str, bytes]] = {}
    for path, content in _members(fetch(package, work)):
        if len(content) not in _FILE_BYTES or _SKIPPED.search(path) or not wanted.search(path):
            continue
        language = language_of(path, content[:100])
        head = content[:3000]
        if not is_code(language) or b"\0" in head or _OTHER_LICENCE.search(head) or _GENERATED.search(head):
            continue
        if len(content) > _LONGEST_LINE * (content.count(b"\n") + 1):
            continue
        found[path] = language, content
    kept, size = [], 0
    for path in sorted(found, key=lambda path: hashlib.sha256(path.encode("utf-8", "replace")).digest()):
        language, content = found[path]
        kept.append((path, language, content))
        size += len(content)
        if size > MOST_BYTES:
            break
    return sorted(kept)


def _members(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Files of all archives of a folder; links and what is no file are left out."""
    for archive in _archives(folder):
        if archive.name.endswith((".whl", ".zip")):
            with zipfile.ZipFile(archive) as packed:
                for entry in packed.infolist():
                    if not entry.is_dir() and entry.file_size in _FILE_BYTES:
                        yield "/" + entry.filename, packed.read(entry)
            continue
        with tarfile.open(archive) as tar:
            for member in tar:
                stream = tar.extractfile(member) if member.isreg() and member.size in _FILE_BYTES else None
                if stream is not None:
                    yield "/" + member.name, stream.read()


def _deb_src(work: Path) -> dict[str, str]:
    """An environment in which apt-get knows source packages; lists are fetched once."""
    folder = (work / "apt").resolve()
    configuration = folder / "apt.conf"
    environment = {**os.environ, "APT_CONFIG": str(configuration)}
    if not configuration.exists():
        (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (folder / "parts").mkdir(exist_ok=True)
        # without the security suite: a mirror of a day often lacks its sources
        entries = "\n\n".join(
            re.sub(r"(?m)^Types:.*$", "Types: deb-src", stanza)
            for stanza in _DEBIAN.read_text("utf-8").split("\n\n")
            if "-security" not in stanza
        )
        (folder / "parts" / "source.sources").write_text(entries, "utf-8")
        configuration.write_text(
            f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{folder}/parts";\n'
            f'Dir::State::lists "{folder}/lists";\nDir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\n',
            "utf-8",
        )
        _run(["apt-get", "update", "-q"], folder, environment)
    return environment


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def main(work: str) -> int:
    """Fetch everything; return how many packages could not be had."""
    missing = 0
    out = io.StringIO()
    for package in packages():
        try:
            folder = fetch(package, Path(work))
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"{package.name}: {error}", file=sys.stderr)
            missing += 1
            continue
        for archive in _archives(folder):
            row = (
                package.name,
                package.origin,
                package.licence,
                package.use,
                archive.name,
                archive.stat().st_size,
            )
            print(*row, sep="\t", file=out)
    Path(work, "fetched.tsv").write_text(out.getvalue(), "utf-8")
    return missing


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1]))
