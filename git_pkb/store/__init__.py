"""Vector stores that are asked for nearest pieces in place of the vectors at hand; see base.py."""
