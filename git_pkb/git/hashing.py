"""Object names computed without git.

In: content. Out: the name git gives it. Invariant: equal to `git hash-object --no-filters`.
"""


def blob_name(data: bytes, object_format: str) -> str:
    """The object name of a blob; `object_format` is `sha1` or `sha256`."""
    import hashlib

    digest = hashlib.new(object_format, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
