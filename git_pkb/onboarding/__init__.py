"""Setting a repository up, and taking that back.

In: `Choices`, asked on a terminal (asking.py, prompt.py) or given by flags. Out: files in the work tree
(files.py), a section for agents (sections.py), their registration (agents.py), a CI job (ci.py), the manual
page (manual.py), done in order by setup.py. Invariant: whatever is run again changes only its own lines, and
`--uninstall` removes what is recognised as its own, nothing else.
"""
