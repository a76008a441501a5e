"""`git pkb config`: show the effective settings and where each comes from; change, remove or trust them.

In: a key in any case, a value as text. Out: settings on stdout. Invariant: what `set` writes, `load` accepts.
"""

import argparse
import sys
from typing import Any

from git_pkb import config
from git_pkb.config import CONFIG_FILE, KEYS, Key
from git_pkb.errors import ConfigError, UsageError
from git_pkb.git import Repository, discover

NO_VALUE = 1
KEY_HELP = "name of a setting in any case, e.g. search.k"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Actions as subcommands of their own, each with its options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, help="what to do:")

    def add(name: str, what: str) -> argparse.ArgumentParser:
        return actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")

    show = add("list", "all effective settings and where each comes from")
    show.add_argument("--changed", action="store_true", help="only those that differ from the default")
    show.add_argument("--json", action="store_true", help="one JSON object")
    get = add("get", "print one effective setting; exit 1 when it is unset")
    get.add_argument("key", metavar="KEY", help=KEY_HELP)
    put = add("set", f"change a setting in {CONFIG_FILE}, keeping its comments")
    put.add_argument("key", metavar="KEY", help=KEY_HELP)
    put.add_argument("value", metavar="VALUE", help="lists with commas, tables as `.tsx=code`, or JSON")
    drop = add("unset", "take a setting out again")
    drop.add_argument("key", metavar="KEY", help=KEY_HELP)
    for action in (put, drop):
        action.add_argument("--local", action="store_true", help="in git's configuration of this clone alone")
    trust = add("trust", "let this clone use the providers and caps its tracked settings name")
    how = trust.add_mutually_exclusive_group()
    how.add_argument("--show", action="store_true", help="only print what is not trusted yet")
    how.add_argument("--revoke", action="store_true", help="trust nothing in this clone any more")


def run(args: argparse.Namespace) -> int:
    """Do the action."""
    repo = discover()
    actions = {"list": _list, "get": _get, "set": _set, "unset": _unset, "trust": _trust}
    return actions[args.action](repo, args)


def _list(repo: Repository, args: argparse.Namespace) -> int:
    effective = config.load(repo)
    rows = [
        (key, config.value_of(effective, key.name), effective.origins[key.name])
        for key in KEYS.values()
        if not args.changed or effective.origins[key.name] != config.DEFAULT
    ]
    if args.json:
        from git_pkb.output import jsonout

        settings = [
            {"name": key.name, "value": _for_json(value), "origin": origin, "default": _for_json(key.default)}
            for key, value, origin in rows
        ]
        sys.stdout.write(jsonout.dump({"settings": settings}))
        return 0
    _print_rows(rows, args.color)
    return 0


def _print_rows(rows: list[tuple[Key, Any, str]], color: str) -> None:
    from git_pkb.config.editor import toml_text
    from git_pkb.output import terminal

    screen = terminal.of_stream(color)
    texts = [
        (key.name, terminal.safe(toml_text(value), tty=screen.tty), origin) for key, value, origin in rows
    ]
    if not screen.tty:
        sys.stdout.writelines(f"{name}\t{text}\t{origin}\n" for name, text, origin in texts)
        return
    names = max((len(name) for name, _, _ in texts), default=0)
    values = min(max((len(text) for _, text, _ in texts), default=0), 40)
    for name, text, origin in texts:
        code = terminal.DIM if origin == config.DEFAULT else terminal.GREEN
        print(f"{name:<{names}}  {terminal.pad(text, values)}  {screen.paint(origin, code)}")


def _get(repo: Repository, args: argparse.Namespace) -> int:
    from git_pkb.config.editor import toml_text

    value = config.value_of(config.load(repo), _key(args.key).name)
    if value is None:
        return NO_VALUE
    print(value if isinstance(value, str) else toml_text(value))
    return 0


def _set(repo: Repository, args: argparse.Namespace) -> int:
    from git_pkb.config.values import from_text

    key = _key(args.key)
    value = from_text(key, args.value, "command line")
    if args.local:
        repo.set_config(key.git_name, args.value.strip())
    elif value is None:
        _edit(repo, key, None)
    else:
        _edit(repo, key, value)
    return 0


def _unset(repo: Repository, args: argparse.Namespace) -> int:
    key = _key(args.key)
    if args.local:
        repo.unset_config(key.git_name)
    else:
        _edit(repo, key, None)
    return 0


def _edit(repo: Repository, key: Key, value: Any) -> None:
    from git_pkb.config import editor
    from git_pkb.mirror.tree import Tree

    if repo.workdir is None:
        raise UsageError(
            f"a bare repository has no {CONFIG_FILE} to edit",
            f"`git pkb config set --local {key.name} VALUE` sets it here",
        )
    before = config.read_tracked(repo) or b""
    after = (
        editor.unset_value(before, key.name) if value is None else editor.set_value(before, key.name, value)
    )
    if after == before:
        return
    config.parse(after)  # another line of the file may be wrong; say so rather than write on top of it
    known = _effective(repo) if key.trust else None
    tree = Tree(repo.workdir)
    tree.prepare()
    tree.write(CONFIG_FILE, after, sync=True)
    now = _effective(repo) if key.trust else None
    if now is not None:
        _agree(repo, key, known, now)


def _effective(repo: Repository) -> config.Config | None:
    """The settings, None while there is something wrong with them: an edit may be on the way to mend it."""
    try:
        return config.load(repo)
    except ConfigError:
        return None


def _agree(repo: Repository, key: Key, before: config.Config | None, now: config.Config) -> None:
    """Who sets it here agrees to it here; other clones are asked, and so is this one about anything more."""
    from git_pkb import trust

    if before is None:
        agreed = not trust.untrusted(now, repo)
    else:
        agreed = trust.agree_to_own_edit(before, now, repo, key.name)
    if not agreed:
        names = ", ".join(item.name for item in trust.untrusted(now, repo))
        print(
            f"hint: this clone does not use {names} of {CONFIG_FILE} before `git pkb config trust`",
            file=sys.stderr,
        )
    elif any(item.name == key.name for item in trust.sensitive(now)):
        print(
            f"hint: trusted in this clone; others use `{key.name}` only after `git pkb config trust`",
            file=sys.stderr,
        )


def _trust(repo: Repository, args: argparse.Namespace) -> int:
    from git_pkb import trust

    effective = config.load(repo)
    if args.revoke:
        trust.unpin(repo)
        return 0
    items = trust.untrusted(effective, repo) if args.show else trust.pin(effective, repo)
    for item in items:
        print(item)
    if not items:
        print("nothing in the tracked settings needs trust", file=sys.stderr)
    elif not args.show:
        print("trusted in this clone, until one of these changes", file=sys.stderr)
    return 0


def _key(name: str) -> Key:
    """The key that is meant, in any case; raises ConfigError naming the nearest."""
    from git_pkb.config.values import unknown

    for key in KEYS.values():
        if key.name.lower() == name.lower().removeprefix("pkb."):
            return key
    raise unknown(name, "command line")


def _for_json(value: Any) -> Any:
    from git_pkb.config.editor import plain

    return plain(value)
