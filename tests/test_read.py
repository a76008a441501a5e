"""`git pkb read`: references to files, lines, headings and symbols, and what is said where there is none."""

import os

import pytest

from git_pkb.search import references
from git_pkb.search.references import Reference

PYTHON = '''"""Doc."""


class Shape:
    """A shape."""

    def area(self) -> float:
        """Its area."""
        return 0.0


class Circle(Shape):
    """A circle."""

    def area(self) -> float:
        """Its own area."""
        return 3.14


def helper() -> int:
    return 1
'''

CIRCLE_AREA = '''    def area(self) -> float:
        """Its own area."""
        return 3.14
'''

NOTE = """# Install

Begin here.

## From *source*

Build it.

### v1.2

Old.

## Windows

Click. ^tip

# Usage

## Windows

Start it.
"""


@pytest.fixture
def tree(repo):
    """A repository with code, notes, and names that are hard to quote."""
    repo.commit(
        {
            "src/shapes.py": PYTHON,
            "docs/Guide.md": NOTE,
            "notes/Guide.txt": "Plain guide.\n",
            "notes/daily/Trip to Oslo.md": "# Trip\n\nFjords.\n",
            "a/same.md": "# A\n",
            "b/same.md": "# B\n",
            "odd/a#b.md": "# Hash in the name\n",
            "odd/x:10": "colon in the name\n",
            "top.md": "# Top\n",
            "empty/blank.md": "text\n",
        }
    )
    return repo


def read(pkb, reference, **options):
    """What `git pkb read` prints."""
    return pkb("read", "--", reference, **options)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("src/shapes.py", PYTHON),
        ("./src/shapes.py", PYTHON),
        ("/src/shapes.py", PYTHON),
        ("shapes.py", PYTHON),
        ("shapes", PYTHON),
        ("src/shapes", PYTHON),
        ("SHAPES.PY", PYTHON),
        ("src/shapes.py:1", '"""Doc."""\n'),
        ("src/shapes.py:4-5", 'class Shape:\n    """A shape."""\n'),
        ("src/shapes.py:4:7", "class Shape:\n"),
        ("src/shapes.py#L4-L5", 'class Shape:\n    """A shape."""\n'),
        ("shapes:21-999", "    return 1\n"),
        ("shapes.py::helper", "def helper() -> int:\n    return 1\n"),
        ("shapes.py::helper()", "def helper() -> int:\n    return 1\n"),
        (
            "shapes.py::Circle.area",
            CIRCLE_AREA,
        ),
        (
            "shapes.py::Circle::area",
            CIRCLE_AREA,
        ),
        (
            "shapes.py#Circle.area",
            CIRCLE_AREA,
        ),
        ("[[Trip to Oslo]]", "# Trip\n\nFjords.\n"),
        ("[[Trip to Oslo|the trip]]", "# Trip\n\nFjords.\n"),
        ("[[Trip to Oslo\\|the trip]]", "# Trip\n\nFjords.\n"),
        ("![[daily/Trip to Oslo.md]]", "# Trip\n\nFjords.\n"),
        ("[trip](notes/daily/Trip%20to%20Oslo.md)", "# Trip\n\nFjords.\n"),
        ("[[Guide#From source|x]]", "## From *source*\n\nBuild it.\n\n### v1.2\n\nOld.\n\n"),
        ("Guide.md#from-source", "## From *source*\n\nBuild it.\n\n### v1.2\n\nOld.\n\n"),
        ("[[Guide#v1.2]]", "### v1.2\n\nOld.\n\n"),
        ("[[Guide#Usage#Windows]]", "## Windows\n\nStart it.\n"),
        ("[[Guide#^tip]]", "Click. ^tip\n"),
        ("odd/a#b.md", "# Hash in the name\n"),
        ("[[a#b]]", "# Hash in the name\n"),
        ("odd/x:10", "colon in the name\n"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_a_reference_names_exactly_one_passage(pkb, reference, expected):
    """Every form of reference prints the bytes it names and nothing else."""
    assert read(pkb, reference).out == expected


def test_a_file_in_the_current_folder_wins(tree, pkb):
    """A relative path is seen from where the user stands, then from the top."""
    assert read(pkb, "same.md", cwd=tree.path / "b").out == "# B\n"
    assert read(pkb, "../a/same.md", cwd=tree.path / "b").out == "# A\n"
    assert read(pkb, "a/same.md", cwd=tree.path / "b").out == "# A\n"


def test_an_absolute_path_in_the_work_tree_works(tree, pkb):
    """Editors and agents hand over absolute paths."""
    assert read(pkb, f"{tree.path.resolve()}/top.md").out == "# Top\n"


@pytest.mark.usefixtures("tree")
def test_several_matches_are_listed_and_none_is_guessed(pkb):
    """An ambiguous name ends with 1 and lists what it could be, one reference a line."""
    ran = read(pkb, "same", code=1)
    assert ran.out == "a/same.md\nb/same.md\n"
    assert "2 files" in ran.err
    assert read(pkb, "Guide", code=1).out == "docs/Guide.md\nnotes/Guide.txt\n"


@pytest.mark.usefixtures("tree")
def test_several_headings_are_listed_with_their_lines(pkb):
    """A heading that stands twice is listed as ranges that `read` takes again."""
    ran = read(pkb, "[[docs/Guide#Windows]]", code=1)
    assert ran.out.splitlines() == [
        "docs/Guide.md:13-16\tInstall > Windows",
        "docs/Guide.md:19-21\tUsage > Windows",
    ]
    assert read(pkb, "docs/Guide.md:13-16").out == "## Windows\n\nClick. ^tip\n\n"


@pytest.mark.usefixtures("tree")
def test_several_symbols_are_listed(pkb):
    """A method of two classes is not guessed."""
    ran = read(pkb, "shapes.py::area", code=1)
    assert [line.split("\t")[1] for line in ran.out.splitlines()] == ["Shape.area", "Circle.area"]


def test_overloads_are_one_symbol(repo, pkb):
    """Neighbouring definitions of one name are printed together."""
    repo.commit({"m.py": "def f(a: int): ...\n\n\ndef f(a: str): ...\n\n\ndef g():\n    pass\n"})
    assert read(pkb, "m.py::f").out == "def f(a: int): ...\n\n\ndef f(a: str): ...\n"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("shaeps.py", "did you mean: src/shapes.py"),
        ("[[Trip to Olso]]", "did you mean: notes/daily/Trip to Oslo.md"),
        ("shapes.py::Circl", "did you mean: Circle"),
        ("[[Guide.md#Instal]]", "did you mean: Install"),
        ("shapes.py:300", "has only 21 lines"),
        ("src", "hint: see what is in it: git pkb overview src"),
        ("../outside.md", "is outside the repository"),
        ("/../outside.md", "nothing in the index is called"),
        ("[[Guide.md#^nope]]", "has no block ^nope"),
    ],
)
@pytest.mark.usefixtures("tree")
def test_a_miss_says_what_may_have_been_meant(pkb, reference, said):
    """Nothing on stdout, exit 1, and a way on."""
    ran = read(pkb, reference, code=1)
    assert ran.out == ""
    assert said in ran.err


@pytest.mark.parametrize("reference", ["", "  ", "[[]]", "[[|x]]", "shapes.py:0", "shapes.py:9-3"])
@pytest.mark.usefixtures("tree")
def test_a_reference_that_cannot_be_meant_is_a_usage_error(pkb, reference):
    """Blank references and impossible ranges end with 2."""
    ran = read(pkb, reference, code=2)
    assert ran.err.startswith("error: ")
    assert "hint: " in ran.err


def test_a_file_that_is_not_indexed_is_not_shown(tree, pkb):
    """What is skipped, such as credentials, is not read either, and the reason has a place to look."""
    tree.commit({".env": "TOKEN=1\n"})
    ran = read(pkb, ".env", code=1)
    assert ran.out == ""
    assert "is not in the index" in ran.err


def test_the_work_tree_is_what_is_printed(tree, pkb):
    """Uncommitted content and its line numbers count."""
    tree.write("src/shapes.py", "# new first line\n" + PYTHON)
    assert read(pkb, "shapes.py:1").out == "# new first line\n"
    assert read(pkb, "shapes.py::helper").out.startswith("def helper")


def test_a_symbol_is_found_where_it_stands_now_even_without_refresh(tree, pkb):
    """With refreshing off, lines are those of the file as it is, not those of the index."""
    read(pkb, "top")
    tree.git("config", "pkb.search.refresh", "false")
    tree.write("src/shapes.py", "# one\n# two\n# three\n" + PYTHON)
    assert read(pkb, "shapes.py::helper").out == "def helper() -> int:\n    return 1\n"


def test_a_deleted_file_is_read_from_its_blob_when_not_refreshed(tree, pkb):
    """The index still names it, and git still has it."""
    read(pkb, "top")
    tree.git("config", "pkb.search.refresh", "false")
    (tree.path / "top.md").unlink()
    assert read(pkb, "top").out == "# Top\n"


def test_a_link_out_of_the_repository_is_not_followed(tree, pkb, tmp_path):
    """A folder that was replaced by a link elsewhere shows the blob, not what the link leads to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "same.md").write_text("secret\n")
    read(pkb, "top")
    tree.git("config", "pkb.search.refresh", "false")
    (tree.path / "a" / "same.md").unlink()
    (tree.path / "a").rmdir()
    (tree.path / "a").symlink_to(outside)
    (tree.path / "top.md").unlink()
    (tree.path / "top.md").symlink_to(outside / "same.md")
    assert read(pkb, "a/same.md").out == "# A\n"
    assert read(pkb, "top.md").out == "# Top\n"


@pytest.mark.usefixtures("tree")
def test_json_of_a_passage(pkb):
    """One object with the path, the lines and the text."""
    got = pkb("read", "--json", "shapes.py::Circle.area").json()
    assert got == {
        "schema": 1,
        "reference": "shapes.py::Circle.area",
        "path": "src/shapes.py",
        "language": "python",
        "lines": [15, 17],
        "total_lines": 21,
        "name": "Circle.area",
        "kind": "method",
        "text": CIRCLE_AREA,
    }


@pytest.mark.usefixtures("tree")
def test_json_of_several_matches_and_of_none(pkb):
    """Exit 1 still prints one object: the places, or suggestions."""
    several = pkb("read", "--json", "same", code=1).json()
    assert [match["path"] for match in several["matches"]] == ["a/same.md", "b/same.md"]
    nothing = pkb("read", "--json", "shaeps", code=1).json()
    assert nothing["matches"] == []
    assert nothing["suggestions"] == ["src/shapes.py"]
    assert pkb("read", "--json", "", code=2).json()["error"]["code"] == "usage"


def test_bytes_that_are_no_text_pass_unchanged(repo, pkb):
    """A name and a content that are not UTF-8 come out byte for byte."""
    raw = b"caf\xe9 \r\nline\n"
    repo.write("x", "")
    with open(os.fsencode(repo.path) + b"/n\xe9.txt", "wb") as file:
        file.write(raw)
    repo.commit()
    ran = pkb("read", b"n\xe9.txt")
    assert ran.out.encode("utf-8", "surrogateescape") == raw
    got = pkb("read", "--json", b"n\xe9.txt").json()
    assert got["path"] == "n\ufffd.txt"
    assert got["text"] == "caf\ufffd \r\nline\n"


@pytest.mark.usefixtures("new_repo")
def test_a_bare_repository_reads_blobs(tree, pkb, tmp_path):
    """Without a work tree the blob of HEAD is printed."""
    tree.git("clone", "--quiet", "--bare", tree.path, tmp_path / "bare.git")
    assert pkb("read", "shapes.py:1", cwd=tmp_path / "bare.git").out == '"""Doc."""\n'


def test_the_whole_text_is_tried_as_a_name_first():
    """A file called `a#b.md` is never hidden by the meaning of `#`."""
    assert references.readings("a#b.md")[0] == Reference("a#b.md")
    assert Reference("a", headings=("b.md",)) in references.readings("a#b.md")


def test_a_note_is_preferred_to_code_of_its_name_in_double_brackets():
    """`[[Foo]]` means the note, bare `Foo` could be either."""
    paths = ["Foo.md", "src/Foo.py"]
    assert references.match(references.readings("[[Foo]]")[0], paths) == ["Foo.md"]
    assert references.match(references.readings("Foo")[0], paths) == paths
