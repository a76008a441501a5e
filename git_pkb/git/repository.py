"""Where a repository is, its settings and its staging area, through git itself.

In: where it lies (discovery.py). Out: `Repository`. Invariant: nothing here reads
git's own files directly: worktrees, submodules, reftable and sparse or split indexes are git's business.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from git_pkb.errors import Locked
from git_pkb.git import process
from git_pkb.model import MODE_REGULAR

if TYPE_CHECKING:
    import subprocess

    from git_pkb.git.child import Child
    from git_pkb.git.reader import ObjectReader

#: How long to wait for another process to give `index.lock` back, in seconds between tries: 1.55 in all.
LOCK_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8)


def decode(raw: bytes) -> str:
    """Decode a path as git gave it; bytes that are not UTF-8 survive the way back."""
    return raw.decode("utf-8", "surrogateescape")


def encode(path: str) -> bytes:
    """Encode a path as git wants it."""
    return path.encode("utf-8", "surrogateescape")


LIST_CONFIG = ("config", "-z", "--get-regexp")
OWN_CONFIG = r"^pkb\."


def _settings(printed: bytes) -> dict[str, str]:
    """What LIST_CONFIG prints: lower-case key -> last value; a key without a value is `true`."""
    found: dict[str, str] = {}
    for item in decode(printed).split("\0"):
        key, newline, value = item.partition("\n")
        if key:
            found[key.lower()] = value if newline else "true"
    return found


class Repository:
    """One repository; opened by `discover()` of discovery.py.

    `workdir` (None when bare), `git_dir` and `common_dir` are absolute; `prefix` is the folder `discover`
    started in, relative to the top with a trailing `/` (or `""`); `head_at_open` the commit HEAD named at
    that time.
    """

    def __init__(
        self,
        *,
        workdir: str | None,
        git_dir: str,
        common_dir: str,
        prefix: str,
        bare: bool,
        object_format: str,
        head_at_open: str | None,
        env: dict[str, str],
    ) -> None:
        self.workdir = workdir
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.prefix = prefix
        self.bare = bare
        self.object_format = object_format
        self.head_at_open = head_at_open
        self.env = env
        self.asked_config: Child | None = None  # our settings, when somebody has already asked for them
        self._reader: ObjectReader | None = None

    def __repr__(self) -> str:
        return f"Repository({self.workdir or self.git_dir!r})"

    # -- running git -------------------------------------------------------------------------------

    @property
    def top(self) -> str:
        """Where git children run: the top of the work tree, or the git directory of a bare repository."""
        return self.workdir or self.git_dir

    @property
    def index_file(self) -> str:
        """The staging area's file, absolute; a relative `GIT_INDEX_FILE` starts at the top, as for git."""
        named = self.env.get("GIT_INDEX_FILE")
        return os.path.join(self.top, named) if named else os.path.join(self.git_dir, "index")

    def git(
        self,
        *args: str,
        input: bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> bytes:
        """Run git here and return its stdout.

        `env` is added to the environment. With `check`, a failure raises `GitError`, or `Locked` when another
        process keeps a lock for longer than LOCK_WAITS.
        """
        arguments = list(args)
        environ = {**self.env, **env} if env else self.env
        for wait in (*LOCK_WAITS, None):
            done = process.run(arguments, self.top, environ, input)
            if not check or done.returncode == 0:
                break
            error = process.failure(arguments, done.stderr)
            if wait is None or not isinstance(error, Locked):
                raise error
            time.sleep(wait)
        return done.stdout

    def spawn(self, *args: str) -> "subprocess.Popen[bytes]":
        """Start git here and return at once; collect it with `communicate()`."""
        return process.spawn(list(args), self.top, self.env)

    def start(self, *args: str) -> "Child":
        """Start a git whose stderr does not matter: cheaper than `spawn`; collect with `communicate()`."""
        from git_pkb.git.child import Child

        return Child(list(args), self.top, self.env)

    def _line(self, *args: str) -> str | None:
        """The one line git prints, or None when it fails or prints nothing."""
        return decode(self.git(*args, check=False)).removesuffix("\n") or None

    def without_index_file(self) -> "Repository":
        """This repository with its own staging area, whatever `GIT_INDEX_FILE` a hook was given."""
        return Repository(
            workdir=self.workdir,
            git_dir=self.git_dir,
            common_dir=self.common_dir,
            prefix=self.prefix,
            bare=self.bare,
            object_format=self.object_format,
            head_at_open=self.head_at_open,
            env={name: value for name, value in self.env.items() if name != "GIT_INDEX_FILE"},
        )

    # -- places and revisions ----------------------------------------------------------------------

    def git_path(self, name: str) -> str:
        """Where git keeps `name` (`git rev-parse --git-path`), absolute.

        `pkb/…` is no name of git's and always lies in this worktree's git directory: answered without a
        process.
        """
        if name == "pkb" or name.startswith("pkb/"):
            return os.path.join(self.git_dir, name)
        path = decode(self.git("rev-parse", "--git-path", name)).removesuffix("\n")
        return os.path.normpath(os.path.join(self.top, path))

    def head(self) -> str | None:
        """The commit HEAD names now; None on an unborn branch."""
        return self.resolve("HEAD")

    def resolve(self, rev: str) -> str | None:
        """The commit a revision names, or None."""
        return self._line("rev-parse", "--quiet", "--verify", "--end-of-options", f"{rev}^{{commit}}")

    def current_branch(self) -> str | None:
        """The short name of the branch, born or not; None when HEAD is detached."""
        return self._line("symbolic-ref", "--quiet", "--short", "HEAD")

    def default_branch(self) -> str | None:
        """The branch work is merged into: what origin/HEAD names, else `main` or `master` if there is one."""
        wanted = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
        listed = decode(self.git("for-each-ref", "--format=%(refname) %(symref)", *wanted))
        found = dict(line.split(" ", 1) for line in listed.splitlines())
        remote = found.get(wanted[0], "").removeprefix("refs/remotes/origin/")
        if remote:
            return remote
        return next((ref.removeprefix("refs/heads/") for ref in wanted[1:] if ref in found), None)

    # -- settings ----------------------------------------------------------------------------------

    def config(self) -> dict[str, str]:
        """All `pkb.*` of git's configuration: lower-case key -> last value."""
        if self.asked_config is not None:
            printed, _ = self.asked_config.communicate()
            self.asked_config = None
            return _settings(printed)
        return self.config_matching(OWN_CONFIG)

    def config_matching(self, pattern: str) -> dict[str, str]:
        """The settings whose key matches, lower-case key -> last value; a key without a value is `true`."""
        return _settings(self.git(*LIST_CONFIG, pattern, check=False))

    def set_config(self, key: str, value: str) -> None:
        """Set a key in this clone's configuration."""
        self.git("config", "--local", "--replace-all", key, value)

    def unset_config(self, key: str) -> None:
        """Remove a key from this clone's configuration; one that is not set is no error."""
        self.git("config", "--local", "--unset-all", key, check=False)

    # -- staging -----------------------------------------------------------------------------------

    def stage(self, paths: Iterable[str]) -> None:
        """Bring paths in the staging area in line with the work tree: add, change or remove.

        Ignore rules do not matter here. Raises `Locked` when another process keeps `index.lock`.
        """
        listed = b"".join(encode(path) + b"\0" for path in paths)
        if listed:
            self.git("update-index", "--add", "--remove", "--replace", "-z", "--stdin", input=listed)

    def stage_blobs(self, entries: Mapping[str, bytes | None]) -> None:
        """Stage contents as plain files (None removes the path) without touching the work tree."""
        if not entries:
            return
        contents = [content for content in entries.values() if content is not None]
        names = iter(self.write_blobs(contents))
        nothing = "0" * (64 if self.object_format == "sha256" else 40)
        lines = [
            f"0 {nothing}\t".encode() + encode(path)
            if content is None
            else f"{MODE_REGULAR | 0o644:o} {next(names)}\t".encode() + encode(path)
            for path, content in entries.items()
        ]
        self.git("update-index", "-z", "--replace", "--index-info", input=b"\0".join([*lines, b""]))

    def write_blobs(self, contents: Sequence[bytes]) -> list[str]:
        """Write blobs into the object store, in one process however many; return their names in order."""
        import tempfile

        if not contents:
            return []
        with tempfile.TemporaryDirectory(prefix="pkb-blobs-") as folder:
            files = [os.path.join(folder, str(number)) for number in range(len(contents))]
            for file, content in zip(files, contents, strict=True):
                with open(file, "wb") as stream:
                    stream.write(content)
            listed = "".join(f"{file}\n" for file in files)
            out = self.git("hash-object", "-w", "--no-filters", "--stdin-paths", input=os.fsencode(listed))
        return out.decode().split()

    # -- objects -----------------------------------------------------------------------------------

    def reader(self, *, few: bool = False) -> "ObjectReader":
        """The reader of this repository's objects: pygit2, or git's plumbing where pygit2 refuses.

        `few`: no more than some blobs will be read; loading pygit2 takes longer than asking git for those.
        """
        if self._reader is None:
            if self.object_format == "sha1" and not few:
                from git_pkb.git.libgit import open_reader

                self._reader = open_reader(self)
            else:  # libgit2 refuses these anyway
                from git_pkb.git.plumbing import PlumbingReader

                self._reader = PlumbingReader(self)
        return self._reader

    def fetch_blobs(self, oids: Sequence[str]) -> None:
        """Fetch objects a partial clone left out, in one request, as git's own lazy fetch would."""
        remotes = self.config_matching(r"^(extensions\.partialclone|remote\..*\.promisor)$")
        remote = remotes.get("extensions.partialclone") or next(
            (key.split(".", 1)[1].rsplit(".", 1)[0] for key in remotes if key.startswith("remote.")), None
        )
        if remote is None or not oids:
            return
        arguments = [
            "-c", "fetch.negotiationAlgorithm=noop", "fetch", remote, "--quiet", "--no-tags",
            "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin",
        ]  # fmt: skip
        done = process.run(
            arguments, self.top, process.network_environment(self.env), "\n".join([*oids, ""]).encode()
        )
        if done.returncode:
            raise process.failure(["fetch"], done.stderr)
        self._reader = None
