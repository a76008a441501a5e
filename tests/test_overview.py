"""`git pkb overview`: folders, keywords, openings, entry points, symbols, and the token budget."""

import json

import pytest

from git_pkb.overview import EntryPoint, Folder, Overview, Symbol
from git_pkb.overview.fit import fit, tokens
from git_pkb.overview.folders import Words, tree
from git_pkb.overview.opening import opening

README = """\
---
title: hidden
---
[![build](https://x/y.svg)](https://x)
<!-- a comment -->

# Shop

Shop sells *things* over the [network](https://example.org). It is written in Python.

More of it.

## Install

pip install shop
"""

FILES = {
    "README.md": README,
    "pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.cli:main"\n',
    "src/shop/__init__.py": "",
    "src/shop/__main__.py": "from shop.cli import main\n\nmain()\n",
    "src/shop/cli.py": "from shop.cart import ShoppingCart\n\n\ndef main():\n    return ShoppingCart()\n",
    "src/shop/cart.py": (
        "class ShoppingCart:\n    def add_product(self): ...\n    def remove_product(self): ...\n"
    ),
    "src/shop/payment/README.md": "Payments go through Stripe. And more.\n",
    "src/shop/payment/invoice.py": (
        "from shop.cart import ShoppingCart\n\n\ndef send_invoice(cart: ShoppingCart): ...\n"
        "def cancel_invoice(): ...\n"
    ),
    "src/shop/payment/refund.py": (
        "from shop.cart import ShoppingCart\n\n\ndef refund_invoice(cart: ShoppingCart): ...\n"
    ),
    "src/shop/catalog/search.py": "def find_product(): ...\ndef rank_product(): ...\n",
    "tests/test_cart.py": "from shop.cart import ShoppingCart\n\n\ndef test_cart():\n    ShoppingCart()\n",
    "docs/guide/start.md": "# Getting started\n\nText.\n",
}


@pytest.fixture
def shop(repo):
    """A small repository with everything an overview tells."""
    repo.commit(FILES)
    return repo


@pytest.mark.usefixtures("shop")
def test_the_overview_names_folders_words_and_landmarks(pkb):
    """One text says how large it is, what the README says, what is in each folder, where it begins."""
    got = pkb("overview", "--json").json()
    assert got["schema"] == 1
    assert got["files"] == len(FILES)
    assert got["opening"] == ("Shop sells *things* over the network. It is written in Python. More of it.")
    folders = {folder["path"]: folder for folder in got["folders"]}
    assert folders["src/shop"]["files"] == 8
    assert folders["src/shop/payment"]["files"] == 3
    assert set(folders["src/shop/payment"]["keywords"]) >= {"invoice", "refund"}
    assert folders["src/shop/payment"]["opening"] == "Payments go through Stripe. And more."
    assert "product" in folders["src/shop/catalog"]["keywords"]
    assert {"path": "src/shop/cli.py", "what": "`shop`"} in got["entry_points"]
    assert {"path": "src/shop/__main__.py", "what": ""} in got["entry_points"]
    assert got["symbols"][0] == {
        "name": "ShoppingCart",
        "kind": "class",
        "path": "src/shop/cart.py",
        "line": 1,
        "files": 3,
    }


@pytest.mark.usefixtures("shop")
def test_the_text_is_what_the_json_says(pkb):
    """People read the same facts."""
    out = pkb("overview").out
    assert out.startswith("12 files, ")
    assert "Shop sells *things* over the network." in out
    assert "src/shop/payment/" in out
    assert "ShoppingCart" in out
    assert "class, src/shop/cart.py:1" in out


@pytest.mark.usefixtures("shop")
def test_flags_and_settings_say_how_much(shop, pkb):
    """Depth, folders a level and keywords a folder come from flags, else from settings."""
    flat = pkb("overview", "--json", "--depth", "1", "--keywords", "1", "--folders", "1").json()
    assert [folder["path"] for folder in flat["folders"]] == ["src/shop"]
    assert flat["folders_left_out"] == 2
    assert all(len(folder["keywords"]) <= 1 for folder in flat["folders"])
    shop.git("config", "pkb.overview.depth", "1")
    assert all(folder["level"] == 0 for folder in pkb("overview", "--json").json()["folders"])


@pytest.mark.usefixtures("shop")
def test_one_folder_can_be_looked_at(shop, pkb):
    """FOLDER is seen from where the user stands, or from the top with a leading slash."""
    below = pkb("overview", "--json", "payment", cwd=shop.path / "src" / "shop").json()
    assert (below["folder"], below["files"]) == ("src/shop/payment", 3)
    assert below["opening"] == "Payments go through Stripe. And more."
    assert pkb("overview", "--json", "/docs", cwd=shop.path / "src").json()["files"] == 1
    nothing = pkb("overview", "nowhere", code=1)
    assert nothing.out == ""
    assert nothing.err == "no file is indexed below nowhere\n"
    assert pkb("overview", "../..", code=2).err.startswith("error: ../.. is outside the repository")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "arguments",
    [("--depth", "0"), ("--max-tokens", "99"), ("--keywords", "-1"), ("--folders", "x"), ("--no",)],
)
def test_impossible_numbers_are_usage_or_configuration_errors(pkb, arguments):
    """What cannot be meant ends with 2."""
    assert pkb("overview", *arguments, code=2).err.startswith("error: ")


def test_an_empty_repository_has_nothing_to_show(repo, pkb):
    """No file: exit 1, and with JSON still one object."""
    repo.commit()
    assert pkb("overview", code=1).err == "no file is indexed\n"
    assert pkb("overview", "--json", code=1).json()["files"] == 0


@pytest.mark.usefixtures("shop")
def test_the_second_overview_is_read_from_the_cache_and_an_edit_makes_it_anew(shop, pkb):
    """The kept answer is the same, and never outlives a change."""
    first = pkb("overview", "--json").out
    kept = next(shop.path.rglob("overview.json"))
    assert pkb("overview", "--json").out == first
    kept.write_text(kept.read_text().replace("ShoppingCart", "Replaced"))
    assert "Replaced" in pkb("overview", "--json").out, "the kept answer was not read"
    shop.write("src/shop/wishlist.py", "class Wishlist: ...\n")
    fresh = pkb("overview", "--json").json()
    assert fresh["files"] == len(FILES) + 1
    assert fresh["symbols"][0]["name"] == "ShoppingCart"
    kept.write_text("{ damaged")
    assert pkb("overview", "--json").json() == fresh


def test_hostile_names_and_texts_cannot_control_the_terminal(repo, pkb):
    """Escape sequences in a README or a file name are shown, not obeyed."""
    repo.commit(
        {
            "README.md": "Evil \x1b]0;title\x07 words are here to stay.\n",
            "a\x1bb/c.py": "def alpha_beta(): ...\n",
            "pyproject.toml": '[project.scripts]\n"\\u001bx" = "m:f"\n',
            "m.py": "def f(): ...\n",
        }
    )
    out = pkb("overview").out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "\\x1b" in out


@pytest.mark.parametrize(
    "manifest", ["[project", "[project]\nscripts = 3\n", "scripts = [1]\n[[bin]]\nname=1\n"]
)
def test_a_manifest_that_is_not_what_it_should_be_declares_nothing(repo, pkb, manifest):
    """A damaged pyproject.toml or package.json does not stop the overview."""
    repo.commit(
        {
            "pyproject.toml": manifest,
            "package.json": "[1",
            "main.py": "x = 1\n",
            "a/package.json": '{"bin": 3}',
        }
    )
    assert pkb("overview", "--json").json()["entry_points"] == [{"path": "main.py", "what": ""}]


def big() -> Overview:
    """An overview with a lot to say."""
    folders = tuple(
        Folder(
            f"packages/part{n:02}", 500 - n, n % 3, ("alpha", "beta", "gamma"), "What this part is for. " * 5
        )
        for n in range(60)
    )
    symbols = tuple(Symbol(f"Symbol{n}", "class", f"packages/part{n:02}/x.py", n + 1, 9) for n in range(12))
    entries = tuple(EntryPoint(f"packages/part{n:02}/__main__.py", "`run`") for n in range(10))
    return Overview(
        "", 9000, 30000, (("python", 9000),), ("word",), "A long opening. " * 40, folders, 5, entries, symbols
    )


@pytest.mark.parametrize("most", [100, 200, 500, 1000, 2000, 4000, 100_000])
def test_the_text_stays_within_its_tokens(most):
    """Whatever the budget, the printed form fits, and what is left out is counted."""
    from git_pkb.output.overview import text
    from git_pkb.output.terminal import Terminal

    whole = big()
    small = fit(whole, most, lambda each: text(each, Terminal()))
    assert tokens(text(small, Terminal())) <= most
    assert small.folders_left_out == 5 + 60 - len(small.folders)
    assert [f.path for f in small.folders] == [
        f.path for f in whole.folders if f.path in {s.path for s in small.folders}
    ]
    if most == 100_000:
        assert small == whole


def test_more_tokens_never_say_less():
    """The larger the budget, the more folders."""
    from git_pkb.output.overview import text
    from git_pkb.output.terminal import Terminal

    counts = [
        len(fit(big(), most, lambda each: text(each, Terminal())).folders) for most in range(100, 5000, 300)
    ]
    assert counts == sorted(counts)


def test_a_folder_that_only_leads_to_another_costs_no_level():
    """`src/main/java/org/acme` is one step, not five."""
    found = tree(["src/main/java/org/acme/a/x.java", "src/main/java/org/acme/b/y.java", "top.md"], "", 2, 20)
    assert [(node.path, node.files, node.level) for node in found.kept] == [
        ("src/main/java/org/acme", 2, 0),
        ("src/main/java/org/acme/a", 1, 1),
        ("src/main/java/org/acme/b", 1, 1),
    ]


def test_keywords_tell_folders_apart():
    """A word that every folder has is no keyword, nor one that the path says."""
    paths = {1: "cache/a.py", 2: "cache/b.py", 3: "mail/c.py", 4: "mail/d.py"}
    names = {
        1: ["evict_entry", "handle_request"],
        2: ["evict_all", "handle_response"],
        3: ["send_mail", "handle_request"],
        4: ["send_bulk", "handle_response"],
    }
    words = Words(paths, names)
    assert words.keywords("cache", 1) == ("evict",)
    assert words.keywords("mail", 1) == ("send",)
    assert words.keywords("mail", 0) == ()


def test_keywords_are_counted_once_in_singular_and_plural():
    """`invoice` and `invoices` are one keyword."""
    words = Words({1: "a/x.py"}, {1: ["invoice", "invoices", "payment"]})
    assert len(words.keywords("a", 5)) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("# Title only\n", ""),
        ("Title\n=====\n\nThe first words.\n", "The first words."),
        ("<p align=center>\n<img src=x>\n</p>\n\nReal words are here.\n", "Real words are here."),
        (
            ".. image:: x.png\n   :alt: y\n\nName\n----\n\nSee `the docs <https://x>`_ for more.\n",
            "See the docs for more.",
        ),
        ("```\ncode here now\n```\n\nWords after code come.\n", "Words after code come."),
        ("\ufeffA **bold** claim is made.\r\n\r\n- list\r\n", "A bold claim is made."),
    ],
)
def test_the_opening_is_the_first_prose(text, expected):
    """Badges, titles, code and markup are no opening."""
    assert opening(text, 200) == expected


def test_the_opening_ends_with_a_sentence_where_it_can():
    """A long paragraph is cut after a sentence, else after a word."""
    assert opening("One sentence is here. " + "word " * 100, 40) == "One sentence is here."
    assert opening("word " * 100, 22) == "word word word word…"


def test_json_is_one_object_whatever_the_names(repo, pkb):
    """Names that are not UTF-8 are shown lossy with their bytes."""
    repo.commit({"d\udce9/x.py": "def alpha_beta(): ...\n"})
    got = json.loads(pkb("overview", "--json").out)
    assert got["folders"][0]["path"] == "d\ufffd"
    assert got["folders"][0]["path_bytes"]
