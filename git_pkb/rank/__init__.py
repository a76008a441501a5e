"""Ranking: pure functions over arrays, from a question and an open index to ordered files and pieces.

`query` reads the question, `lexical` scores pieces by words, `vectors` by meaning, `paths` says what a path
tells, `files` puts all of it into one score a file, `symbols` finds the definitions to point at.
Constants stand beside the code that uses them; their source is ranking.md unless a comment says otherwise.
"""
