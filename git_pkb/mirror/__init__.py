"""The committed index: the format of its files, their names, and how they are read and written."""
