"""`git pkb chunk`: a file cut as it would be embedded."""

import os

import pytest

SOURCE = '"""Adds."""\n\n\ndef add(a, b):\n    """The sum."""\n    return a + b\n'


@pytest.fixture
def story(repo):
    """A repository with one Python file and one note, committed."""
    repo.commit({"src/add.py": SOURCE, "notes/über.md": "# One\n\ntext\n\n# Two\n\nmore\n"})
    return repo


@pytest.mark.usefixtures("story")
def test_json_has_pieces_in_order(pkb):
    """The pieces cover the file in order, with lines, kind, definitions and the text that is embedded."""
    got = pkb("chunk", "src/add.py", "--json").json()
    assert (got["schema"], got["path"], got["language"], got["size"]) == (
        1,
        "src/add.py",
        "python",
        len(SOURCE),
    )
    assert got["skipped"] is None
    ends = [piece["bytes"] for piece in got["pieces"]]
    assert ends == sorted(ends)
    assert "".join(SOURCE[start:end] for start, end in ends).split() == SOURCE.split()
    names = [each["name"] for piece in got["pieces"] for each in piece["definitions"]]
    assert "add" in names
    assert "return a + b" in got["pieces"][-1]["text"]


@pytest.mark.usefixtures("story")
def test_a_person_sees_each_piece_under_a_rule(pkb):
    """In a pipe each piece begins with its position, lines, size, kind and breadcrumb."""
    out = pkb("chunk", "notes/über.md").out
    assert out.startswith("--- 1/")
    assert "# One" in out


def test_from_a_subdirectory_and_from_a_revision(pkb, story):
    """FILE is relative to the current folder; REV:PATH names a committed or staged version."""
    before = pkb("chunk", "HEAD:src/add.py", "--json").json()
    story.write("src/add.py", "x = 1\n")
    story.git("add", "src/add.py")
    story.write("src/add.py", "x = 22\n")
    inside = story.path / "src"
    assert pkb("chunk", "add.py", "--json", cwd=inside).json()["size"] == 7
    assert pkb("chunk", ":src/add.py", "--json", cwd=inside).json()["size"] == 6
    assert pkb("chunk", "HEAD:./add.py", "--json", cwd=inside).json() == before
    assert pkb("chunk", story.path / "src/add.py", "--json").json()["path"] == "src/add.py"


def test_git_stores_what_is_cut(pkb, story):
    """With autocrlf the work tree has CRLF, but the pieces are those of the blob."""
    story.git("config", "core.autocrlf", "true")
    (story.path / "src/add.py").unlink()
    story.git("checkout", "--", "src/add.py")
    assert b"\r\n" in (story.path / "src/add.py").read_bytes()
    assert pkb("chunk", "src/add.py", "--json").json()["size"] == len(SOURCE)


def test_a_file_that_is_not_indexed_says_why(pkb, story):
    """What reindex would skip is cut all the same, with a note on stderr."""
    story.write("package-lock.json", "{}\n")
    assert "note: reindex skips this file: lock file" in pkb("chunk", "package-lock.json").err


@pytest.mark.usefixtures("story")
@pytest.mark.parametrize("file", ["missing.py", "../outside.py", "HEAD:missing.py", "nope:src/add.py", "src"])
def test_what_is_no_file_exits_2(pkb, file):
    """A path or revision that does not exist is wrong usage."""
    assert pkb("chunk", file, code=2).err.startswith("error: ")


def test_an_untracked_name_with_a_colon(pkb, story):
    """A file whose name holds a colon is the file, not a revision."""
    story.write("a:b.txt", "words\n")
    assert pkb("chunk", "a:b.txt", "--json").json()["path"] == "a:b.txt"


def test_escape_sequences_do_not_reach_the_screen(pkb, story):
    """Content is shown, not obeyed."""
    story.write("evil.txt", "red \x1b[31m text\n")
    assert "\\x1b[31m" in pkb("chunk", "evil.txt").out


def test_a_fifo_is_not_waited_for(story, pkb):
    """What is no regular file is refused at once."""
    os.mkfifo(story.path / "pipe.py")
    assert "not a regular file" in pkb("chunk", "pipe.py", code=2).err
