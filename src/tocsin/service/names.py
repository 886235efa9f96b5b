"""Subscriptions as event types: what a pattern uses, and what the composites of a subscription offer to others."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence

from tocsin.algebra.predicate import Attribute, Compare, Variable, comparisons
from tocsin.algebra.tokens.pattern import Pattern, Timed, pattern_variables, specs, walk
from tocsin.algebra.tokens.selection import COUNT
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.errors import InputError
from tocsin.events import ATTRIBUTE_TYPES, Catalog, EventType
from tocsin.values import Relation


def patterns(subscription: Subscription) -> tuple[Pattern, ...]:
    """Every pattern of a subscription, its definitions first."""
    return (*(definition.pattern for definition in subscription.definitions), subscription.pattern)


def uses(subscription: Subscription) -> frozenset[str]:
    """The event types, sets and composites of others that a subscription names.

    >>> from tocsin.languages.core import parse
    >>> sorted(uses(parse("C := ([A][B]); ([C], [T1 in {T1, D}])_{T1=5min}")))
    ['A', 'B', 'D']
    """
    named: set[str] = set()
    for pattern in patterns(subscription):
        timers = {node.timer.name for node in walk(pattern) if isinstance(node, Timed)}
        named |= {spec.name for spec in specs(pattern)} - timers
    return frozenset(named - {definition.name for definition in subscription.definitions})


def composite_type(subscription: Subscription, catalog: Catalog, key: Iterable[str]) -> EventType | None:
    """The composites of a subscription as an event type: its variables and its key are the attributes.

    None if the type of one of them is not known; then patterns that use it are not checked for attributes.

    >>> from tocsin.languages.core import parse
    >>> catalog = Catalog([EventType("Open", {"room": "string"}), EventType("Close", {"room": "string"})])
    >>> composite_type(parse("[Open(room=$x)][Close(room=$x)]", catalog, name="Visit"), catalog, ())
    EventType(name='Visit', attributes={'x': 'string'}, parent=None)
    """
    composites: dict[str, Mapping[str, str | None]] = {}
    for definition in subscription.definitions:
        composites[definition.name] = _variables(definition.pattern, catalog, composites)
    known = dict(_variables(subscription.pattern, catalog, composites))
    if subscription.selection.take == "count":
        known = {COUNT: "int"}
    for name in key:
        kinds = {catalog.attributes(used).get(name) for used in uses(subscription)} - {None}
        known[name] = kinds.pop() if len(kinds) == 1 else None
    declared = {name: kind for name, kind in known.items() if kind in ATTRIBUTE_TYPES}
    return EventType(subscription.name, declared) if len(declared) == len(known) else None


def _variables(
    pattern: Pattern, catalog: Catalog, composites: Mapping[str, Mapping[str, str | None]]
) -> Mapping[str, str | None]:
    """The variables of a pattern, each with the type of the attribute that binds it."""
    kinds: dict[str, str | None] = dict.fromkeys(sorted(pattern_variables(pattern)))
    for spec in specs(pattern):
        own = composites.get(spec.name, catalog.attributes(spec.name))
        for comparison in comparisons(spec.filter):
            match comparison:
                case Compare(Attribute(name), Relation.EQ, Variable(variable)):
                    kinds[variable] = kinds[variable] or own.get(name)
                case _:
                    pass
    return kinds


def with_composites(catalog: Catalog, composites: Iterable[EventType]) -> Catalog:
    """The catalog, extended by the composites of subscriptions."""
    wider = copy.deepcopy(catalog)
    for composite in composites:
        wider.declare(composite)
    return wider


def check_neighbours(subscription: Subscription, used: Sequence[str]) -> None:
    """Refuse `adjacent` for a pattern that uses composites of others, as is done inside a pattern."""
    if used and subscription.selection.matches == "adjacent":
        message = f"composites such as {used[0]} have no neighbours: the events they are made of lie among the others"
        hint = "adjacent events are single events; leave out the composite, or matches = adjacent"
        raise InputError("adjacent-composites", message, hint=hint)


def check_order(name: str, used: frozenset[str], others: Mapping[str, frozenset[str]]) -> None:
    """Refuse cycles: a subscription uses only existing composites, so no longer cycle than this is possible.

    Args:
        others: what each of the other subscriptions uses.
    """
    if name in used:
        hint = "give the subscription another name"
        raise InputError("subscription-loop", f"{name} would be made of its own composites", hint=hint)
    for other, uses in others.items():
        if name in uses:
            raise InputError(
                "subscription-loop",
                f"{other} already uses events of the type {name!r}, which would now be composites",
                hint="first make the subscription whose composites are used; two cannot use each other",
            )
