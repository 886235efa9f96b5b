"""The order of transitions when some of them are removed or merged."""

from __future__ import annotations

from collections.abc import Collection, Mapping

Order = tuple[tuple[str, str], ...]


def without(order: Order, gone: Collection[str]) -> Order:
    """The order of the remaining transitions: predecessors of a removed one now come before its successors.

    >>> without((("a", "b"), ("b", "c")), {"b"})
    (('a', 'c'),)
    """
    before: dict[str, dict[str, None]] = {}
    after: dict[str, dict[str, None]] = {}
    for first, second in order:
        after.setdefault(first, {})[second] = None
        before.setdefault(second, {})[first] = None
    for name in gone:
        earlier, later = before.pop(name, {}), after.pop(name, {})
        for first in earlier:
            after[first].pop(name, None)
            after[first].update(later)
        for second in later:
            before[second].pop(name, None)
            before[second].update(earlier)
    return tuple((first, second) for first, seconds in after.items() for second in seconds)


def renamed(order: Order, names: Mapping[str, str]) -> Order:
    """The order of renamed transitions; those with the same new name are merged."""
    pairs = ((names[first], names[second]) for first, second in order)
    return tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
