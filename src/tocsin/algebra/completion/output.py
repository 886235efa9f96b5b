"""The outputs an expression sends to its consumer: a constant, the event itself, or a new event made from it.

The simplified language of the paper only knows constants. Forwarding takes the event that completed the
pushed expression, so an output is still one of finitely many symbols, and every machine, table and analysis
stays exact.

>>> low = Make("Low", (("by", FieldOf("altitude")), ("level", Literal(3))))
>>> value_of(low, {"type": "DATA", "altitude": 480})
{'type': 'Low', 'by': 480, 'level': 3}

Paper: 000, section 2, "Generating output".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import assert_never

from tocsin.algebra.completion.fields import Field, Fields
from tocsin.algebra.predicate import Literal
from tocsin.errors import Span


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """The paper's x: a name, a text or a whole number."""

    value: str | int
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Forward:
    """The completing event as it came."""

    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class FieldOf:
    """A field of the completing event; None if the event lacks it."""

    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Make:
    """A new event of a type, its fields constants or taken from the completing event."""

    type: str
    fields: tuple[tuple[str, Literal | FieldOf], ...] = ()
    span: Span | None = _span()


Output = Constant | Forward | Make
Emitted = str | int | dict[str, Field]


@dataclass(frozen=True, slots=True)
class Emit:
    """An output of a machine: its subscription, its position among all outputs of the text, and its value.

    A machine pushes outputs; on request it also reports `success` or `failure` when it completes.
    """

    output: Output
    to: str = ""
    place: int = field(default=0, compare=False)
    what: OneOf["push", "success", "failure"] = "push"


def value_of(output: Output, event: Fields) -> Emitted:
    """The value the consumer gets when this event completed the pushed expression."""
    match output:
        case Constant(value):
            return value
        case Forward():
            return dict(event)
        case Make(type, fields):
            made: dict[str, Field] = {"type": type}
            for name, source in fields:
                made[name] = event.get(source.name) if isinstance(source, FieldOf) else source.value
            return made
        case _:
            assert_never(output)
