"""Measuring search: questions with known answers, asked of an index, and what the answers are worth.

cases.py reads questions, history.py makes them from a repository's past, headings.py and doccomments.py
from its text; runner.py and replay.py ask them; metrics.py, bootstrap.py and report.py say how good the
answers are.
"""
