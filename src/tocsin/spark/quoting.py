"""Names of columns for Spark, which takes a dot for the way into a struct."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a column's name as Spark takes it for one name, whatever is in it.

    >>> quoted("a.b`c")
    '`a.b``c`'
    """
    return f"`{name.replace('`', '``')}`"
