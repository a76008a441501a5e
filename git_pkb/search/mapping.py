"""The pieces of a repository as points of the plane: what is alike lies close together.

In: a `Current` index. Out: a `Map`. Imports numpy. Invariant: the same index gives the same map: the
neighbours are found by whole-number products (exact in any order), and every random number comes from one
seed.

PCA gives the first places; then each point is pulled to its nearest neighbours and pushed from random
others, by the forces of UMAP (McInnes et al. 2018, a = 1.577, b = 0.895), taken as means so that a step
cannot overshoot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from git_pkb.errors import NoIndex

if TYPE_CHECKING:
    from git_pkb.cache.reader import FileFacts
    from git_pkb.search.refresh import Current

MOST_PIECES = 20_000
_NEIGHBOURS, _REPELLED, _STEPS = 12, 6, 220
_A, _B = 1.577, 0.895
_PULL, _PUSH, _REACH, _GRAVITY = 1.0, 0.9, 4.0, 0.01
_SEED = 20_240_229
_GROUPS = 10
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Point:
    """A piece: `x` and `y` from 0 to 1; `file` is its place in `Map.files`."""

    x: float
    y: float
    file: int
    lines: tuple[int, int]
    title: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file with its language and the folder that colours it (`""`: the top)."""

    path: str
    language: str
    group: str


@dataclass(frozen=True, slots=True)
class Map:
    """`left_out` counts pieces that are not shown: without a vector, or beyond the greatest number."""

    name: str
    files: tuple[MappedFile, ...]
    points: tuple[Point, ...]
    left_out: int


def build(current: "Current", most: int = MOST_PIECES) -> Map:
    """Lay the pieces out; raises NoIndex when none has a vector."""
    rows, scales, pieces = vectors(current)
    if not len(pieces):
        raise NoIndex(
            "no piece of this index has a vector, so there is nothing to map",
            "set another provider than `none` and index again: git pkb reindex",
        )
    total = current.reader.live_pieces
    if len(pieces) > most:  # evenly, so that every part of the repository stays visible
        kept = [number * len(pieces) // most for number in range(most)]
        rows, scales, pieces = rows[kept], scales[kept], [pieces[number] for number in kept]
    places = layout(rows, scales)
    files = {file.id: file for file in current.reader.files()}
    return _described(current, files, pieces, places, total - len(pieces))


def vectors(current: "Current") -> tuple[Any, Any, list[int]]:
    """Rows of small whole numbers (n, dims), scales (n,), and the ids of the live pieces they belong to."""
    import numpy as np

    from git_pkb.cache.matrix import rows_of_planes

    live = current.reader.live
    parts, factors, pieces = [], [], []
    for matrix in current.reader.matrices():
        if matrix.dtype == "int8":
            rows = np.frombuffer(matrix.rows, dtype=np.int8).reshape(matrix.pieces, matrix.dims)
        else:
            bits = np.frombuffer(rows_of_planes(matrix, 0, matrix.pieces), dtype=np.uint8)
            bits = bits.reshape(matrix.pieces, -1)
            rows = (np.unpackbits(bits, axis=1)[:, : matrix.dims].astype(np.int8) * 2 - 1).astype(np.int8)
        scales = np.frombuffer(matrix.scales, dtype="<f4").astype(np.float64)
        ids = np.arange(matrix.first_piece, matrix.first_piece + matrix.pieces)
        usable = scales > 0
        if live is not None:
            usable &= np.frombuffer(bytes(live[matrix.first_piece :][: matrix.pieces]), dtype=np.uint8) != 0
        parts.append(rows[usable])
        factors.append(scales[usable])
        pieces += [int(piece) for piece in ids[usable]]
    if not pieces:
        return np.zeros((0, 0), np.int8), np.zeros(0), []
    return np.concatenate(parts), np.concatenate(factors), pieces


def layout(rows: Any, scales: Any) -> Any:
    """Places (n, 2) in the unit square."""
    import numpy as np

    places = _principal(rows, scales)
    if len(rows) > 3:
        _refine(places, neighbours(rows, scales))
    return np.round(_into_square(places), 4)


def _into_square(places: Any) -> Any:
    """All places into the unit square, by where most lie; the few far out are drawn in to its edge."""
    import numpy as np

    low, high = np.quantile(places, 0.01, axis=0), np.quantile(places, 0.99, axis=0)
    span = float((high - low).max()) or 1.0
    centred = (places - (low + high) / 2) / span  # most within +-0.5
    far = np.abs(centred) - 0.5
    return 0.5 + 0.8 * np.where(far > 0, np.sign(centred) * (0.5 + 0.12 * np.tanh(far * 3)), centred)


def _principal(rows: Any, scales: Any) -> Any:
    """The two directions of greatest spread, scaled to 10; their largest parts are positive."""
    import numpy as np

    unit = rows * scales[:, None]
    unit -= unit.mean(axis=0)
    _, directions = np.linalg.eigh(unit.T @ unit)
    best = directions[:, ::-1][:, :2]
    if best.shape[1] < 2:
        best = np.pad(best, ((0, 0), (0, 2 - best.shape[1])))
    best = best * np.where(best[np.abs(best).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    places = unit @ best
    spread = np.abs(places).max() or 1.0
    places = np.round(places / spread * 10.0, 6)
    # copies of one piece must not lie on one point, or nothing could part them
    return places + np.random.default_rng(_SEED).normal(0.0, 1e-3, places.shape)


def neighbours(rows: Any, scales: Any) -> Any:
    """For each row the places (n, k) of those with the greatest cosine, itself left out."""
    import numpy as np

    count = len(rows)
    k = max(1, min(_NEIGHBOURS, count // 4))  # a few points would all be neighbours
    # products of signed bytes sum to less than 2**24 up to 1,000 dimensions: exact in float32, in any order
    numbers = rows.astype(np.float32 if rows.shape[1] <= 1000 else np.float64)
    factors = scales.astype(numbers.dtype)
    found = np.empty((count, k), dtype=np.int64)
    for start in range(0, count, _BLOCK):
        cosines = (numbers[start : start + _BLOCK] @ numbers.T) * factors
        own = np.arange(len(cosines))
        cosines[own, own + start] = -np.inf
        nearest = np.argpartition(-cosines, k - 1, axis=1)[:, :k]
        order = np.lexsort((nearest, -np.take_along_axis(cosines, nearest, axis=1)), axis=1)
        found[start : start + _BLOCK] = np.take_along_axis(nearest, order, axis=1)
    return found


def _refine(places: Any, near: Any) -> None:
    """Move the places, in place, so that neighbours come together."""
    import numpy as np

    count, k = near.shape
    random = np.random.default_rng(_SEED)
    one = np.repeat(np.arange(count), k)
    other = near.reshape(-1)
    ends = np.concatenate([one, other])
    degree = np.bincount(ends, minlength=count)[:, None]
    for step in range(_STEPS):
        alpha = 1.0 - step / _STEPS
        gap = places[one] - places[other]
        square = (gap * gap).sum(axis=1) + 1e-9
        pull = (2.0 * _A * _B * square ** (_B - 1.0) / (1.0 + _A * square**_B))[:, None] * gap
        pull = np.clip(pull, -_REACH, _REACH)
        both = np.concatenate([-pull, pull])
        move = np.stack([np.bincount(ends, both[:, axis], count) for axis in (0, 1)], axis=1) * _PULL / degree
        far = random.integers(0, count, (count, _REPELLED))
        gap = places[:, None, :] - places[far]
        square = (gap * gap).sum(axis=2) + 1e-9
        push = (2.0 * _B / ((0.001 + square) * (1.0 + _A * square**_B)))[:, :, None] * gap
        push[far == np.arange(count)[:, None]] = 0.0
        move += np.clip(push, -_REACH, _REACH).mean(axis=1) * _PUSH
        places += alpha * (move - _GRAVITY * places)


def _described(
    current: "Current",
    files: "dict[int, FileFacts]",
    pieces: Sequence[int],
    places: Any,
    left_out: int,
) -> Map:
    """Give each place what is known of its piece."""
    from git_pkb.mirror.format import BadArtifact, decode_meta

    number = current.reader.piece_file
    shown = [(i, piece) for i, piece in enumerate(pieces) if number[piece] in files]
    ids = list(dict.fromkeys(number[piece] for _, piece in shown))
    at = {file: index for index, file in enumerate(ids)}
    group = groups([files[i].path for i in ids])
    records = {}
    for i in ids:
        try:
            records[i] = decode_meta(current.reader.meta(i)).records
        except BadArtifact:
            records[i] = ()
    points = []
    for i, piece in shown:
        file = files[number[piece]]
        offset = piece - file.first
        if not 0 <= offset < len(records[file.id]):
            left_out += 1
            continue
        record = records[file.id][offset]
        lines = (record.piece.line, record.piece.line + record.piece.newlines)
        x, y = float(places[i][0]), float(places[i][1])
        points.append(
            Point(x, y, at[file.id], lines, record.piece.breadcrumb, record.summary or record.excerpt)
        )
    mapped = tuple(MappedFile(files[i].path, files[i].language, group[files[i].path]) for i in ids)
    return Map(current.repo.top.rpartition("/")[2], mapped, tuple(points), left_out)


def groups(paths: Sequence[str]) -> dict[str, str]:
    """A folder for each path, at most ten in all: the largest is split while that is possible."""
    members: dict[str, list[str]] = {"": list(paths)}
    whole: set[str] = set()
    while len(whole) < len(members):
        largest = min(members.keys() - whole, key=lambda folder: (-len(members[folder]), folder))
        whole.add(largest)
        inside = largest + "/" if largest else ""
        split: dict[str, list[str]] = {}
        for path in members[largest]:
            below, slash, _ = path[len(inside) :].partition("/")
            split.setdefault(inside + below if slash else largest, []).append(path)
        # the folder itself stays, for its own files and for its small folders when there are too many
        room = _GROUPS - len(members)
        folders = sorted(split.keys() - {largest}, key=lambda folder: (-len(split[folder]), folder))
        if len(folders) == 1 and largest not in split:
            room += 1  # it takes the place of the folder that only leads to it
        for folder in folders[: max(0, room)]:
            members[folder] = split.pop(folder)
        members[largest] = [path for rest in split.values() for path in rest]
        if not members[largest]:
            del members[largest]
            whole.discard(largest)
    return {path: folder for folder, inside_of in members.items() for path in inside_of}
