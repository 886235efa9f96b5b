"""Mistakes in a pattern that parses: unknown names, timers out of scope, variables without a value.

All mistakes in a subscription are returned at once, each with its place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    Variable,
    leaves,
)
from tocsin.algebra.tokens.bounds import MAX_ERRORS
from tocsin.algebra.tokens.domain import roles_of
from tocsin.algebra.tokens.extent import extent_errors
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
    children,
    pattern_variables,
    walk,
)
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.errors import PatternError, PatternErrors, Span, did_you_mean
from tocsin.events import Catalog, parse_timestamp
from tocsin.values import Relation, kind

# Placeholder for a part that could not be parsed: an empty atom. It is not checked further.
UNREADABLE = Atom(())
OF_COMPOSITES = re.compile(r"#[0-9]+")  # how `automata.tokens.plan` names the composites of a detector
_KINDS = {"string": "string", "int": "number", "float": "number", "bool": "bool", "timestamp": "timestamp"}
_EXAMPLES = {
    "string": "a string in quotes",
    "number": "a number",
    "bool": "true or false",
    "timestamp": "an ISO time in quotes",
}


class _Enough(Exception):  # noqa: N818  (it never leaves this module)
    """Raised when there are more mistakes than anybody reads."""


@dataclass(frozen=True)
class _Scope:
    """The names in scope at one place of a pattern, and the mistakes found so far."""

    catalog: Catalog
    composites: dict[str, Pattern]  # those whose definition is complete
    defined: frozenset[str]  # all of them
    errors: list[PatternError]
    variables: dict[str, frozenset[str] | None]  # of each composite; None if not all of it could be read
    readable: bool = True
    timers: frozenset[str] = frozenset()
    all_timers: frozenset[str] = frozenset()
    kinds: dict[str, str] = field(default_factory=dict)  # variable -> kind of the attribute that binds it

    def note(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        self.errors.append(PatternError(code, message, span, hint))
        if len(self.errors) > MAX_ERRORS:
            raise _Enough

    def inside(self, pattern: Pattern) -> _Scope:
        """The scope of a whole pattern: a definition, or the one to detect."""
        timers = frozenset(node.timer.name for node in walk(pattern) if isinstance(node, Timed))
        readable = self.readable and all(atom.accept for atom in atoms(pattern))
        return replace(self, readable=readable, all_timers=timers, kinds={})


def check(subscription: Subscription, catalog: Catalog | None = None) -> list[PatternError]:
    """Every mistake in a subscription; an empty list if it can run.

    >>> from tocsin.algebra.tokens.pattern import Repeat, Timer
    >>> timed = Timed(Repeat(Atom((EventSpec("A"),))), Atom((EventSpec("B"),)), Timer("T1", after=1))
    >>> [error.code for error in check(Subscription(timed))]
    ['empty-first-part']
    """
    if too_large := extent_errors(subscription):
        return too_large
    defined = frozenset(d.name for d in subscription.definitions)
    scope = _Scope(catalog or Catalog(), {}, defined, [], {})
    try:
        for definition in subscription.definitions:
            _check_name(definition.name, definition.span, scope)
            _check(definition.pattern, scope.inside(definition.pattern), frozenset())
            scope.composites[definition.name] = definition.pattern
            readable = all(atom.accept for atom in atoms(definition.pattern))
            scope.variables[definition.name] = pattern_variables(definition.pattern) if readable else None
        _check(subscription.pattern, scope.inside(subscription.pattern), frozenset())
        _check_where(subscription, scope)
        for error in _selection_errors(subscription):
            scope.note(error.code, error.message, error.span, error.hint)
    except _Enough:
        return too_many(scope.errors)
    return scope.errors


def too_many(errors: list[PatternError]) -> list[PatternError]:
    """The first of very many mistakes, with a note about the rest."""
    message = f"there are more than {MAX_ERRORS} mistakes, from here on"
    rest = PatternError("too-many-errors", message, errors[-1].span, "correct the others first")
    return [*errors[:MAX_ERRORS], rest]


def _check_name(name: str, span: Span | None, scope: _Scope) -> None:
    if name in scope.composites:
        scope.note("duplicate-name", f"{name!r} is defined twice", span, "give one of the two another name")
    if name in scope.catalog.names:
        hint = "give the composite another name"
        scope.note("duplicate-name", f"{name!r} is an event type already", span, hint)


def _check(pattern: Pattern, scope: _Scope, bound: frozenset[str]) -> frozenset[str]:
    """Record the mistakes in a pattern; returns the variables that are bound on every path through it."""
    match pattern:
        case Atom():
            return _check_atom(pattern, scope, bound)
        case Sequence(parts):
            for part in parts:
                bound = _check(part, scope, bound)
            return bound
        case Repeat(body) | Optional(body):
            _check(body, scope, bound)
            return bound
        case Within(body):
            return _check(body, scope, bound)
        case AnyOf(options):
            return frozenset.intersection(*[_check(option, scope, bound) for option in options])
        case AllOf(left, right):
            # The two sides are detectors of their own: timers and variables from outside are not in scope there.
            apart = replace(scope, timers=frozenset())
            return bound | _check(left, apart, frozenset()) | _check(right, apart, frozenset())
        case Timed(first, second):
            bound = _check(first, scope, bound)
            _check_timer(pattern, scope)
            return _check(second, replace(scope, timers=scope.timers | {pattern.timer.name}), bound)
        case _:
            assert_never(pattern)


def _check_timer(timed: Timed, scope: _Scope) -> None:
    name = timed.timer.name
    if can_be_empty(timed.first):
        scope.note(
            "empty-first-part",
            f"the part before the timer {name} can be empty, so the timer would never be started",
            timed.first.span,
            "let it need at least one event, as in [A][A]* instead of [A]*",
        )
    if name in scope.defined or name in scope.catalog.names:
        scope.note(
            "duplicate-name",
            f"{name!r} is already the name of an event type or composite",
            timed.timer.span,
            "give the timer another name",
        )


def _check_atom(atom: Atom, scope: _Scope, bound: frozenset[str]) -> frozenset[str]:
    after: list[frozenset[str]] = []
    for spec in atom.accept:
        _check_spec(spec, scope)
        after.append(_check_variables(spec.filter, scope, spec, bound, may_bind=not atom.negated))
    for spec in atom.domain:
        _check_spec(spec, scope)
        _check_variables(spec.filter, scope, spec, bound, may_bind=not atom.negated)
    return frozenset.intersection(*after) if after and not atom.negated else bound


def _check_spec(spec: EventSpec, scope: _Scope) -> None:
    name = spec.name
    if name in scope.timers:
        if spec.filter is not None:
            scope.note(
                "timer-filter",
                f"the timer {name} has no attributes to filter on",
                spec.span,
                f"write {name} alone",
            )
    elif name in scope.composites:
        own = scope.variables[name]
        if own is not None:
            known = dict.fromkeys(own, "unknown")
            _check_attributes(
                spec, known, f"the composite {name}", scope, "it has the variables of its pattern"
            )
    elif name in scope.defined:
        scope.note(
            "undefined-composite",
            f"{name!r} is used before its definition is complete",
            spec.span,
            "define a composite before the patterns that use it; a composite cannot use itself",
        )
    elif OF_COMPOSITES.fullmatch(name):
        scope.note(
            "bad-name",
            f"the type {name!r} cannot be used: inside a pattern such names stand for composites",
            spec.span,
            "give the type another name before detection",
        )
    elif name in scope.all_timers and name not in scope.catalog.names:
        scope.note(
            "timer-out-of-reach",
            f"the timer {name} cannot be seen here",
            spec.span,
            "a timer is seen only in the second part of its own ( … , … ), and not inside ||",
        )
    elif not scope.catalog.knows(name):
        names = {*scope.catalog.names, *scope.composites}
        hint = did_you_mean(name, names | scope.timers, did_you_mean(name, names))
        scope.note("unknown-type", f"there is no event type {name!r}", spec.span, hint)
    elif scope.catalog.describes(name):
        _check_attributes(spec, scope.catalog.attributes(name), name, scope)


def _check_attributes(
    spec: EventSpec, known: Mapping[str, str], owner: str, scope: _Scope, otherwise: str = ""
) -> None:
    for test in leaves(spec.filter):
        for number, (attribute, other) in enumerate(_sides(test)):
            if isinstance(attribute, Attribute):
                # A bare word on the right may be a text without its quotes.
                quoted = f"texts stand in quotes: '{attribute.name}'" if number else otherwise
                _check_attribute(attribute, other, known, owner, scope, quoted)
        match test:
            case Compare(Attribute(left), _, Attribute(right, span)) if left in known and right in known:
                _check_same_kind(left, known[left], right, known[right], span, scope)
            case _:
                pass


def _sides(
    test: Compare | IsNull | Like,
) -> Iterator[tuple[Attribute | RoleAttribute, Literal | None]]:
    """The attributes of a leaf of a filter, each with the constant that it is compared with, if any."""
    match test:
        case Compare(left, _, right):
            yield left, right if isinstance(right, Literal) else None
            if isinstance(right, Attribute | RoleAttribute):
                yield right, None
        case IsNull(operand):
            yield operand, None
        case Like(operand, pattern):
            yield operand, Literal(pattern, test.span)
        case _:
            assert_never(test)


def _check_same_kind(
    left: str, left_type: str, right: str, right_type: str, span: Span | None, scope: _Scope
) -> None:
    kinds = [_KINDS.get(declared, declared) for declared in (left_type, right_type)]
    if "unknown" not in kinds and kinds[0] != kinds[1]:
        message = f"{left!r} is {left_type}, but is compared with {right!r}, which is {right_type}"
        scope.note("type-mismatch", message, span, "compare attributes of one kind")


def _check_attribute(
    attribute: Attribute | RoleAttribute,
    other: Literal | None,
    known: Mapping[str, str],
    owner: str,
    scope: _Scope,
    otherwise: str = "",
) -> None:
    if attribute.name not in known:
        scope.note(
            "unknown-attribute",
            f"{owner} has no attribute {attribute.name!r}",
            attribute.span,
            did_you_mean(attribute.name, known, otherwise if not known or "'" in otherwise else ""),
        )
    elif other is not None:
        _check_kinds(f"{owner}.{attribute.name}", known[attribute.name], other, scope)


def _check_kinds(owner: str, declared: str, literal: Literal, scope: _Scope) -> None:
    expected = _KINDS.get(declared, declared)
    if (
        expected == "timestamp"
        and isinstance(literal.value, str)
        and parse_timestamp(literal.value) is not None
    ):
        return
    if expected not in ("unknown", kind(literal.value)):
        scope.note(
            "type-mismatch",
            f"{owner} is {declared}, but is compared with a {kind(literal.value)}",
            literal.span,
            f"compare it with {_EXAMPLES.get(expected, 'something else: it cannot be compared')}",
        )


def _check_variables(
    filter: Filter | None, scope: _Scope, spec: EventSpec, bound: frozenset[str], *, may_bind: bool
) -> frozenset[str]:
    """Check that the first use of a variable is `=`, and not under OR or NOT (C.3.7)."""
    match filter:
        case None | Unify():
            return bound
        case And(parts):
            for part in parts:
                bound = _check_variables(part, scope, spec, bound, may_bind=may_bind)
            return bound
        case Or(parts):
            for part in parts:
                _check_variables(part, scope, spec, bound, may_bind=False)
            return bound
        case Not(part):
            _check_variables(part, scope, spec, bound, may_bind=False)
            return bound
        case Compare(left, relation, Variable(name, span)):
            _check_variable_kind(name, left, scope, spec, span)
            # A part that could not be parsed may have bound it.
            if name not in bound and not (may_bind and relation is Relation.EQ) and scope.readable:
                scope.note(
                    "unbound-variable",
                    f"${name} has no value here",
                    span,
                    f"on every way to this place an earlier event must bind it with `attribute = ${name}`, "
                    "outside OR, NOT and [! …]",
                )
            return bound | {name}
        case Compare() | IsNull() | Like():
            return bound
        case _:
            assert_never(filter)


def _check_variable_kind(
    name: str, left: Attribute | RoleAttribute, scope: _Scope, spec: EventSpec, span: Span | None
) -> None:
    declared = (
        scope.catalog.attributes(spec.name).get(left.name) if spec.name not in scope.composites else None
    )
    if declared is None:
        return
    own = _KINDS.get(declared, declared)
    first = scope.kinds.setdefault(name, own)
    if first != own:
        scope.note(
            "type-mismatch",
            f"${name} holds a {first}, but {spec.name}.{left.name} is {declared}",
            span,
            "compare a variable only with attributes of the kind that bound it",
        )


def _check_where(subscription: Subscription, scope: _Scope) -> None:
    patterns = [subscription.pattern, *scope.composites.values()]
    roles = {name for pattern in patterns for name in roles_of(pattern)} - scope.defined
    readable = all(atom.accept for pattern in patterns for atom in atoms(pattern))
    for test in leaves(subscription.where):
        for side, other in _sides(test):
            if not isinstance(side, RoleAttribute):
                continue
            if side.role not in roles:
                if readable:
                    hint = did_you_mean(side.role, roles)
                    scope.note(
                        "unknown-role", f"the pattern takes no event as {side.role!r}", side.span, hint
                    )
            elif scope.catalog.describes(side.role):
                known = scope.catalog.attributes(side.role)
                _check_attribute(side, other, known, side.role, scope)


def _selection_errors(subscription: Subscription) -> Iterator[PatternError]:
    """Mistakes in the selection: it must be possible for the matches of this pattern."""
    selection = subscription.selection
    if selection.take == "count" and subscription.where is not None:
        yield PatternError(
            "count-where",
            "the number of matches has no events that `where` could ask about",
            subscription.where.span,
            "leave `where` out, or take all",
        )
    if selection.matches == "adjacent":
        for definition in subscription.definitions:
            yield _no_neighbour(f"the composite {definition.name}", definition.span)
        for parallel in _parallel_parts(subscription.pattern):
            yield _no_neighbour("what is found in parallel", parallel.span)


def _no_neighbour(what: str, span: Span | None) -> PatternError:
    return PatternError(
        "adjacent-composites",
        f"{what} has no neighbours: the events it is made of lie among the others",
        span,
        "adjacent events are single events; leave out the composite, or matches = adjacent",
    )


def _parallel_parts(pattern: Pattern) -> Iterator[AllOf]:
    """The outermost parallel parts of a pattern."""
    if isinstance(pattern, AllOf):
        yield pattern
        return
    for child in children(pattern):
        yield from _parallel_parts(child)


def wanting(subscription: Subscription, selection: Selection | None) -> Subscription:
    """The subscription with this selection unless it has its own; raises `PatternErrors` if it cannot have it.

    >>> wanting(Subscription(Atom((EventSpec("A"),))), Selection.of("next", "last")).selection.matches
    'next'
    """
    if selection is None:
        return subscription
    own, usual = subscription.selection, Selection()
    matches = selection.matches if own.matches == usual.matches else own.matches
    taken = selection if own.take == usual.take else own
    chosen = replace(subscription, selection=Selection(matches, taken.take, taken.limit))
    if errors := list(_selection_errors(chosen)):
        raise PatternErrors(errors)
    return chosen
