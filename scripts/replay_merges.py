#!/usr/bin/env python3
"""Real two-sided merges through the product: conflicts, embedded texts, and whether the index is right after.

    scripts/replay_merges.py REPO… [--merges N]

In: repositories with their history. Out: a Markdown table, one row a workflow and clone: with the hooks and
the merge driver, and with nothing installed (a host's merge button, a colleague). The newest N merges whose
sides both changed files are made again, oldest first: ancestor and sides get an index as commits with the
hook do, then git merges them. Conflicts of sources are solved as the real merge solved them; conflicts
under `.pkb` by one `git pkb reindex --staged`. Embeddings come from the mock, which counts the texts.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from replaying import ENVIRONMENT, Calls, Clone, clone, inside, table, with_index

from git_pkb import config
from git_pkb.git import discover
from git_pkb.index import checker, indexer

MOCK = {"pkb.embedding.provider": "mock", "pkb.embedding.dimensions": "16"}
WORKFLOWS = ("every-commit", "default-branch", "local")
HEAD = (
    "workflow", "clone", "merges", "stopped by sources", "stopped by `.pkb` alone",
    "with conflicts under `.pkb`", "texts embedded", "index right after", "files stale after",
    "texts embedded to mend",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge of the history: itself, its ancestor and its two sides, as commits."""

    merged: str
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """The same three with an index: `stale` are their side's sources with the ancestor's artifacts."""

    base: str
    ours: str
    theirs: str
    stale: str


def two_sided(history: Clone, count: int) -> list[Merge]:
    """The newest merges whose sides both differ from their one ancestor, oldest first."""
    found: list[Merge] = []
    listed = history.git("rev-list", "--min-parents=2", "--max-parents=2", "--parents", "HEAD")
    for line in listed.splitlines():
        merged, ours, theirs = line.split()
        bases = history.git("merge-base", "--all", ours, theirs).split()
        if len(bases) != 1 or bases[0] in (ours, theirs):
            continue
        trees = {history.git("rev-parse", f"{commit}^{{tree}}") for commit in (bases[0], ours, theirs)}
        if len(trees) == 3:
            found.append(Merge(merged, bases[0], ours, theirs))
        if len(found) == count:
            break
    return found[::-1]


class Priming:
    """Gives commits their index, each from the nearest that has one."""

    def __init__(self, into: Clone) -> None:
        self.clone = into
        self.trees: dict[str, str] = {}
        self.last: str | None = None

    def tree(self, commit: str, near: str | None = None) -> str:
        """The commit's tree with its index."""
        if commit not in self.trees:
            start = self.trees.get(near or "", self.last)
            self.trees[commit] = self.last = with_index(self.clone, commit, start)
        return self.trees[commit]

    def merge(self, merge: Merge) -> Indexed:
        """Ancestor and sides as commits that carry their index."""
        base = self.commit(self.tree(merge.base))
        ours = self.commit(self.tree(merge.ours, merge.base), base)
        theirs = self.commit(self.tree(merge.theirs, merge.base), base)
        return Indexed(base, ours, theirs, self.commit(self._stale(merge), base))

    def commit(self, tree: str, *parents: str) -> str:
        """A commit of a tree."""
        named = [word for parent in parents for word in ("-p", parent)]
        return self.clone.git("commit-tree", tree, *named, "-m", "side")

    def _stale(self, merge: Merge) -> str:
        scratch = {"GIT_INDEX_FILE": str(self.clone.folder / ".git" / "replay-index")}
        self.clone.git("read-tree", "--empty", env=scratch)
        self.clone.git("read-tree", f"{merge.theirs}^{{tree}}", env=scratch)
        self.clone.git("read-tree", "--prefix=.pkb/", f"{self.trees[merge.base]}:.pkb", env=scratch)
        return self.clone.git("write-tree", env=scratch)


class Variant:
    """One workflow in one clone, and what its merges came to."""

    def __init__(self, workflow: str, hooked: bool, into: Clone, calls: Calls) -> None:
        self.workflow, self.hooked, self.clone, self.calls = workflow, hooked, into, calls
        self.counts: Counter[str] = Counter()

    def replay(self, merge: Merge, indexed: Indexed) -> None:
        """Make one merge and count."""
        ours, theirs = merge.ours, merge.theirs
        if self.workflow == "every-commit":
            ours, theirs = indexed.ours, indexed.theirs
        elif self.workflow == "default-branch":
            ours, theirs = indexed.ours, indexed.stale
        git = self.clone
        git.git("config", "pkb.index.write", self.workflow)
        git.git("reset", "--quiet", "--hard")
        git.git("checkout", "--quiet", "--force", "-B", "main", ours)
        git.git("clean", "-ffdq")
        if self.workflow == "local":
            self._reindex()
        self.calls.take()
        done = git.run("merge", "--quiet", "--no-edit", theirs)
        unmerged = {record.split("\t", 1)[1] for record in git.listed("ls-files", "-u", "-z")}
        artifacts = {path for path in unmerged if path.startswith(".pkb/")}
        self.counts["merges"] += 1
        self.counts["in sources"] += bool(unmerged - artifacts)
        self.counts["in .pkb"] += bool(artifacts)
        self.counts["in .pkb alone"] += bool(artifacts) and artifacts == unmerged
        if done.returncode:
            if not unmerged:
                sys.exit(f"{git.folder}: {done.stderr.decode(errors='replace')}")
            self._solve(merge.merged, sorted(unmerged - artifacts))
            if artifacts:
                git.git("pkb", "reindex", "--staged")
            git.git("commit", "--quiet", "--no-edit")
        self.counts["texts"] += self.calls.take()
        wrong = self._wrong()
        self.counts["right"] += not wrong
        self.counts["stale"] += wrong
        if wrong:
            self._reindex()
            self.counts["mending"] += self.calls.take()

    def row(self) -> list[object]:
        """The row of the table."""
        c = self.counts
        names = "merges", "in sources", "in .pkb alone", "in .pkb", "texts", "right", "stale", "mending"
        return [
            f"`{self.workflow}`",
            "hooks and driver" if self.hooked else "nothing installed",
            *(f"{c[name]:,}" for name in names),
        ]

    def _solve(self, merged: str, paths: list[str]) -> None:
        """Take from the real merge what was in conflict."""
        taken = {
            record.split("\t", 1)[1]: record.split("\t", 1)[0].split(" ")
            for record in self.clone.listed("ls-tree", "-r", "-z", merged)
        }
        for path in paths:
            if path in taken:
                mode, _, oid = taken[path]
                self.clone.git("update-index", "--add", "--cacheinfo", f"{mode},{oid},{path}")
            else:
                self.clone.git("update-index", "--force-remove", "--", path)

    def _wrong(self) -> int:
        """Files whose artifact is not that of HEAD."""
        with inside(self.clone.folder):
            repo = discover()
            settings = config.load(repo)
            if self.workflow == "local":
                plan = indexer.survey(repo, settings).plan
                return len(plan.writes) if plan is not None else 0
            return len(checker.check(repo, settings).problems)

    def _reindex(self) -> None:
        with inside(self.clone.folder):
            repo = discover()
            indexer.run(repo, config.load(repo))


def replay(source: Path, count: int, scratch: Path) -> list[Variant]:
    """All variants over one repository."""
    calls = Calls(scratch / "calls.log")
    primed = clone(source, scratch / "primed", MOCK)
    merges = two_sided(primed, count)
    variants = []
    for hooked in (True, False):
        for workflow in WORKFLOWS:
            name = f"{'local' if workflow == 'local' else 'tree'}-{'hooked' if hooked else 'plain'}"
            folder = scratch / name
            made = Clone(folder)
            if not folder.exists():
                made = clone(primed.folder, folder, {**MOCK, "pkb.index.branch": "main"})
                if hooked:
                    made.git("pkb", "install-hooks")
            variants.append(Variant(workflow, hooked, made, calls))
    priming = Priming(primed)
    started = time.monotonic()
    for number, merge in enumerate(merges, 1):
        indexed = priming.merge(merge)
        for variant in variants:
            variant.replay(merge, indexed)
        seconds = (time.monotonic() - started) / number
        sys.stderr.write(f"{source.name}: {number} of {len(merges)} merges, {seconds:.1f} s each\n")
    return variants


def main() -> None:
    """Replay each repository and print the table of all together."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("repositories", metavar="REPO", nargs="+", type=Path)
    parser.add_argument("--merges", metavar="N", type=int, default=100, help="of each repository")
    args = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    total: list[Variant] = []
    for source in args.repositories:
        with tempfile.TemporaryDirectory(prefix="pkb-merges-") as folder:
            variants = replay(source.resolve(), args.merges, Path(folder))
        for variant, all_of_them in zip(variants, total or variants, strict=True):
            if all_of_them is not variant:
                all_of_them.counts.update(variant.counts)
        total = total or variants
    order = sorted(total, key=lambda variant: WORKFLOWS.index(variant.workflow))
    sys.stdout.write(table(HEAD, [variant.row() for variant in order]))


if __name__ == "__main__":
    main()
