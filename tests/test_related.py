"""`git pkb related`: pieces like the one at a place."""

import pytest

RETRY = '''"""Uploads."""


def upload_with_retry(session, payload, attempts):
    """Upload a payload; retry with exponential backoff when the connection fails."""
    for attempt in range(attempts):
        try:
            return session.post("/upload", payload)
        except ConnectionError:
            backoff = 2 ** attempt
            session.sleep(backoff)
    raise ConnectionError("upload failed")
'''

FETCH = '''"""Downloads."""


def download_with_retry(session, address, attempts):
    """Download an address; retry with exponential backoff when the connection fails."""
    for attempt in range(attempts):
        try:
            return session.get(address)
        except ConnectionError:
            backoff = 2 ** attempt
            session.sleep(backoff)
    raise ConnectionError("download failed")
'''

COLOR = '''"""Colours."""


def mix_colors(red, green, blue):
    """Mix paint by averaging hue and saturation in a cylinder."""
    hue = (red + green) / 2
    return hue, blue
'''


@pytest.fixture
def tree(repo):
    """Two functions that are alike, one that is not."""
    repo.commit({"net/upload.py": RETRY, "net/fetch.py": FETCH, "paint/color.py": COLOR, "empty.py": ""})
    return repo


@pytest.mark.usefixtures("tree")
def test_what_is_alike_comes_first_and_the_piece_itself_never(pkb):
    """The twin of a function is found by its vector and its words; the function is not its own relative."""
    got = pkb("related", "net/upload.py:6", "--json").json()
    assert got["results"][0]["path"] == "net/fetch.py"
    assert "net/upload.py" not in [file["path"] for file in got["results"]]
    assert got["query"] == "net/upload.py:1"
    assert got["mode"] == "hybrid"
    assert got["results"][0]["symbols"][0]["lines"] == [1, 12]


@pytest.mark.usefixtures("tree")
def test_it_is_the_same_from_any_line_of_the_piece_and_by_symbol(pkb):
    """Lines and symbols of one piece have the same relatives; a basename is enough."""
    by_line = pkb("related", "upload.py:12", "--json").json()["results"]
    assert by_line == pkb("related", "upload.py::upload_with_retry", "--json").json()["results"]


@pytest.mark.usefixtures("tree")
def test_the_output_has_the_forms_of_search(pkb):
    """Plain lines, terse lines, files alone, and source when asked for."""
    assert pkb("related", "upload.py:6", "-k", "1", "--terse").out == "net/fetch.py:1-12\n"
    assert pkb("related", "upload.py:6", "-k", "1", "--no-symbols").out == "net/fetch.py\n"
    assert pkb("related", "upload.py:6", "-k", "1").out.startswith("net/fetch.py:1:")
    assert "session.sleep(backoff)" in pkb("related", "upload.py:6", "-k", "1", "--text").out


@pytest.mark.usefixtures("tree")
def test_without_vectors_words_alone_compare(tree, pkb):
    """The provider `none` has no vectors; shared words still find the twin."""
    tree.git("config", "pkb.embedding.provider", "none")
    got = pkb("related", "upload.py:6", "--json").json()
    assert got["mode"] == "keyword"
    assert got["results"][0]["path"] == "net/fetch.py"


@pytest.mark.usefixtures("tree")
def test_binary_vectors_compare_too(tree, pkb):
    """Sign bits are enough to find the twin."""
    tree.git("config", "pkb.index.dtype", "binary")
    assert pkb("related", "upload.py:6", "--json").json()["results"][0]["path"] == "net/fetch.py"


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("upload.py",), "names no line"),
        (("upload.py:0",), "is no range of lines"),
        (("",), "is empty"),
        (("upload.py:6", "-k", "0"), "-k must be at least 1"),
        (("upload.py:6", "--symbols-per-file", "-1"), "must not be negative"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(pkb, arguments, said):
    """Exit 2 with a sentence."""
    assert said in pkb("related", *arguments, code=2).err


@pytest.mark.usefixtures("tree")
def test_a_place_that_is_not_there_is_explained(pkb):
    """Exit 1 with suggestions, as `read` gives them; JSON stays one object."""
    assert "did you mean: net/upload.py" in pkb("related", "uplaod.py:3", code=1).err
    assert "has only 12 lines" in pkb("related", "upload.py:99", code=1).err
    got = pkb("related", "uplaod.py:3", "--json", code=1).json()
    assert (got["results"], got["suggestions"]) == ([], ["net/upload.py"])


def test_a_lonely_piece_has_no_relatives(repo, pkb):
    """One piece in the whole repository: nothing, exit 1."""
    repo.commit({"one.py": COLOR})
    ran = pkb("related", "one.py:4", code=1)
    assert (ran.out, ran.err) == ("", "nothing is like one.py:4\n")


@pytest.mark.usefixtures("tree")
def test_the_work_tree_counts(tree, pkb):
    """A file that was just written is related at once."""
    tree.write("net/again.py", FETCH.replace("download", "transfer"))
    got = pkb("related", "net/again.py:6", "--json").json()
    assert {file["path"] for file in got["results"][:2]} == {"net/fetch.py", "net/upload.py"}
