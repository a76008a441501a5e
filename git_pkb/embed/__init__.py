"""Embedders: text in, quantised vectors out; `base` has the contract and the table of names."""
