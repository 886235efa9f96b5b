"""Accumulation: all parts, in any order."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import Builder, Module, side_by_side


def accumulate(builder: Builder, parts: Sequence[Module]) -> Module:
    """Succeeds when every part has succeeded, fails when one fails.

    The printed τ2 asks for the failure of all, against the text: a slip (C.1.1). Paper: 000, Fig. 4a.
    """
    return side_by_side(
        builder,
        parts,
        success=[{part.success} for part in parts],
        failure=[{part.failure for part in parts}],
    )
