"""Fail: success and failure are swapped."""

from __future__ import annotations

from tocsin.automata.completion.construct.module import Builder, Module, Way, one_at_a_time


def fail(builder: Builder, body: Module) -> Module:
    """Swap success and failure. Not drawn in the paper (C.1.9)."""

    def ways(_: int, success: str, failure: str) -> list[Way]:
        return [
            Way(frozenset({body.failure}), frozenset({success})),
            Way(frozenset({body.success}), frozenset({failure})),
        ]

    return one_at_a_time(builder, [body], ways)
