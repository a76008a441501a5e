"""Setting a clone up: our hooks beside whatever runs hooks here, and the merge driver.

In: a repository. Out: what was done, as lines for a person. Invariant: no hook that ran before stops
running, no setting of somebody else is touched, and a second run changes nothing.
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from git_pkb.errors import CannotWrite, UsageError
from git_pkb.hooks import record as records
from git_pkb.hooks.edits import into_lefthook, into_pre_commit, into_script, lefthook_hooks, without_block
from git_pkb.hooks.hookfile import HOOKS, call, hook_file, is_ours, stub_file
from git_pkb.hooks.managers import (
    FOLDER,
    HUSKY,
    LEFTHOOK,
    OWN,
    PRE_COMMIT,
    SHARED,
    Site,
    active_hooks,
    find_site,
    former_folder,
    is_managers_file,
    names_in,
    owner,
    shared_folder,
    text_of,
)
from git_pkb.hooks.record import Record, read_text, write_text

if TYPE_CHECKING:
    from git_pkb.git import Repository

MERGE_SETTINGS = {
    "merge.pkb.name": "keep our side of the index; the next hook or reindex makes it anew",
    # `|| true`: where the tool is missing our side is kept as well, instead of a conflict in every artifact
    "merge.pkb.driver": "git pkb merge-driver %O %A %B %P || true",
}


class Installer:
    """One installation; `lines` is what a person is told, in order."""

    def __init__(self, repo: "Repository", previous: Record | None, site: Site) -> None:
        self.repo = repo
        self.previous = previous
        self.record = Record(site.kind, site.path)
        self.lines: list[str] = []
        self.to_add: list[str] = []

    # -- whole setups ------------------------------------------------------------------------------

    def own(self) -> None:
        """Our own folder in the git directory, with a stub for every other hook that was active."""
        folder, former = self.record.path, former_folder(self.repo)
        self.record.former = former
        self._rescue_foreign(folder, former)
        wanted = {name: hook_file(name, os.path.join(former, name)) for name in HOOKS}
        kept = [name for name in active_hooks(former) if name not in HOOKS]
        wanted |= {name: stub_file(os.path.join(former, name)) for name in kept}
        for name in names_in(folder):
            path = os.path.join(folder, name)
            if name not in wanted and is_ours(read_text(path) or ""):
                os.remove(path)
        for name, text in wanted.items():
            path = os.path.join(folder, name)
            there = read_text(path)
            if there is None or is_ours(there):
                if there != text:
                    write_text(path, text, executable=True)
            else:
                self.to_add.append(f"in {path}: {call(name)}")
        self._set("core.hooksPath", folder)
        chained = sorted({*kept, *(name for name in HOOKS if name in active_hooks(former))})
        self.lines.append(f"hooks installed in {folder} (core.hooksPath of this clone)")
        if chained:
            self.lines.append(f"still running from {former}: {', '.join(chained)}")

    def shared(self) -> None:
        """The repository's tracked `hooks/`, written where our line is missing."""
        folder, former = self.record.path, former_folder(self.repo)
        hidden = [name for name in active_hooks(former) if name not in active_hooks(folder)]
        hidden = [name for name in hidden if not is_managers_file(text_of(former, name))]
        if hidden:
            raise UsageError(
                f"with --shared these hooks in {former} would stop running: {', '.join(hidden)}",
                "move them to hooks/, or leave out --shared, which keeps them running",
            )
        for name in HOOKS:
            self._edit_script(os.path.join(folder, name), name, whole=hook_file(name))
        self._set("core.hooksPath", "hooks")
        self.lines.append("core.hooksPath of this clone is now the tracked folder hooks/")

    def scripts(self, folder: str, names: Iterable[str]) -> None:
        """Marked lines in the hook scripts of a folder."""
        for name in names:
            self._edit_script(os.path.join(folder, name), name)

    def usual_files(self, names: Iterable[str]) -> None:
        """Hooks a manager has no part in, as git's usual files; those it has written are its own."""
        usual = os.path.join(self.repo.common_dir, "hooks")
        self.scripts(usual, [name for name in names if not is_managers_file(text_of(usual, name))])

    def configuration(self, path: str, text: str | None) -> None:
        """A marked entry in a manager's configuration; None where it is not clear how to put it in."""
        if text is None:
            self.to_add += [f"as {name} in {path}: {call(name)}" for name in HOOKS]
        else:
            self._edit(path, text)

    def merge_driver(self) -> None:
        """The merge driver of this clone's configuration."""
        for key, value in MERGE_SETTINGS.items():
            self._set(key, value)
        self.lines.append("merge driver configured: artifacts never conflict in this clone")

    # -- single steps ------------------------------------------------------------------------------

    def _set(self, key: str, value: str) -> None:
        out = self.repo.git("config", "--local", "-z", "--get", key, check=False)
        now = out.decode("utf-8", "surrogateescape").removesuffix("\0") if out else None
        known = self.previous.settings.get(key) if self.previous else None
        self.record.settings[key] = (known[0] if known and known[1] == now else now, value)
        if now != value:
            self.repo.set_config(key, value)

    def _edit_script(self, path: str, name: str, whole: str | None = None) -> None:
        there = read_text(path)
        if there is not None and is_ours(there):
            if self.previous and path in self.previous.files:
                self.record.files[path] = self.previous.files[path]
            return
        text = whole if there is None and whole is not None else into_script(there, name)
        if text is None:
            self.to_add.append(f"in {path}: {call(name)}")
        else:
            self._edit(path, text)

    def _edit(self, path: str, text: str) -> None:
        there = read_text(path)
        known = self.previous.files.get(path) if self.previous else None
        before = without_block(there) if there is not None else None
        if known is not None and known[1] == there:
            before = known[0]
        self.record.files[path] = (before, text)
        if text != there:
            write_text(path, text, executable=True)
            self.lines.append(f"our line is in {os.path.relpath(path, self.repo.top)}")

    def _rescue_foreign(self, folder: str, former: str) -> None:
        """Move what another tool (git-lfs, say) wrote into our folder to where hooks usually are."""
        for name in names_in(folder):
            path, place = os.path.join(folder, name), os.path.join(former, name)
            text = read_text(path)
            if text is not None and not is_ours(text) and not os.path.exists(place):
                os.makedirs(former, exist_ok=True)
                os.replace(path, place)


def install(repo: "Repository", *, shared: bool = False) -> list[str]:
    """Install the hooks and the merge driver; returns what a person should know, a line each.

    Raises `UsageError` for a bare repository or when `shared` would hide hooks, `CannotWrite`.
    """
    if repo.workdir is None:
        raise UsageError("a bare repository makes no commits, so there is nothing to hook into")
    previous = records.load(repo)
    site = find_site(repo, previous.folder_set if previous else "")
    if shared:
        if site.kind != OWN:
            raise UsageError(
                f"the hooks of this clone belong to {owner(site)}; --shared would switch them off",
                "leave out --shared: that adds a line there, which can be committed too",
            )
        site = Site(SHARED, shared_folder(repo))
    if previous is not None and (previous.kind, previous.path) != (site.kind, site.path):
        from git_pkb.hooks.uninstall import uninstall

        uninstall(repo)
        previous = None
    installer = Installer(repo, previous, site)
    try:
        _install_at(installer, site)
        installer.merge_driver()
        records.save(repo, installer.record)
    except OSError as error:
        raise CannotWrite(
            f"cannot write {error.filename or 'the hooks'}: {error.strerror}",
            "check the permissions of the hooks folder",
        ) from error
    if installer.to_add:
        installer.lines.append("add by hand what could not be put in safely:")
        installer.lines += [f"  {line}" for line in installer.to_add]
    return installer.lines


def _install_at(installer: Installer, site: Site) -> None:
    repo = installer.repo
    if site.kind == OWN:
        installer.own()
    elif site.kind == SHARED:
        installer.shared()
    elif site.kind == HUSKY:
        installer.lines.append("husky runs the hooks here; commit the change under .husky/")
        installer.scripts(site.path, HOOKS[:3])
    elif site.kind == FOLDER:
        installer.lines.append(f"core.hooksPath is {site.path} and stays that")
        if _inside(site.path, repo.top) or _inside(site.path, repo.common_dir):
            installer.scripts(site.path, HOOKS)
        else:
            installer.to_add += [f"in {os.path.join(site.path, name)}: {call(name)}" for name in HOOKS]
    elif site.kind == LEFTHOOK:
        text = read_text(site.path) or ""
        yaml = site.path.endswith((".yml", ".yaml"))
        installer.configuration(site.path, into_lefthook(text) if yaml else None)
        installer.usual_files([name for name in HOOKS[1:] if name not in lefthook_hooks(text)])
        installer.lines.append("lefthook runs pre-commit here; commit its file, then: lefthook install")
    elif site.kind == PRE_COMMIT:
        name = os.path.basename(site.path)
        installer.configuration(site.path, into_pre_commit(read_text(site.path) or ""))
        installer.usual_files(HOOKS[1:])
        installer.lines.append(f"pre-commit runs the hooks here; `git add {name}`, then: pre-commit install")


def _inside(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)
