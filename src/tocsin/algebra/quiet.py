"""The reference for quiet rules: which alerts of a rule and key are reported if each silences it for a while."""

from __future__ import annotations

from collections.abc import Sequence


def heard(ends: Sequence[int], quiet: int) -> list[int]:
    """The places of the alerts that are heard, in a list of the ends of all, in the order in which they are reported.

    An alert is heard unless another one was heard that ended less than `quiet` before it. One that ends before the last
    that was heard is late, and is held back, too.

    >>> heard([0, 10, 59, 60, 61, 130], 60)
    [0, 3, 5]
    """
    places: list[int] = []
    for place, end in enumerate(ends):
        if all(end - ends[earlier] >= quiet for earlier in places):
            places.append(place)
    return places
