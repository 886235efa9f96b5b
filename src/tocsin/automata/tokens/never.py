"""Patterns that can never match, and conditions that no event satisfies: legal, but probably unintended.

>>> from tocsin.algebra.tokens.pattern import EventSpec
>>> a = EventSpec("A")
>>> [finding.code for finding in never(Subscription(Atom((a,), (a,), negated=True)))]
['never-matches']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import assert_never

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
    RoleAttribute,
    Unify,
)
from tocsin.algebra.tokens.domain import domain_of
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Optional,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Within,
    atoms,
    can_be_empty,
)
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.errors import PatternError
from tocsin.events import Catalog
from tocsin.values import Relation, compare, kind, sort_key

MAX_CASES = 1000  # a condition that splits into more cases than this is not analysed
_BELOW, _ABOVE = (Relation.LT, Relation.LE), (Relation.GT, Relation.GE)
_Case = tuple[Compare, ...]  # comparisons that must all hold


@dataclass(frozen=True, slots=True)
class _Known:
    """The event types, and the composites that can never happen."""

    catalog: Catalog
    impossible: frozenset[str] = frozenset()


def never(subscription: Subscription, catalog: Catalog | None = None) -> list[PatternError]:
    """Warnings about parts of a subscription that can never happen, in textual order; it runs all the same."""
    known = _Known(catalog or Catalog())
    found: list[PatternError] = []
    for definition in subscription.definitions:
        found += _findings(definition.pattern, known)
        if _is_impossible(definition.pattern, known):
            known = _Known(known.catalog, known.impossible | {definition.name})
    found += _findings(subscription.pattern, known)
    where = subscription.where
    if where is not None and is_contradiction(where):
        found.append(PatternError("never-true", "no match satisfies this condition", where.span))
    elif not isinstance(subscription.pattern, Atom) and _is_impossible(subscription.pattern, known):
        found.append(
            PatternError("never-matches", "so the pattern can never match", subscription.pattern.span)
        )
    return found


def _findings(pattern: Pattern, known: _Known) -> Iterator[PatternError]:
    for atom in atoms(pattern):
        for spec in (*atom.accept, *atom.domain):
            if spec.filter is not None and is_contradiction(spec.filter):
                span = spec.filter.span or spec.span
                yield PatternError("never-true", f"no {spec.name} satisfies this condition", span)
        if _is_impossible(atom, known):
            hint = None
            if atom.negated:
                hint = "[!A in {A, B}] takes the events of the set that are no A; here none is left"
            yield PatternError("never-matches", "no event can match this", atom.span, hint)


def _is_impossible(pattern: Pattern, known: _Known) -> bool:
    """Whether a pattern can never be completed by an event."""
    match pattern:
        case Atom():
            domain = domain_of(pattern)
            left = (
                spec for spec in domain.taken if not any(_covers(one, spec, known) for one in domain.excepted)
            )
            return all(_nothing(spec, known) for spec in left)
        case Sequence(parts):
            impossible = [part for part in parts if _is_impossible(part, known)]
            # An optional part does no harm, unless nothing else is left.
            return len(impossible) == len(parts) or not all(can_be_empty(part) for part in impossible)
        case Repeat(body) | Optional(body) | Within(body):
            return _is_impossible(body, known)
        case AnyOf(options):
            return all(_is_impossible(option, known) for option in options)
        case AllOf(left, right):
            return _is_impossible(left, known) or _is_impossible(right, known)
        case Timed(first, second):
            return _is_impossible(first, known) or _is_impossible(second, known)
        case _:
            assert_never(pattern)


def _nothing(spec: EventSpec, known: _Known) -> bool:
    return spec.name in known.impossible or (spec.filter is not None and is_contradiction(spec.filter))


def _covers(wide: EventSpec, narrow: EventSpec, known: _Known) -> bool:
    """Whether every event of one specification is one of the other."""
    catalog = known.catalog
    of_type = wide.name == narrow.name or catalog.members(narrow.name) <= catalog.members(wide.name)
    return of_type and (wide.filter is None or wide.filter == narrow.filter)


# Contradictions


def is_contradiction(filter: Filter) -> bool:
    """Whether a filter cannot be true of any event, whatever the variables are.

    >>> low, high = (Compare(Attribute("temp"), r, Literal(15)) for r in (Relation.LT, Relation.GT))
    >>> is_contradiction(And((low, high))), is_contradiction(low)
    (True, False)
    """
    cases = _cases(filter, positive=True)
    return cases is not None and not any(_is_possible(case) for case in cases)


def _cases(filter: Filter, *, positive: bool) -> list[_Case] | None:
    """The ways in which a filter can be true (or false), one of which must hold; None if too many."""
    match filter:
        case Compare():
            if not positive:
                filter = Compare(filter.left, filter.relation.opposite, filter.right)
            return [(filter,)]
        case Not(part):
            return _cases(part, positive=not positive)
        case Unify() | IsNull() | Like():
            return [()]
        case And(parts) | Or(parts):
            every = [_cases(part, positive=positive) for part in parts]
            known = [cases for cases in every if cases is not None]
            if len(known) < len(every):
                return None
            if isinstance(filter, Or) is positive:
                joined = [case for cases in known for case in cases]
                return joined if len(joined) <= MAX_CASES else None
            size = 1
            for cases in known:
                size *= len(cases)
            return [sum(choice, ()) for choice in product(*known)] if size <= MAX_CASES else None
        case _:
            assert_never(filter)


def _is_possible(case: _Case) -> bool:
    """Whether comparisons can all hold at once; only those with constants are considered."""
    wanted: dict[Attribute | RoleAttribute, list[tuple[Relation, Literal]]] = {}
    for comparison in case:
        if isinstance(comparison.right, Literal):
            wanted.setdefault(comparison.left, []).append((comparison.relation, comparison.right))
    return all(_has_value(tests) for tests in wanted.values())


def _has_value(tests: list[tuple[Relation, Literal]]) -> bool:
    """Whether one value can pass all tests."""
    decisive = [(relation, literal) for relation, literal in tests if relation is not Relation.NE]
    if len({kind(literal.value) for _, literal in decisive}) > 1:
        return False
    if any(kind(literal.value) == "bool" for _, literal in decisive):
        return any(_passes(value, tests) for value in (False, True))
    equal = [literal.value for relation, literal in tests if relation is Relation.EQ]
    if equal:
        return _passes(equal[0], tests)
    highest = [literal.value for relation, literal in tests if relation in _BELOW]
    lowest = [literal.value for relation, literal in tests if relation in _ABOVE]
    if not highest or not lowest:
        return True
    top, bottom = min(highest, key=sort_key), max(lowest, key=sort_key)
    # Between two different bounds there is always a value; the one value of equal bounds can be tested.
    return compare(bottom, Relation.LT, top) is True or (bottom == top and _passes(top, tests))


def _passes(value: int | float | str | bool, tests: list[tuple[Relation, Literal]]) -> bool:
    return all(compare(value, relation, literal.value) is True for relation, literal in tests)
