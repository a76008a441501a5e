"""Comments and docstrings found by regular expressions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from git_pkb.chunk import comment_spans
from git_pkb.chunk.languages import LANGUAGES

#: Language, text, and its comments. `§` marks where each begins and ends in the text.
CASES = [
    ("python", '§# one§\nx = \'# no\' §# two§\ny = """# no"""\n'),
    (
        "python",
        '§"""Module."""§\n\nclass A:\n    §"""Doc\n    # in"""§\n\n    def f(self):\n        §\'one\'§\n',
    ),
    (
        "python",
        'f(\n    """an argument""",\n    """another"""\n)\nx = [\n  """no"""]\nx = 1\n§"""About x."""§\n',
    ),
    ("python", "def f():\n    r§'''Raw doc.'''§\n    return 'no'\n".replace("r§'''", "r§'''")),
    ("starlark", '§# one§\ndef f():\n    §"""Doc."""§\n'),
    ("rust", "§/// doc§\nfn f<'a>(x: &'a str) { let s = \"// no\"; let c = '\"'; } §// yes§\n"),
    ("rust", 'let s = r#"a " // no"#; §/* block\n*/§ let t = "a\\" // no";'),
    ("go", "§// doc§\ns := `// no\n// no` §/* yes */§\nr := '\"' §// end§"),
    ("typescript", "§/** doc */§\nconst s = `// no ${x}`; const t = 'a // no'; §// yes§\n"),
    ("javascript", "const url = 'http://x'; §// yes§\n§/* never closed§"),
    ("c", "§/* a */§ int x = '\\''; char *s = \"/* no */\"; §// b§\n"),
    ("cpp", 'auto s = R"x(// no )" still)x"; int n = 1\'000\'000; §// yes§\n'),
    ("csharp", '§/// <summary>§\nvar s = @"c:\\"; §// yes§\n'),
    ("kotlin", 'val s = """// no\n"quote" // no""" §// yes§\n'),
    ("swift", 'let s = """\n// no\n""" §/* yes */§\n'),
    ("php", "<?php §# yes§\n#[Attr]\n$x = '# no'; §// yes§\n§/* b */§"),
    ("ruby", '§# one§\nx = "# no" §# two§\n§=begin\nlong\n=end§\n'),
    ("elixir", '§@doc """\nText # here\n"""§\ndef f, do: "# no" §# yes§\n§@moduledoc "Short."§\n'),
    ("lua", "§-- one§\nlocal s = '-- no'\n§--[[ long\n]]§ x = [[ -- no ]] §--[==[ ]] ]==]§\n"),
    ("haskell", '§-- | doc§\nf = x --> y\ng = \'"\' §-- yes§\n§{- block\n-}§\nh = "-- no"\n'),
    ("bash", "§#!/bin/sh§\necho ${#x} $# a#b \"# no\" '# no' §# yes§\n"),
    ("zig", '§/// doc§\nconst s = "// no"; §// yes§\n'),
    ("hcl", 'a = "# no" §# yes§\n§// yes§\n§/* yes */§\n'),
    ("sql", "SELECT '-- no', 'it''s' §-- yes§\n§/* yes */§\n"),
    ("scala", '§/** doc */§\nval s = """// no""" §// yes§\n'),
    ("java", "§/** doc */§\nchar c = '\"'; §// yes§\n"),
    ("yaml", "§# one§\nkey: 'a # no' §# yes§\n"),
    ("html", "<p>§<!-- one -- two\n-->§</p>\n"),
    ("markdown", "text §<!-- note -->§ `# no`\n"),
    ("css", 'a { content: "/* no */"; } §/* yes */§\n'),
    ("clojure", '§;; one§\n(str "; no") §; yes§\n\\;'),
    ("ocaml", '§(* one *)§ let s = "(* no *)"\n'),
    ("erlang", '§%% one§\nX = "% no". §% yes§\n'),
    ("julia", '§#= one\n=#§ x = "# no" §# yes§\n'),
    ("powershell", "§<# one\n#>§ $x = '# no' §# yes§\n"),
    ("vim", '§" one§\nlet x = "no"\n'),
    ("perl", "§# one§\n$#x; s{#}{};\n§=pod\n\nText\n\n=cut§\nprint '# no';\n"),
    ("text", "# no // no\n"),
    ("nobody-knows", "# no\n"),
]


@pytest.mark.parametrize(("language", "marked"), CASES)
def test_comments(language: str, marked: str) -> None:
    """Comments are found where they are and nowhere in strings."""
    parts = marked.split("§")
    text = "".join(parts)
    expected: list[tuple[int, int]] = []
    at = 0
    for index, part in enumerate(parts):
        if index % 2:
            expected.append((at, at + len(part)))
        at += len(part)
    assert comment_spans(text, language) == expected, [text[a:b] for a, b in comment_spans(text, language)]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.text(alphabet="ab \n\"'`#/*-+=[](){}<>!|;:%\\@~docRremgincu", max_size=300),
)
def test_spans_are_ordered(language: str, text: str) -> None:
    """Spans of any text are ordered, disjoint and not empty."""
    at = 0
    for start, end in comment_spans(text, language):
        assert at <= start < end <= len(text)
        at = end


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_hostile_text_is_scanned_in_one_pass(language: str) -> None:
    """Long runs of opening marks are consumed, not tried again from every position."""
    for text in (
        '"',
        "'",
        "`",
        "/*",
        '"""',
        "'''",
        "--[=",
        '\\"',
        "(*",
        "{-",
        "<!--",
        'R"aaaaaaaaaaaaaaa(',
        "=begin\n",
        "@doc ",
    ):
        spans = comment_spans(text * 40_000, language)
        assert len(spans) <= 40_000
