"""A word index in memory, for tests of the ranking: cache/reader.py from counts written down."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from git_pkb.rank.lexical import BODY, COMMENT, FOLDER, NAME, STEM, Posting

Counts = Mapping[str, int]


@dataclass
class TinyPiece:
    """Counts of one piece; `definitions`: (name, kind, lines)."""

    body: Counts = field(default_factory=dict)
    comment: Counts = field(default_factory=dict)
    name: Counts = field(default_factory=dict)
    definitions: Sequence[tuple[str, str, int]] = ()


@dataclass
class TinyFile:
    """Counts of one file and its pieces; a dead one is in the postings and nowhere else."""

    pieces: Sequence[TinyPiece]
    stem: Counts = field(default_factory=dict)
    folder: Counts = field(default_factory=dict)
    live: bool = True


class TinyIndex:
    """An index of such files; ids count up in their order."""

    def __init__(self, files: Sequence[TinyFile]) -> None:
        self.every = files
        self.lengths = (array("H"), array("H"), array("H"))
        self.piece_file = array("I")
        self.file_first = array("I", [0])
        self._postings: dict[tuple[int, str], tuple[array[int], bytearray]] = {}
        self._definitions: dict[str, list[tuple[str, str, int, int]]] = {}
        live = bytearray()
        for number, file in enumerate(files):
            for piece in file.pieces:
                identity = len(self.piece_file)
                for place, counts in ((BODY, piece.body), (COMMENT, piece.comment), (NAME, piece.name)):
                    self._add(place, identity, counts)
                    self.lengths[place].append(sum(counts.values()))
                self.piece_file.append(number)
                live.append(file.live)
                for name, kind, lines in piece.definitions:
                    folded = name.replace("_", "").lower()
                    self._definitions.setdefault(folded, []).append((name, kind, lines, identity))
            self._add(STEM, number, file.stem)
            self._add(FOLDER, number, file.folder)
            self.file_first.append(len(self.piece_file))
        self.live = live if 0 in live else None
        self.live_pieces, self.live_files = live.count(1), sum(file.live for file in files)

    def _add(self, place: int, identity: int, counts: Counts) -> None:
        for term, n in counts.items():
            ids, numbers = self._postings.setdefault((place, term), (array("I"), bytearray()))
            ids.append(identity)
            numbers.append(n)

    @property
    def pieces(self) -> int:
        """All pieces."""
        return len(self.piece_file)

    def average_lengths(self) -> tuple[float, float, float]:
        """Means over live pieces."""
        alive = self.live or bytearray(b"\1" * self.pieces)
        count = max(1, self.live_pieces)
        body, comment, name = (
            max(sum(n for n, yes in zip(column, alive, strict=True) if yes) / count, 1e-9)
            for column in self.lengths
        )
        return body, comment, name

    def postings(self, fields: Sequence[int], terms: Sequence[str]) -> dict[tuple[int, str], Posting]:
        """Those that are there."""
        keys = [(place, term) for place in fields for term in terms]
        return {
            key: (self._postings[key][0], bytes(self._postings[key][1]))
            for key in keys
            if key in self._postings
        }

    def document_counts(self, field: int, terms: Sequence[str]) -> dict[str, int]:
        """Live pieces or files that hold each term."""
        alive = [bool(file.live) for file in self.every]
        if field <= NAME:
            alive = [self.every[file].live for file in self.piece_file]
        return {
            term: sum(alive[i] for i in ids) for (_, term), (ids, _) in self.postings((field,), terms).items()
        }

    def terms_with_prefix(self, field: int, prefix: str, most: int) -> list[str]:
        """In order."""
        return sorted(t for place, t in self._postings if place == field and t.startswith(prefix))[:most]

    def definitions(self, folded: str) -> list[tuple[str, str, int, int]]:
        """Of that folded name."""
        return self._definitions.get(folded, [])
