"""Partition refinement: the fewest classes such that the members of a class look alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence


def coarsest(
    first: Sequence[Hashable],
    look: Callable[[int, Sequence[int]], Hashable],
    dependents: Callable[[int], Iterable[int]],
) -> list[int]:
    """The class of each thing, classes numbered in the order of their first members.

    A class is split when its members look different; then only the dependents of those that moved are
    examined again.

    >>> coarsest("aab", lambda i, classes: classes[(i + 1) % 3], lambda i: [(i - 1) % 3])
    [0, 1, 2]

    Args:
        first: keys that tell things apart from the outset.
        look: how a thing looks when the things have these classes.
        dependents: the things whose look depends on this one.
    """
    classes = numbered(first)
    sizes = [classes.count(number) for number in range(len(set(classes)))]
    looks: list[Hashable] = [None] * len(sizes)
    pending = set(range(len(first)))
    while pending:
        groups: dict[int, dict[Hashable, list[int]]] = {}
        for i in pending:
            groups.setdefault(classes[i], {}).setdefault(look(i, classes), []).append(i)
        moved: list[int] = []
        for number, alike in groups.items():
            # Members that were not examined again keep the class; if there are none, the largest group does.
            if sizes[number] == sum(len(group) for group in alike.values()):
                looks[number] = max(alike, key=lambda seen: len(alike[seen]))
            for seen, group in alike.items():
                if seen != looks[number]:
                    for i in group:
                        classes[i] = len(sizes)
                    sizes[number] -= len(group)
                    sizes.append(len(group))
                    looks.append(seen)
                    moved += group
        pending = {j for i in moved for j in dependents(i)}
    return numbered(classes)


def numbered(keys: Iterable[Hashable]) -> list[int]:
    """Numbers for keys, equal for equal keys, in order of first occurrence.

    >>> numbered("abca")
    [0, 1, 2, 0]
    """
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, len(seen)) for key in keys]
