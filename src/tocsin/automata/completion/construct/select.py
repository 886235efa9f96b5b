"""Selection: one part, whichever completes first."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.automata.completion.construct.module import Builder, Module, side_by_side


def select(builder: Builder, parts: Sequence[Module]) -> Module:
    """Succeeds when one part succeeds, fails when every part has failed. Paper: 000, Fig. 4b."""
    return side_by_side(
        builder,
        parts,
        success=[{part.success for part in parts}],
        failure=[{part.failure} for part in parts],
    )


def select_star(builder: Builder, parts: Sequence[Module]) -> Module:
    """Success or failure of one part is that of the whole; not drawn in the paper (C.1.9)."""
    return side_by_side(
        builder,
        parts,
        success=[{part.success for part in parts}],
        failure=[{part.failure for part in parts}],
    )
