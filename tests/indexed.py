"""What the tests of the indexer share: sample sources, a counting mock model, pictures of `.pkb`."""

import os
from pathlib import Path

FUNCTION = (
    "def {0}(x):\n" + "".join(f"    step_{i} = x + {i}  # {{0}}\n" for i in range(45)) + "    return x\n\n\n"
)


def source(*names: str) -> str:
    """A Python file of functions, each large enough for a piece of its own."""
    return "".join(FUNCTION.format(name) for name in names)


def snapshot(top: Path) -> dict[str, bytes]:
    """Every file of the index with its bytes."""
    folder = top / ".pkb" / "index"
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def stamps(top: Path) -> dict[str, tuple[int, int]]:
    """Every tracked-to-be file under `.pkb` with mtime and inode: any write shows."""
    files = [p for p in (top / ".pkb").rglob("*") if p.is_file() and "cache" not in p.parts]
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_ino) for p in files}


class Calls:
    """The mock model's log: how many texts were embedded since the last look."""

    def __init__(self, path: Path, monkeypatch) -> None:
        self.path = path
        monkeypatch.setenv("PKB_MOCK_LOG", os.fspath(path))
        monkeypatch.setenv("GIT_PKB_EMBEDDING_PROVIDER", "mock")
        monkeypatch.setenv("GIT_PKB_EMBEDDING_DIMENSIONS", "16")

    def take(self) -> int:
        """Texts embedded since the last call."""
        if not self.path.exists():
            return 0
        lines = self.path.read_text().splitlines()
        self.path.unlink()
        return sum(int(line.split()[1]) for line in lines if line.startswith(("embed", "auto")))
