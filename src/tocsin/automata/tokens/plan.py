"""From subscriptions to detectors: parallel parts and named composites become detectors of their own, equal ones once.

A composite event of one detector is an input event of others. In the patterns of the plan, detector `k` is the event type
`#k`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat

from tocsin.algebra.predicate import And, Unify
from tocsin.algebra.tokens.limits import parallel, written_out
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Order,
    Pattern,
    Sequence,
    Within,
    pattern_variables,
    rebuilt,
)
from tocsin.algebra.tokens.rewrite import simplified
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Interpretation, Subscription


@dataclass(frozen=True, slots=True)
class Detector:
    """One pattern without parallel parts. `inputs`: detectors whose composites it reads, in the order of equal times.

    `parts`: those of them that are parallel parts of the same pattern, and have no name.
    """

    pattern: Pattern
    interpretation: Interpretation
    inputs: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()
    copy: int = 0  # distinguishes equal detectors whose composites are separate events
    selection: Selection = Selection()
    group: int = 0  # equal detectors of different groups are kept apart


@dataclass
class Graph:
    """Detectors in dependency order, the ones each subscription reports, and the names it gives to others."""

    detectors: list[Detector] = field(default_factory=list)
    outputs: list[tuple[Subscription, int]] = field(default_factory=list)
    names: list[dict[int, str]] = field(default_factory=list)
    numbers: dict[Detector, list[int]] = field(default_factory=dict)  # of the copies of each detector


@dataclass(frozen=True, slots=True)
class _Cut:
    """State while one pattern is cut: the named composites, and the detectors found inside it so far."""

    graph: Graph
    interpretation: Interpretation
    named: Mapping[str, int]
    used: set[int] = field(default_factory=set)
    inside: list[int] = field(default_factory=list)
    group: int = 0


def composite_type(detector: int) -> str:
    """The event type that stands for the composites of a detector."""
    return f"#{detector}"


def composite_detector(name: str) -> int | None:
    """The detector a type stands for, or None for a type of primitive events."""
    number = name.removeprefix("#")
    return int(number) if name != number and number.isascii() and number.isdigit() else None


def plan(subscriptions: Iterable[Subscription], groups: Iterable[int] | None = None) -> Graph:
    """The detectors that a set of subscriptions needs; those of different groups share none."""
    graph = Graph()
    own = repeat(0) if groups is None else groups
    for subscription, group in zip(subscriptions, own, strict=False):
        named: dict[str, int] = {}
        for definition in subscription.definitions:
            cut = _Cut(graph, subscription.interpretation, dict(named), group=group)
            named[definition.name] = _detector(_prepared(definition.pattern), cut, apart=named.values())
        cut = _Cut(graph, subscription.interpretation, named, group=group)
        number = _detector(_prepared(subscription.pattern), cut, selection=subscription.selection)
        graph.outputs.append((subscription, number))
        graph.names.append({number: name for name, number in named.items()})
    return graph


def _prepared(pattern: Pattern) -> Pattern:
    return simplified(written_out(simplified(pattern)))


def _detector(
    pattern: Pattern, cut: _Cut, *, apart: Collection[int] = (), selection: Selection = Selection()
) -> int:
    """The number of the detector for a pattern, an existing one if possible, but none of `apart`."""
    fresh = replace(cut, used=set(), inside=[])
    plain = _plain(pattern, fresh) if (both := parallel(pattern)) is None else _either_order(both, fresh)
    if both is not None and isinstance(pattern, Within):
        plain = Within(plain, pattern.limit, pattern.span)
    order = [k for k in cut.named.values() if k in fresh.used]
    inputs = tuple(dict.fromkeys([*order, *fresh.inside]))
    parts = tuple(dict.fromkeys(fresh.inside))
    detector = Detector(plain, cut.interpretation, inputs, parts, selection=selection, group=cut.group)
    copies = cut.graph.numbers.setdefault(detector, [])
    others = frozenset(apart) if copies else frozenset()
    for number in copies:
        if number not in others:
            return number
    copies.append(len(cut.graph.detectors))
    cut.graph.detectors.append(replace(detector, copy=len(copies) - 1))
    return copies[-1]


def _either_order(pattern: AllOf, cut: _Cut) -> Pattern:
    """`C1 || C2` over the composites of its sides: each takes the first later one of the other. Paper: 003, Fig. 14g."""
    left = _composite(pattern.left, cut)
    right = _composite(pattern.right, cut, apart=cut.inside)
    return AnyOf((Sequence((left, right), Order.WEAK), Sequence((right, left), Order.WEAK)))


def _composite(pattern: Pattern, cut: _Cut, *, apart: Collection[int] = ()) -> Atom:
    """The composites of a pattern as a symbol; variables that it shares with its surroundings must agree."""
    # Even if equal to a named composite it is a separate event: a pattern may take both.
    number = _detector(pattern, cut, apart={*cut.named.values(), *apart})
    cut.inside.append(number)
    shared = tuple(Unify(variable) for variable in sorted(pattern_variables(pattern)))
    return Atom((EventSpec(composite_type(number), And(shared) if shared else None),))


def _plain(pattern: Pattern, cut: _Cut) -> Pattern:
    match pattern:
        case Atom(accept, domain):
            return replace(
                pattern,
                accept=tuple(_spec(spec, cut) for spec in accept),
                domain=tuple(_spec(spec, cut) for spec in domain),
            )
        case AllOf() | Within(AllOf()):
            return _composite(pattern, cut)
        case _:
            return rebuilt(pattern, lambda part: _plain(part, cut))


def _spec(spec: EventSpec, cut: _Cut) -> EventSpec:
    number = cut.named.get(spec.name)
    if number is None:
        return spec
    cut.used.add(number)
    return replace(spec, name=composite_type(number))
