"""What the tab key offers, and the scripts that make a shell ask.

In: the words typed after `git pkb`, the last one unfinished. Out: candidates with descriptions. Invariant:
the parsers are the only list of what there is; an answer costs one start of the interpreter, no repository.
"""

import argparse
from collections.abc import Iterable, Sequence

from git_pkb.command_table import COMMANDS
from git_pkb.parsers import COLORS, Parser, command_parser

#: Metavariables whose values are paths.
PATHS = frozenset({"PATH", "FILE", "FOLDER", "DIR", "FILE:LINE", "CASES.json", "REF"})
COMMON = {"--repo": "work as if started in PATH", "--color": "auto, always or never"}
TOP = {**COMMON, "--help": "show the commands", "--version": "show the version"}

Candidate = tuple[str, str]

BASH = """\
# bash completion of git-pkb. Saved as `git-pkb` among the completions, git's own loads it for `git pkb`.

_git_pkb_candidates()
{
	local line
	while IFS= read -r line; do printf '%s\\n' "${line%%$'\\t'*}"; done < <(
		git-pkb complete -- "$@" 2>/dev/null
	)
}

# called by git's completion, which sets words, cword and cur and adds the blank after a word
_git_pkb()
{
	local i
	for (( i = 1; i < cword; i++ )); do [[ ${words[i]} == pkb ]] && break; done
	__gitcomp_nl "$(_git_pkb_candidates "${words[@]:i+1:cword-i}")"
}

_git_dash_pkb()
{
	local IFS=$'\\n'
	COMPREPLY=( $(_git_pkb_candidates "${COMP_WORDS[@]:1:COMP_CWORD}") )
}
complete -o bashdefault -o default -F _git_dash_pkb git-pkb
"""

ZSH = """\
#compdef git-pkb
# zsh completion of git-pkb. Saved as `_git-pkb` in a folder of $fpath, zsh's completion of git uses it too.

_git-pkb() {
  local line; local -a found
  while IFS= read -r line; do
    found+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
  done < <(git-pkb complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe 'git pkb' found; else _files; fi
}

zstyle ':completion:*:*:git:*' user-commands pkb:'search this repository by meaning'
[[ $funcstack[1] = _git-pkb ]] && _git-pkb "$@"
"""

FISH = """\
# fish completion of git-pkb, for `git pkb` as well.

function __git_pkb_candidates
    set -l words (commandline -opc)
    test $words[1] = git; and set -e words[1]
    git-pkb complete -- $words[2..] (commandline -ct) 2>/dev/null
    or __fish_complete_path (commandline -ct)
end

function __git_pkb_follows_git
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = pkb
end

complete -c git-pkb -f -a '(__git_pkb_candidates)'
complete -c git -n __git_pkb_follows_git -f -a '(__git_pkb_candidates)'
complete -c git -n __fish_git_needs_command -a pkb -d 'search this repository by meaning'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def candidates(words: Sequence[str]) -> list[Candidate] | None:
    """What the last word may become; None when it is a path, which the shell knows best."""
    *before, current = _rejoin(words) or [""]
    previous, name, rest = "", None, list[str]()
    for word in before:
        if name is not None:
            rest.append(word)
        elif not word.startswith("-") and previous not in COMMON:
            name = word
        previous = word
    if name is None:
        if previous in COMMON:
            return None if previous == "--repo" else _matching(_bare(COLORS), current)
        return _matching([*COMMANDS.items(), *TOP.items()], current)
    if name not in COMMANDS:
        return []
    parser, actions = _innermost(command_parser(name, COMMANDS[name]), rest)
    taking = _option(parser, rest[-1]) if rest else None
    if taking is not None and taking.nargs != 0:
        return _values(taking, current)
    if current.startswith("-"):
        options = {
            action.option_strings[-1]: _help(action) for action in parser._actions if action.option_strings
        }
        return _matching(options.items(), current)
    if actions:
        return _matching(actions, current)
    positional = next((action for action in parser._actions if not action.option_strings), None)
    return [] if positional is None else _values(positional, current)


def _rejoin(words: Sequence[str]) -> list[str]:
    """`--color = al` and `--color=al` as `--color al`: bash splits at the sign, other shells do not."""
    plain: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option.startswith("--"):
            plain += [option, value]
        elif word != "=":
            plain.append(word)
    return [*plain, ""] if words and words[-1] == "=" else plain


def _innermost(parser: Parser, words: Sequence[str]) -> tuple[Parser, list[Candidate]]:
    """The parser of the action that was typed, or the actions to choose from."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            lines = {each.dest: each.help or "" for each in action._choices_actions}
            for word in words:
                if word in action.choices:
                    return action.choices[word], []
            return parser, list(lines.items())
    return parser, []


def _option(parser: Parser, word: str) -> argparse.Action | None:
    return next((action for action in parser._actions if word in action.option_strings), None)


def _values(action: argparse.Action, current: str) -> list[Candidate] | None:
    if action.choices:
        return _matching(_bare(action.choices), current)
    if action.metavar in PATHS:
        return None
    if action.metavar == "KEY":
        from git_pkb.config import KEYS

        return _matching([(key.name, key.doc) for key in KEYS.values()], current)
    if action.metavar == "L":
        from git_pkb.chunk.languages import LANGUAGES

        return _matching(_bare(LANGUAGES), current)
    return []


def _bare(words: Iterable[object]) -> list[Candidate]:
    return [(str(word), "") for word in words]


def _help(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%")


def _matching(offers: Iterable[Candidate], current: str) -> list[Candidate]:
    return [(word, line) for word, line in offers if word.lower().startswith(current.lower())]
