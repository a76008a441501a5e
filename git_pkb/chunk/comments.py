"""Where the comments of a text are, by regular expressions alone.

In: text and language. Out: spans in characters of comments and docstrings. Invariant: one pass, linear in
the length of the text whatever it holds: every alternative begins with a literal character and either fails
within a few characters or consumes what it has read (possessive quantifiers, Python 3.11). Strings are
consumed so that comment marks inside them do not count; one that is never closed ends with its line.
"""

import re
from functools import cache

from git_pkb.chunk.languages import LANGUAGES

_DOUBLE = r'"(?:[^"\\\n]++|\\.)*+"?'
_SINGLE = r"'(?:[^'\\\n]++|\\.)*+'?"
_CHARACTER = r"'(?:[^'\\\n]|\\[^'\n]{1,10}|\\')'"
_BACKTICK = r"`(?:[^`\\]++|\\.)*+`?"
_RAW_BACKTICK = r"`[^`]*+`?"
_SLASHES = r"//[^\n]*+"
_BLOCK = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_HASH = r"#[^\n]*+"
_DASHES = r"--[^\n]*+"
_SEMICOLON = r";[^\n]*+"
_TRIPLE_DOUBLE = r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?'
_TRIPLE_SINGLE = r"'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?"
_CURLY = r"\{-(?:[^-]++|-(?!\}))*+(?:-\})?"
_MARKUP = r"<!--(?:[^-]++|-(?!->))*+(?:-->)?"

#: Alternatives of a style; those whose first character is in the string after them are comments.
_STYLES: dict[str, tuple[tuple[str, ...], str]] = {
    "c": ((_SLASHES, _BLOCK, _DOUBLE, _CHARACTER), "/"),
    "cpp": (
        (_SLASHES, _BLOCK, r'R"([^\s()\\]{0,16})\((?:[^)]++|\)(?!\1"))*+(?:\)\1")?', _DOUBLE, _CHARACTER),
        "/",
    ),
    "rust": (
        (_SLASHES, _BLOCK, r'r(#{1,8})"(?:[^"]++|"(?!\1))*+(?:"\1)?', r'"(?:[^"\\]++|\\.)*+"?', _CHARACTER),
        "/",
    ),
    "go": ((_SLASHES, _BLOCK, _DOUBLE, _CHARACTER, _RAW_BACKTICK), "/"),
    "js": ((_SLASHES, _BLOCK, _DOUBLE, _SINGLE, _BACKTICK), "/"),
    "csharp": ((_SLASHES, _BLOCK, r'@"(?:[^"]++|"")*+"?', _TRIPLE_DOUBLE, _DOUBLE, _CHARACTER), "/"),
    "kotlin": ((_SLASHES, _BLOCK, _TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _CHARACTER), "/"),
    "swift": ((_SLASHES, _BLOCK, _TRIPLE_DOUBLE, _DOUBLE), "/"),
    "php": ((_SLASHES, _BLOCK, r"#(?!\[)[^\n]*+", _DOUBLE, _SINGLE), "/#"),
    "groovy": ((_SLASHES, _BLOCK, _TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE), "/"),
    "slashes": ((_SLASHES, _DOUBLE), "/"),
    "css": ((_BLOCK, _DOUBLE, _SINGLE), "/"),
    "hcl": ((_SLASHES, _BLOCK, _HASH, _DOUBLE), "/#"),
    "nix": ((_BLOCK, _HASH, r"''(?:[^']++|'(?!'))*+(?:'')?", _DOUBLE), "/#"),
    "hash": ((_HASH, _DOUBLE, _SINGLE), "#"),
    "hash-strings": ((_HASH, _TRIPLE_DOUBLE, _DOUBLE), '#"'),
    "shell": ((r"#(?<![^\s;&|()`]#)[^\n]*+", r"\\.", _DOUBLE, r"'[^'\n]*+'?"), "#"),
    "make": ((r"#(?<!\\#)[^\n]*+",), "#"),
    "cmake": ((r"#\[(=*)\[(?:[^\]]++|\](?!\1\]))*+(?:\]\1\])?", _HASH, _DOUBLE), "#"),
    "powershell": ((r"<#(?:[^#]++|#(?!>))*+(?:#>)?", _HASH, r'"(?:[^"`\n]++|`.)*+"?', r"'[^'\n]*+'?"), "#<"),
    "python": ((_HASH, _TRIPLE_DOUBLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE), "#"),
    "ruby": ((_HASH, r"=begin\b(?<=^=begin)(?:[^=]++|=(?!end))*+(?:=end)?", _DOUBLE, _SINGLE), "#="),
    "perl": (
        (r"#(?<![$\\{]#)[^\n]*+", r"=[a-z](?<=^=[a-z])(?:[^=]++|=(?!cut))*+(?:=cut)?", _DOUBLE, _SINGLE),
        "#=",
    ),
    "elixir": (
        (
            _HASH,
            r"@(?:module|type)?doc\s++(?:~[sS])?" + _TRIPLE_DOUBLE,
            r"@(?:module|type)?doc\s++" + _DOUBLE,
            _TRIPLE_DOUBLE,
            _DOUBLE,
        ),
        "#@",
    ),
    "julia": ((r"#=(?:[^=]++|=(?!#))*+(?:=#)?", _HASH, _TRIPLE_DOUBLE, _DOUBLE, _CHARACTER), "#"),
    "lua": (
        (
            r"--\[(=*)\[(?:[^\]]++|\](?!\1\]))*+(?:\]\1\])?",
            _DASHES,
            r"\[(=*)\[(?:[^\]]++|\](?!\2\]))*+(?:\]\2\])?",
            _DOUBLE,
            _SINGLE,
        ),
        "-",
    ),
    "haskell": (
        (_CURLY, r"--(?<![!#$%&*+./<=>?@\\^|~:]--)(?![!#$%&*+./<=>?@\\^~:])[^\n]*+", _DOUBLE, _CHARACTER),
        "{-",
    ),
    "sql": ((_DASHES, _BLOCK, _DOUBLE, r"'(?:[^']++|'')*+'?"), "-/"),
    "dashes": ((_DASHES, _DOUBLE), "-"),
    "lisp": ((r"#\|(?:[^|]++|\|(?!#))*+(?:\|#)?", r"\\.", _SEMICOLON, r'"(?:[^"\\]++|\\.)*+"?'), ";#"),
    "ocaml": ((r"\(\*(?:[^*]++|\*(?!\)))*+(?:\*\))?", _DOUBLE, _CHARACTER), "("),
    "fsharp": (
        (r"\(\*(?!\))(?:[^*]++|\*(?!\)))*+(?:\*\))?", _SLASHES, _TRIPLE_DOUBLE, _DOUBLE, _CHARACTER),
        "(/",
    ),
    "pascal": ((r"\(\*(?:[^*]++|\*(?!\)))*+(?:\*\))?", r"\{[^}]*+\}?", _SLASHES, _SINGLE), "({/"),
    "percent": ((r"%(?<!\\%)[^\n]*+", _DOUBLE), "%"),
    "markup": ((_MARKUP,), "<"),
    "vim": ((r'"[^\n]*+',), '"'),
    "ini": ((r"#(?<=^#)[^\n]*+", r";(?<=^;)[^\n]*+"), "#;"),
    "batch": ((r"::(?<=^::)[^\n]*+", r"[Rr][Ee][Mm]\b(?<=^...)[^\n]*+"), ":Rr"),
    "basic": ((r"'[^\n]*+", r'"[^"\n]*+"?'), "'"),
    "fortran": ((r"![^\n]*+", r'"[^"\n]*+"?', r"'[^'\n]*+'?"), "!"),
    "assembly": ((_SEMICOLON, _HASH, _SLASHES, _BLOCK, _DOUBLE), ";#/"),
}


@cache
def _compiled(style: str) -> tuple[re.Pattern[str], str] | None:
    if style not in _STYLES:
        return None
    alternatives, marks = _STYLES[style]
    return re.compile("|".join(alternatives), re.DOTALL | re.MULTILINE), marks


def comment_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Character spans of comments and docstrings, in order."""
    row = LANGUAGES.get(language)
    compiled = _compiled(row.comments) if row is not None else None
    if compiled is None:
        return []
    pattern, marks = compiled
    if language in {"python", "starlark"}:
        return _python(text, pattern)
    if language == "vim":
        # A quote opens a comment only where a command may stand.
        return [match.span() for match in pattern.finditer(text) if _opens_line(text, match.start())]
    return [match.span() for match in pattern.finditer(text) if text[match.start()] in marks]


def _python(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    """Comments, and strings that stand as a statement."""
    result: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        start = match.start()
        if text[start] == "#" or (match.end() - start > 2 and _is_statement(text, start)):
            result.append(match.span())
    return result


def _opens_line(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _is_statement(text: str, start: int) -> bool:
    """Whether a string opens its line and no expression is pending before it."""
    at = start - 1
    if at >= 0 and text[at] in "rRuU":
        at -= 1
    while at >= 0 and text[at] in " \t":
        at -= 1
    if at >= 0 and text[at] not in "\n\ufeff":
        return False
    while at >= 0 and text[at].isspace():
        at -= 1
    if text.startswith(('"""', "'''"), start):
        return at < 0 or text[at] not in "([{,=+-%*/\\|&<>"
    # A string between single quotes: only as the first statement of a body or of the file.
    if at < 0 or text[at] == "\ufeff":
        return True
    if text[at] != ":":
        return False
    line = text[text.rfind("\n", 0, at) + 1 : at].lstrip()
    return line.startswith(("def ", "class ", "async ", ")"))
