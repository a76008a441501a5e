"""One run of the indexer: its steps, in order.

In: `Options`. Out: a `Summary`, or a `Survey` of what would be done. Invariant: everything up to `_write`
only reads; what is indexed, and what is skipped and why, is decided in one place for runs, estimates and
statistics.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from git_pkb.errors import UsageError
from git_pkb.garbage import uncollected
from git_pkb.index import marker, staged
from git_pkb.index.destination import CacheDestination, Destination, TreeDestination, writes_tree
from git_pkb.index.outcome import Options, Summary, Survey
from git_pkb.index.plan import Plan, Target, make_plan
from git_pkb.index.quiet import InLine
from git_pkb.index.recipe import Recipe, open_recipe
from git_pkb.index.recorded import Verdicts
from git_pkb.index.stock import Stock, parse_unmerged
from git_pkb.location import cache_dir
from git_pkb.mirror.names import INDEX, META, VEC, stems
from git_pkb.mirror.tree import FileSignature, Tree, walk
from git_pkb.model import Entry, Skip
from git_pkb.select import RULES, Selection, content_skip, select

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.index.costing import Forecast
    from git_pkb.index.produce import Item, Row
    from git_pkb.index.sources import Halves
    from git_pkb.output.progress import Progress

MISSING = "not in this clone (partial or damaged)"


class Run:
    """One run; `run` and `survey` each go through it once."""

    def __init__(
        self, repo: "Repository", config: "Config", options: Options, progress: "Progress | None"
    ) -> None:
        if repo.workdir is None:
            raise UsageError(
                "a bare repository has no work tree to write the index into",
                "run reindex in a clone with a work tree; a committed index can be searched here",
            )
        self.repo, self.config, self.options, self.progress = repo, config, options, progress
        self.tree = Tree(repo.workdir)
        self.summary = Summary(dry_run=options.dry_run)
        self.records: dict[str, int] = {}  # source path -> pieces, for all that has an artifact at the end
        self.given_up: list[str] = []
        self.contents: dict[str, bytes] = {}
        self.walked: tuple[dict[str, FileSignature], list[str]] | None = None
        self.part: dict[str, Entry] | None = None
        self.destination: Destination
        self._forecast: Forecast | None = None

    def run(self) -> Summary:
        """Everything."""
        if not self.options.dry_run and ".pkb/config.toml" in self.config.origins.values():
            from git_pkb.trust import require

            require(self.config, self.repo)
        self._open()
        if self._is_in_line():
            return self.summary
        plan = self._prepare()
        if plan is not None:
            self._carry_out(plan)
        self._list_skips()
        self._remember_in_line()
        self._remember_staged()
        return self.summary

    def survey(self) -> Survey:
        """Up to the plan, with every skip."""
        self._open()
        plan = self._prepare()
        bad: tuple[str, ...] = ()
        if plan is not None:
            for _ in self._items(self._groups(plan)):
                pass  # reads what is new, to see what its content rules out
            bad = tuple(sorted(path for path, known in self.stock.known.items() if known is None))
            self.summary.count(plan, set(self.given_up), self.stock.found, self.records)
        self._list_skips()
        return Survey(self.summary, plan, bad, self.stock if plan is not None else None)

    def forecast(self) -> "Forecast":
        """What the run that was just made dry would ask for."""
        from git_pkb.index.costing import forecast

        return self._forecast or forecast((), self.recipe, self.config, {})

    def _open(self) -> None:
        try:
            self.state_bytes = self.tree.read(marker.NAME)
        except OSError:
            self.state_bytes = b""
        self.state = marker.parse(self.state_bytes)  # first: a newer format is not touched
        self.recipe: Recipe = open_recipe(self.config)
        self.summary.to_tree = writes_tree(self.repo, self.config, write=self.options.write)
        self.cache = cache_dir(self.repo)
        self.verdicts = Verdicts(self.cache, RULES)
        self._in_line = InLine(self.repo, self.config, self.recipe)

    def _prepare(self) -> Plan | None:
        """What there is and what is to be done; a few objects a file."""
        with uncollected():
            self.part = part = self._part()
            whole = self.options.staged and part is None
            conflicts = self.repo.spawn("ls-files", "-u", "-z", "--", ".pkb") if whole else None
            self.reader = self.repo.reader(few=part is not None)
            entries = part if part is not None else self._entries()
            unmerged = parse_unmerged(conflicts.communicate()[0]) if conflicts is not None else {}
            return self._plan(entries, unmerged) if entries is not None else None

    def _part(self) -> dict[str, Entry] | None:
        """The part of the staging area that is not known to be in line, where one is known to be."""
        options = self.options
        if not options.quick or options.full or options.distrust or not self.summary.to_tree:
            return None
        return staged.part(self.repo, self.config, self.recipe, self.cache)

    def _remember_staged(self) -> None:
        """Note what is staged, when all of it has been looked at, or much of it is new."""
        much = self.part is None or len(self.part) >= staged.MANY
        is_whole = not any(skip.reason == MISSING for skip in self.summary.skipped)
        if self.options.staged and not self.options.dry_run and much and is_whole and self.destination.staged:
            staged.remember(self.repo, self.config, self.recipe, cache_dir(self.repo))

    def _list_skips(self) -> None:
        self.summary.skipped.sort(key=lambda skip: skip.path)
        self.summary.files_skipped = len(self.summary.skipped)

    def _is_in_line(self) -> bool:
        """Whether the last run already found everything as it is now; then its counts are this run's."""
        stored = self.config.store.provider != "tree"  # what a store lacks is compared with all that there is
        if self.options.staged or self.options.distrust or not self.summary.to_tree or stored:
            return False
        self.walked = walked = walk(self.tree.top)
        found = None if self.options.full else self._in_line.recall(walked)
        if found is None or self.repo.head_at_open is None:
            return False
        self.summary.files, self.summary.chunks, self.summary.files_skipped = found
        self.summary.commit = self.repo.head_at_open
        return True

    def _remember_in_line(self) -> None:
        s = self.summary
        whole = s.commit is not None and not any(skip.reason == MISSING for skip in s.skipped)
        if whole and s.to_tree and not self.options.dry_run and not self.options.staged:
            now = walk(self.tree.top) if s.written or s.removed or self.walked is None else self.walked
            self._in_line.remember(now, (s.files, s.chunks, s.files_skipped))

    def _entries(self) -> dict[str, Entry] | None:
        if self.options.staged:
            return self.reader.index()
        head = self.repo.head()
        if head is None:
            self.summary.warnings.append("there is no commit yet: commit first, or use --staged")
            return None
        self.summary.commit = head
        return self.reader.tree(head)

    def _plan(self, entries: Mapping[str, Entry], unmerged: Mapping[str, list[str]]) -> Plan:
        self.own = {path: entry for path, entry in entries.items() if path.startswith(".pkb/")}
        self.unmerged, self.live = unmerged, {entry.oid for entry in entries.values()}
        self.stock = stock = Stock(
            self.repo, self.reader, self.tree, self.cache, self.recipe,
            {name: entry for name, entry in self.own.items() if name.startswith(INDEX + "/")}, unmerged,
            self.walked, staged=self.options.staged, overlaid=not self.summary.to_tree,
            distrusted=self.options.distrust, few=self.part is not None,
        )  # fmt: skip
        self.selection = self._select({path: e for path, e in entries.items() if path not in self.own})
        self.targets = targets = self._targets(self.selection.kept)
        self.stems = stems(targets)
        identity = self.recipe.identity
        plan = make_plan(targets, stock.recorded(targets, self.stems), identity, full=self.options.full)
        self.records = {path: stock.records(targets[path]) for path in plan.kept}
        return plan

    def _carry_out(self, plan: Plan) -> None:
        options, stock = self.options, self.stock
        if self.summary.to_tree:
            self.destination = TreeDestination(
                self.repo, self.reader, self.tree, (stock.of_files, stock.of_blobs), self.own, self.unmerged,
                staged=options.staged, index_only=options.index_only, compare=options.full,
            )  # fmt: skip
        else:
            self.destination = CacheDestination(stock.overlay)
        try:
            self._write(plan)
            if not options.dry_run:
                self._tidy(plan)
        except BaseException:
            if not options.dry_run:
                self.destination.keep()
            raise
        finally:
            self.summary.written = self.destination.written
            self.summary.removed = self.destination.removed
            if self.progress is not None:
                self.progress.done()
            if not options.dry_run:
                folder = cache_dir(self.repo)  # it moves into `.pkb` when that was just made
                stock.save(folder)
                self.verdicts.save(folder, self.live if self.part is None else None)
        self.summary.count(plan, set(self.given_up), self.stock.found, self.records)

    # --- what is to be indexed ---

    def _select(self, entries: Mapping[str, Entry]) -> Selection:
        """By names, and by what is remembered of contents."""
        selection = select(entries, self.reader, self.config)
        skipped = self.summary.skipped
        skipped += selection.skipped
        for path in list(selection.kept):
            blob = selection.kept[path].oid
            reason = self.verdicts.get(f"{blob}+" if path in selection.included else blob)
            if reason is not None:
                del selection.kept[path]
                skipped.append(Skip(path, reason))
        if entries and not selection.kept and self.part is None:
            self.summary.warnings.append(
                f"none of {len(entries):,} tracked files can be indexed; `git pkb stats --skipped` says why"
            )
        return selection

    def _targets(self, kept: Mapping[str, Entry]) -> dict[str, Target]:
        """Files with their language; one whose name does not tell is read, unless its artifact tells."""
        from git_pkb.chunk import language_of

        overrides = self.recipe.overrides
        targets = {}
        for path, entry in kept.items():
            language: str | None = language_of(path, b"", overrides)
            if language == "text" and language_of(path, b"#!/bin/sh\n", overrides) != "text":
                language = None if self.options.full else self.stock.language_at(path, entry.oid)
                if language is None and (content := self._content([path], entry.oid)) is not None:
                    self.contents[entry.oid] = content
                    language = language_of(path, content[:256], overrides)
            if language is not None:
                targets[path] = Target(path, entry.oid, language)
        return targets

    def _content(self, paths: Sequence[str], blob: str) -> bytes | None:
        from git_pkb.git import MissingBlob

        try:
            return self.reader.blob(blob)
        except MissingBlob:
            self.summary.skipped += [Skip(path, MISSING) for path in paths]
            return None

    # --- doing it ---

    @staticmethod
    def _groups(plan: Plan) -> dict[tuple[str, str], list[Target]]:
        """What is to be written, by what artifacts depend on: copies are made once."""
        groups: dict[tuple[str, str], list[Target]] = {}
        for target in plan.writes:
            groups.setdefault((target.blob, target.language), []).append(target)
        return groups

    def _write(self, plan: Plan) -> None:
        """Take over what is there already, then make the rest."""
        groups = self._groups(plan)
        if not groups:
            return
        if self.progress is not None:
            self.progress.start("indexing", len(groups))
        if not self.options.full:
            self.stock.open_places(plan, self.stems, self.options.reuse_from)
        rest = {}
        for key, group in groups.items():
            fresh = self.options.full or any(target.path in self.options.distrust for target in group)
            found = None if fresh else self.stock.whole(self.recipe.identity.header(group[0]), group)
            if found is None:
                rest[key] = group
            else:
                self._put(group, found[0], found[1])
                self.summary.chunks_reused += found[1]
        if self.options.fetch and not self.options.dry_run:
            self._fetch_missing(rest)
        if rest:
            self._make(rest, plan)

    def _make(self, groups: dict[tuple[str, str], list[Target]], plan: Plan) -> None:
        from git_pkb.index.bulk import encoded

        known = {} if self.options.full else self.stock.rows_of_dropped(plan)
        if (self.options.dry_run or not self.recipe.cheap) and self._price(groups, dict(known)):
            return
        for made in encoded(self._items(groups), self.recipe, self.config, expected=len(groups), known=known):
            self.summary.chunks_embedded += made.embedded
            self.summary.chunks_reused += made.reused
            self.summary.cost_usd = self.recipe.usd
            self._put(groups[made.blob, made.language], (made.meta, made.vec), made.records)

    def _price(self, groups: dict[tuple[str, str], list[Target]], known: "dict[bytes, Row]") -> bool:
        """Say what the rest will cost, and stop when it is too much; whether that was all (a dry run)."""
        from git_pkb.index.costing import forecast
        from git_pkb.net import cost

        self._forecast = found = forecast(self._items(groups), self.recipe, self.config, known)
        usd = found.estimate.usd
        if self.options.dry_run:
            self.summary.chunks_embedded += found.new
            self.summary.chunks_reused += found.reused
            self.summary.cost_usd = usd
            for key, records in found.records.items():
                self.records.update(dict.fromkeys((target.path for target in groups[key]), records))
            return True
        if self.progress is not None and usd:
            for line in cost.report(found.estimate):
                self.progress.note(line)
        cap = self.options.max_cost
        cost.gate(usd, self.config.max_reindex_cost if cap is None else cap)
        return False

    def _items(self, groups: Mapping[tuple[str, str], list[Target]]) -> "Iterator[Item]":
        """Contents with what may be reused for them; what content rules out is listed as skipped."""
        from git_pkb.index.produce import Item

        for (blob, language), group in groups.items():
            if not group:
                continue
            content = self.contents.pop(blob, None)
            if content is None:
                content = self._content([target.path for target in group], blob)
            wanted = [] if content is None else [t for t in group if self._is_wanted(t, content)]
            self.given_up += [target.path for target in group if target not in wanted]
            group[:] = wanted
            if content is not None and wanted:
                fresh = self.options.full or any(t.path in self.options.distrust for t in wanted)
                old = () if fresh else self.stock.old(wanted)
                yield Item(blob, language, content, old)

    def _is_wanted(self, target: Target, content: bytes) -> bool:
        included = target.path in self.selection.included
        reason = content_skip(content, target.path, included=included)
        if reason is not None:
            self.summary.skipped.append(Skip(target.path, reason))
            self.verdicts.add(f"{target.blob}+" if included else target.blob, reason)
        return reason is None

    def _fetch_missing(self, groups: Mapping[tuple[str, str], list[Target]]) -> None:
        missing = [blob for blob, _ in groups if not self.reader.has(blob)]
        if missing:
            self.repo.fetch_blobs(missing)
            self.reader = self.repo.reader()

    def _put(self, group: Sequence[Target], halves: "Halves", records: int) -> None:
        """Store one artifact for every path that has this blob."""
        from git_pkb.index.recorded import Known

        for target in group:
            self.records[target.path] = records
            if not self.options.dry_run:
                known = Known(self.recipe.identity.header(target), records)
                self.destination.put(self.stems[target.path], halves, known)
        if self.progress is not None:
            self.progress.step(1, records, self.summary.cost_usd)

    def _tidy(self, plan: Plan) -> None:
        """Remove what belongs to nothing any more, note the state, stage."""
        destination = self.destination
        if not isinstance(destination, TreeDestination):
            self.stock.overlay.prune({target.blob for target in self.targets.values()})
            return
        if not self.options.index_only:
            self.tree.clear_temporaries(self.stock.strays)
        for base in self.stock.bases_of((*plan.dropped, *self.given_up), self.stems):
            destination.remove(base + META)
            destination.remove(base + VEC)
        live = {self.stems[path] for path in self.records}
        for name in self.stock.strays:  # unless it has found its other half in this run
            if name.endswith((META, VEC)) and name.rpartition(".")[0] not in live:
                destination.remove(name)
        self._note_state(destination)
        destination.finish(self.records)

    def _note_state(self, destination: TreeDestination) -> None:
        """Write state.toml: after a change by a run of HEAD with the marker, or for a new identity."""
        identity = self.recipe.identity
        state = self.state
        same = state is not None and (state.model, state.cutter) == (identity.model, identity.cutter)
        touched = bool(destination.written or destination.removed)
        if same and not (touched and not self.options.staged) and marker.NAME not in destination.unmerged:
            return
        if not self.records and state is None:
            return  # nothing is indexed and nothing was: leave no trace
        if self.options.staged:
            wanted = marker.State(identity.model, identity.cutter)
        else:
            files, chunks = len(self.records), sum(self.records.values())
            wanted = marker.State(identity.model, identity.cutter, self.summary.commit, files, chunks)
        destination.write_state(wanted, self.state_bytes)
