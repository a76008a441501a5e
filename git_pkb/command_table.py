"""Every command there is, with its line in the help.

In: nothing. Out: two tables that the command line, the manual page and the completions read. Invariant: a row
exists exactly where git_pkb/commands has a module of that name, with `-` as `_`.
"""

#: For people and scripts, in the order of the help.
COMMANDS = {
    "init": "set this repository up: provider, workflow, hooks",
    "reindex": "bring the index in line with HEAD or the staging area",
    "search": "find the files and pieces that answer a question",
    "related": "find pieces like the one at FILE:LINE",
    "overview": "show what is where: folders, keywords, entry points",
    "read": "print a file, a heading, a symbol or a line range by reference",
    "stats": "show what is indexed, what was skipped, and how current it is",
    "estimate": "show what the next and a full reindex would cost",
    "chunk": "show how a file is cut",
    "check": "verify the index against the tree",
    "eval": "measure search on your own questions or your own history",
    "map": "write the repository as a map to look at",
    "config": "show and change settings",
    "install-hooks": "keep the index current with every commit",
    "uninstall-hooks": "take the hooks out again",
    "mcp": "serve search to agents over the Model Context Protocol",
    "completion": "print the completion script for a shell",
}

#: Called by git or by a shell, never typed.
HIDDEN = {
    "hook": "run one of git's hooks",
    "merge-driver": "merge one artifact",
    "complete": "print what the tab key offers",
}
