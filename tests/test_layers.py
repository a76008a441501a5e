"""The layers of the house: who may import whom, and what a command must not load."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import git_pkb

PACKAGE = Path(git_pkb.__file__).parent

#: Lower may not import higher. Modules at the top of the package that are not named here are conductors.
RANKS = dict.fromkeys(("errors", "model", "slotted", "tokens", "command_table"), 0)
RANKS |= {"config": 1, "net": 1, "rank/results": 1}
STAGES = ("cache", "chunk", "embed", "git", "mirror", "outside", "rank", "store", "summarize")
STAGE, CONDUCTOR, PRINTER, COMMAND, CLI = 2, 3, 3, 4, 5
TOP = {"cli": CLI}


def rank_of(module: str) -> int:
    """The layer of a module, given as its path below the package without suffix."""
    head = module.split("/")[0]
    if module in RANKS or head in RANKS:
        return RANKS.get(module, RANKS.get(head, 0))
    if head in STAGES:
        return STAGE
    return {"commands": COMMAND, "output": PRINTER}.get(head, TOP.get(head, CONDUCTOR))


def modules() -> dict[str, ast.Module]:
    """Every module of the package, parsed."""
    files = [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]
    names = [path.relative_to(PACKAGE).with_suffix("").as_posix().removesuffix("/__init__") for path in files]
    return {name: ast.parse(path.read_text()) for name, path in zip(names, files, strict=True)}


def imports(name: str, tree: ast.Module) -> Iterator[str]:
    """What a module imports at run time: other modules as paths below the package, outside ones by name."""
    known = set(MODULES)
    package = name.split("/") if (PACKAGE / name).is_dir() else name.split("/")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ("/".join(alias.name.split(".")).removeprefix("git_pkb/") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".") if node.module else []
            if node.level:
                parts = ["git_pkb", *package[: len(package) - node.level + 1], *parts]
            target = "/".join(parts).removeprefix("git_pkb").strip("/")
            for alias in node.names:
                below = f"{target}/{alias.name}".strip("/")
                yield below if below in known else target


MODULES = modules()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_module_imports_from_a_higher_layer(name):
    """The order is cli > commands > conductors > stages > config > {model, errors}."""
    above = [
        each for each in imports(name, MODULES[name]) if each in MODULES and rank_of(each) > rank_of(name)
    ]
    assert above == []


@pytest.mark.parametrize("name", sorted(name for name in MODULES if rank_of(name) == STAGE))
def test_stages_do_not_import_each_other(name):
    """What two stages share is a value of model.py, or a conductor's business."""
    own = name.split("/")[0]
    others = {each for each in imports(name, MODULES[name]) if each in MODULES and rank_of(each) == STAGE}
    assert {each for each in others if each.split("/")[0] != own} == set()


def test_only_libgit_imports_pygit2():
    """pygit2 is touched in one file, so that what it cannot read has one place to fall back."""
    users = {
        name
        for name in MODULES
        if any(each.split("/")[0] == "pygit2" for each in imports(name, MODULES[name]))
    }
    assert users == {"git/libgit"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_modules_stay_small(name):
    """At 400 lines a module is split."""
    file = PACKAGE / f"{name}.py"
    assert len((file if file.exists() else PACKAGE / name / "__init__.py").read_text().splitlines()) <= 400


def loaded(*arguments: str) -> set[str]:
    """The modules in memory after a command has ended."""
    program = (
        "import sys, os; from git_pkb.cli import main; out = os.dup(1); os.dup2(2, 1);"
        f"main({list(arguments)!r}); os.write(out, chr(10).join(sys.modules).encode())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().split())


@pytest.mark.parametrize("option", ["-h", "--version"])
def test_help_and_version_load_nothing(option):
    """Of our own modules only the package, cli, its table and errors; no argparse, nothing heavy."""
    names = loaded(option)
    own = {name for name in names if name.startswith("git_pkb")}
    assert own == {"git_pkb", "git_pkb.cli", "git_pkb.command_table", "git_pkb.errors"}
    assert not names & {"numpy", "pygit2", "argparse", "json", "subprocess"}


def test_help_of_search_loads_nothing_heavy():
    """The parser of a command costs argparse and the module of that command alone."""
    names = loaded("search", "-h")
    assert not names & {"numpy", "pygit2", "tree_sitter", "tomlkit", "msgpack", "sqlite3", "tomllib"}
    assert {name for name in names if name.startswith("git_pkb.commands.")} == {"git_pkb.commands.search"}
