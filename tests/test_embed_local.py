"""The local model: its recipe, its two ways of computing, and its bytes."""

import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_pkb.embed import local, quantize, wordpiece
from git_pkb.embed.local import LocalEmbedder, embed_paths, path_text
from git_pkb.model import Vectors

STATIC = Path(local.__file__).parent / "static"
TEXTS = [
    "def parseHTTPResponse(self, raw_bytes): return self.retry_upload(raw_bytes, backoff=2.5)",
    "Configuration is read from the environment, then from the file.",
    "",
    "naïve Größe 漢字 \ud800 zażółć XMLHttpRequest2",
    "0x" + "f" * 300 + " " + "word" * 11,
    "a " * 5000 + "uploadFile",
]


def reference(text: str) -> np.ndarray:
    """The encoding as the model card states it, written without any of the module's shortcuts."""
    vocabulary = {token: i for i, token in enumerate((STATIC / "vocab.txt").read_text("ascii").splitlines())}
    table = np.fromfile(STATIC / "table.i8", np.int8).reshape(-1, 256).astype(float)
    scales = np.fromfile(STATIC / "scales.f16", "<f2").astype(float)
    tokens: Counter[int] = Counter()
    for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+", text):
        rest, prefix = word.lower() if len(word) <= 40 else "", ""
        while rest:
            end = next(n for n in range(len(rest), 0, -1) if prefix + rest[:n] in vocabulary)
            tokens[vocabulary[prefix + rest[:end]]] += 1
            rest, prefix = rest[end:], "##"
    total = sum((n**0.5 * scales[t] * table[t] for t, n in tokens.items()), np.zeros(256))
    return total / (np.linalg.norm(total) or 1.0)


def dequantized(vectors: Vectors) -> np.ndarray:
    """The rows as the unit vectors that they stand for."""
    rows = np.frombuffer(vectors.rows, np.int8).reshape(-1, vectors.dims)
    return rows * np.frombuffer(vectors.scales, "<f4").astype(float)[:, None]


def test_vectors_follow_the_model_card() -> None:
    """A text's vector is the one that the written recipe gives, up to the rounding of int8."""
    rows = dequantized(LocalEmbedder().embed(TEXTS))
    for text, row in zip(TEXTS, rows, strict=True):
        expected = reference(text)
        if expected.any():
            assert row @ expected > 0.9997
            assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-6)
        else:
            assert not row.any()


def test_question_vectors_follow_the_model_card() -> None:
    """Without weights a question is encoded as a document is, at unit length."""
    question = np.array(LocalEmbedder().embed_query(TEXTS[0]))
    assert question @ reference(TEXTS[0]) == pytest.approx(1.0, abs=1e-9)


def test_bytes_are_pinned() -> None:
    """These digests change only with the model's name: every clone must compute equal artifacts."""
    vectors = LocalEmbedder().embed(TEXTS)
    binary = LocalEmbedder("binary").embed(TEXTS)
    assert LocalEmbedder().identity == "local-1:256:int8"
    assert hashlib.sha256(vectors.scales + vectors.rows).hexdigest()[:16] == "b4d51bb0cd19d5ac"
    assert hashlib.sha256(binary.scales + binary.rows).hexdigest()[:16] == "51b7261a1f871d22"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=300), min_size=1, max_size=5), st.sampled_from(["int8", "binary"]))
def test_numpy_and_python_agree(texts: list[str], dtype: str) -> None:
    """The path with numpy and the one without give the same bytes."""
    vocabulary = local.model().vocabulary
    counts = [vocabulary.count(text) for text in texts]
    without = quantize.quantize((local.model().sum(count) for count in counts), 256, dtype)
    assert quantize.quantize_array(local.model().sums(counts), dtype) == without


def test_few_texts_and_questions_load_no_numpy() -> None:
    """A commit hook and a search do without numpy, and give the bytes that numpy gives."""
    code = (
        "import sys; from git_pkb.embed.local import LocalEmbedder, embed_paths; e = LocalEmbedder();"
        f"v = e.embed({TEXTS!r}); e.embed_query('retry an upload'); embed_paths(['src/a.py']);"
        "assert 'numpy' not in sys.modules; print((v.scales + v.rows).hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    vectors = LocalEmbedder().embed(TEXTS)
    assert done.stdout.strip() == (vectors.scales + vectors.rows).hex()


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_words_by_runs_equal_words_by_the_expression(text: str) -> None:
    """Taking a text apart into runs first finds the same words as the expression over the whole text."""
    found = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+", text)
    assert wordpiece.words(text) == [word.lower() for word in found]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=45))
def test_bisection_and_dictionary_agree(word: str) -> None:
    """Both ways of looking tokens up cut a word into the same tokens."""
    fresh = wordpiece.Vocabulary((STATIC / "vocab.txt").read_bytes(), (STATIC / "vocab.idx").read_bytes())
    by_bisection = fresh.pieces(word.encode())
    fresh.prepare()
    assert fresh.pieces(word.encode()) == by_bisection


def test_weights_of_a_question_shift_it_towards_rare_words() -> None:
    """A word with a higher weight pulls the question towards itself; an unknown weight counts as one."""
    embedder = LocalEmbedder()
    upload = np.array(embedder.embed_query("upload"))
    plain = np.array(embedder.embed_query("upload the file"))
    weighted = np.array(embedder.embed_query("upload the file", {"upload": 9.0, "the": 0.0, "file": 1.0}))
    assert weighted @ upload > plain @ upload
    assert embedder.embed_query("upload the", {"upload": 1.0}) == embedder.embed_query("upload the")


def test_related_texts_are_near() -> None:
    """A question is nearer to the code that answers it than to other code."""
    embedder = LocalEmbedder()
    retrying = (
        "def upload(path):\n    for attempt in range(5):\n        try: send(path)\n        except: sleep(2)"
    )
    matrix = "class Matrix:\n    def transpose(self):\n        return Matrix(zip(*self.rows))"
    rows = dequantized(embedder.embed([retrying, matrix]))
    scores = rows @ np.array(embedder.embed_query("where do we retry failed uploads with backoff"))
    assert scores[0] > scores[1] + 0.1


def test_paths_are_texts_without_extension() -> None:
    """A path's vector is that of its words, whatever its extension."""
    assert path_text("src/upload/retry.test.ts") == "src upload retry.test"
    assert path_text(".gitignore") == ".gitignore"
    assert embed_paths(["src/retry.py"]) == LocalEmbedder().embed(["src retry"])


def test_a_long_question_is_answered() -> None:
    """Ten thousand characters of a question give a vector like any other."""
    question = LocalEmbedder().embed_query(" ".join(f"uploadFile{i}" for i in range(1000)))
    assert sum(x * x for x in question) == pytest.approx(1.0)


def test_no_texts_give_no_rows() -> None:
    """Nothing in, nothing out, and no stream item."""
    embedder = LocalEmbedder()
    assert len(embedder.embed([])) == 0
    assert list(embedder.embed_stream([])) == []
    assert [(start, len(rows)) for start, rows in embedder.embed_stream(["a", "b"])] == [(0, 2)]
