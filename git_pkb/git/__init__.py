"""Everything this program asks of git; no other package starts git or opens its files.

In: a folder. Out: `Repository` (where it is, its settings, its staging area) and an `ObjectReader` (trees,
staging area and blobs as values of `model.py`). Invariant: importing this package loads neither pygit2 nor
`subprocess`; a search that needs no objects never pays for pygit2.
"""

from git_pkb.git.child import Child
from git_pkb.git.discovery import Early, discover
from git_pkb.git.process import GitError
from git_pkb.git.reader import MissingBlob, ObjectReader
from git_pkb.git.repository import Repository

__all__ = ["Child", "Early", "GitError", "MissingBlob", "ObjectReader", "Repository", "discover"]
