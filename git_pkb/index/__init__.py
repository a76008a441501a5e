"""The write side: from blobs to artifacts, in the tree or in the cache."""
