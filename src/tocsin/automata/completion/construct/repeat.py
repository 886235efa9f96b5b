"""Repeat: repeats the part, whatever its outcome."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import Builder, Module, Way, one_at_a_time


def repeat(builder: Builder, rounds: Sequence[Module], *, bounded: bool) -> Module:
    """One round that leads back to itself, or a chain of a bounded number of rounds.

    Not drawn in the paper (C.1.9).
    """

    def ways(number: int, success: str, failure: str) -> list[Way]:
        part = rounds[number]
        last = bounded and number + 1 == len(rounds)
        after = frozenset({success}) if last else rounds[(number + 1) % len(rounds)].initial
        return [Way(frozenset({part.success, part.failure}), after)]

    return one_at_a_time(builder, rounds, ways)
