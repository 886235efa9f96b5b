"""Input and output sequences padded with ε, and whether the outputs are where they belong.

| paper (000, Definitions 1 and 2) | here                                   |
|----------------------------------|----------------------------------------|
| σ, κ, f                          | `Pair.inputs`, `.outputs`, `.after`    |
| σ', κ'                           | the padded sequences; ε is None        |
| g, h                             | `places`: indices in σ', κ', from 1    |

>>> pair = Pair(("e1", "e2"), ("o",), (1,))
>>> respects(pair, ("e1", None, "e2"), (None, "o", None)), respects(pair, ("e1", "e2"), (None, "o"))
(True, False)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Padded = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """Events, outputs, and for each output the number of the last event consumed before it (0: none yet)."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    after: tuple[int, ...]


def places(padded: Padded) -> tuple[int, ...]:
    """Positions of the elements that are not ε, counted from 1: the paper's g for σ', h for κ'."""
    return tuple(i for i, symbol in enumerate(padded, 1) if symbol is not None)


def respects(pair: Pair, inputs: Padded, outputs: Padded) -> bool:
    """Whether the padded sequences expand the pair and g(f(i)) <= h(i) < g(f(i) + 1) for every output."""
    if tuple(filter(None, inputs)) != pair.inputs or tuple(filter(None, outputs)) != pair.outputs:
        return False
    if len(pair.after) != len(pair.outputs) or not all(0 <= f <= len(pair.inputs) for f in pair.after):
        return False
    # Before the first event any position is late enough; after the last event none is too late.
    g: tuple[float, ...] = (0, *places(inputs), float("inf"))
    return all(g[f] <= h < g[f + 1] for f, h in zip(pair.after, places(outputs), strict=True))
