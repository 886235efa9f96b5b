"""Random subscriptions and random traces, for properties that must hold for all of them.

Subscriptions use every construct of the core language and are always legal: `check` finds nothing wrong.
Traces are small, so that the reference stays fast, and full of ties: equal ends, equal starts, overlaps,
several types an event, missing attributes, values of every kind.
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, product
from random import Random
from typing import TypeVar

from hypothesis import assume
from hypothesis import strategies as st

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
    Variable,
)
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
    Within,
    atoms,
    can_be_empty,
    pattern_variables,
    rebuilt,
    walk,
)
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Definition, Detection, Interpretation, Subscription
from tocsin.automata.tokens.compile import compile
from tocsin.errors import LimitError
from tocsin.events import Event, Interval, Value
from tocsin.values import Relation

SECOND = 1_000_000
TYPES = ("A", "B", "C")
VARIABLES = ("x", "y")
# Few values of each attribute, so that comparisons often hold; `m` has values of every kind.
VALUES: dict[str, tuple[int | float | str | bool, ...]] = {
    "k": (0, 1, 2),
    "v": (0, 0.5, -1.5),
    "s": ("", "p", "q"),
    "f": (True, False),
    "m": (1, 1.0, "1", True),
}
ATTRIBUTES = tuple(VALUES)
DETECTIONS = (None, Detection("guaranteed"), Detection("best-effort"), Detection("probabilistic", 0.95))
T = TypeVar("T")


def _pick(draw: st.DrawFn, choices: Items[T]) -> T:
    return choices[draw(_indices(len(choices)))]


def _coin(draw: st.DrawFn) -> bool:
    return draw(_indices(2)) == 1


_SIZES: dict[int, int] = {}


@cache
def _indices(size: int) -> st.SearchStrategy[int]:
    """Hypothesis takes its time to make a strategy, so each is made once."""
    indices = st.integers(0, size - 1)
    _SIZES[id(indices)] = size
    return indices


def dice(random: Random) -> st.DrawFn:
    """Draws for the functions below, without Hypothesis: a hundred times as fast, and nothing is made smaller."""
    return lambda strategy: random.randrange(_SIZES[id(strategy)])  # type: ignore[return-value]


# Conditions


@dataclass(frozen=True)
class _Scope:
    """What a pattern may use at one place."""

    composites: dict[str, tuple[str, ...]] = field(default_factory=dict)  # name -> the variables it has
    timers: tuple[str, ...] = ()
    bound: frozenset[str] = frozenset()
    wild: bool = False


_ANY_LITERAL = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
).map(Literal)


def _literal(draw: st.DrawFn, attribute: str, scope: _Scope) -> Literal:
    if scope.wild and _coin(draw):
        return draw(_ANY_LITERAL)
    return Literal(_pick(draw, VALUES.get(attribute, VALUES["m"])))


def _filter(
    draw: st.DrawFn, scope: _Scope, attributes: tuple[str, ...], *, may_bind: bool, depth: int = 1
) -> Filter:
    """A filter in which every variable has a value where it is used: bound before, or here by `=`."""
    kind = _pick(draw, ("compare", "bound", "bind", *(("and", "or", "not") if depth else ())))
    attribute = _pick(draw, attributes)
    if kind == "bound" and scope.bound:
        variable = Variable(_pick(draw, sorted(scope.bound)))
        return Compare(Attribute(attribute), _pick(draw, tuple(Relation)), variable)
    if kind == "bind" and may_bind:
        return Compare(Attribute(attribute), Relation.EQ, Variable(_pick(draw, VARIABLES)))
    if kind in ("compare", "bound", "bind"):
        return Compare(Attribute(attribute), _pick(draw, tuple(Relation)), _literal(draw, attribute, scope))
    if kind == "not":
        return Not(_filter(draw, scope, attributes, may_bind=False, depth=depth - 1))
    parts = []
    for _ in range(_pick(draw, (2, 3))):
        part = _filter(draw, scope, attributes, may_bind=may_bind and kind == "and", depth=depth - 1)
        if kind == "and":
            scope = replace(scope, bound=scope.bound | _binds(part))
        parts.append(part)
    return And(tuple(parts)) if kind == "and" else Or(tuple(parts))


def _binds(filter: Filter | None) -> frozenset[str]:
    """The variables that have a value after a filter was true."""
    match filter:
        case And(parts):
            return frozenset().union(*map(_binds, parts))
        case Compare(_, _, Variable(name)):
            return frozenset({name})
        case _:
            return frozenset()


def _where(draw: st.DrawFn, roles: tuple[str, ...], depth: int = 2) -> Filter:
    kind = _pick(draw, ("literal", "role", *(("and", "or", "not") if depth else ())))
    if kind == "not":
        return Not(_where(draw, roles, depth - 1))
    if kind in ("and", "or"):
        parts = tuple(_where(draw, roles, depth - 1) for _ in range(2))
        return And(parts) if kind == "and" else Or(parts)
    left = RoleAttribute(_pick(draw, roles), _pick(draw, ATTRIBUTES))
    relation = _pick(draw, tuple(Relation))
    if kind == "role":
        return Compare(left, relation, RoleAttribute(_pick(draw, roles), _pick(draw, ATTRIBUTES)))
    return Compare(left, relation, Literal(_pick(draw, VALUES[left.name])))


# Patterns


def _spec(draw: st.DrawFn, scope: _Scope, *, may_bind: bool) -> EventSpec:
    name = _pick(draw, (*TYPES, *scope.composites, *scope.timers))
    attributes = scope.composites.get(name, ATTRIBUTES)
    if name in scope.timers or not attributes or _pick(draw, range(4)) < 3:
        return EventSpec(name)
    return EventSpec(name, _filter(draw, scope, attributes, may_bind=may_bind))


def _atom(draw: st.DrawFn, scope: _Scope) -> tuple[Pattern, frozenset[str]]:
    negated = _pick(draw, range(6)) == 5
    accept = tuple(_spec(draw, scope, may_bind=not negated) for _ in range(_pick(draw, (1, 1, 1, 2))))
    size = _pick(draw, (1, 2, 3) if negated else (0, 0, 0, 1, 2))
    domain = tuple(_spec(draw, scope, may_bind=not negated) for _ in range(size))
    # Most domains say again what is accepted, as people write them, and a timer that is seen is often there.
    if domain and not negated and _coin(draw):
        domain = accept + domain
    if scope.timers and _coin(draw):
        domain = (*(domain or accept), EventSpec(_pick(draw, scope.timers)))
    gained = frozenset.intersection(*(_binds(spec.filter) for spec in accept))
    return Atom(accept, domain, negated), scope.bound if negated else scope.bound | gained


def _pattern(draw: st.DrawFn, scope: _Scope, depth: int) -> tuple[Pattern, frozenset[str]]:
    """A pattern, and the variables that have a value once it is complete."""
    kinds = ("atom", "sequence", "sequence", "repeat", "any", "timed", "all")
    match _pick(draw, kinds) if depth else "atom":
        case "sequence":
            parts, bound = [], scope.bound
            for _ in range(_pick(draw, (2, 3))):
                part, bound = _pattern(draw, replace(scope, bound=bound), depth - 1)
                parts.append(part)
            return Sequence(tuple(parts), _pick(draw, tuple(Order))), bound
        case "repeat":
            return Repeat(_pattern(draw, scope, depth - 1)[0]), scope.bound
        case "any":
            each = [_pattern(draw, scope, depth - 1) for _ in range(_pick(draw, (2, 3)))]
            bound = frozenset.intersection(*(after for _, after in each))
            return AnyOf(tuple(option for option, _ in each)), bound
        case "all":
            apart = replace(scope, timers=(), bound=frozenset())
            left, left_bound = _pattern(draw, apart, depth - 1)
            right, right_bound = _pattern(draw, apart, depth - 1)
            return AllOf(left, right), scope.bound | left_bound | right_bound
        case "timed":
            return _timed(draw, scope, depth)
        case _:
            return _atom(draw, scope)


def _timed(draw: st.DrawFn, scope: _Scope, depth: int) -> tuple[Pattern, frozenset[str]]:
    first, bound = _pattern(draw, scope, depth - 1)
    if can_be_empty(first):
        # Something must start the timer.
        last, bound = _atom(draw, replace(scope, bound=bound))
        first = Sequence((first, last), _pick(draw, tuple(Order)))
    name = f"T{len(scope.timers) + 1}"
    inside = replace(scope, bound=bound, timers=(*scope.timers, name))
    second, bound = _pattern(draw, inside, depth - 1)
    time = _pick(draw, range(13)) * SECOND
    timer = Timer(name, at=time) if _pick(draw, range(4)) == 3 else Timer(name, after=time)
    return Timed(first, second, timer), bound


@st.composite
def patterns(draw: st.DrawFn, *, depth: int = 3) -> Pattern:
    """Legal patterns on their own, without named composites."""
    return _pattern(draw, _Scope(), _depth(draw, depth))[0]


def small_pattern(draw: st.DrawFn, depth: int) -> Pattern:
    """A legal pattern of at most so many operators inside each other."""
    return _pattern(draw, _Scope(), depth)[0]


def _depth(draw: st.DrawFn, most: int) -> int:
    depths: list[int] = [*range(most + 1), most, most]
    return _pick(draw, depths)


def subscription(
    draw: st.DrawFn, *, depth: int = 3, definitions: int = 2, wild: bool = False
) -> Subscription:
    """Legal subscriptions.

    Args:
        depth: how many levels of operators; 3 is what the reference can take with the traces below.
        definitions: how many named composites there can be.
        wild: constants of any value, not only those that occur in traces.
    """
    scope = _Scope(wild=wild)
    named: list[Definition] = []
    for number in range(_pick(draw, (0, 0, *range(definitions + 1)))):
        pattern, _ = _pattern(draw, scope, _depth(draw, depth - 1))
        named.append(Definition(f"C{number + 1}", pattern))
        known = {named[-1].name: tuple(sorted(pattern_variables(pattern)))}
        scope = replace(scope, composites=scope.composites | known)
    pattern, _ = _pattern(draw, scope, _depth(draw, depth))
    roles = tuple(sorted(_roles(pattern).union(*(_roles(d.pattern) for d in named))))
    return Subscription(
        pattern,
        tuple(named),
        _where(draw, roles) if roles and _pick(draw, range(5)) == 4 else None,
        _pick(draw, DETECTIONS),
        _pick(draw, (None, "minimum-latency", "minimum-bandwidth")),
        Interpretation(_pick(draw, ("on-accept", "always")), _pick(draw, ("whole-operand", "first-symbol"))),
    )


@st.composite
def subscriptions(
    draw: st.DrawFn, *, depth: int = 3, definitions: int = 2, wild: bool = False
) -> Subscription:
    """Legal subscriptions with every construct, small enough to compile; the arguments are those of `subscription`."""
    found = with_limits(draw, subscription(draw, depth=depth, definitions=definitions, wild=wild))
    try:
        compile([found])
    except LimitError:
        assume(False)
    return found


def plain_subscription(draw: st.DrawFn) -> Subscription:
    """A subscription that asks about single events only, perhaps within a window, as most are that people write."""

    def part(depth: int) -> Pattern:
        kind = _pick(draw, ("atom", "atom", "sequence", "sequence", "repeat", "any")) if depth else "atom"
        match kind:
            case "sequence":
                return Sequence(tuple(part(depth - 1) for _ in range(_pick(draw, (2, 3)))), order)
            case "repeat":
                return Repeat(part(depth - 1))
            case "any":
                return AnyOf(tuple(part(depth - 1) for _ in range(2)))
            case _:
                return _plain_atom(draw)

    def windowed(timer: str) -> Pattern:
        second = part(_pick(draw, (1, 2, 2)))
        return Timed(_plain_atom(draw), second, Timer(timer, after=window * SECOND))

    window = _pick(draw, (1, 3, 6))
    order = _pick(draw, (Order.WEAK, Order.STRONG))
    shapes = (
        lambda: part(2),
        lambda: windowed("T1"),
        lambda: windowed("T1"),
        lambda: AnyOf((windowed("T1"), windowed("T2"))),
    )
    pattern: Pattern = _pick(draw, shapes)()
    return Subscription(pattern, interpretation=Interpretation(_pick(draw, ("on-accept", "always"))))


def _plain_atom(draw: st.DrawFn) -> Atom:
    def specs(count: int) -> tuple[EventSpec, ...]:
        return tuple(
            EventSpec(
                _pick(draw, TYPES),
                Compare(Attribute("k"), _pick(draw, tuple(Relation)), Literal(_pick(draw, VALUES["k"])))
                if _pick(draw, range(4)) == 3
                else None,
            )
            for _ in range(count)
        )

    negated = _pick(draw, range(8)) == 7
    return Atom(
        specs(_pick(draw, (1, 1, 1, 2))), specs(_pick(draw, (1, 2) if negated else (0, 0, 0, 1))), negated
    )


_MATCHES = ("each", "any", "next", "leftmost", "adjacent")
_TAKE = ("all", "all", "first 1", "first 2", "first 7", "last", "count")


def selections() -> st.SearchStrategy[Selection]:
    """Every way to say which matches are wanted, the default first."""
    return st.tuples(st.sampled_from(_MATCHES), st.sampled_from(_TAKE)).map(lambda said: Selection.of(*said))


@st.composite
def selected(draw: st.DrawFn, asked: st.SearchStrategy[Subscription]) -> Subscription:
    """Legal subscriptions, each with a selection that it can have."""
    return selecting(draw(asked), draw(selections()))


def a_selection(draw: st.DrawFn) -> Selection:
    """Any way to say which matches are wanted."""
    return Selection.of(_pick(draw, _MATCHES), _pick(draw, _TAKE))


def selecting(subscription: Subscription, selection: Selection) -> Subscription:
    """The subscription with this selection, or with one that it can have."""
    composites = subscription.definitions or any(isinstance(n, AllOf) for n in walk(subscription.pattern))
    if selection.matches == "adjacent" and composites:
        selection = replace(selection, matches="next")
    if selection.take == "count" and subscription.where is not None:
        selection = replace(selection, take="last")
    return replace(subscription, selection=selection)


# Limits, optional parts, other questions


def with_limits(draw: st.DrawFn, made: Subscription) -> Subscription:
    """The subscription with limits around some of its parts, some parts made optional, and some other conditions."""
    pattern = _with_limits(draw, made.pattern)
    if _pick(draw, range(3)) == 2:
        pattern = Within(pattern, _pick(draw, range(7)) * SECOND)
    changed = replace(made, pattern=pattern)
    return made if check(changed) else changed


def _with_limits(draw: st.DrawFn, pattern: Pattern) -> Pattern:
    if isinstance(pattern, Atom):
        accept, domain = (
            tuple(_other_questions(draw, spec) for spec in own) for own in (pattern.accept, pattern.domain)
        )
        pattern = replace(pattern, accept=accept, domain=domain)
    pattern = rebuilt(pattern, lambda part: _with_limits(draw, part))
    match _pick(draw, range(8)):
        case 6:
            return Within(pattern, _pick(draw, range(7)) * SECOND)
        case 7:
            return Optional(pattern, _pick(draw, (1, 1, 2, 3)))
        case _:
            return pattern


def _other_questions(draw: st.DrawFn, spec: EventSpec) -> EventSpec:
    """The specification, perhaps asking whether an attribute is missing, like a pattern, or less than another one."""
    if spec.name not in TYPES or spec.filter is None or _coin(draw):
        return spec
    name, other = Attribute(_pick(draw, ATTRIBUTES)), Attribute(_pick(draw, ATTRIBUTES))
    asked: Filter
    match _pick(draw, range(4)):
        case 0:
            asked = IsNull(name)
        case 1:
            asked = Not(IsNull(name))
        case 2:
            asked = Like(Attribute(_pick(draw, ("s", "m"))), _pick(draw, ("%", "p", "_", "q%", "1")))
        case _:
            asked = Compare(name, _pick(draw, tuple(Relation)), other)
    joined = And((spec.filter, asked)) if _binds(spec.filter) or _coin(draw) else Or((asked, Not(asked)))
    return replace(spec, filter=joined)


def _roles(pattern: Pattern) -> frozenset[str]:
    """The types under whose names a pattern takes events."""
    taken = (atom.domain if atom.negated else atom.accept for atom in atoms(pattern))
    return frozenset(spec.name for specs in taken for spec in specs if spec.name in TYPES)


# Traces

# Every choice an event has, the simplest first, so that examples shrink well. Few moments for many events:
# ties on the end, the start and both are common.
_TYPES = (*(frozenset({name}) for name in TYPES * 2), *(frozenset(pair) for pair in combinations(TYPES, 2)))
_INTERVALS = tuple(
    Interval(max(0, end - length) * SECOND, end * SECOND) for length in (0, 0, 1, 3) for end in range(10)
)
_ATTRIBUTES = tuple(
    {name: value for name, value in zip(VALUES, values, strict=True) if value is not None}
    for values in product(*((None, *values) for values in VALUES.values()))
)


def trace(draw: st.DrawFn, *, max_size: int = 10, keys: tuple[Value, ...] = ("p", "p", "q")) -> list[Event]:
    """Events in the order they were made, which is not the order of their times.

    Args:
        keys: what the keys of the events are drawn from, with equal chances.
    """
    # The larger sizes more often: most patterns need a few events to match.
    size = max_size - _pick(draw, range(max_size + 1))
    return [
        Event(
            number,
            _pick(draw, _TYPES),
            _pick(draw, _INTERVALS),
            _pick(draw, _ATTRIBUTES),
            _pick(draw, keys),
        )
        for number in range(1, size + 1)
    ]


traces = st.composite(trace)
