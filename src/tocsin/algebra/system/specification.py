"""What is specified of a system: conditions on its states, and when they hold.

| written                 | holds if                                                                |
|-------------------------|-------------------------------------------------------------------------|
| always P                | P holds in every state that can be reached                              |
| never P                 | P holds in none                                                         |
| possible P              | P holds in some state that can be reached                               |
| always possible P       | from every state that can be reached, one in which P holds can be       |
| P leads to Q            | after every state in which P holds there comes one in which Q holds, whatever happens |
| never deadlock          | in every state that can be reached, something can happen                |

A state after which nothing can happen counts as lasting for ever.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from tocsin.errors import Span

Form = OneOf["always", "never", "possible", "always possible", "leads to", "never deadlock"]


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InMode:
    """An instance is in a mode."""

    instance: str
    mode: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class IsOff:
    """A label of a correlation is switched off."""

    correlation: str
    label: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An event that left by an end has not been delivered yet; without an end, any event."""

    owner: str | None = None
    port: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class NotSo:
    """The opposite."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Both:
    """Both parts hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part holds."""

    left: Condition
    right: Condition


Condition = InMode | IsOff | UnderWay | NotSo | Both | Either


@dataclass(frozen=True, slots=True)
class Specification:
    """A named demand on all that a system can do; `then` is the second condition of `leads to`, `written` its text."""

    name: str
    form: Form
    condition: Condition | None = None
    then: Condition | None = None
    written: str = field(default="", compare=False)
    span: Span | None = _span()
