"""Who runs the hooks of a clone: nobody yet, this program, a hook manager, or a folder somebody has set.

In: a repository. Out: a `Site`: whose it is, the folder or file our lines go into, and whether git looks
there. Invariant: only reads; what is set in git's configuration decides before what lies in the work tree.
"""

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_pkb.hooks.record import read_text

if TYPE_CHECKING:
    from git_pkb.git import Repository

LEFTHOOK_FILES = tuple(
    folder + name + ending
    for folder in ("", ".config/")
    for name in ("lefthook", ".lefthook")
    for ending in (".yml", ".yaml", ".toml", ".json", ".jsonc")
)
PRE_COMMIT_FILE = ".pre-commit-config.yaml"

OWN, SHARED, HUSKY = "own", "shared", "husky"
LEFTHOOK, PRE_COMMIT, FOLDER = "lefthook", "pre-commit", "folder"

_HOOK_NAME = re.compile(r"[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Site:
    """Where our hooks go. `path`: folder of hook files (own, husky, folder) or a configuration file."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class HooksPath:
    """One value of `core.hooksPath`: its scope as git names it, as written, and as the folder it means."""

    scope: str
    value: str
    folder: str


def own_folder(repo: "Repository") -> str:
    """The folder of this clone's own hooks, shared by its worktrees."""
    return os.path.join(repo.common_dir, "pkb", "hooks")


def hooks_paths(repo: "Repository") -> list[HooksPath]:
    """All values of `core.hooksPath`, the one in force last; those of `git -c` do not count."""
    listed = repo.git("config", "--show-scope", "-z", "--get-all", "core.hooksPath", check=False)
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    found = []
    for scope, value in zip(fields[::2], fields[1::2], strict=False):
        if scope != "command":
            folder = os.path.join(repo.top, os.path.expanduser(value))
            found.append(HooksPath(scope, value, os.path.normpath(folder)))
    return found


def shared_folder(repo: "Repository") -> str:
    """The tracked folder of hooks that `install-hooks --shared` points at."""
    return os.path.join(repo.top, "hooks")


def former_folder(repo: "Repository") -> str:
    """The folder of the hooks that run without this clone's setting: a global one, else the usual."""
    paths = [each.folder for each in hooks_paths(repo) if each.scope in ("system", "global")]
    return paths[-1] if paths else os.path.join(repo.common_dir, "hooks")


def find_site(repo: "Repository", recorded: str = "") -> Site:
    """Where our hooks belong; `recorded`: the folder an earlier installation set."""
    top = repo.top
    ours = (own_folder(repo), recorded)
    set_here = [each for each in hooks_paths(repo) if each.scope in ("local", "worktree")]
    if set_here and set_here[-1].folder not in ours:
        folder = set_here[-1].folder
        husky = os.path.join(top, ".husky")
        if folder == husky or folder.startswith(husky + os.sep):
            return Site(HUSKY, husky)
        return Site(FOLDER, folder)
    if os.path.isdir(os.path.join(top, ".husky")):
        return Site(HUSKY, os.path.join(top, ".husky"))
    for name in LEFTHOOK_FILES:
        if os.path.isfile(os.path.join(top, name)):
            return Site(LEFTHOOK, os.path.join(top, name))
    if os.path.isfile(os.path.join(top, PRE_COMMIT_FILE)):
        return Site(PRE_COMMIT, os.path.join(top, PRE_COMMIT_FILE))
    return Site(OWN, own_folder(repo))


def is_managers_file(text: str) -> bool:
    """Whether a hook file was written by lefthook or pre-commit, which write it again as they please."""
    return "pre-commit.com" in text or "lefthook" in text


def active_hooks(folder: str) -> list[str]:
    """The hooks git would run from a folder: executable files named like a hook."""
    return [
        name
        for name in names_in(folder)
        if _HOOK_NAME.fullmatch(name)
        and os.path.isfile(os.path.join(folder, name))
        and os.access(os.path.join(folder, name), os.X_OK)
    ]


def owner(site: Site) -> str:
    """Whose hooks these are, in words."""
    owners = {HUSKY: "husky", LEFTHOOK: "lefthook", PRE_COMMIT: "pre-commit", OWN: "git itself"}
    return owners.get(site.kind, f"the folder {site.path} (core.hooksPath)")


def text_of(folder: str, name: str) -> str:
    """The text of a hook file, empty when there is none."""
    return read_text(os.path.join(folder, name)) or ""


def names_in(folder: str) -> list[str]:
    """The names in a folder, in order; none when it is not one."""
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []
