"""Push: an output when the part succeeds."""

from __future__ import annotations

from tocsin.algebra.completion.output import Output
from tocsin.automata.completion.construct.module import Builder, Module, Way, one_at_a_time


def push(builder: Builder, output: Output, body: Module) -> Module:
    """Success produces the output, failure is passed on. Paper: 000, Fig. 6b."""

    def ways(_: int, success: str, failure: str) -> list[Way]:
        return [
            Way(frozenset({body.success}), frozenset({success}), output),
            Way(frozenset({body.failure}), frozenset({failure})),
        ]

    return one_at_a_time(builder, [body], ways)
