"""Summarizers: a piece of a file in, a sentence or two on what it does out; `base` has the contract."""
