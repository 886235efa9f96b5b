"""Loop: repeats the part until it fails."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.algebra.completion.expression import Outcome
from tocsin.automata.completion.construct.module import Builder, Module, Way, one_at_a_time


def loop(builder: Builder, rounds: Sequence[Module], *, bounded: bool, ends: Outcome) -> Module:
    """One round that leads back to itself, or a chain of a bounded number of rounds; a failure `ends` it.

    Not drawn in the paper (C.1.9, C.1.10).
    """

    def ways(number: int, success: str, failure: str) -> list[Way]:
        part = rounds[number]
        last = bounded and number + 1 == len(rounds)
        again = frozenset({success}) if last else rounds[(number + 1) % len(rounds)].initial
        ended = frozenset({success if ends == "success" else failure})
        return [Way(frozenset({part.success}), again), Way(frozenset({part.failure}), ended)]

    return one_at_a_time(builder, rounds, ways)
