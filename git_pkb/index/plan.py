"""What a run has to do. Pure: no disk, no git.

In: the files that are to be indexed, the headers of the artifacts that are there, the identity that artifacts
are to have. Out: a `Plan`. Invariant: a path is in exactly one of added, changed, moved and kept, or, when it
is recorded and no longer wanted, in dropped; a moved file also stands, by its old path, in dropped.
"""

from collections.abc import Mapping

from git_pkb.mirror.format import Header
from git_pkb.slotted import value


@value
class Target:
    """A file that is to have an artifact."""

    path: str
    blob: str
    language: str


@value
class Identity:
    """What artifacts of this run are made with: cutter and model as headers name them."""

    cutter: str
    model: str

    def header(self, target: Target) -> Header:
        """The header a target's artifact must have."""
        return Header(target.blob, target.language, self.cutter, self.model)

    def fits(self, target: Target, header: Header | None) -> bool:
        """Whether this is that header: asked of every file in each run, so nothing is made for it."""
        return (
            header is not None
            and header.blob == target.blob
            and header.language == target.language
            and header.model == self.model
            and header.cutter == self.cutter
        )


@value
class Plan:
    """Paths sorted; `moved` pairs the old path with the target."""

    added: tuple[Target, ...]
    changed: tuple[Target, ...]
    moved: tuple[tuple[str, Target], ...]
    dropped: tuple[str, ...]
    kept: tuple[str, ...]

    @property
    def writes(self) -> list[Target]:
        """All targets whose artifact has to be written."""
        return [*self.added, *self.changed, *(target for _, target in self.moved)]


def make_plan(
    targets: Mapping[str, Target],
    recorded: Mapping[str, Header | None],
    identity: Identity,
    *,
    full: bool = False,
) -> Plan:
    """Compare; a recorded None is an artifact that cannot be used. `full`: nothing is kept."""
    added, changed, moved, kept = [], [], [], []
    gone = sorted(path for path in recorded if path not in targets)
    sources: dict[str, list[str]] = {}
    for path in reversed(gone):
        header = recorded[path]
        if header is not None:
            sources.setdefault(header.blob, []).append(path)
    for path in sorted(targets):
        target = targets[path]
        if path in recorded:
            if not full and identity.fits(target, recorded[path]):
                kept.append(path)
            else:
                changed.append(target)
        elif sources.get(target.blob):
            moved.append((sources[target.blob].pop(), target))
        else:
            added.append(target)
    return Plan(tuple(added), tuple(changed), tuple(moved), tuple(gone), tuple(kept))
