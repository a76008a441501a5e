"""Brings the cache in line with the work tree before a search reads it.

In: a repository, its configuration, `git status`. Out: a `Current`: an open cache and how true it is. With
the local model the answer is always current: what changed is cut, counted and embedded on the way, in time
proportional to the change. A provider that costs money is never asked: its changed pieces are found by words
until `reindex`. Invariant: no tracked file is written; a cache that cannot be brought up to date is still
read, with a warning.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from git_pkb.cache.reader import DAMAGE, CacheReader, is_damage, open_reader, throw_away
from git_pkb.errors import CannotWrite, Locked, NoIndex, PkbError
from git_pkb.index.recipe import Recipe
from git_pkb.location import cache_dir
from git_pkb.search.snapshot import (
    Signature,
    WorkTree,
    changed_between,
    read_file,
    read_status,
    start_status,
)  # fmt: skip
from git_pkb.slotted import mutable, value
from git_pkb.tokens import TOKENIZER

if TYPE_CHECKING:
    from git_pkb.cache.reader import FileFacts
    from git_pkb.config import Config
    from git_pkb.embed.base import Embedder
    from git_pkb.git import Child, ObjectReader, Repository

MADE_OF, STATE, HEAD, CHANGED, STAMP = "made-of", "state", "head", "changed", "stamp"
ABSENT = "absent"  # files whose content is not in this clone
Answer = TypeVar("Answer")
_FEW_BLOBS = 20  # git itself reads these in less time than pygit2 takes to load
CENSUS = "census"  # a `rank.paths.Census`


@mutable
class Current:
    """An index that a search can read. `outdated`: paths whose content is not what is in the cache.

    `config`: settings that name a store and sources outside, None to ask none of them; `committed`: the index
    is of a commit, so content is that of its blobs whatever the work tree holds.
    """

    repo: "Repository"
    reader: CacheReader
    embedder: "Embedder | None"
    indexed_commit: str | None
    stale_files: int
    warnings: tuple[str, ...] = ()
    outdated: frozenset[str] = frozenset()
    config: "Config | None" = None
    committed: bool = False

    def contents(self, files: "Iterable[FileFacts]") -> dict[str, bytes]:
        """Content of files as it was indexed, by path; one that cannot be read is left out."""
        found: dict[str, bytes] = {}
        missing = []
        workdir = None if self.committed else self.repo.workdir
        for file in files:
            content = read_file(workdir, file.path) if workdir else None
            if content is not None and len(content) == file.size and file.path not in self.outdated:
                found[file.path] = content
            else:
                missing.append(file)
        if missing:
            found.update(self._from_git(missing))
        return found

    def _from_git(self, files: "list[FileFacts]") -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        if len(files) > _FEW_BLOBS:
            _read_blobs(self.repo.reader(), files, found)
            return found
        from contextlib import closing

        from git_pkb.git.plumbing import PlumbingReader

        with closing(PlumbingReader(self.repo)) as reader:
            _read_blobs(reader, files, found)
        return found


def _read_blobs(reader: "ObjectReader", files: "list[FileFacts]", found: dict[str, bytes]) -> None:
    for file in files:
        try:
            found[file.path] = reader.blob(file.blob)
        except PkbError:
            continue


@value
class Request:
    """What refreshing needs besides the repository: the recipe, and whether it may happen on the way."""

    config: "Config"
    recipe: Recipe
    refresh: bool
    why: tuple[str, ...] = ()

    @property
    def embed(self) -> bool:
        """Whether missing vectors may be made now: only for free, and without a network."""
        return self.recipe.cheap

    @property
    def asks_others(self) -> bool:
        """Whether a question goes to a store or to sources outside: then it is asked once."""
        return self.config.store.provider != "tree" or bool(self.config.search.knowledge_bases)

    def made_of(self) -> str:
        """What every row of the cache depends on besides content; when it changes, the cache is made anew."""
        from git_pkb.select import RULES

        c, identity = self.config, self.recipe.identity
        rules = json.dumps([c.exclude, c.include, sorted(c.ext_overrides.items())])
        return f"{identity.model} cutter {identity.cutter} words {TOKENIZER} rules {RULES} {rules}"


def request_for(repo: "Repository", config: "Config") -> Request:
    """What a search of this repository may do: the configured recipe, less what this clone does not trust."""
    from git_pkb.index.recipe import open_recipe

    why: tuple[str, ...] = ()
    if ".pkb/config.toml" in config.origins.values():
        from git_pkb.trust import restrained

        config, reason = restrained(config, repo)
        if reason is not None:
            why = (f"{reason}; answered without them (`git pkb config trust` agrees to them)",)
    return Request(config, open_recipe(config), config.search.refresh, why)


def current(
    repo: "Repository",
    request: Request,
    status: "Child | None",
    *,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Current:
    """Bring the cache in line and open it. Raises NoIndex when there is none and none may be made."""
    return _bring_in_line(repo, request, read_status(repo, status), say, progress)


def answer(
    repo: "Repository",
    request: Request,
    status: "Child | None",
    ask: "Callable[[Current], Answer]",
    *,
    say: Callable[[str], None] = lambda _: None,
    progress: Callable[[int, int, int], None] | None = None,
) -> "Answer":
    """What `ask` makes of the current index, and the index it was made of, closed.

    A cache that turns out to be damaged while it is read is thrown away, made anew, and asked again.
    """
    try:
        return _answer(repo, request, status, ask, say, progress)
    except DAMAGE as error:
        if not is_damage(error):
            raise
        folder = cache_dir(repo)
        say(f"the cache in {folder} is damaged; making it anew")
        throw_away(folder)
    return _answer(repo, request, start_status(repo), ask, say, progress)


def _answer(
    repo: "Repository",
    request: Request,
    status: "Child | None",
    ask: "Callable[[Current], Answer]",
    say: Callable[[str], None],
    progress: Callable[[int, int, int], None] | None,
) -> "Answer":
    """`answer` over a sound cache.

    While git still looks for changes (100 ms in a tree of 40,000 files), the cache is asked as it stands;
    only when something did change, it is brought in line and asked again. A provider is asked once in any
    case.
    """
    folder = cache_dir(repo)
    reader = open_reader(folder) if request.embed and not request.asks_others else None
    if reader is not None:
        with reader:
            facts = reader.facts
            if facts.get(MADE_OF) == request.made_of() and facts.get(STAMP) == artifact_stamp(folder):
                hopeful = _current(repo, request, reader, list(request.why))
                found = ask(hopeful)
                tree = read_status(repo, status)
                if _is_unmoved(repo, facts, tree):
                    return found
            else:
                tree = read_status(repo, status)
    else:
        tree = read_status(repo, status)
    made = _bring_in_line(repo, request, tree, say, progress)
    with made.reader:
        return ask(made)


def _bring_in_line(
    repo: "Repository",
    request: Request,
    tree: WorkTree,
    say: Callable[[str], None],
    progress: Callable[[int, int, int], None] | None,
) -> Current:
    folder = cache_dir(repo)
    reader = open_reader(folder)
    warnings: list[str] = list(request.why)
    made_of = request.made_of()
    stamp = artifact_stamp(folder)
    if reader is not None and _is_current(repo, reader, made_of, tree, stamp):
        return _describe(repo, request, reader, tree, warnings)
    usable = reader is not None and reader.facts.get(MADE_OF) == made_of
    if reader is not None and usable and not request.refresh:
        return _describe(repo, request, reader, tree, warnings)
    if reader is not None:
        reader.__exit__()
    if not usable and not request.refresh and not has_artifacts(repo):
        raise NoIndex("there is no index of this repository", "make one: git pkb reindex")
    try:
        from git_pkb.search.refresher import Refresher

        Refresher(repo, request, folder, tree, made_of, stamp, say, progress).run(patient=not usable)
    except (CannotWrite, Locked) as error:
        if error.__cause__ is not None and is_damage(error.__cause__):
            raise error.__cause__ from None
        if not usable:
            raise
        warnings.append(f"{error.message}; the answer may be out of date")
    reader = open_reader(folder)
    if reader is None:
        raise NoIndex("the cache could not be opened after it was made", "delete it and try again: " + folder)
    return _describe(repo, request, reader, tree, warnings)


def artifact_stamp(folder: str) -> str:
    """Changes whenever `reindex` wrote artifacts in this worktree (it touches the file)."""
    try:
        return str(os.stat(os.path.join(folder, "artifacts.stamp")).st_mtime_ns)
    except OSError:
        return "0"


def has_artifacts(repo: "Repository") -> bool:
    """Whether the work tree holds a committed index."""
    return repo.workdir is not None and os.path.isdir(os.path.join(repo.workdir, ".pkb", "index"))


def state_of(tree: WorkTree) -> str:
    """HEAD and what differs from it, as the cache remembers it: equal texts, equal work trees."""
    return json.dumps([tree.head, sorted(tree.changed.items(), key=lambda item: item[0])])


def _is_current(repo: "Repository", reader: CacheReader, made_of: str, tree: WorkTree, stamp: str) -> bool:
    facts = reader.facts
    same = facts.get(MADE_OF) == made_of and facts.get(STAMP) == stamp
    return same and _is_unmoved(repo, facts, tree)


def _is_unmoved(repo: "Repository", facts: Mapping[str, str], tree: WorkTree) -> bool:
    """Whether HEAD and work tree are as they were, and files whose content lacked are still away."""
    top = repo.workdir
    absent = json.loads(facts.get(ABSENT, "[]")) if top else []
    turned_up = any(os.path.lexists(os.path.join(top or "", path)) for path in absent)
    return facts.get(STATE) == state_of(tree) and not turned_up


def _describe(
    repo: "Repository", request: Request, reader: CacheReader, tree: WorkTree, warnings: list[str]
) -> Current:
    """How true the open cache is."""
    current = _current(repo, request, reader, warnings)
    if reader.facts.get(STATE) != state_of(tree):
        known = json.loads(reader.facts.get(CHANGED, "{}"))
        moved = {path for path, sign in tree.changed.items() if known.get(path, [0])[0] != _plain(sign)}
        moved |= {path for path in known if path not in tree.changed}
        if reader.facts.get(HEAD) != (tree.head or ""):
            old = reader.facts.get(HEAD)
            between = changed_between(repo, old, tree.head) if old and tree.head else None
            moved |= {path for path in between or {} if not path.startswith(".pkb/")}
        current.outdated = frozenset(moved)
        current.stale_files += len(moved)
    return current


def _current(repo: "Repository", request: Request, reader: CacheReader, warnings: list[str]) -> Current:
    """The open cache as it stands."""
    head = reader.facts.get(HEAD) or None
    absent = json.loads(reader.facts.get(ABSENT, "[]"))
    if absent:
        what = f"{len(absent):,} files are" if len(absent) > 1 else "1 file is"
        warnings = [*warnings, f"{what} left out: not in this clone (partial or damaged)"]
    return Current(
        repo,
        reader,
        request.recipe.embedder,
        head,
        reader.stale_files,
        tuple(warnings),
        config=request.config,
    )


def _plain(signature: Signature | None) -> list[int] | None:
    return list(signature) if signature else None
