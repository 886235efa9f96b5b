"""Alphabets: finitely many kinds of events, such that events of one kind satisfy the same predicates.

If predicates compare fields with constants, the constants cut the values of a field into finitely many
regions, and an event is of the kind that its regions give. That makes machines over any events as finite as
the paper's. Where a field is compared with another, there is no such alphabet.

>>> from tocsin.algebra.predicate import Attribute, Literal
>>> low = Compare(Attribute("altitude"), Relation.LT, Literal(500))
>>> [dict(symbol) for symbol in alphabet_of([low]).symbols]
[{}, {'altitude': 499}]

Paper: 000, section 2, "Basic Constructs": "we here assume a finite alphabet of input events".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import assert_never

from tocsin.algebra.completion.fields import Field, Fields, holds
from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Unify,
    comparisons,
)
from tocsin.automata.completion.ask import Predicates, answers, equal_to, predicates
from tocsin.errors import InputError, LimitError
from tocsin.values import Relation, Value, identity, sort_key

MAX_SYMBOLS = 4096
# How many comparisons may be evaluated to find the regions, and again to find the kinds; takes a second or two.
MAX_ASKED = 500_000
_DIGITS = 1200  # more than the exact value of any float has
_ORDERED = (Relation.LT, Relation.LE, Relation.GT, Relation.GE)


@dataclass(frozen=True, slots=True)
class Alphabet:
    """Kinds of events, each with an example and the predicates that events of the kind satisfy, as bits."""

    asked: Predicates
    symbols: tuple[Fields, ...]
    truths: tuple[int, ...]
    _known: Mapping[int, int] = field(repr=False, compare=False)

    def symbol(self, event: Fields) -> int:
        """The number of the kind of an event."""
        return self.symbol_of(answers(self.asked, event))

    def symbol_of(self, satisfied: int) -> int:
        """The number of the kind of an event that satisfies these predicates."""
        if satisfied not in self._known:
            raise InputError(
                "outside-alphabet",
                "an event satisfies a combination of predicates that the alphabet does not foresee",
                hint="name the types of the events and their subtypes",
            )
        return self._known[satisfied]


def enumerated(filters: Iterable[Filter], events: Iterable[Fields]) -> Alphabet:
    """The alphabet of exactly these events."""
    asked, events = predicates(filters), tuple(events)
    satisfied = tuple(answers(asked, event) for event in events)
    known = {bits: i for i, bits in reversed(list(enumerate(satisfied)))}
    return Alphabet(asked, events, satisfied, known)


def alphabet_of(
    filters: Iterable[Filter],
    types: Iterable[frozenset[str]] | None = None,
    limit: int = MAX_SYMBOLS,
    most_compared: int = MAX_ASKED,
) -> Alphabet:
    """The alphabet of all events that the predicates can tell apart; refuses one of more than `limit` kinds.

    Args:
        types: for each type of events, that type and those it is a subtype of; None if types have no subtypes.
        most_compared: how many comparisons may be evaluated for that.
    """
    asked = predicates(filters)
    own: dict[str, list[Compare]] = {}
    for comparison in (c for filter in asked.filters for c in comparisons(filter)):
        if isinstance(comparison.right, Attribute):
            message = (
                f"{comparison.left.name} is compared with {comparison.right.name}, and not with constants"
            )
            raise LimitError("alphabet-too-large", message)
        own.setdefault(comparison.left.name, []).append(comparison)
    # `type` first, then the fields that most predicates use: these usually decide which other fields matter.
    names = sorted(own, key=lambda name: (name != "type", -len(own[name])))
    types = None if types is None else list(types)
    values = {name: _values(name, own[name], types) for name in names}
    if sum(len(values[name]) * len(own[name]) for name in names if _ordered(own[name])) > most_compared:
        raise _too_long(most_compared)
    regions = {name: _regions(name, own[name], values[name]) for name in names}
    found: dict[int, Fields] = {}
    for satisfied, example in _examples(asked, regions, limit, most_compared):
        found.setdefault(satisfied, example)
        if len(found) > limit:
            raise _too_many(limit)
    return Alphabet(asked, tuple(found.values()), tuple(found), {bits: i for i, bits in enumerate(found)})


def _too_many(limit: int) -> LimitError:
    return LimitError("alphabet-too-large", f"the predicates tell more than {limit:,} kinds of events apart")


def _too_long(most_compared: int) -> LimitError:
    message = f"it takes more than {most_compared:,} comparisons to tell the kinds of events apart"
    return LimitError("alphabet-too-large", message)


# A predicate that is not decided yet: its bit, the fields it uses, the predicate itself, and how many comparisons it has.
_Open = tuple[int, frozenset[str], Filter, int]


def _examples(
    asked: Predicates, regions: Mapping[str, list[Field]], limit: int, most_compared: int
) -> Iterator[tuple[int, Fields]]:
    """An example for each combination of regions that can matter, and the predicates it satisfies.

    Fields that no longer matter are left out of an example.
    """
    names = list(regions)
    rest: list[_Open] = []
    for bit, filter in asked.rest:
        compared = list(comparisons(filter))
        rest.append((bit, frozenset(c.left.name for c in compared), filter, len(compared)))
    satisfied, undecided = _decided({}, rest)
    pending: list[tuple[dict[str, Field], int, list[_Open], int]] = [({}, satisfied, undecided, 0)]
    visited = evaluated = 0
    while pending:
        example, satisfied, undecided, place = pending.pop()
        visited += 1
        if visited > 4 * limit:
            raise _too_many(limit)
        matter = asked.equal.keys() | frozenset().union(*(asks for _, asks, _, _ in undecided))
        while place < len(names) and names[place] not in matter:
            place += 1
        if place == len(names):
            yield satisfied, {name: value for name, value in example.items() if value is not None}
            continue
        name = names[place]
        touched = [one for one in undecided if name in one[1]]
        untouched = [one for one in undecided if name not in one[1]]
        # The fields of predicates are collected again for each example.
        evaluated += sum(len(asks) for _, asks, _, _ in undecided)
        evaluated += sum(size for *_, size in touched) * len(regions[name])
        if evaluated > most_compared:
            raise _too_long(most_compared)
        for value in reversed(regions[name]):
            longer = {**example, name: value}
            true, still = _decided(longer, touched)
            true |= equal_to(asked, name, value)
            pending.append((longer, satisfied | true, untouched + still, place + 1))


def _decided(example: Fields, undecided: Iterable[_Open]) -> tuple[int, list[_Open]]:
    """Which predicates the fields of an example satisfy, and which they leave open."""
    satisfied, still = 0, []
    for one in undecided:
        bit, _, filter, _ = one
        truth = _partial(filter, example)
        if truth is None:
            still.append(one)
        elif truth:
            satisfied |= bit
    return satisfied, still


def _partial(filter: Filter, example: Fields) -> bool | None:
    """The truth of a predicate as far as the fields of the example decide it."""
    match filter:
        case Compare(Attribute(name)):
            return holds(filter, example) if name in example else None
        case And(parts):
            seen = [_partial(part, example) for part in parts]
            return False if False in seen else None if None in seen else True
        case Or(parts):
            seen = [_partial(part, example) for part in parts]
            return True if True in seen else None if None in seen else False
        case Not(part):
            truth = _partial(part, example)
            return None if truth is None else not truth
        case Compare() | IsNull() | Like() | Unify():
            raise TypeError(f"{filter} compares with other events; it has no alphabet")
        case _:
            assert_never(filter)


def _ordered(own: Sequence[Compare]) -> bool:
    return any(comparison.relation in _ORDERED for comparison in own)


def _values(name: str, own: Sequence[Compare], types: list[frozenset[str]] | None) -> list[Field]:
    """Values of a field, at least one in each region; None where the field is absent."""
    if name == "type" and types is not None:
        return [None, *types]
    return [None, *_candidates([c.right.value for c in own if isinstance(c.right, Literal)], own)]


def _regions(name: str, own: Sequence[Compare], values: list[Field]) -> list[Field]:
    """One value for each region that the constants cut a field into."""
    if not _ordered(own):
        return values
    seen: dict[tuple[bool, ...], Field] = {}
    for value in values:
        seen.setdefault(tuple([holds(comparison, {name: value}) for comparison in own]), value)
    return list(seen.values())


def _candidates(constants: Sequence[Value], own: Sequence[Compare]) -> list[Value]:
    """Values with at least one in each region: the constants, values between them, and others."""
    if all(c.relation is Relation.EQ for c in own):
        return list({identity(constant): constant for constant in constants}.values())
    numbers = sorted(
        {c for c in constants if isinstance(c, int | float) and not isinstance(c, bool)}, key=sort_key
    )
    texts = list(dict.fromkeys(c for c in constants if isinstance(c, str)))
    found: list[Value] = [*texts, *numbers]
    found += [False, True] if any(isinstance(c, bool) for c in constants) else []
    found.append("other" if "other" not in texts else max(texts, key=len) + "_other")
    if _ordered(own):
        found += ["", *(text + "a" for text in texts), *(text + "\0" for text in texts)]
        found += _between(numbers)
    return [*found, 0]


def _between(numbers: Sequence[float]) -> list[Value]:
    """A number below all, one above all, and one in each gap."""
    if not numbers:
        return []
    low, high = numbers[0], numbers[-1]
    # A step of 1 is lost on a large float.
    below = low - 1 if low - 1 < low else low - abs(low)
    over = high + 1 if high + 1 > high else high + abs(high)
    return [below, *(_middle(a, b) for a, b in pairwise(numbers)), over]


def _middle(low: float, high: float) -> float | Decimal:
    """A number between two."""
    if isinstance(low, int) and low + 1 < high:
        return low + 1
    if max(abs(low), abs(high)) < 2**1000 and low < low + (high - low) / 2 < high:
        return low + (high - low) / 2
    with localcontext(prec=_DIGITS):
        # Between two neighbours among floats, and between large whole numbers, there are decimals.
        return (Decimal(low) + Decimal(high)) / 2
