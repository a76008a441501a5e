"""Questions made from documentation and from doc comments, and the repositories they are asked of."""

import pytest

from git_pkb.evaluate import cases, derive, doccomments, headings
from git_pkb.git import discover

BODY = "Words that say how it is done, one after the other. " * 6

GUIDE = f"""# The guide

## Install from source

{BODY}

```sh
# Not a heading at all
```

## 2. Keep `secrets` out of [the log](log.md)

{BODY}
{BODY}

## Usage

{BODY}
"""


def test_sections_of_a_document():
    """Headings outside code blocks, without marks, links and numbers; a section ends at the next heading."""
    found = headings.sections(GUIDE)
    assert [(s.level, s.title) for s in found] == [
        (1, "The guide"),
        (2, "Install from source"),
        (2, "Keep secrets out of the log"),
        (2, "Usage"),
    ]
    lines = GUIDE.split("\n")
    assert lines[found[2].line].startswith("## 2.")
    assert lines[found[2].end].startswith("## Usage")


def test_a_heading_asks_for_its_section():
    """The heading is gone from the text, and the lines of the case are those of what stood under it."""
    changed, (case,) = headings.questions({"guide.md": GUIDE, "other.md": "## Usage\n\n" + BODY}, 10)
    assert case.query in ("Install from source", "Keep secrets out of the log")
    text = changed["guide.md"]
    assert len(text.split("\n")) == len(GUIDE.split("\n")) - 1
    assert case.query.split()[0] not in [s.title.split()[0] for s in headings.sections(text)]
    (symbol,) = case.symbols
    section = text.split("\n")[symbol.start - 1 : symbol.end]
    assert [line for line in section if line.startswith("Words")]
    assert not [line for line in section if line.startswith("## ")]


@pytest.mark.parametrize(
    "text",
    [
        "# Only a title of many words\n\n" + BODY,
        "## Usage\n\n" + BODY,
        "## A short section here\n\nfew words\n",
        "no heading at all\n",
        "",
    ],
)
def test_headings_that_make_no_question(text):
    """Titles, single words, short sections and texts without any."""
    assert headings.questions({"a.md": text}, 10) == ({}, [])


def test_the_sample_is_the_same_every_time():
    """A fixed seed; at most as many as wanted, in order of paths."""
    files = {f"{n:02}.md": f"## Question number {n} of all\n\n{BODY}" for n in range(30)}
    _, first = headings.questions(files, 7)
    _, second = headings.questions(dict(reversed(files.items())), 7)
    assert first == second
    assert len(first) == 7
    assert [c.files[0].path for c in first] == sorted(c.files[0].path for c in first)


PYTHON = b'''"""The module."""

import os


@decorated
def fetch(url: str,
          tries: int) -> bytes:
    """Download a page over the network, again if need be. More is said here.

    :param url: where
    """
    return b""


class Store:
    """Keep blocks of bytes on a disk."""

    # Write one block to the end of the file
    def append(self, block):
        return os.write(1, block)

    def same(self):
        """The same words as nobody else says."""
'''

GO = b"""package net

// Fetch downloads a page over the network.
func Fetch(url string) []byte {
\treturn nil
}

// noise
func other() {}
"""

RUST = b"""/// Splits a text into words and numbers, in order.
///
/// More.
#[inline]
pub fn tokens(text: &str) -> Vec<&str> {
    vec![]
}
"""

JAVA = b"""class Cache {
    /**
     * Returns the entry that was {@link Entry#used used} longest ago.
     *
     * @return an entry
     */
    Entry oldest() { return null; }
}
"""


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        (
            "a.py",
            PYTHON,
            {
                "fetch": "Download a page over the network, again if need be.",
                "Store": "Keep blocks of bytes on a disk",
                "append": "Write one block to the end of the file",
            },
        ),
        ("a.go", GO, {"Fetch": "downloads a page over the network"}),
        ("a.rs", RUST, {"tokens": "Splits a text into words and numbers, in order"}),
        ("A.java", JAVA, {"oldest": "Returns the entry that was used longest ago"}),
    ],
)
def test_doc_comments_of_languages(path, content, expected):
    """First sentences without marks and tags; a docstring that is all the body stays."""
    found = {each.name: each.question.rstrip(".") for each in doccomments.documented(path, content)}
    assert found == {name: question.rstrip(".") for name, question in expected.items()}


@pytest.mark.parametrize(
    ("comment", "name", "language"),
    [
        (["# Too short here"], "f", "python"),
        (["# The store holds blocks of data on disk"], "Store", "python"),
        (["# Save the file to a destination path or object"], "save", "python"),
        (["# Reads with read_all what the others have left"], "read_all", "python"),
        (["// Reads all that others have left behind: Reads"], "Reads", "go"),
        (["// eslint-disable-next-line no-console for the following line"], "f", "javascript"),
        (["# @param nothing but the parameters of this function"], "f", "ruby"),
        (["/* call-seq: parser.error? -> true or false in words */"], "f", "c"),
        (["#"], "f", "python"),
    ],
)
def test_comments_that_make_no_question(comment, name, language):
    """Too few words, the name in the words (but for Go's custom of beginning with it), notes to tools."""
    assert doccomments.first_sentence(comment, name, language) is None


def test_what_two_definitions_say_is_asked_of_neither():
    """Comments that are the same but for case and marks, in one file or two, make no question."""
    one = b"def first(a):\n    # x\n    return a\n"
    text = b'def %s(a):\n    """Gives back the entry that was used longest ago%s"""\n    return a\n\n\n'
    files = {
        "a.py": text % (b"first", b".") + text % (b"second", b", the oldest entry."),
        "b.py": text % (b"third", b"!") + one,
    }
    _, asked = doccomments.questions(files, 100)
    assert [case.symbols[0].name for case in asked] == ["second"]


def test_the_asked_comments_are_gone():
    """What is asked is nowhere in the changed files; code, other comments and line order stay."""
    files = {"a.py": PYTHON, "a.go": GO, "a.rs": RUST, "A.java": JAVA}
    changed, asked = doccomments.questions(files, 100)
    assert len(asked) == 6
    everything = b"\n".join({**files, **changed}.values()).decode()
    for case in asked:
        assert case.query[:30] not in everything
        assert case.symbols[0].path == case.files[0].path
    assert b"return os.write(1, block)" in changed["a.py"]
    assert b"// noise" in changed["a.go"]
    compile(changed["a.py"], "a.py", "exec")


def test_a_derived_repository_is_one_that_eval_reads(repo, tmp_path, pkb):
    """Comments out, cases in wdpkr's format, one commit; asking it finds the definitions by their code."""
    repo.commit(
        {
            "src/a.py": PYTHON,
            "src/a.go": GO,
            "tests/test_a.py": PYTHON,
            "logo.png": b"\0",
            "poetry.lock": "x\n",
        }
    )
    folder = tmp_path / "derived"
    folder.mkdir()
    made = derive.symbols(discover(str(repo.path)), str(folder))
    assert {case.files[0].path for case in made} == {"src/a.py", "src/a.go"}
    assert sorted(str(p.relative_to(folder)) for p in folder.glob("*/*.*") if ".git" not in p.parts) == [
        "src/a.go", "src/a.py", "tests/test_a.py",
    ]  # fmt: skip
    (tmp_path / "cases.json").write_text(cases.dump(made))
    result = pkb("eval", tmp_path / "cases.json", "--json", cwd=folder).json()
    assert result["runs"]["hybrid"]["overall"]["symbol_recall"] > 0.5
    assert repo.status() == ""


def test_a_derived_documentation_can_be_a_part(repo, tmp_path):
    """Only the files below a folder, whose headings are asked."""
    repo.commit({"docs/guide.md": GUIDE, "other/guide.md": GUIDE, "src/a.py": PYTHON})
    folder = tmp_path / "derived"
    folder.mkdir()
    (case,) = derive.docs(discover(str(repo.path)), str(folder), below="docs")
    assert case.files[0].path == "docs/guide.md"
    assert not (folder / "src").exists()
