"""Prose cut at headings, and the languages of files."""

import pytest

from git_pkb.chunk import cut, embedded_text, is_code, language_of

PARAGRAPH = "Words about the matter, enough of them to fill a line and more.\n" * 12


def headings(text: str, language: str) -> list[str]:
    """`scope/heading@line+lines` of every section."""
    return [
        f"{definition.scope}/{definition.name}@{piece.line + definition.line}+{definition.lines}"
        for piece in cut(text.encode(), language)
        for definition in piece.definitions
    ]


def test_markdown_headings() -> None:
    """ATX and setext headings are sections nested in those above; markup in them is dropped."""
    text = "# Top #\n\nText\n\n## `Inner` [link](url)\n\nOther\n=====\n\nMore\n\n"
    text += "Small\n---\n\n- item\n---\n#notheading\n"
    assert headings(text, "markdown") == ["/Top@1+6", "Top/Inner link@5+2", "/Other@7+12", "Other/Small@12+7"]


def test_fences_and_front_matter_hold_no_headings() -> None:
    """What looks like a heading in a fenced block or in front matter is none."""
    text = "---\ntitle: x\n# comment\n---\n\n# One\n\n```sh\n# no\n~~~\n```\n\n"
    text += "~~~~\n# no\n```\n~~~\n~~~~\n\n# Two\n"
    assert headings(text, "markdown") == ["/One@6+13", "/Two@19+2"]


def test_unclosed_fence_reaches_to_the_end() -> None:
    """A fence that is never closed hides all that follows."""
    assert headings("# One\n\n```\n# no\n\n# no\n", "markdown") == ["/One@1+7"]


def test_sections_become_pieces_with_their_path() -> None:
    """Each large section is a piece whose breadcrumb is the path of headings; small ones are merged."""
    text = (
        f"---\ntitle: x\n---\n\n# Install\n\n{PARAGRAPH}\n## From source\n\n{PARAGRAPH}\n{PARAGRAPH}\n"
        "## Small\n\none\n\n## Smaller\n\ntwo\n"
    )
    pieces = cut(text.encode(), "markdown")
    assert [(piece.kind, piece.breadcrumb) for piece in pieces] == [
        ("section", "Install"),
        ("section", "Install > From source"),
    ]
    assert [definition.name for definition in pieces[1].definitions] == ["From source", "Small", "Smaller"]


def test_large_section_is_cut_at_paragraphs() -> None:
    """A section above the limit is cut where a paragraph begins and keeps its heading's path."""
    text = "# Long\n\n" + "\n".join(f"Part {n}. {PARAGRAPH}" for n in range(9))
    pieces = cut(text.encode(), "markdown")
    assert len(pieces) >= 4
    assert {piece.breadcrumb for piece in pieces} == {"Long"}
    for piece in pieces[1:]:
        assert embedded_text(text.encode(), piece).startswith("Part ")


def test_restructured_text() -> None:
    """Underlined and overlined titles get their level from the order of their first use."""
    text = "=====\nTitle\n=====\n\nText\n\nPart\n----\n\nInner\n~~~~~\n\n"
    text += "Last\n----\n\n====  ====\na     b\n====  ====\n"
    assert headings(text, "rst") == [
        "/Title@1+19",
        "Title/Part@7+6",
        "Title.Part/Inner@10+3",
        "Title/Last@13+7",
    ]


def test_asciidoc() -> None:
    """Both kinds of titles; nothing inside a listing."""
    text = "git-x(1)\n========\n\nNAME\n----\nText\n\n----\n== no\n----\n\n== Two\n\nOther\n~~~~~\n"
    assert headings(text, "asciidoc") == [
        "/git-x(1)@1+16",
        "git-x(1)/NAME@4+8",
        "git-x(1)/Two@12+5",
        "git-x(1).Two/Other@14+3",
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("org", "* One\n** Two\n"),
        ("latex", "\\chapter{One}\n\\section*{Two}\n"),
        ("typst", "= One\n== Two\n"),
    ],
)
def test_other_headings(language: str, text: str) -> None:
    """Org, LaTeX and Typst sections nest too."""
    assert headings(text, language) == ["/One@1+3", "One/Two@2+2"]


def test_text_is_cut_at_paragraphs() -> None:
    """Plain text has no definitions and is cut between paragraphs."""
    text = "\n".join(f"Part {n}. {PARAGRAPH}" for n in range(9)).encode()
    pieces = cut(text, "text")
    assert len(pieces) >= 4
    for piece in pieces:
        assert (piece.kind, piece.definitions) == ("text", ())
        assert embedded_text(text, piece).startswith("Part ")


def test_data_is_cut_at_its_outer_keys() -> None:
    """YAML falls apart at keys that are not indented."""
    text = "".join(
        f"service_{n}:\n" + "  setting: a rather long value of it\n" * 35 for n in range(8)
    ).encode()
    pieces = cut(text, "yaml")
    assert len(pieces) == 8
    for piece in pieces:
        assert piece.kind == "code"
        assert embedded_text(text, piece).startswith("service_")


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("src/main.rs", b"", "rust"),
        ("a/B.TS", b"", "typescript"),
        ("a/b.tsx", b"", "tsx"),
        ("a/b.jsx", b"", "javascript"),
        ("a/b.h", b"", "c"),
        ("Rakefile", b"", "ruby"),
        ("docker/Dockerfile", b"", "dockerfile"),
        ("Dockerfile.dev", b"", "dockerfile"),
        ("CMakeLists.txt", b"", "cmake"),
        ("config.py.in", b"", "python"),
        ("main.tf", b"", "hcl"),
        ("README", b"", "text"),
        ("README.md", b"", "markdown"),
        ("docs/a.rst", b"", "rst"),
        ("bin/run", b"#!/usr/bin/env python3\n", "python"),
        ("bin/run", b"#!/usr/bin/env -S node --flag\n", "javascript"),
        ("bin/run", b"#! /bin/bash -e\n", "bash"),
        ("bin/run", b"#!/usr/bin/python3.11\n", "python"),
        ("bin/run", b"#!/usr/bin/env FOO=1 ruby\n", "ruby"),
        ("bin/run", b"#!\n", "text"),
        ("bin/run", b"\xff\xfe", "text"),
        ("odd\udcff.zig", b"", "zig"),
        (".bashrc", b"", "bash"),
        (".in", b"", "text"),
        ("noext", b"", "text"),
        ("a.unknown", b"", "text"),
        ("script.sh", b"#!/usr/bin/env python\n", "bash"),
    ],
)
def test_language_of(path: str, head: bytes, language: str) -> None:
    """The name, else the extension, else the shebang tells the language."""
    assert language_of(path, head) == language


def test_overrides() -> None:
    """An override makes an extension text or code, and wins over everything."""
    overrides = {".tsx": "text", ".Foo": "code", "blade.php": "text", ".md": "code"}
    assert language_of("a.tsx", b"", overrides) == "text"
    assert language_of("a.foo", b"", overrides) == "code"
    assert language_of("a.foo", b"#!/bin/sh\n", overrides) == "bash"
    assert language_of("a.blade.php", b"", overrides) == "text"
    assert language_of("a.php", b"", overrides) == "php"
    assert language_of("a.md", b"", overrides) == "code"
    assert is_code("code")


def test_is_code() -> None:
    """Code and data are code; prose and the unknown are not."""
    assert is_code("python")
    assert is_code("yaml")
    assert not is_code("markdown")
    assert not is_code("text")
    assert not is_code("klingon")
