"""Parallel: independent parts."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import Builder, Module, orders_of, states_of, transitions_of


def parallel(builder: Builder, parts: Sequence[Module]) -> Module:
    """The union of the parts; success and failure cannot be reached. Not drawn in the paper (C.1.9)."""
    succeeded, failed = builder.state(), builder.state()
    return Module(
        (*states_of(parts), succeeded, failed),
        frozenset(state for part in parts for state in part.initial),
        transitions_of(parts),
        orders_of(parts),
        succeeded,
        failed,
    )
