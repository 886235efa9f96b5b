"""Parameters of the operators: which duplicates take part, in which pairs, and what a match uses up.

There are two evaluations, and they are kept apart. *Views* cut the trace into runs of one class and choose among
them (Hinze/Voisard). *Detection* looks, for each instance that can end a match, among the instances that are still
available, and may delete some afterwards (Unland/Zimmer, and the consumption modes of section 2).

| paper (004)                                     | here                                             |
|-------------------------------------------------|--------------------------------------------------|
| z_min, z_max; w_min, w_max (Table 11)           | `Pick` of the first, of the second operand       |
| P_xy: x=y, x<=y (Table 12)                      | `Pairing.UNIQUE`, `Pairing.ALL`                  |
| keep = shared                                   | `Consumption.KEEP`                               |
| delete = exclusive                              | `Consumption.DELETE`                             |
| delete & reapply = exclusive parameter          | `Consumption.REAPPLY`                            |
| Snoop's contexts                                | `Consumption.OWN`                                |
| parameter selection, delimiter                  | `Mode.selection`, `Mode.delimiter`               |
| traversal, coupling, concurrency mode           | `Traversal`, `Coupling`, `Concurrency`           |

Paper: 004, sections 2, 4.1 and 4.2. The names of the consumption modes follow section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pick:
    """Which of a list of duplicates are taken, counted from 1; None is the length of the list.

    >>> [LAST.of("abc"), Pick(2, 4).of("abc"), Pick(4, 4).of("abc")]
    [('c',), ('b', 'c'), ()]

    Paper: 004, Table 11.
    """

    low: int | None = 1
    high: int | None = None

    def of(self, duplicates: Sequence[T]) -> tuple[T, ...]:
        """The duplicates that are taken, in their order."""
        length = len(duplicates)
        low = length if self.low is None else self.low
        high = length if self.high is None else self.high
        return tuple(duplicates[max(low, 1) - 1 : high])


FIRST, LAST, ALL = Pick(1, 1), Pick(None, None), Pick(1, None)


def nth(number: int) -> Pick:
    """The duplicate with this number."""
    return Pick(number, number)


class Pairing(StrEnum):
    """Which trace views are paired. Paper: 004, Table 12."""

    UNIQUE = "unique"  # x=y: each view belongs to one pair
    ALL = "all"  # x<=y


@dataclass(frozen=True, slots=True)
class Views:
    """Evaluation over trace views: `first` and `second` choose within a view, `pairing` chooses the views.

    `equal`: a run of duplicates ends where an attribute changes its value, not only where the class changes
    (section 2 asks for that, section 4.2 does not).
    """

    first: Pick = ALL
    second: Pick = ALL
    pairing: Pairing = Pairing.ALL
    equal: bool = False


class Consumption(StrEnum):
    """What a match deletes. Paper: 004, section 2."""

    KEEP = "keep"  # nothing
    DELETE = "delete"  # everything up to and including the instance that ended the match
    REAPPLY = "delete_reapply"  # the instances that took part
    OWN = "own"  # those too, but for this operator alone: operators around it still have them


class Gather(StrEnum):
    """Selections that take more than one instance of an operand, or every choice of some.

    The paper names them without definitions. Here: `CUMULATIVE` takes all available instances of the operand,
    `RESTRICTED` all that fit the pattern of the parent, `COMBINATIONS` every set of as many instances as the delimiter
    allows, each in a match of its own, `COMBINATIONS_MINIMUM` every set of the least number.
    """

    CUMULATIVE = "cumulative"
    RESTRICTED = "restricted_cumulative"
    COMBINATIONS = "combinations"
    COMBINATIONS_MINIMUM = "combinations_minimum"


@dataclass(frozen=True, slots=True)
class Delimiter:
    """How many instances of an operand a match needs, and at most takes; None is without a limit."""

    least: int = 1
    most: int | None = 1


ONE = Delimiter()


@dataclass(frozen=True, slots=True)
class Mode:
    """How one operand is selected and consumed: `first: exclusive parameter(E2)`."""

    selection: Pick | Gather = ALL
    consumption: Consumption = Consumption.KEEP
    delimiter: Delimiter = ONE


class Traversal(StrEnum):
    """From which end the operands choose their instances."""

    LEFT_TO_RIGHT = "lr"
    RIGHT_TO_LEFT = "rl"


class Coupling(StrEnum):
    """Whether events that are irrelevant to all operands may lie within a match."""

    CONTINUOUS = "continuous"
    NON_CONTINUOUS = "noncontinuous"


class Concurrency(StrEnum):
    """Whether the parts of a match may overlap in time."""

    OVERLAPPING = "overlapping"
    NON_OVERLAPPING = "nonoverlapping"


# Paper: 004, Table 9; "subsequently" is non-overlapping, and delete & reapply leaves the choice open.
IMPLIED_CONCURRENCY: dict[Consumption, Concurrency | None] = {
    Consumption.KEEP: Concurrency.OVERLAPPING,
    Consumption.REAPPLY: None,
    Consumption.OWN: None,
    Consumption.DELETE: Concurrency.NON_OVERLAPPING,
}


@dataclass(frozen=True, slots=True)
class Detection:
    """Evaluation per terminator: one `Mode` for each operand, and the modes of the operator."""

    modes: tuple[Mode, ...]
    traversal: Traversal = Traversal.LEFT_TO_RIGHT
    coupling: Coupling = Coupling.NON_CONTINUOUS
    concurrency: Concurrency = Concurrency.OVERLAPPING


Evaluation = Views | Detection
