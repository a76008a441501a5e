"""Choose the tokens, and turn the pairs into rows of token counts.

In: WORK/pairs. Out: WORK/vocab.txt (sorted, `##` before continuations), WORK/frequency.npy (share of each
token in the code), WORK/train.npz (see Pairs). Invariant: the tokens depend on the training packages alone,
and ties between words are broken by the word.

    python scripts/train/vocabulary.py WORK
"""

import json
import math
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path

import minilm
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from git_pkb.embed.wordpiece import Vocabulary, words

TOKENS = 40_000
_OWN_WORDS = 27_000  # of the corpus; the rest are MiniLM's, which know what questions say and code does not
_OWN_ENDINGS = 3_000
_LEAST_WEIGHT = 0.05  # of a word of a question (git_pkb/embed/local.py)
KINDS = ("doc", "name", "inline", "path")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs as rows.

    What is asked and what answers, both [n, tokens] (`question`, `code`), and for each pair its kind, its
    package (a number), and hashes of question and code, by which repeats are known.
    """

    question: sparse.csr_matrix
    code: sparse.csr_matrix
    kind: NDArray[np.int64]
    package: NDArray[np.int64]
    question_hash: NDArray[np.int64]
    code_hash: NDArray[np.int64]

    def save(self, path: Path) -> None:
        """Write everything to one file."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if sparse.issparse(value):
                parts = value.data, value.indices, value.indptr, np.array(value.shape)
                arrays.update({f"{field.name}_{n}": part for n, part in enumerate(parts)})
            else:
                arrays[field.name] = value
        np.savez(path, **arrays)  # type: ignore[arg-type]  # the stub takes the names for its own option

    @classmethod
    def load(cls, path: Path) -> "Pairs":
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            matrices = [
                sparse.csr_matrix(
                    (arrays[f"{name}_0"], arrays[f"{name}_1"], arrays[f"{name}_2"]), shape=arrays[f"{name}_3"]
                )
                for name in ("question", "code")
            ]
            return cls(*matrices, *(arrays[field.name] for field in fields(cls)[2:]))


def choose(counts: dict[str, Counter[str]], borrowed: list[str]) -> list[str]:
    """TOKENS tokens from the word counts of each package and MiniLM's tokens, sorted."""
    score: Counter[str] = Counter()
    spread: Counter[str] = Counter()
    for package in sorted(counts):
        for word, n in sorted(counts[package].items()):
            if len(word) <= 40:
                score[word] += math.log1p(n)  # type: ignore[assignment]  # Counter adds up floats as well
                spread[word] += 1
    ranked = sorted(score, key=lambda word: (-score[word], word))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    chosen = {*letters, *("##" + letter for letter in letters)}
    chosen.update([word for word in ranked if spread[word] > 1][:_OWN_WORDS])
    endings: Counter[str] = Counter()
    for word in ranked:
        if word in chosen:
            continue
        for cut in range(len(word) - 3, 2, -1):  # as greedy longest match would cut it
            if word[:cut] in chosen:
                endings[word[cut:]] += 1
                break
    often = sorted((ending for ending in endings if endings[ending] > 1), key=lambda e: (-endings[e], e))
    chosen.update("##" + ending for ending in often[:_OWN_ENDINGS])
    bare = {token: token.removeprefix("##") for token in borrowed}
    usable = [token for token in borrowed if bare[token].isascii() and bare[token].isalnum()]
    usable.sort(
        key=lambda token: (not token.startswith("##"), -score[token])
    )  # stable: then as MiniLM has them
    for token in usable:
        if len(chosen) >= TOKENS:
            break
        chosen.add(token)
    return sorted(chosen)


def open_vocabulary(tokens: list[str]) -> Vocabulary:
    """The product's own reader over sorted tokens."""
    lines = [token.encode() + b"\n" for token in tokens]
    offsets = np.cumsum([0, *map(len, lines)]).astype(np.uint32).tobytes()
    vocabulary = Vocabulary(b"".join(lines), offsets)
    vocabulary.prepare()
    return vocabulary


def encode(
    paths: list[Path], vocabulary: Vocabulary, *, keep_empty: bool = False
) -> tuple[Pairs, NDArray[np.float64]]:
    """Pairs of several packages as rows, weighted as the product does; and how often each token is in code.

    Pairs that say next to nothing in this vocabulary are left out, unless tables are to be compared.
    """
    matrices: tuple[list[sparse.csr_matrix], list[sparse.csr_matrix]] = [], []
    facts: list[tuple[int, int, int, int]] = []
    frequency = np.zeros(len(vocabulary))
    for number, path in enumerate(paths):
        asked, answers = [], []
        for line in path.read_text("utf-8").splitlines():
            kind, question, code, names = json.loads(line)
            answer = vocabulary.count(code)
            for token in vocabulary.count(names) if names else ():
                answer.pop(token, None)
            found = vocabulary.count(question)
            if keep_empty or (found and len(answer) > 3):
                asked.append(found)
                answers.append(answer)
                hashes = zlib.crc32(question.lower().encode()), zlib.crc32(code.encode("utf-8", "replace"))
                facts.append((KINDS.index(kind), number, *hashes))
        code_rows = _matrix(answers, len(vocabulary))
        question_rows = _matrix(asked, len(vocabulary))
        frequency += np.asarray(code_rows.sum(axis=0)).ravel()
        df = np.bincount(code_rows.indices, minlength=len(vocabulary))
        idf = np.log1p((len(answers) - df + 0.5) / (df + 0.5))
        idf[df == 0] = 1.0  # as for a word that the index does not hold
        question_rows.data *= np.maximum(idf, _LEAST_WEIGHT)[question_rows.indices].astype(np.float32)
        for rows, kept in zip((question_rows, code_rows), matrices, strict=True):
            np.sqrt(rows.data, out=rows.data)
            kept.append(rows)
    columns = np.array(facts, np.int64).T
    question, code = (sparse.vstack(kept, "csr") for kept in matrices)
    return Pairs(question, code, *columns), frequency / frequency.sum()


def _matrix(rows: list[dict[int, int]], width: int) -> sparse.csr_matrix:
    ordered = [sorted(row.items()) for row in rows]
    indptr = np.cumsum([0, *map(len, ordered)])
    indices = np.fromiter((token for row in ordered for token, _ in row), np.int32, indptr[-1])
    data = np.fromiter((n for row in ordered for _, n in row), np.float32, indptr[-1])
    return sparse.csr_matrix((data, indices, indptr), shape=(len(rows), width))


def main(work: str) -> int:
    """Write the vocabulary and the rows."""
    folder = Path(work)
    train = sorted(folder.glob("pairs/train+*.jsonl"))
    counts: dict[str, Counter[str]] = {}
    for path in train:
        count = counts[path.name] = Counter()
        for line in path.read_text("utf-8").splitlines():
            _, question, code, _ = json.loads(line)
            count.update(words(question))
            count.update(words(code))
    tokens = choose(counts, minilm.tokens(folder))
    (folder / "vocab.txt").write_text("".join(token + "\n" for token in tokens), "ascii")
    vocabulary = open_vocabulary(tokens)
    pairs, frequency = encode(train, vocabulary)
    np.save(folder / "frequency.npy", frequency)
    pairs.save(folder / "train.npz")
    kinds = np.bincount(pairs.kind, minlength=len(KINDS))
    print(len(tokens), "tokens;", *(f"{n} {kind}" for n, kind in zip(kinds, KINDS, strict=True)), "pairs")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    raise SystemExit(main(sys.argv[1]))
