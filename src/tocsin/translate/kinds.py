"""The kinds of translations, and what of a profile they lose.

Paper: 004, Table 16 for the kinds, section 7.1 for what is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum

from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.notation import show


class Kind(StrEnum):
    """How the notifications of a translation relate to those of the original. Paper: 004, Table 16."""

    EQUIVALENT = "equivalent"  # the same
    POSITIVE = "positive"  # more
    NEGATIVE = "negative"  # fewer
    TRANSFERRING = "transferring"  # the same, after a post-filter at the subscriber's side

    @property
    def exact(self) -> bool:
        """Whether the subscriber gets what it asked for."""
        return self in (Kind.EQUIVALENT, Kind.TRANSFERRING)

    @property
    def negated(self) -> Kind:
        """The kind under a negation: more of the body is less of its absence."""
        return {Kind.POSITIVE: Kind.NEGATIVE, Kind.NEGATIVE: Kind.POSITIVE}.get(self, self)


def together(kinds: Iterable[Kind]) -> Kind | None:
    """The kind of a whole with parts of these kinds; None if nothing can be said: more of one and less of another.

    >>> together([Kind.EQUIVALENT, Kind.TRANSFERRING, Kind.POSITIVE]).value
    'positive'
    >>> together([Kind.NEGATIVE, Kind.POSITIVE]) is None
    True
    """
    found = set(kinds)
    if {Kind.POSITIVE, Kind.NEGATIVE} <= found:
        return None
    strongest = (Kind.POSITIVE, Kind.NEGATIVE, Kind.TRANSFERRING, Kind.EQUIVALENT)
    return next((kind for kind in strongest if kind in found), Kind.EQUIVALENT)


class Condition(Enum):
    """A post-filter that compares when the two operands occurred in a notification. Paper: 004, Tables 17 and 19."""

    BEFORE = "<"
    SAME_TIME = "="

    def holds(self, first: int, second: int) -> bool:
        """Whether two times meet it."""
        return first < second if self is Condition.BEFORE else first == second


class Lost(StrEnum):
    """What of a profile a target cannot express."""

    TIMEFRAME = "timeframe"
    ORDER = "temporal order"
    SIMULTANEITY = "simultaneity"
    ABSENCE = "absence"
    NUMBER = "number of the occurrence"
    COMPOSITION = "composition"
    DUPLICATES = "duplicates"
    CONSUMPTION = "consumption"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the target does not look at, of one operator of the source; a post-filter may recover it."""

    what: Lost
    of: Expression
    recovered: bool

    def __str__(self) -> str:
        return f"{self.what} of {show(self.of)}" + (
            ", recovered by the post-filter" if self.recovered else ""
        )
