"""The derived cache that search reads: words in SQLite, vectors in memory-mapped matrices.

In: artifacts and the text of their blobs, as segments. Out: postings, lengths and rows for the ranking.
Invariant: everything here can be deleted at any time and is made again from the index and the blobs.
"""
