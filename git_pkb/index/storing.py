"""The index in a vector store: brought in line by `reindex`, asked by `search`.

In: artifacts, or a question's vector. Out: rows in the store; the pieces nearest to the question. Invariant:
what the store holds decides nothing but which pieces are looked at: a hit counts only while its file still
has the blob it was made of, and its cosine is computed from the vectors at hand.

A collection holds one state of one repository in one vector space, whose hash ends its name, so vectors of
two models never meet. It follows the artifacts of the tracked tree (those of the cache with the workflow
`local`), by runs over HEAD alone: a hook waits for no network, and a staged state may never be committed.
What is lacking is known from the ids in the store, so a run that failed, a lost cache and other clones that
write to it are all made good by the next run. Files that changed since are looked up in the vectors at hand.
"""

import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import unpack_from
from typing import TYPE_CHECKING, Any

from git_pkb.embed.base import space
from git_pkb.errors import ConfigError, ProviderError
from git_pkb.location import cache_dir
from git_pkb.mirror.names import VEC
from git_pkb.store.base import Row, open_store, row_id

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.git import Repository
    from git_pkb.index.plan import Identity, Target
    from git_pkb.index.run import Run
    from git_pkb.model import Vectors
    from git_pkb.search.refresh import Current
    from git_pkb.store.base import Store

RECORD = "store.json"  # in the cache folder: which commit is in which collection
_WORKERS = 4
_LONGEST_NAME = 100  # turbopuffer takes 128 characters, and a hash is added


def collection_of(repo: "Repository", config: "Config", model: str) -> str:
    """The collection of this repository and the space of a model; ConfigError without a name for it."""
    name = config.store.namespace or _name_of_remote(repo)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:_LONGEST_NAME]
    if not name:
        raise ConfigError(
            "store.namespace is not set, and there is no remote whose address could name the collection",
            "git pkb config set store.namespace NAME",
        )
    return f"{name}-{hashlib.blake2b(space(model).encode(), digest_size=4).hexdigest()}"


def follow(run: "Run") -> None:
    """Bring the store in line with the artifacts that a run of the indexer has left.

    Raises ProviderError and ConfigError; the artifacts, and what was written of the rows, stay.
    """
    options, summary, config = run.options, run.summary, run.config
    follows = summary.to_tree or config.index.write == "local"
    if options.dry_run or options.staged or summary.commit is None or not follows:
        return
    if run.recipe.embedder is None:
        summary.warnings.append("nothing to store: there are no vectors with embedding.provider = none")
        return
    wanted = [(run.targets[path], count) for path, count in sorted(run.records.items()) if count]

    def read(target: "Target") -> bytes:
        overlaid = None if summary.to_tree else run.stock.overlay.get(target.blob, target.language)
        if overlaid is not None and overlaid[1] is not None:
            return overlaid[1]
        return run.tree.read(run.stems[target.path] + VEC)

    identity = run.recipe.identity
    collection = collection_of(run.repo, config, identity.model)
    store = open_store(config.store, collection, run.recipe.embedder.dims)
    if store is None:
        return
    try:
        written, removed = bring_in_line(store, identity, wanted, read)
    except ProviderError as error:
        raise ProviderError(
            f"the index is written, but not yet in the store: {error.message}",
            f"{error.hint or 'see to it'}; then run `git pkb reindex` again, it goes on where it stopped",
        ) from None
    _remember(run.repo, collection, summary.commit)
    if run.progress is not None and (written or removed):
        run.progress.note(f"{store.shown}: {written:,} rows written, {removed:,} removed")


def bring_in_line(
    store: "Store",
    identity: "Identity",
    wanted: "Sequence[tuple[Target, int]]",
    read: "Callable[[Target], bytes]",
) -> tuple[int, int]:
    """Write the rows that a store lacks and remove those that stand for nothing; how many of both.

    `wanted`: files with their numbers of pieces; `read`: the `.vec` of a file's artifact (raises OSError).
    """
    from git_pkb.net.network import run_all

    made_with = f"{identity.cutter} {identity.model}"
    there = set(store.ids())
    ids = {
        target.path: [row_id(target.path, target.blob, made_with, piece) for piece in range(count)]
        for target, count in wanted
    }
    lacking = [target for target, _ in wanted if not there.issuperset(ids[target.path])]
    gone = there.difference(*ids.values())
    written = 0
    if lacking:
        store.prepare()

    def write(batch: "Sequence[Target]", stop: threading.Event) -> int:
        rows = [
            Row(ids[target.path][piece], vector, target.path, target.blob, piece)
            for target in batch
            for piece, vector in _vectors(read, target, identity.model, ids[target.path])
            if ids[target.path][piece] not in there
        ]
        for at in range(0, len(rows), store.most_rows):
            if stop.is_set():
                break
            store.upsert(rows[at : at + store.most_rows])
        return len(rows)

    for _, count in run_all(list(_batches(lacking, ids, store.most_rows)), write, _WORKERS):
        written += count
    if gone:
        store.delete(sorted(gone))
    return written, len(gone)


def _batches(
    targets: "Sequence[Target]", ids: Mapping[str, Sequence[str]], most: int
) -> "Iterator[list[Target]]":
    """Files whose rows fill a request together."""
    batch: list[Target] = []
    rows = 0
    for target in targets:
        if batch and rows + len(ids[target.path]) > most:
            yield batch
            batch, rows = [], 0
        batch.append(target)
        rows += len(ids[target.path])
    if batch:
        yield batch


def _vectors(
    read: "Callable[[Target], bytes]", target: "Target", model: str, ids: Sequence[str]
) -> Iterator[tuple[int, list[float]]]:
    """The pieces of an artifact with their unit vectors; those without one, and damage, are left out."""
    from git_pkb.mirror.format import BadArtifact, decode_vec

    try:
        made_by, vectors = decode_vec(read(target))
    except (OSError, BadArtifact):
        return  # `git pkb check` finds it, and the next run makes it anew
    if made_by == model and len(vectors) == len(ids):
        yield from _unit_vectors(vectors)


def _unit_vectors(vectors: "Vectors") -> Iterator[tuple[int, list[float]]]:
    width = vectors.row_bytes
    for piece in range(len(vectors)):
        row = vectors.rows[piece * width : (piece + 1) * width]
        if vectors.dtype == "int8":
            scale = unpack_from("<f", vectors.scales, 4 * piece)[0]
            if scale:
                yield piece, [scale * each for each in memoryview(row).cast("b")]
        else:
            each = vectors.dims**-0.5
            bits = "".join(f"{byte:08b}" for byte in row)[: vectors.dims]
            yield piece, [each if bit == "1" else -each for bit in bits]


# --- at query time ---


def nearest(current: "Current", config: "Config", vector: Sequence[float], most: int) -> list[int]:
    """Ids of pieces near a question: the store's hits that are still true, then what it cannot know yet.

    Raises ProviderError or ConfigError when the store cannot be asked.
    """
    from git_pkb.rank import vectors

    reader, embedder = current.reader, current.embedder
    if embedder is None or not any(vector):
        return []
    collection = collection_of(current.repo, config, embedder.identity)
    store = open_store(config.store, collection, embedder.dims)
    if store is None:
        return []
    hits = store.nearest(vector, most)
    unknown = _unknown(current, collection)
    named = {path: reader.file_named(path) for path in {*(hit.path for hit in hits), *unknown}}
    files = {path: file for path, file in named.items() if file is not None}
    outdated = {hit.path for hit in hits if hit.path in files and files[hit.path].blob != hit.blob}
    pieces = [
        files[hit.path].first + hit.piece
        for hit in hits
        if hit.path in files and hit.path not in outdated and hit.piece < files[hit.path].pieces
    ]
    mask = bytearray(reader.pieces)
    for path in outdated | unknown:
        if path in files:
            first, count = files[path].first, files[path].pieces
            mask[first : first + count] = b"\1" * count
    if 1 in mask:
        pieces += vectors.nearest(reader.matrices(), vector, most, mask)
    return list(dict.fromkeys(pieces))


def _unknown(current: "Current", collection: str) -> set[str]:
    """Paths that changed since this clone last brought the store in line: in commits, or in the work tree."""
    from git_pkb.search.refresh import CHANGED
    from git_pkb.search.snapshot import changed_between

    paths = set(json.loads(current.reader.facts.get(CHANGED, "{}")))
    commit = _remembered(current.repo, collection)
    head = current.indexed_commit
    if commit is not None and head is not None and commit != head:
        paths.update(changed_between(current.repo, commit, head) or ())
    return paths


def _remember(repo: "Repository", collection: str, commit: str | None) -> None:
    """Note what is in the store; a cache that cannot be written is done without."""
    folder = cache_dir(repo)
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, RECORD)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as file:
            json.dump({"collection": collection, "commit": commit}, file)
        os.replace(f"{path}.{os.getpid()}", path)


def _remembered(repo: "Repository", collection: str) -> str | None:
    """The commit that is in this collection, as far as this clone knows."""
    try:
        with open(os.path.join(cache_dir(repo), RECORD), encoding="ascii") as file:
            found: Any = json.loads(file.read(4096))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("collection") != collection:
        return None
    commit = found.get("commit")
    return commit if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{40,64}", commit) else None


def _name_of_remote(repo: "Repository") -> str:
    """`host/path` of the remote `origin`, or of the first one: the same for https and ssh, without a user."""
    listed = repo.git("config", "-z", "--get-regexp", r"^remote\..*\.url$", check=False)
    addresses: dict[str, str] = {}
    for record in listed.decode("utf-8", "replace").split("\0"):
        name, _, address = record.partition("\n")
        if address:
            addresses.setdefault(name, address)
    address = addresses.get("remote.origin.url") or next(iter(addresses.values()), "")
    address = re.sub(r"^[a-z+]+://", "", address, flags=re.IGNORECASE).rstrip("/").removesuffix(".git")
    host, slash, path = address.partition("/")
    host = re.sub(r"^.*@", "", host)
    host = re.sub(r":\d+$", "", host)
    return (host.replace(":", "/") + slash + path).lower()
