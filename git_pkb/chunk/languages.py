"""The table of languages: how a file is recognised, which grammar parses it, how its comments look.

In: a path, the first bytes of the file, the user's extension overrides. Out: the name of a language, and its
row. Invariant: the answer is a function of the file's name, the shebang line and the overrides.
"""

import re
from collections.abc import Mapping

from git_pkb.slotted import value


@value
class Language:
    """One row: `grammar` is a name of tree-sitter-language-pack, or "" where lines serve as well as a tree.

    `comments` names a style of comments.py; `query` a file of queries/ (the name of the language if empty).
    """

    name: str
    grammar: str
    comments: str
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    query: str = ""
    prose: bool = False


def _row(
    name: str,
    grammar: str,
    comments: str,
    extensions: str,
    filenames: str = "",
    interpreters: str = "",
    *,
    query: str = "",
    prose: bool = False,
) -> Language:
    dotted = tuple("." + extension for extension in extensions.split())
    names = tuple(filenames.split())
    return Language(name, grammar, comments, dotted, names, tuple(interpreters.split()), query, prose)


_ROWS = (
    # Languages with a syntax tree and a query for their definitions.
    _row("rust", "rust", "rust", "rs"),
    _row("go", "go", "go", "go"),
    _row(
        "typescript", "typescript", "js", "ts mts cts", "", "deno ts-node tsx", query="javascript typescript"
    ),
    _row("tsx", "tsx", "js", "tsx", query="javascript typescript"),
    _row(
        "javascript",
        "javascript",
        "js",
        "js mjs cjs jsx es6",
        "Jakefile",
        "node nodejs bun",
        query="javascript javascript_fields",
    ),
    _row("python", "python", "python", "py pyi pyw", "wscript SConstruct SConscript", "python pypy uv"),
    _row("java", "java", "c", "java"),
    _row("c", "c", "c", "c h"),
    _row("cpp", "cpp", "cpp", "cc cpp cxx c++ hh hpp hxx h++ ipp ixx cppm tpp inl"),
    _row("cuda", "cuda", "cpp", "cu cuh", query="cpp"),
    _row("csharp", "csharp", "csharp", "cs csx"),
    _row(
        "ruby",
        "ruby",
        "ruby",
        "rb rake gemspec ru podspec jbuilder",
        "Rakefile Gemfile Guardfile Capfile Vagrantfile Podfile Fastfile Brewfile Dangerfile",
        "ruby jruby rake",
    ),
    _row("php", "php", "php", "php phtml php3 php4 php5 phps", "", "php"),
    _row("kotlin", "kotlin", "kotlin", "kt kts", "", "kotlin"),
    _row("swift", "swift", "swift", "swift", "", "swift"),
    _row("scala", "scala", "kotlin", "scala sc sbt", "", "scala"),
    _row("lua", "lua", "lua", "lua rockspec", "", "lua luajit"),
    _row("luau", "luau", "lua", "luau", query="lua"),
    _row("elixir", "elixir", "elixir", "ex exs", "", "elixir"),
    _row(
        "bash",
        "bash",
        "shell",
        "sh bash zsh ksh bats ebuild eclass",
        ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile PKGBUILD",
        "sh bash zsh ksh dash ash bats",
    ),
    _row("haskell", "haskell", "haskell", "hs hsc"),
    _row("zig", "zig", "slashes", "zig zon"),
    _row("hcl", "hcl", "hcl", "hcl tf tfvars nomad"),
    _row("sql", "sql", "sql", "sql ddl pgsql psql"),
    _row("proto", "proto", "c", "proto"),
    _row("graphql", "graphql", "hash-strings", "graphql gql graphqls"),
    _row("dart", "dart", "kotlin", "dart"),
    _row("objc", "objc", "c", "m mm"),
    _row("solidity", "solidity", "c", "sol"),
    _row("julia", "julia", "julia", "jl", "", "julia"),
    _row("r", "r", "hash", "r", ".Rprofile", "Rscript"),
    _row("ocaml", "ocaml", "ocaml", "ml"),
    _row("ocaml_interface", "ocaml_interface", "ocaml", "mli", query="ocaml"),
    _row("fsharp", "fsharp", "fsharp", "fs fsx"),
    _row("clojure", "clojure", "lisp", "clj cljs cljc edn bb", "", "bb clojure"),
    _row("erlang", "erlang", "percent", "erl hrl escript", "rebar.config", "escript"),
    _row("perl", "perl", "perl", "pl pm t psgi", "", "perl"),
    _row("powershell", "powershell", "powershell", "ps1 psm1 psd1", "", "pwsh"),
    _row("groovy", "", "groovy", "groovy gradle gvy", "Jenkinsfile", "groovy"),
    _row("elm", "elm", "haskell", "elm"),
    _row("gleam", "gleam", "slashes", "gleam"),
    _row("commonlisp", "commonlisp", "lisp", "lisp cl asd lsp", "", "sbcl"),
    _row("elisp", "elisp", "lisp", "el", ".emacs"),
    _row("nix", "nix", "nix", "nix"),
    _row("cmake", "cmake", "cmake", "cmake", "CMakeLists.txt"),
    _row("make", "make", "make", "mk mak make", "Makefile GNUmakefile makefile BSDmakefile Kbuild", "make"),
    _row("starlark", "python", "python", "bzl star bazel", "BUILD WORKSPACE Tiltfile", query="python"),
    _row("thrift", "thrift", "c", "thrift"),
    _row("vue", "typescript", "markup", "vue", query="javascript typescript"),
    _row("svelte", "typescript", "markup", "svelte", query="javascript typescript"),
    # Languages cut by lines and indentation: known by name, so that `--lang` and comments work.
    _row("json", "", "js", "json json5 jsonc geojson jsonl ndjson ipynb webmanifest", ".eslintrc .babelrc"),
    _row("yaml", "", "hash", "yaml yml", ".clang-format .clang-tidy"),
    _row("toml", "", "hash", "toml", "Pipfile"),
    _row(
        "ini",
        "",
        "ini",
        "ini cfg conf properties desktop service",
        ".editorconfig .gitconfig .npmrc .gitmodules",
    ),
    _row("ignore", "", "hash", "", ".gitignore .dockerignore .npmignore .gitattributes CODEOWNERS"),
    _row("dockerfile", "", "hash", "dockerfile containerfile", "Dockerfile Containerfile"),
    _row("css", "", "css", "css"),
    _row("scss", "", "c", "scss sass less styl"),
    _row(
        "html",
        "",
        "markup",
        "html htm xhtml ejs erb eex heex leex hbs mustache jinja jinja2 j2 njk twig liquid",
    ),
    _row(
        "xml",
        "",
        "markup",
        "xml xsd xsl xslt svg plist csproj fsproj vbproj props targets resx storyboard xib wsdl",
    ),
    _row("astro", "", "markup", "astro"),
    _row("gomod", "", "slashes", "", "go.mod go.work"),
    _row("fish", "", "hash", "fish", "", "fish"),
    _row("vim", "", "vim", "vim", ".vimrc _vimrc vimrc"),
    _row("awk", "", "hash", "awk gawk", "", "awk gawk mawk"),
    _row("batch", "", "batch", "bat cmd"),
    _row("tcl", "", "hash", "tcl", "", "tclsh wish expect"),
    _row("nim", "", "hash", "nim nims nimble"),
    _row("crystal", "", "hash", "cr", "", "crystal"),
    _row("vlang", "", "c", "v vsh"),
    _row("verilog", "", "c", "sv svh vh"),
    _row("vhdl", "", "dashes", "vhd vhdl"),
    _row("d", "", "c", "d di"),
    _row("odin", "", "c", "odin"),
    _row("fortran", "", "fortran", "f f77 f90 f95 f03 f08 for"),
    _row("pascal", "", "pascal", "pas pp dpr lpr"),
    _row("ada", "", "dashes", "ada adb ads"),
    _row("basic", "", "basic", "vb vbs bas cls frm"),
    _row("assembly", "", "assembly", "s asm nasm"),
    _row("matlab", "", "percent", "matlab mlx"),
    _row("scheme", "", "lisp", "scm ss sld rkt fnl janet", "", "guile racket"),
    _row("glsl", "", "c", "glsl vert frag geom comp hlsl wgsl metal cl_kernel"),
    _row("prisma", "", "slashes", "prisma"),
    _row("bicep", "", "c", "bicep"),
    _row("jsonnet", "", "hcl", "jsonnet libsonnet"),
    _row("rego", "", "hash", "rego"),
    _row("puppet", "", "hash", "epp"),
    _row("meson", "", "hash", "", "meson.build meson_options.txt"),
    _row("gn", "", "hash", "gn gni"),
    _row("just", "", "hash", "just", "justfile Justfile .justfile"),
    _row("coffeescript", "", "hash", "coffee litcoffee cson"),
    _row("purescript", "", "haskell", "purs"),
    _row("idris", "", "haskell", "idr lean agda"),
    _row("gdscript", "", "hash", "gd"),
    _row("gdshader", "", "c", "gdshader"),
    _row("smithy", "", "slashes", "smithy"),
    _row("wat", "", "lisp", "wat wast"),
    _row("qml", "", "js", "qml"),
    _row("apex", "", "c", "apex trigger"),
    _row("haxe", "", "c", "hx"),
    _row("rescript", "", "c", "res resi"),
    _row("move", "", "c", "move"),
    _row("cairo", "", "slashes", "cairo"),
    _row("po", "", "hash", "po pot"),
    # Prose.
    _row("markdown", "", "markup", "md mdx markdown mdown mkd mkdn qmd rmd livemd", prose=True),
    _row("rst", "", "none", "rst rest", prose=True),
    _row("asciidoc", "", "slashes", "adoc asciidoc", prose=True),
    _row("org", "", "none", "org", prose=True),
    _row("latex", "", "percent", "tex sty bib ltx", prose=True),
    _row("typst", "", "slashes", "typ", prose=True),
    _row(
        "text",
        "",
        "none",
        "txt text log csv tsv",
        "README LICENSE COPYING NOTICE AUTHORS CHANGELOG",
        prose=True,
    ),
    # What `[extOverrides]` makes of an extension nobody knows.
    _row("code", "", "hash", ""),
)

LANGUAGES: Mapping[str, Language] = {row.name: row for row in _ROWS}
_BY_EXTENSION = {extension: row.name for row in _ROWS for extension in row.extensions}
_BY_NAME = {name.lower(): row.name for row in _ROWS for name in row.filenames}
_BY_INTERPRETER = {name: row.name for row in _ROWS for name in row.interpreters}

#: Endings that stand before or instead of the real one: `config.py.in`, `Service.java.tmpl`.
_TEMPLATE_ENDINGS = frozenset(
    {".in", ".tmpl", ".tpl", ".template", ".dist", ".example", ".sample", ".stub", ".orig"}
)
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(.*))?")
_VERSION = re.compile(r"[0-9.]+$")


def language_of(path: str, head: bytes = b"", overrides: Mapping[str, str] = {}) -> str:
    """The language of a file: by its name, else its extension, else the shebang in `head`, else `text`.

    `overrides` maps an extension (`.tsx`, with its dot, any case) to `code` or `text` and wins over all else:
    `text` gives `text`; `code` gives what the file would be anyway if that is code, else `code`.
    """
    name = path.rsplit("/", 1)[-1]
    lowered = name.lower()
    found = _by_name(lowered) or _by_shebang(head) or "text"
    if overrides:
        forced = _forced(lowered, overrides)
        if forced == "text":
            return "text"
        if forced == "code":
            return found if is_code(found) else "code"
    return found


def is_code(language: str) -> bool:
    """Whether the language is code or data, as opposed to prose."""
    row = LANGUAGES.get(language)
    return row is not None and not row.prose


def _by_name(lowered: str) -> str | None:
    found = _BY_NAME.get(lowered)
    if found:
        return found
    stem, dot, ending = lowered.rpartition(".")
    if not dot:
        return None
    extension = "." + ending
    if extension in _TEMPLATE_ENDINGS and stem:
        return _by_name(stem)
    found = _BY_EXTENSION.get(extension)
    if found:
        return found
    # `Dockerfile.dev`, `Makefile.am`, `.env.local`: the known name stands before the dot.
    return _BY_NAME.get(lowered.partition(".")[0])


def _by_shebang(head: bytes) -> str | None:
    if not head.startswith(b"#!"):
        return None
    match = _SHEBANG.match(head)
    if match is None:
        return None
    program = match[1].decode("latin-1").rsplit("/", 1)[-1]
    if program == "env":
        words = (match[2] or b"").decode("latin-1").split()
        words = [word for word in words if not word.startswith("-") and "=" not in word]
        program = words[0].rsplit("/", 1)[-1] if words else ""
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(_VERSION.sub("", program))


def _forced(lowered: str, overrides: Mapping[str, str]) -> str | None:
    matching = [key for key in overrides if lowered.endswith("." + key.lower().lstrip("."))]
    return overrides[max(matching, key=len)] if matching else None
