"""Whether the hooks that were installed still run.

In: a repository. Out: a line for each reason they do not. Invariant: only reads, in a few milliseconds.
"""

import os
from typing import TYPE_CHECKING

from git_pkb.hooks import record as records
from git_pkb.hooks.hookfile import HOOKS
from git_pkb.hooks.managers import OWN, SHARED, active_hooks, find_site, owner, text_of
from git_pkb.hooks.record import read_text

if TYPE_CHECKING:
    from git_pkb.git import Repository


def displaced(repo: "Repository") -> list[str]:
    """What became of the installed hooks: a line for each reason they no longer all run; for `stats`."""
    record = records.load(repo)
    if record is None:
        return []
    again = "run `git pkb install-hooks` again"
    site = find_site(repo, record.folder_set)
    if record.kind in (OWN, SHARED):
        set_now = repo.git_path("hooks")
        if os.path.normpath(set_now) != record.path:
            return [f"our hooks no longer run: core.hooksPath is now {set_now}; {again}"]
        active = active_hooks(record.path)
        lines = [
            f"our {name} hook is gone from {record.path}; {again}"
            for name in HOOKS
            if name not in active_hooks(record.path)
            or f"git pkb hook {name}" not in text_of(record.path, name)
        ]
        if record.kind == OWN:
            new = [name for name in active_hooks(record.former) if name not in active]
            lines += [f"the {name} hook in {record.former} does not run; {again}" for name in new]
        return lines
    if (site.kind, site.path) != (record.kind, record.path):
        return [f"our hooks were put into {record.path}, but {owner(site)} runs the hooks now; {again}"]
    return [
        f"our line is gone from {path}; {again}"
        for path, (_, after) in record.files.items()
        if "git pkb hook" in after and "git pkb hook" not in (read_text(path) or "")
    ]
