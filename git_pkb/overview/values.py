"""The values of an overview.

In: nothing. Out: frozen dataclasses. Invariant: paths are from the top; texts are as in the files, never
made safe for a terminal here.
"""

from git_pkb.slotted import value


@value
class Folder:
    """A folder with the number of indexed files below it. `level` counts from 0."""

    path: str
    files: int
    level: int
    keywords: tuple[str, ...] = ()
    opening: str = ""


@value
class EntryPoint:
    """Where a program or a library begins: a file, and the command or the rule that says so."""

    path: str
    what: str = ""


@value
class Symbol:
    """A definition that many files mention; `files` counts them among those that were read."""

    name: str
    kind: str
    path: str
    line: int
    files: int


@value
class Overview:
    """A repository, or what is below one folder of it. `languages` are the commonest, with their files."""

    below: str
    files: int
    pieces: int
    languages: tuple[tuple[str, int], ...]
    keywords: tuple[str, ...]
    opening: str
    folders: tuple[Folder, ...]
    folders_left_out: int
    entry_points: tuple[EntryPoint, ...]
    symbols: tuple[Symbol, ...]
