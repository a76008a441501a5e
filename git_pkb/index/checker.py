"""Verifies the index against the tree, pair by pair.

In: a repository. Out: `Problem`s, by path. Invariant: reads only; every artifact is read whole, whatever is
remembered of it, and held against its blob.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_pkb.errors import PkbError
from git_pkb.index import indexer
from git_pkb.mirror.format import BadArtifact, load
from git_pkb.mirror.tree import META, VEC, Found, Tree
from git_pkb.model import Artifact

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import ObjectReader, Repository

DAMAGED, MISSING, STALE, LEFT_OVER = "damaged", "missing", "stale", "left over"


@dataclass(frozen=True, slots=True)
class Problem:
    """`path` is the source's (of `left over` files the file's own); `what` one of the four words above."""

    path: str
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """`files`: artifacts that were looked at."""

    files: int
    problems: tuple[Problem, ...]

    @property
    def damaged(self) -> list[str]:
        """Source paths whose artifact must be made anew."""
        return [problem.path for problem in self.problems if problem.what == DAMAGED]


def check(repo: "Repository", config: "Config") -> Report:
    """Look at everything. Where the workflow does not write artifacts, only damage and left-overs count."""
    survey = indexer.survey(repo, config)
    if survey.plan is None or survey.stock is None:
        return Report(0, ())
    plan, stock = survey.plan, survey.stock
    reader, tree = repo.reader(), Tree(repo.top)
    problems = {
        path: problem for path, found in stock.found.items() if (problem := _look(reader, tree, found))
    }
    if survey.summary.to_tree:
        skipped = {skip.path for skip in survey.summary.skipped}
        for target in plan.writes:
            if target.path not in stock.found and target.path not in skipped:
                problems[target.path] = Problem(target.path, MISSING, "it has no artifact")
            elif target.path not in problems and target.path not in skipped:
                known = stock.known[target.path]
                old = known is not None and known.header.blob != target.blob
                reason = "the file has changed" if old else "made with other settings or another version"
                problems[target.path] = Problem(target.path, STALE, reason)
    for path in plan.dropped:
        problems[path] = Problem(path, LEFT_OVER, "the file is no longer tracked, or no longer indexed")
    for name in stock.strays:
        if name.endswith((META, VEC)):
            problems[name] = Problem(name, LEFT_OVER, "it belongs to no file")
    return Report(len(stock.found), tuple(problems[path] for path in sorted(problems)))


def _look(reader: "ObjectReader", tree: Tree, found: Found) -> Problem | None:
    """Read one artifact and compare it with its blob."""
    try:
        meta = tree.read(found.stem + META)
        artifact = load(meta, tree.read(found.stem + VEC) if found.vec is not None else None)
    except (BadArtifact, OSError) as error:
        return Problem(found.path, DAMAGED, error.message if isinstance(error, PkbError) else str(error))
    return _compare(reader, found.path, artifact)


def _compare(reader: "ObjectReader", path: str, artifact: Artifact) -> Problem | None:
    try:
        content = reader.blob(artifact.blob)
    except PkbError:
        return None  # not in this clone: nothing to hold it against
    if len(content) != artifact.size:
        reason = f"it describes {artifact.size} bytes, the file has {len(content)}"
        return Problem(path, DAMAGED, reason)
    if content.count(b"\n") != artifact.newlines:
        return Problem(path, DAMAGED, "its lines are not those of the file")
    return None
