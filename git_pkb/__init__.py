"""git-pkb: a semantic index of a repository that travels with the repository."""

__version__ = "0.1.0"
