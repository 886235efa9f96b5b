"""The meaning of phrases in the higher-level languages: `within`, `without`, `repeated`, `not followed by`.

| phrase                         | core language                  |
|--------------------------------|--------------------------------|
| x followed by y, x then y      | `[x];[y]`, `[x][y]`            |
| x before y                     | `[x in {x,y}][y]`              |
| x without y                    | `[x in {x,y}]`                 |
| x repeated 3 times             | `[x][x][x]`                    |
| x repeated 2 to 5 times        | `[x]{2,5}`                     |
| x followed by y within 1h      | `[x];[y] within 1h`            |
| x not followed by y within 1h  | `([x],[T1 in {T1,y}])_{T1=1h}` |

A phrase without a meaning raises `PatternError` with the place of the pattern it applies to. Timers get
their names at the end, from `finished`: until then a sign that no text has is in front of their numbers. The
way back, from a pattern to a phrase, is in `recognise`.

Paper: 003, "Further Work: Higher-Level Specification Languages", which prints two examples; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import assert_never

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
    rebuilt,
    specs,
    walk,
)
from tocsin.algebra.tokens.subscription import Interpretation
from tocsin.errors import PatternError, counted

# How many event names a pattern may have once its repetitions are expanded.
MAX_NAMES = 10_000
# A start that failed is tried again, as a person expects; the core language follows the paper.
READING = Interpretation(restart="always")
_TIMER = "\0"


def linked(left: Pattern, right: Pattern, order: Order) -> Sequence:
    """One after the other. A chain of equal links is one sequence."""
    if isinstance(left, Sequence) and left.order is order and not is_repetition(left):
        return Sequence((*left.parts, right), order)
    return Sequence((left, right), order)


def either(left: Pattern, right: Pattern) -> AnyOf:
    """One of the two."""
    return AnyOf((*left.options, right) if isinstance(left, AnyOf) else (left, right))


def repeated(body: Pattern, times: int, most: int | None = None) -> Pattern:
    """The pattern repeated `times` times, or from `times` to `most` times.

    >>> len(repeated(Atom((EventSpec("A"),)), 3).parts)
    3
    >>> repeated(Atom((EventSpec("A"),)), 2, 5).parts[2].most
    3
    """
    largest = times if most is None else most
    if times < (1 if most is None else 0) or largest < max(times, 1):
        how = str(times) if most is None else f"{times} to {most}"
        raise PatternError("bad-count", f"{how} times is never", body.span, "repeat it at least once")
    sized(body, largest)
    more = (Optional(body, largest - times),) if largest > times else ()
    return _one((*((body,) * times), *more), Order.WEAK)


def at_least(body: Pattern, times: int) -> Pattern:
    """The pattern repeated `times` times or more."""
    if times < 0:
        raise PatternError("bad-count", f"{times} times cannot be counted", body.span, "count from 0")
    sized(body, times + 1)
    return _one((*((body,) * times), Repeat(body)), Order.WEAK)


def sized(pattern: Pattern, times: int = 1) -> Pattern:
    """The pattern, unless it would name too many events when repeated `times` times."""
    size = times * sum(1 for _ in specs(pattern))
    if size > MAX_NAMES:
        message = f"written out, this names {counted(size, 'event')}"
        raise PatternError("too-large", message, pattern.span, f"at most {MAX_NAMES:,}")
    return pattern


def is_repetition(pattern: Pattern) -> bool:
    """Whether a pattern is the same thing several times over."""
    return (
        isinstance(pattern, Sequence)
        and pattern.order is Order.WEAK
        and all(part == pattern.parts[0] for part in pattern.parts)
    )


def plain_events(pattern: Pattern, phrase: str) -> tuple[EventSpec, ...]:
    """The events of a pattern that is nothing but one event, or one of several."""
    match pattern:
        case Atom(accept, (), False):
            return accept
        case AnyOf(options):
            return tuple(spec for option in options for spec in plain_events(option, phrase))
        case _:
            raise PatternError(
                "not-one-event",
                f"what stands after {phrase} must be one event, or one of several",
                pattern.span,
                "name the larger pattern and use its name here",
            )


def without(body: Pattern, stoppers: tuple[EventSpec, ...]) -> Pattern:
    """The pattern, ended by any of `stoppers` wherever it waits.

    >>> without(Atom((EventSpec("A"),)), (EventSpec("B"),)).domain
    (EventSpec(name='A', filter=None), EventSpec(name='B', filter=None))
    """
    match body:
        case Atom(accept, domain):
            known = domain or accept
            more = tuple(spec for spec in stoppers if spec not in known)
            # Accepted events first, then other events, then timers: one order, however it was written.
            ordered = sorted(
                known + more, key=lambda spec: (spec not in accept, spec.name.startswith(_TIMER))
            )
            return replace(body, domain=tuple(ordered)) if more else body
        case AllOf():
            raise PatternError(
                "not-inside-and",
                "the two sides of `and` are detected on their own; nothing from outside can end them",
                body.span,
                "say it inside each side",
            )
        case _:
            return rebuilt(body, lambda part: without(part, stoppers))


def not_after(left: Pattern, right: Pattern) -> Pattern:
    """`left`, ended by anything that `right` can start with: what `left before right` requires of `left`."""
    return without(left, _starts(right))


def _starts(pattern: Pattern) -> tuple[EventSpec, ...]:
    match pattern:
        case Atom(accept):
            return accept
        case Sequence(parts):
            return _starts(parts[0])
        case AnyOf(options):
            return tuple(dict.fromkeys(spec for option in options for spec in _starts(option)))
        case Timed(first) | Within(first):
            return _starts(first)
        case AllOf() | Repeat() | Optional():
            return plain_events(pattern, "`before`")
        case _:
            assert_never(pattern)


def within(pattern: Pattern, limit: int) -> Within:
    """The pattern, if its last event ends at most `limit` microseconds after the end of its first."""
    if isinstance(pattern, Atom):
        raise PatternError(
            "within-what",
            "`within` needs one thing that follows another: the first starts the clock",
            pattern.span,
            "say after what it must happen: … followed by … within …",
        )
    return Within(pattern, limit, pattern.span)


def not_followed_by(first: Pattern, second: Pattern, after: int) -> Timed:
    """`first`, and then nothing of `second` for `after` microseconds."""
    timer = Timer(_unused(first), after=after)
    own = EventSpec(timer.name)
    return Timed(first, Atom((own,), (own, *plain_events(second, "`not followed by`"))), timer)


def _one(parts: tuple[Pattern, ...], order: Order) -> Pattern:
    return parts[0] if len(parts) == 1 else Sequence(parts, order)


def _unused(pattern: Pattern) -> str:
    """A name for a timer around a pattern that no timer inside has."""
    return f"{_TIMER}{1 + sum(isinstance(node, Timed) for node in walk(pattern))}"


def finished(pattern: Pattern, taken: Collection[str] = ()) -> Pattern:
    """The pattern as a person would write it: timers called T1, T2, …, and `[A]([B][C])` as `[A][B][C]`.

    `taken` are names that no timer may have, besides those of the events in the pattern.
    """
    used = {spec.name for spec in specs(pattern)} | set(taken)
    names = (name for number in count(1) if (name := f"T{number}") not in used)
    return _flat(_renamed(pattern, {}, names))


def _renamed(pattern: Pattern, known: Mapping[str, str], names: Iterator[str]) -> Pattern:
    match pattern:
        case Atom(accept, domain):
            return replace(
                pattern, accept=_renamed_specs(accept, known), domain=_renamed_specs(domain, known)
            )
        case Timed(first, second, timer):
            name = next(names)
            return Timed(
                _renamed(first, known, names),
                _renamed(second, {**known, timer.name: name}, names),
                replace(timer, name=name),
                pattern.span,
            )
        case _:
            return rebuilt(pattern, lambda part: _renamed(part, known, names))


def _renamed_specs(specs: tuple[EventSpec, ...], known: Mapping[str, str]) -> tuple[EventSpec, ...]:
    return tuple(replace(spec, name=known.get(spec.name, spec.name)) for spec in specs)


def _flat(pattern: Pattern) -> Pattern:
    """Sequences inside sequences of the same order as one, where the meaning stays the same."""
    pattern = rebuilt(pattern, _flat)
    if not isinstance(pattern, Sequence):
        return pattern
    flat: list[Pattern] = []
    for number, part in enumerate(pattern.parts):
        # `[A];([B];[C])` stays as it is: there C must follow A as well.
        inline = isinstance(part, Sequence) and part.order is pattern.order
        if isinstance(part, Sequence) and inline and (part.order is Order.WEAK or number == 0):
            flat += part.parts
        else:
            flat.append(part)
    return replace(pattern, parts=tuple(flat))
