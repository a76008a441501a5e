"""What is installed: the wheel holds what the program needs, and works without the source tree."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built as an installer would."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=TOP, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_wheel_holds_every_file_of_the_package(wheel):
    """Each tracked kind of file under git_pkb is in the wheel: code, queries, the model, its notices."""
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [
        path for path in (TOP / "git_pkb").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    assert {path.relative_to(TOP).as_posix() for path in files} <= names


def test_wheel_brings_the_manual_page_and_the_licences(wheel):
    """`git pkb --help` finds its page, and the notices that the model's sources ask for travel with it."""
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith(".data/data/share/man/man1/git-pkb.1") for name in names)
    for file in ("LICENSE", "NOTICE.txt"):
        assert any(".dist-info/licenses/" in name and name.endswith(file) for name in names)
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "docs/"))]


def test_wheel_works_without_the_source_tree(wheel, tmp_path, repo):
    """Unpacked elsewhere it indexes and searches: nothing at run time is read from the source tree."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    repo.commit({"a.py": "def retry_upload():\n    return 1\n", "b.md": "# Cats\n\nThey purr.\n"})

    def run(*words: str) -> str:
        program = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import git_pkb.cli as cli;"
        program += f"assert cli.__file__.startswith({str(tmp_path)!r}); sys.exit(cli.main({list(words)!r}))"
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=repo.path,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("reindex")
    assert run("search", "upload", "--terse", "-k", "1").startswith("a.py:")
