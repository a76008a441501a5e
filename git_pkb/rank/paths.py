"""What a path tells: the words of its name, and whether people rarely mean such a file.

In: paths. Out: words for the word index, and a penalty. Invariant: pure functions of the path (and of the
set of folders, for version folders).
"""

import json
import re
from functools import cache
from itertools import pairwise

#: Shares of the penalty; in between are the questions whose answer is a manifest or a manual.
DATA, PROSE = 0.4, 0.3
#: What is left of DATA when the question is about building and delivering: its answer is such a file.
_DATA_ASKED_FOR = 0.25
#: What the path of prose counts for, against 1 for code: a module is named after what it does, a page is not.
PROSE_PATH = 0.35
#: Files named after their role: what they are about is the name of their folder.
_ROLE_STEMS = frozenset(
    "__init__ __main__ index mod lib init main default package-info module-info doc".split()
)
# What folders are called that hold no code of their own; compared whole, DOCS and ASIDE without regard to
# case.
_TEST_FOLDERS = frozenset(
    """test tests testing __tests__ spec specs testdata test-fixture test-fixtures testfixture testfixtures
    fixtures mock mocks __mocks__ e2e cypress""".split()
)
_DOC_FOLDERS = frozenset(
    """doc docs doc_src docs_src documentation example examples sample samples demo demos tutorial tutorials
    bench benches benchmark benchmarks website playground""".split()
)
_ASIDE_FOLDERS = frozenset(
    """vendor vendored third_party third-party thirdparty node_modules generated gen compat legacy deprecated
    _vendor external backport backports""".split()
)
_DOC_NAMES = frozenset(
    "changelog changes history news license copying authors contributing code_of_conduct security".split()
)
_ASIDE_NAMES = frozenset("compat legacy deprecated".split())
_ASIDE_ENDS = ("_compat", ".pb", "_pb2", ".generated", ".g", "_generated")
# Data and markup without behaviour of their own; they repeat the words of the code that reads them.
_DATA_ENDS = frozenset(
    """json jsonc json5 yaml yml toml ini cfg conf properties xml xsd csv tsv htm html css scss less svg txt
    in def lock snap po pot rc plist resx ipynb sum mod gradle cabal gemspec podspec nuspec csproj sln
    bazel""".split()
)
_DATA_NAMES = frozenset("makefile dockerfile cmakelists.txt gemfile rakefile podfile".split())
_PROSE_ENDS = frozenset("md mdx markdown rst adoc asciidoc org tex texi pod".split())
_TEST_NAME = re.compile(r"test_.*|.*[._-](?:tests?|specs?|mock)(?:\..+)?|conftest\.py", re.DOTALL)
_TEST_CLASS = re.compile(
    r"[A-Z][A-Za-z0-9]*(?:Test|Tests|Spec|TestCase|IT)\.(?:java|kt|scala|cs|swift|php|groovy|hs)"
)
_TEST_SOURCES = re.compile(r"\w*[tT]est\w*")  # below `src`
_TESTS, _DOCS, _ASIDE, _HIDDEN = 1, 2, 4, 8


def name_fields(path: str) -> tuple[list[str], list[str]]:
    """Texts to count as stem and as folders of a path: the effective stem, and the last three folders."""
    *folders, name = path.split("/")
    stem = effective_stem(path)
    base = name.split(".", 1)[0] or name.lstrip(".")
    return ([stem] if stem == base else [stem, base]), folders[-3:]


def effective_stem(path: str) -> str:
    """The part of a path that names its subject: the parent folder for `__init__.py`, `index.ts`, …."""
    *folders, name = path.split("/")
    stem = name.lstrip(".").rsplit(".", 1)[0] if "." in name.lstrip(".") else name.lstrip(".")
    if folders and stem.lower() in _ROLE_STEMS:
        return folders[-1]
    return stem or name


class Census:
    """What penalties depend on besides the path itself, kept up to date file by file.

    Whether most files are prose, and which folders `…/vN` have a sibling `…/vM` with M > N.
    """

    def __init__(self, files: int = 0, prose: int = 0, versions: dict[str, int] | None = None) -> None:
        self.files, self.prose = files, prose
        self.versions = versions or {}  # folder `…/vN` -> how many files are below it

    @property
    def mostly_prose(self) -> bool:
        """Whether more than half of the files are written for people."""
        return 2 * self.prose > self.files

    def count(self, path: str, step: int) -> None:
        """Count a file that is new (`step` 1) or gone (-1)."""
        self.files += step
        if is_prose(path):
            self.prose += step
        if "v" in path:
            at = 0
            for part in path.split("/")[:-1]:
                at += len(part) + 1
                if part[:1] == "v" and part[1:].isdecimal() and part.isascii():
                    folder = path[: at - 1]
                    left = self.versions.get(folder, 0) + step
                    if left > 0:
                        self.versions[folder] = left
                    else:
                        self.versions.pop(folder, None)

    def dump(self) -> str:
        """As text, for `load_census`."""
        return json.dumps([self.files, self.prose, self.versions])

    def superseded(self) -> tuple[str, ...]:
        """Folders with a newer sibling, each with a `/` at its end, in order."""
        newest: dict[str, int] = {}
        numbers = {}
        for folder in self.versions:
            parent, _, version = folder.rpartition("/")
            numbers[folder] = parent, int(version[1:])
            newest[parent] = max(newest.get(parent, 0), int(version[1:]))
        return tuple(sorted(f"{folder}/" for folder, (parent, n) in numbers.items() if n < newest[parent]))


def load_census(text: str | None) -> Census:
    """The census that `dump` wrote; an empty one for None."""
    return Census(*json.loads(text)) if text else Census()


def penalty(
    path: str,
    *,
    about_tests: bool = False,
    about_docs: bool = False,
    about_setup: bool = False,
    mostly_prose: bool = False,
    superseded: tuple[str, ...] = (),
) -> float:
    """How rarely people mean such a file, 0 to 1.

    1 for tests, examples, vendored, generated and superseded files; a part of it for data and settings, and
    for prose in a repository of code.
    """
    *folders, name = path.split("/")
    kinds = _kinds_of_name(name)
    for folder in folders:
        kinds |= _kinds_of_folder(folder)
    if not about_tests and (kinds & _TESTS or ("src" in folders and _below_src_test(folders))):
        return 1.0
    if kinds & _DOCS and not about_docs and not mostly_prose:
        return 1.0
    if kinds & _ASIDE or path.startswith(superseded):
        return 1.0
    if mostly_prose:
        return 0.0
    if kinds & _HIDDEN or _is_data(name):
        return DATA * _DATA_ASKED_FOR if about_setup else DATA
    return PROSE if not about_docs and is_prose(path) else 0.0


def path_share(path: str) -> float:
    """What the words of a path count for, 0 to 1."""
    return PROSE_PATH if is_prose(path) else 1.0


def is_prose(path: str) -> bool:
    """Whether a file is written for people: Markdown and its kin."""
    name = path.rpartition("/")[2].lower()
    return _end(name) in _PROSE_ENDS or name.startswith("readme")


@cache
def _kinds_of_folder(folder: str) -> int:
    lower = folder.lower()
    return (
        _TESTS * (folder in _TEST_FOLDERS)
        | _DOCS * (lower.removeprefix("_") in _DOC_FOLDERS)
        | _ASIDE * (lower in _ASIDE_FOLDERS)
        | _HIDDEN * (folder[:1] == "." and len(folder) > 1)
    )


def _kinds_of_name(name: str) -> int:
    lower = name.lower()
    stem, _, end = lower.rpartition(".")
    kinds = 0
    if _TEST_NAME.fullmatch(name) or _TEST_CLASS.fullmatch(name):
        kinds |= _TESTS
    base, dot, rest = lower.partition(".")
    if base in _DOC_NAMES and (not dot or rest.isalpha()):
        kinds |= _DOCS
    if end.isalpha() and (stem in _ASIDE_NAMES or stem.endswith(_ASIDE_ENDS)):
        kinds |= _ASIDE
    return kinds


def _below_src_test(folders: list[str]) -> bool:
    """Whether a folder like `integrationTest` stands below `src`, as build tools of the JVM have it."""
    return any(a == "src" and _TEST_SOURCES.fullmatch(b) for a, b in pairwise(folders))


def _is_data(name: str) -> bool:
    lower = name.lower()
    return _end(lower) in _DATA_ENDS or lower in _DATA_NAMES or (name[:1] == "." and len(name) > 1)


def _end(name: str) -> str:
    """What follows the last dot; empty without one."""
    return name.rpartition(".")[2] if "." in name else ""
