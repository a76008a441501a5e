"""Taking our hooks out again.

In: a repository. Out: what was done, as lines for a person. Invariant: files and settings that nobody
changed since are as they were, byte for byte; of those that were changed, only what carries our mark goes.
"""

import contextlib
import os
from typing import TYPE_CHECKING

from git_pkb.errors import CannotWrite
from git_pkb.hooks import record as records
from git_pkb.hooks.edits import has_block, without_block
from git_pkb.hooks.hookfile import HOOKS, is_ours
from git_pkb.hooks.managers import (
    LEFTHOOK_FILES,
    PRE_COMMIT_FILE,
    former_folder,
    hooks_paths,
    own_folder,
)
from git_pkb.hooks.record import read_text, write_text

if TYPE_CHECKING:
    from git_pkb.git import Repository


def uninstall(repo: "Repository") -> list[str]:
    """Take out hooks, entries and merge driver; returns a line for each thing done. Raises `CannotWrite`."""
    lines: list[str] = []
    try:
        record = records.load(repo)
        settings = dict(record.settings) if record else _settings_found(repo)
        for key, (before, after) in settings.items():
            _restore_setting(repo, key, before, after)
        for path, (before, after) in (record.files if record else {}).items():
            if read_text(path) == after:
                lines.append(_restore(path, before))
        lines += _take_out_blocks(repo)
        lines += _remove_own_folder(repo)
        records.remove(repo)
    except OSError as error:
        raise CannotWrite(
            f"cannot write {error.filename or 'the hooks'}: {error.strerror}",
            "check the permissions of the hooks folder",
        ) from error
    return lines


def _settings_found(repo: "Repository") -> dict[str, tuple[str | None, str]]:
    """Without a record: the settings that can only be ours."""
    found: dict[str, tuple[str | None, str]] = {}
    for each in hooks_paths(repo):
        if each.scope == "local" and each.folder == own_folder(repo):
            found["core.hooksPath"] = (None, each.value)
    driver = repo.config_matching(r"^merge\.pkb\.")
    if "git pkb" in driver.get("merge.pkb.driver", ""):
        found |= {key: (None, value) for key, value in driver.items()}
    return found


def _restore_setting(repo: "Repository", key: str, before: str | None, after: str) -> None:
    now = repo.git("config", "--local", "-z", "--get", key, check=False).decode("utf-8", "surrogateescape")
    if now.removesuffix("\0") != after:
        return  # somebody has set it anew
    if before is None:
        repo.unset_config(key)
    else:
        repo.set_config(key, before)


def _restore(path: str, before: str | None) -> str:
    if before is None:
        os.remove(path)
        return f"removed {path}"
    write_text(path, before, executable=False)
    return f"restored {path}"


def _take_out_blocks(repo: "Repository") -> list[str]:
    """Remove marked lines wherever `install` may have put them, in this clone or in another."""
    folders = [os.path.join(repo.top, ".husky"), os.path.join(repo.common_dir, "hooks")]
    folders += [each.folder for each in hooks_paths(repo) if each.scope in ("local", "worktree")]
    places = [os.path.join(folder, name) for folder in folders for name in HOOKS]
    places += [os.path.join(repo.top, name) for name in (*LEFTHOOK_FILES, PRE_COMMIT_FILE)]
    lines = []
    for path in dict.fromkeys(places):
        text = read_text(path)
        if text is not None and has_block(text):
            left = without_block(text)
            lines.append(_restore(path, left if left.strip() not in ("", "#!/bin/sh") else None))
    return lines


def _remove_own_folder(repo: "Repository") -> list[str]:
    """Remove our folder; what another tool wrote there moves to where hooks usually are."""
    folder = own_folder(repo)
    if not os.path.isdir(folder):
        return []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if is_ours(read_text(path) or ""):
            os.remove(path)
        else:
            place = os.path.join(former_folder(repo), name)
            if not os.path.exists(place):
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.replace(path, place)
    with contextlib.suppress(OSError):  # a file that had no place to go keeps the folder
        os.rmdir(folder)
    return [f"removed {folder}"]
