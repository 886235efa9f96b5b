"""What a language of the event algebra offers: its operators, and the group that they put it into.

| group | operators | timeframes |
|---|---|---|
| CE | conjunction, disjunction, negation | no |
| SCE | those of CE, and sequence | no |
| TCE | conjunction, disjunction, sequence | yes |
| OTCE | those of TCE, and negation | yes |
| STCE | those of OTCE, and simultaneity | yes |

Paper: 004, sections 4.3 and 4.4 (Tables 13 to 15), and Table 23 for the order of the groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import product

from tocsin.algebra.pairs.expression import (
    Composition,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Selection,
    Simultaneity,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    Consumption,
    Detection,
    Evaluation,
    Gather,
    Mode,
    Pairing,
    Pick,
    Views,
)


class Operator(StrEnum):
    """The operators that the groups are told apart by. Paper: 004, Table 13."""

    CONJUNCTION = "conjunction"
    DISJUNCTION = "disjunction"
    SEQUENCE = "sequence"
    NEGATION = "negation"
    SIMULTANEITY = "simultaneity"
    SELECTION = "selection"


NODES: dict[Operator, type[Composition] | type[Negation] | type[Selection]] = {
    Operator.CONJUNCTION: Conjunction,
    Operator.DISJUNCTION: Disjunction,
    Operator.SEQUENCE: Ordered,
    Operator.NEGATION: Negation,
    Operator.SIMULTANEITY: Simultaneity,
    Operator.SELECTION: Selection,
}
_OPERATOR_OF: dict[type, Operator] = {node: operator for operator, node in NODES.items()}


class Duplicates(StrEnum):
    """Which of several duplicates a language can ask for; `ITH` is any of them by its number. Paper: 004, Table 13."""

    FIRST = "first"
    LAST = "last"
    ALL = "all"
    ITH = "ith"


class Group(IntEnum):
    """The groups in the order of what they can express. Paper: 004, Tables 15 and 23."""

    CE = 1
    SCE = 2
    TCE = 3
    OTCE = 4
    STCE = 5

    @property
    def timeframes(self) -> bool:
        """Whether the operators of its languages have timeframes."""
        return self >= Group.TCE

    @property
    def operators(self) -> frozenset[Operator]:
        """The operators that all its languages have."""
        return _OPERATORS[self]


_BOTH = frozenset({Operator.CONJUNCTION, Operator.DISJUNCTION})
_OPERATORS = {
    Group.CE: _BOTH | {Operator.NEGATION},
    Group.SCE: _BOTH | {Operator.NEGATION, Operator.SEQUENCE},
    Group.TCE: _BOTH | {Operator.SEQUENCE},
    Group.OTCE: _BOTH | {Operator.SEQUENCE, Operator.NEGATION},
    Group.STCE: _BOTH | {Operator.SEQUENCE, Operator.NEGATION, Operator.SIMULTANEITY},
}


@dataclass(frozen=True, slots=True)
class Traits:
    """What a language offers. `group` is None for one that has no group: primitive events only, or too few operators.

    `consumption` and `duplicates` are what its operators do or can be told to do; None where its description is silent.

    >>> Traits.of("conjunction", "disjunction", "negation").group
    <Group.CE: 1>
    """

    group: Group | None
    operators: frozenset[Operator]
    timeframe: bool = False
    consumption: frozenset[Consumption] | None = None
    duplicates: frozenset[Duplicates] | None = None

    @classmethod
    def of(
        cls,
        *operators: str,
        timeframe: bool = False,
        consumption: Iterable[str] | None = None,
        duplicates: Iterable[str] | None = None,
    ) -> Traits:
        """The traits of a language with these operators, in the group that they belong to."""
        own = frozenset(map(Operator, operators))
        return cls(
            group_of(own, timeframe),
            own,
            timeframe,
            None if consumption is None else frozenset(map(Consumption, consumption)),
            None if duplicates is None else frozenset(map(Duplicates, duplicates)),
        )

    @property
    def composes(self) -> bool:
        """Whether it has composite events at all."""
        return bool(self.operators)


_CHOICES: tuple[Pick | Gather, ...] = (FIRST, LAST, ALL, Gather.CUMULATIVE, Gather.RESTRICTED)
# The evaluations of an operator over two operands that surveyed languages have, and those of Table 22.
EVALUATIONS: tuple[Evaluation, ...] = (
    *(
        Views(z, w, pairing)
        for z, w, pairing in product((ALL, FIRST, LAST), (ALL, FIRST, LAST), reversed(Pairing))
    ),
    *(
        Detection((Mode(one, consumption), Mode(other, consumption)))
        for consumption, one, other in product(Consumption, _CHOICES, _CHOICES)
    ),
)


def group_of(operators: Iterable[Operator], timeframe: bool) -> Group | None:
    """The group of a language with these operators; None for one without conjunction or disjunction.

    >>> group_of({Operator.CONJUNCTION, Operator.DISJUNCTION, Operator.SEQUENCE}, timeframe=True).name
    'TCE'
    >>> group_of({Operator.SEQUENCE}, timeframe=False) is None
    True

    Paper: 004, section 4.4. What counts is Part C.5.18, so that a language without negation has a group as well.
    """
    own = frozenset(operators)
    if not own >= _BOTH:
        return None
    if not timeframe or Operator.SEQUENCE not in own:
        return Group.SCE if Operator.SEQUENCE in own else Group.CE
    if own >= _OPERATORS[Group.STCE]:
        return Group.STCE
    return Group.OTCE if Operator.NEGATION in own else Group.TCE


def operator_of(expression: Expression) -> Operator | None:
    """The operator of an expression; None for primitive events, time events, and a timeframe around another one."""
    return _OPERATOR_OF.get(type(expression))
