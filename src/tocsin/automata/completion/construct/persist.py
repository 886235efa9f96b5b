"""Persist: repeats the part until it succeeds."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import Builder, Module, Way, one_at_a_time


def persist(builder: Builder, rounds: Sequence[Module], *, bounded: bool) -> Module:
    """One round that leads back to itself, or a chain of a bounded number of rounds.

    Not drawn in the paper (C.1.9).
    """

    def ways(number: int, success: str, failure: str) -> list[Way]:
        part = rounds[number]
        last = bounded and number + 1 == len(rounds)
        again = frozenset({failure}) if last else rounds[(number + 1) % len(rounds)].initial
        return [Way(frozenset({part.success}), frozenset({success})), Way(frozenset({part.failure}), again)]

    return one_at_a_time(builder, rounds, ways)
