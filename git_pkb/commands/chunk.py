"""`git pkb chunk FILE`: how a file is cut and what of it would be embedded.

In: a file of the work tree, or REV:PATH. Out: its pieces. Invariant: the pieces and texts come from the
functions that `reindex` uses, over the bytes git has or would store.
"""

import argparse
import os
import posixpath
import stat
import sys
from typing import TYPE_CHECKING

from git_pkb import config
from git_pkb.errors import UsageError
from git_pkb.git import Repository, discover
from git_pkb.model import Piece

if TYPE_CHECKING:
    from git_pkb.output.terminal import Terminal

HEAD_BYTES = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "file", metavar="FILE", help="a file, or REV:PATH for one of a commit (:PATH: staged)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def run(args: argparse.Namespace) -> int:
    """Cut and print."""
    repo = discover()
    settings = config.load(repo)
    path, content = _read(repo, args.file)

    from git_pkb.chunk import cut, language_of
    from git_pkb.index.produce import text_to_embed
    from git_pkb.index.recipe import open_recipe
    from git_pkb.select import content_skip, name_reason

    recipe = open_recipe(settings)
    language = language_of(path, content[:HEAD_BYTES], settings.ext_overrides)
    contextual = recipe.embedder is not None and recipe.embedder.contextual
    pieces = cut(content, language)
    texts = [text_to_embed(content, piece, contextual=contextual) for piece in pieces]
    reason = name_reason(path) or content_skip(content, path)
    if reason:
        print(f"note: reindex skips this file: {reason}", file=sys.stderr)
    if args.json:
        from git_pkb.output import jsonout

        rows = [_fields(piece, text) for piece, text in zip(pieces, texts, strict=True)]
        about = {
            "language": language,
            "cutter": recipe.identity.cutter,
            "size": len(content),
            "skipped": reason,
        }
        sys.stdout.write(jsonout.dump({**jsonout.path_fields(path), **about, "pieces": rows}))
        return 0
    from git_pkb.output.pager import show
    from git_pkb.output.terminal import of_stream, safe

    terminal = of_stream(args.color)
    blocks = []
    for number, (piece, text) in enumerate(zip(pieces, texts, strict=True), 1):
        head = _head(piece, f"{number}/{len(pieces)}", terminal)
        body = "\n".join(safe(line.expandtabs(4), tty=terminal.tty) for line in text.rstrip("\n").split("\n"))
        blocks.append(f"{head}\n{body}\n")
    show("".join(blocks), terminal, repo.git)
    return 0


def _head(piece: Piece, position: str, terminal: "Terminal") -> str:
    """`--- 2/7  lines 41-90  1320 bytes  function  class A > def f`, then the names it defines."""
    from git_pkb.output.terminal import BOLD, CYAN, DIM, safe

    last = piece.line + piece.newlines
    rule = terminal.paint(f"--- {position}", CYAN, BOLD)
    about = f"lines {piece.line}-{last}  {piece.end - piece.start} bytes  {piece.kind}"
    names = ", ".join(f"{each.kind} {each.name}" for each in piece.definitions)
    parts = [rule, about, terminal.paint(safe(piece.breadcrumb), BOLD), terminal.paint(safe(names), DIM)]
    return "  ".join(part for part in parts if part)


def _fields(piece: Piece, text: str) -> dict[str, object]:
    definitions = [
        {
            "name": each.name,
            "kind": each.kind,
            "scope": each.scope,
            "lines": [piece.line + each.line, piece.line + each.line + max(each.lines, 1) - 1],
        }
        for each in piece.definitions
    ]
    return {
        "bytes": [piece.start, piece.end],
        "lines": [piece.line, piece.line + piece.newlines],
        "kind": piece.kind,
        "breadcrumb": piece.breadcrumb,
        "definitions": definitions,
        "text": text,
    }


def _read(repo: Repository, file: str) -> tuple[str, bytes]:
    """The path from the top and the content; raises UsageError."""
    if ":" in file and not os.path.lexists(file):
        rev, _, name = file.partition(":")
        path = _join(repo.prefix, name) if name.startswith(("./", "../")) else name
        kind = repo.git("cat-file", "-t", f"{rev}:{path}", check=False).strip()
        if kind != b"blob":
            raise UsageError(f"`{file}` is no file of that revision", "write REV:PATH with PATH from the top")
        return path, repo.git("cat-file", "blob", f"{rev}:{path}")
    if repo.workdir is None:
        raise UsageError("a bare repository has no work tree", f"name a file of a commit: HEAD:{file}")
    path = _join(repo.prefix, file) if not os.path.isabs(file) else _below(repo.workdir, file)
    return path, _stored(repo, path, file)


def _stored(repo: Repository, path: str, file: str) -> bytes:
    """What git has staged for an unchanged file, else the bytes of the work tree."""
    # filters such as autocrlf make a work-tree file differ from its blob, which is what gets indexed
    listed = repo.git("--literal-pathspecs", "ls-files", "-s", "-z", "--", path, check=False)
    mode_oid_stage, _, name = listed.partition(b"\0")[0].partition(b"\t")
    if name.decode("utf-8", "surrogateescape") == path and mode_oid_stage.startswith(b"100"):
        changed = repo.git("--literal-pathspecs", "diff", "--name-only", "-z", "--", path, check=False)
        if not changed:
            return repo.git("cat-file", "blob", mode_oid_stage.split()[1].decode())
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):  # a FIFO would be waited for without end
            raise UsageError(f"{file} is not a regular file")
        with open(file, "rb") as source:
            return source.read()
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def _join(prefix: str, name: str) -> str:
    path = posixpath.normpath(posixpath.join(prefix, name))
    if path == ".." or path.startswith("../"):
        raise UsageError(f"{name} is outside the repository")
    return path


def _below(top: str, file: str) -> str:
    path = os.path.realpath(file)
    if not path.startswith(top.rstrip("/") + "/"):
        raise UsageError(f"{file} is outside the repository")
    return path[len(top.rstrip("/")) + 1 :]
