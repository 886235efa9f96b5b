"""Sequential composition: one part after the other."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import Builder, Module, Way, one_at_a_time


def sequential(builder: Builder, parts: Sequence[Module]) -> Module:
    """The success of a part enters the next one. Paper: 000, Fig. 5."""

    def ways(number: int, success: str, failure: str) -> list[Way]:
        part = parts[number]
        after = frozenset({success}) if number + 1 == len(parts) else parts[number + 1].initial
        return [Way(frozenset({part.success}), after), Way(frozenset({part.failure}), frozenset({failure}))]

    return one_at_a_time(builder, parts, ways)
