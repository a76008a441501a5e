"""git's hooks: their text, their installation beside what is there already, and what they do when git calls.

hookfile.py has the text, edits.py puts it into files of others, managers.py finds out who runs the hooks of
a clone, install.py, record.py and uninstall.py set a clone up and back, displaced.py notices when that was
undone; running.py is what `git pkb hook NAME` does, merging.py its part in merges, below.py its part below
pre-commit.
"""
