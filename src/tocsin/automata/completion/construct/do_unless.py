"""Do-unless: a part, and another part whose success ends it."""

from __future__ import annotations

from tocsin.algebra.completion.expression import Outcome
from tocsin.automata.completion.construct.module import Builder, Module, side_by_side


def do_unless(builder: Builder, body: Module, unless: Module, tie: Outcome) -> Module:
    """Succeeds with the body, fails when the body fails or `unless` succeeds.

    If both sides succeed on one event, `tie` decides (C.1.7). Paper: 000, Fig. 6a.
    """
    return side_by_side(
        builder,
        [body, unless],
        success=[{body.success}],
        failure=[{body.failure, unless.success}],
        failure_first=tie == "failure",
    )
