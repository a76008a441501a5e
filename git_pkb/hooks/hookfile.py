"""The text of hook files, generated; nothing is read from the package's data.

In: the name of a hook. Out: shell text. Invariant: every file written here is recognised by `is_ours`, calls
`git pkb hook NAME` in one line, and ends 0 when the tool is missing, unless `pkb.hookStrict` is set.
"""

import shlex

from git_pkb.hooks.running import MARKER

#: The hooks this program takes part in. Not pre-merge-commit: git has written the tree of the merge commit
#: before it runs (builtin/merge.c, finish_automerge), so what it stages is left over, staged, after the
#: merge.
HOOKS = ("pre-commit", "post-commit", "post-merge", "post-index-change")

BEGIN = "# >>> git pkb >>>"
END = "# <<< git pkb <<<"

_MARK = "# Written by `git pkb install-hooks`"
_FOUND = "command -v git-pkb >/dev/null 2>&1"
#: Without the tool (a GUI client with another PATH) the commit goes through with one line; strict blocks it.
_MISSING = (
    'echo "git pkb is not on PATH: the index was left as it is" >&2; '
    'test "$(git config --type=bool pkb.hookStrict)" != true'
)
#: Most commits leave post-commit nothing to do; asking git where the marker would be (3 ms) spares starting
#: the tool (45 ms).
_MARKED = f'[ -e "$(git rev-parse --git-dir)/{MARKER}" ]'
#: git calls post-index-change after each write of the staging area, with 1 when the work tree was updated
#: too: a merge, a checkout, a reset. Asking git for unmerged paths then (3 ms) spares starting the tool (40
#: ms).
_UNMERGED = '[ "$1" = 1 ] && [ -n "$(git ls-files -u -- .pkb)" ]'


def call(name: str) -> str:
    """The one line that calls this program from hook `name`; its status is the hook's."""
    if name == "post-index-change":
        return f"if {_UNMERGED} && {_FOUND}; then git pkb hook {name}; fi"
    if name == "post-commit":
        return f"if {_MARKED} && {_FOUND}; then git pkb hook {name}; fi"
    if name.startswith("post-"):  # after the fact: nothing to say and nothing to block
        return f"if {_FOUND}; then git pkb hook {name}; fi"
    return f"if {_FOUND}; then git pkb hook {name}; else {_MISSING}; fi"


def hook_file(name: str, former: str | None = None) -> str:
    """A hook file of our own; `former` is the hook that was active before: it runs first, and can refuse."""
    lines = ["#!/bin/sh", f"{_MARK}; `git pkb uninstall-hooks` takes it out again."]
    if former is not None:
        lines += [f"former={shlex.quote(former)}", 'if [ -x "$former" ]; then "$former" "$@" || exit; fi']
    return "\n".join([*lines, call(name), ""])


def stub_file(former: str) -> str:
    """A file that keeps a hook running which `core.hooksPath` hides: same arguments, stdin, status."""
    return "\n".join(
        [
            "#!/bin/sh",
            f"{_MARK}: runs the hook that was active before.",
            f"former={shlex.quote(former)}",
            'if [ -x "$former" ]; then exec "$former" "$@"; fi',
            "",
        ]
    )


def is_ours(text: str) -> bool:
    """Whether this is a file `hook_file` or `stub_file` wrote, in this or an earlier version."""
    return any(line.startswith(_MARK) for line in text.splitlines()[:3])


def block(name: str) -> str:
    """The marked lines that go into a shell script of someone else."""
    return f"{BEGIN}\n{call(name)}\n{END}\n"
