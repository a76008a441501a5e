"""What is where: the first thing to read about a repository, from the cache alone.

In: a `Current` index and how much to say. Out: an `Overview`. folders.py has the tree and its keywords,
opening.py what a README begins with, landmarks.py entry points and the most referenced symbols, fit.py the
token budget, kept.py the last answer. Invariant: no numpy, and of the files themselves only READMEs,
manifests and a bounded sample are read.
"""

from typing import TYPE_CHECKING

from git_pkb.overview.values import EntryPoint, Folder, Overview, Symbol
from git_pkb.slotted import value

if TYPE_CHECKING:
    from git_pkb.search.refresh import Current

__all__ = ["EntryPoint", "Folder", "Options", "Overview", "Symbol", "build", "overview_of"]

_SYMBOLS, _ENTRY_POINTS = 12, 10


@value
class Options:
    """How much to say, as in the settings; `below` is the folder to look at, `""` for all."""

    depth: int = 2
    folders_per_level: int = 20
    keywords_per_folder: int = 5
    below: str = ""


def overview_of(current: "Current", options: Options) -> Overview:
    """The overview of what is below a folder, kept beside the cache; without any file there, `files` is 0."""
    from git_pkb.overview import kept

    reader = current.reader
    found = kept.load(reader.folder, reader.facts, options)
    if found is None:
        found = build(current, options)
        if not current.outdated:
            kept.save(reader.folder, reader.facts, options, found)
    return found


def build(current: "Current", options: Options) -> Overview:
    """Look over the files below a folder."""
    from git_pkb.overview import folders, landmarks, opening

    every = current.reader.files()
    inside = options.below + "/" if options.below else ""
    files = [file for file in every if file.path.startswith(inside)]
    names = folders.names_by_file(current.reader)
    tree = folders.tree(
        [file.path for file in files], options.below, options.depth, options.folders_per_level
    )
    words = folders.Words({file.id: file.path for file in files}, names)
    openings = opening.find(current, files, [options.below, *(node.path for node in tree.kept)])
    return Overview(
        below=options.below,
        files=len(files),
        pieces=sum(file.pieces for file in files),
        languages=folders.languages(file.language for file in files),
        keywords=words.keywords(options.below, options.keywords_per_folder),
        opening=openings.get(options.below, ""),
        folders=tuple(
            Folder(
                node.path,
                node.files,
                node.level,
                words.keywords(node.path, options.keywords_per_folder),
                openings.get(node.path, ""),
            )
            for node in tree.kept
        ),
        folders_left_out=tree.left_out,
        entry_points=tuple(landmarks.entry_points(current, files)[:_ENTRY_POINTS]),
        symbols=tuple(landmarks.referenced(current, files, _SYMBOLS)),
    )
