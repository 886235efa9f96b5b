"""Patterns as Python values: each method returns a new pattern and changes none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NoReturn

from tocsin.algebra.predicate import And, Attribute, Filter, Variable, operands
from tocsin.algebra.tokens.bounds import MAX_DEPTH
from tocsin.algebra.tokens.check import check
from tocsin.algebra.tokens.extent import depth
from tocsin.algebra.tokens.pattern import AllOf, Atom, EventSpec, Order, Pattern
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Definition, Detection, Interpretation, Subscription
from tocsin.errors import PatternError, PatternErrors
from tocsin.events import Catalog, parse_duration
from tocsin.languages import phrases, registry
from tocsin.languages.binding.built_condition import Comparable, Condition, attribute, check_name
from tocsin.languages.binding.printer import show
from tocsin.languages.lexis import MAX_DURATION, UNITS
from tocsin.languages.quoted_conditions import read_filter


def event(name: str | int) -> Expression:
    """One event of the type, set of types, or composite with this name.

    >>> print(event("A").after(event("B").repeated(3)))
    [B][B][B];[A]
    >>> print(event("pay-ok").followed_by(event(4624)))
    ['pay-ok'];[4624]
    """
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        hint = 'write event("A"), with the name of a type as it stands in the table'
        raise PatternError("bad-name", f"{name!r} is not the name of a type", None, hint)
    return Expression(Atom((EventSpec(str(name)),)))


@dataclass(frozen=True, slots=True, repr=False)
class Expression:
    """A pattern to build on. `str()` is its text in the core language, `repr()` the code that builds it.

    >>> event("A") | event("B")
    event("A").or_(event("B"))

    Args:
        built: the pattern as it was built, with timers that have no names yet; `pattern` is the finished one.
        definitions: the named patterns it uses.
    """

    built: Pattern
    definitions: tuple[Definition, ...] = ()

    def __post_init__(self) -> None:
        if depth(self.built) > MAX_DEPTH:
            message = f"more than {MAX_DEPTH} parts inside one another"
            raise PatternError("too-deep", message, self.built.span, "name parts of it")
        phrases.sized(self.built)

    # Sequences

    def followed_by(self, other: Expression | str) -> Expression:
        """This, and then the other, which begins only after this is over: `;`. A text is the name of an event."""
        other = as_expression(other)
        return self._with(phrases.linked(self.built, other.built, Order.STRONG), other)

    def then(self, other: Expression | str) -> Expression:
        """This, and then the other, which may overlap with this in time: juxtaposition."""
        other = as_expression(other)
        return self._with(phrases.linked(self.built, other.built, Order.WEAK), other)

    def after(self, other: Expression | str) -> Expression:
        """This, but only after the other is over: `other.followed_by(this)`."""
        return as_expression(other).followed_by(self)

    # Choices

    def or_(self, other: Expression | str) -> Expression:
        """One of the two: `|`."""
        other = as_expression(other)
        return self._with(phrases.either(self.built, other.built), other)

    __or__ = or_

    def and_(self, other: Expression | str) -> Expression:
        """Both, in any order: `||`."""
        other = as_expression(other)
        return self._with(AllOf(self.built, other.built), other)

    __and__ = and_

    # How often

    def repeated(self, times: int, most: int | None = None) -> Expression:
        """This repeated `times` times, one after the other; with `most`, from `times` to `most` times."""
        _check_count(times)
        if most is not None:
            _check_count(most)
        return self._with(phrases.repeated(self.built, times, most))

    def at_least(self, times: int) -> Expression:
        """This repeated `times` times or more."""
        _check_count(times)
        return self._with(phrases.at_least(self.built, times))

    def any_number(self) -> Expression:
        """This zero or more times: `*`."""
        return self._with(phrases.at_least(self.built, 0))

    def optional(self) -> Expression:
        """This once or not at all: `?`."""
        return self._with(phrases.repeated(self.built, 0, 1))

    # Time

    def within(self, limit: str) -> Expression:
        """Only if the last event ends at most this long after the end of the first, as in `.within("5 min")`."""
        return self._with(phrases.within(self.built, _microseconds(limit)))

    def not_followed_by(self, other: Expression | str, within: str) -> Expression:
        """This, and then none of the other for this long."""
        other = as_expression(other)
        return self._with(phrases.not_followed_by(self.built, other.built, _microseconds(within)), other)

    # Conditions

    def unless(self, other: Expression | str) -> Expression:
        """This, abandoned as soon as the other event happens; the next first event begins another attempt."""
        other = as_expression(other)
        stoppers = phrases.plain_events(other.built, "`unless`")
        return self._with(phrases.without(self.built, stoppers), other)

    def where(self, *conditions: Condition | str, **equal: Comparable | Variable) -> Expression:
        """Only events whose attributes meet all these conditions; a text is a condition of the core language.

        >>> print(event("Temp").where(attribute("temp") < 15, location="FE02"))
        [Temp(temp < 15 AND location = 'FE02')]
        >>> print(event("F").where("x > 3"))
        [F(x > 3)]
        """
        asked = [read_filter(c) if isinstance(c, str) else c.filter for c in conditions]
        asked += [(attribute(name) == value).filter for name, value in equal.items()]
        if not isinstance(self.built, Atom) or len(self.built.accept) != 1:
            hint = "ask it of each event before joining them"
            raise PatternError(
                "not-one-event", "only one event has attributes to ask for", self.built.span, hint
            )
        if any(not isinstance(o, Attribute) for filter in asked for o in operands(filter)):
            hint = "give it to .subscription(where= … )"
            raise PatternError("bad-value", "an event is asked only for its own attributes", None, hint)
        own = self.built.accept[0]
        narrowed = replace(own, filter=_both(own.filter, asked))
        domain = tuple(narrowed if spec == own else spec for spec in self.built.domain)
        return self._with(replace(self.built, accept=(narrowed,), domain=domain))

    # The whole

    def named(self, name: str) -> Expression:
        """The composite event that this is, under a name, to be used like any other event.

        >>> visit = event("Open").followed_by(event("Close")).named("Visit")
        >>> print(visit.repeated(2))
        Visit := ([Open];[Close]);
        [Visit][Visit]
        """
        check_name(name)
        definitions = merged(self.definitions, (Definition(name, self.built),))
        return Expression(Atom((EventSpec(name),)), definitions)

    def subscription(
        self,
        name: str = "pattern",
        *,
        where: Condition | None = None,
        selection: Selection = Selection(),
        detection: Detection | None = None,
        distribution: str | None = None,
        interpretation: Interpretation | None = None,
        catalog: Catalog | None = None,
    ) -> Subscription:
        """The checked subscription to detect; raises `PatternErrors` with all mistakes.

        Args:
            where: a condition on each match after it was found.
            selection: which matches are wanted, as in `Selection.of("leftmost", "first 3")`.
        """
        subscription = replace(
            self.unchecked(),
            name=name,
            where=None if where is None else where.filter,
            detection=detection,
            distribution=distribution,
            selection=selection,
            interpretation=interpretation or phrases.READING,
        )
        errors = check(subscription, catalog)
        if errors:
            raise PatternErrors(errors)
        return subscription

    @property
    def pattern(self) -> Pattern:
        """The pattern, with its timers named."""
        return self.unchecked().pattern

    def __str__(self) -> str:
        return registry.show(self.unchecked(), registry.DEFAULT)

    def __repr__(self) -> str:
        return show(self.built, {d.name: d.pattern for d in self.definitions})

    def __bool__(self) -> NoReturn:
        # Python calls this for `a and b` and `a or b`, and would then drop one of the two.
        raise PatternError(
            "no-truth", "a pattern is neither true nor false", None, "join patterns with & and |"
        )

    def _with(self, built: Pattern, *others: Expression) -> Expression:
        return Expression(built, merged(self.definitions, *(other.definitions for other in others)))

    def unchecked(self) -> Subscription:
        names = [d.name for d in self.definitions]
        definitions = tuple(replace(d, pattern=phrases.finished(d.pattern, names)) for d in self.definitions)
        finished = phrases.finished(self.built, names)
        return Subscription(finished, definitions, interpretation=phrases.READING)


def as_expression(other: Expression | str) -> Expression:
    """The expression; of a text, the event with that name."""
    if isinstance(other, str):
        return event(other)
    if not isinstance(other, Expression):
        hint = 'write event("A"), or the name of an event: "A"'
        raise PatternError("bad-value", f"{other!r} is not a pattern", None, hint)
    return other


def merged(*groups: Iterable[Definition]) -> tuple[Definition, ...]:
    """Each definition once, those that others use before them."""
    found: dict[str, Definition] = {}
    for definition in (d for group in groups for d in group):
        if found.setdefault(definition.name, definition) != definition:
            message = f"{definition.name!r} names two different patterns"
            raise PatternError("duplicate-name", message, None, "give one of the two another name")
    return tuple(found.values())


def _both(first: Filter | None, more: list[Filter]) -> Filter | None:
    known = () if first is None else first.parts if isinstance(first, And) else (first,)
    parts = (*known, *more)
    return And(parts) if len(parts) > 1 else parts[0] if parts else None


def _check_count(times: object) -> None:
    if isinstance(times, bool) or not isinstance(times, int):
        raise PatternError("bad-count", f"{times!r} is not a number of times", None, "write .repeated(3)")


def _microseconds(limit: object) -> int:
    after = parse_duration(limit) if isinstance(limit, str) and len(limit) <= 30 else None
    if after is None or after > MAX_DURATION:
        raise PatternError(
            "bad-duration", f"{limit!r} is not a duration", None, f'write "5min"; units: {UNITS}'
        )
    return after
