"""Expressions of the completion family: from a start, each completes once, with success or failure, or never.

| paper (000, section 2)                    | here                              |
|-------------------------------------------|-----------------------------------|
| a predicate formula p                     | `Predicate`                       |
| accumulate, select, select*, sequential   | `Accumulate`, `Select`, `SelectStar`, `Sequential` |
| do {φ1} unless {φ2}, fail {φ}             | `DoUnless`, `Fail`                |
| push (x) {φ}                              | `Push`                            |
| repeat, persist, loop                     | `Repeat`, `Persist`, `Loop`       |
| parallel {φ1, …}                          | `Parallel`                        |
| in (p1) do {φ1} in (p2) do {φ2} …         | `Modes`                           |
| a correlation machine (Definition 3)      | `Handwritten`                     |

Their meaning is defined in `semantics`, their syntax in `languages.ecl`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal as OneOf
from typing import assert_never, get_args

from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Output
from tocsin.algebra.predicate import And, Filter, Not, Or
from tocsin.errors import InputError, Span, did_you_mean

Outcome = OneOf["success", "failure"]

# Limits on the characters of a text, and on the nesting and the parts of an expression with its definitions expanded.
MAX_LENGTH = 50_000
MAX_DEPTH = 100
MAX_SIZE = 20_000

# The trivial predicates: satisfied by every event, and by none.
TRUE = And(())
FALSE = Or(())


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Predicate:
    """Succeeds on the first event that satisfies the filter; never fails."""

    filter: Filter
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Accumulate:
    """Succeeds when all parts have, fails when one does."""

    parts: tuple[Expression, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Select:
    """Succeeds when one part does, fails when all have."""

    parts: tuple[Expression, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class SelectStar:
    """Succeeds when one part does, fails when one does; success takes precedence."""

    parts: tuple[Expression, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Sequential:
    """One part after the other, each from the event after the one that completed the part before."""

    parts: tuple[Expression, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class DoUnless:
    """Completes with the body, or fails when `unless` succeeds."""

    body: Expression
    unless: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Fail:
    """Turns success into failure and failure into success."""

    body: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Push:
    """Sends an output when the body succeeds."""

    output: Output
    body: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Parallel:
    """Runs its parts independently of each other; never completes."""

    parts: tuple[Expression, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Mode:
    """The expression to evaluate from the event that satisfies the guard onwards."""

    guard: Filter
    body: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Modes:
    """Runs one mode at a time, beginning with the first; never completes."""

    modes: tuple[Mode, ...]
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Repeat:
    """Starts the body again whatever its outcome; succeeds after `times` rounds, if given."""

    body: Expression
    times: int | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Persist:
    """Starts the body again until it succeeds; fails after `times` failures, if given."""

    body: Expression
    times: int | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Loop:
    """Starts the body again until it fails; succeeds after `times` successes, if given."""

    body: Expression
    times: int | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Named:
    """A defined name, with its expression."""

    name: str
    body: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Handwritten:
    """A correlation machine in place of an expression; it completes when one of its final states is active."""

    machine: Machine
    span: Span | None = _span()


Expression = (
    Predicate
    | Accumulate
    | Select
    | SelectStar
    | Sequential
    | DoUnless
    | Fail
    | Push
    | Parallel
    | Modes
    | Repeat
    | Persist
    | Loop
    | Named
    | Handwritten
)


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Which of two possible interpretations of the paper is followed.

    `unless_tie`: how a do-unless completes when both sides succeed on one event. `loop_ends`: how a loop
    completes when its body fails.
    """

    unless_tie: Outcome = "success"
    loop_ends: Outcome = "failure"

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Interpretation:
        """The interpretation given by a mapping of option names to values.

        >>> Interpretation.of({"unless_tie": "failure"}).unless_tie
        'failure'
        """
        names = [f.name for f in fields(cls)]
        for name, value in options.items():
            if name not in names:
                raise InputError(
                    "unknown-option", f"there is no option {name!r}", hint=did_you_mean(name, names)
                )
            if value not in get_args(Outcome):
                raise InputError(
                    "bad-option",
                    f"the option {name} cannot be {value!r}",
                    hint="one of " + ", ".join(get_args(Outcome)),
                )
        return cls(**options)  # type: ignore[arg-type]  # checked above


@dataclass(frozen=True, slots=True)
class Definition:
    """A name for an expression, for use further down in the text."""

    name: str
    expression: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Subscription:
    """The expression of one consumer. A text that is just an expression has one subscription without a name."""

    name: str | None
    expression: Expression
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Program:
    """A text: definitions, then the subscriptions."""

    subscriptions: tuple[Subscription, ...]
    definitions: tuple[Definition, ...] = ()
    interpretation: Interpretation = Interpretation()

    @property
    def expression(self) -> Expression:
        """The expression of a text that has only one."""
        (only,) = self.subscriptions
        return only.expression


def children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside an expression, in textual order."""
    match expression:
        case Predicate() | Handwritten():
            return ()
        case Accumulate(parts) | Select(parts) | SelectStar(parts) | Sequential(parts) | Parallel(parts):
            return parts
        case DoUnless(body, unless):
            return (body, unless)
        case Fail(body) | Push(_, body) | Repeat(body) | Persist(body) | Loop(body) | Named(_, body):
            return (body,)
        case Modes(modes):
            return tuple(mode.body for mode in modes)
        case _:
            assert_never(expression)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it, in textual order."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(children(node))


def filters(expression: Expression) -> tuple[Filter, ...]:
    """The distinct predicates of an expression, guards included."""
    found: dict[Filter, None] = {}
    for node in walk(expression):
        if isinstance(node, Predicate):
            found[node.filter] = None
        elif isinstance(node, Modes):
            found.update(dict.fromkeys(mode.guard for mode in node.modes))
        elif isinstance(node, Handwritten):
            found.update(dict.fromkeys(node.machine.filters))
    return tuple(found)


def outputs(expression: Expression) -> tuple[Output, ...]:
    """Everything that an expression pushes, in textual order."""
    found: list[Output] = []
    for node in walk(expression):
        if isinstance(node, Push):
            found.append(node.output)
        elif isinstance(node, Handwritten):
            found += (emit.output for transition in node.machine.transitions for emit in transition.outputs)
    return tuple(found)


def measure(expression: Expression, known: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Depth and number of parts with definitions expanded; `known` holds those of the defined names."""
    if isinstance(expression, Named):
        return known.get(expression.name) or measure(expression.body, known)
    parts = [measure(child, known) for child in children(expression)]
    if isinstance(expression, Predicate):
        parts.append(_measure_filter(expression.filter))
    elif isinstance(expression, Modes):
        parts += [_measure_filter(mode.guard) for mode in expression.modes]
    return 1 + max([depth for depth, _ in parts], default=0), 1 + sum(size for _, size in parts)


def _measure_filter(filter: Filter) -> tuple[int, int]:
    """Depth and number of operators of a predicate, none for a single comparison; stops where that is too much."""
    depth = size = 0
    level = [filter]
    while level := [part for one in level for part in _operands(one)]:
        depth, size = depth + 1, size + len(level)
        if depth > MAX_DEPTH or size > MAX_SIZE:
            break
    return depth, size


def _operands(filter: Filter) -> tuple[Filter, ...]:
    return filter.parts if isinstance(filter, And | Or) else (filter.part,) if isinstance(filter, Not) else ()
