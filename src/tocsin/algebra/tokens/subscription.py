"""A subscription: a pattern with its definitions, its interpretation of the paper, and its policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal as OneOf
from typing import get_args

from tocsin.algebra.predicate import Filter
from tocsin.algebra.tokens.pattern import Pattern
from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError, Span, did_you_mean

Restart = OneOf["on-accept", "always"]
StrongScope = OneOf["whole-operand", "first-symbol"]
Mode = OneOf["best-effort", "guaranteed", "probabilistic"]


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Which of two possible interpretations of the paper is followed.

    `restart`: a start state is gone for good after an event of its domain that it cannot use (`on-accept`), or is always
    there. `strong_scope`: every event of the second operand of `;` lies after the first operand, or only its first event.
    """

    restart: Restart = "on-accept"
    strong_scope: StrongScope = "whole-operand"

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Interpretation:
        """The interpretation given by a mapping of option names to values."""
        choices = {"restart": get_args(Restart), "strong_scope": get_args(StrongScope)}
        for name, value in options.items():
            if name not in choices:
                raise InputError(
                    "unknown-option",
                    f"there is no option {name!r}",
                    hint=did_you_mean(name, [f.name for f in fields(cls)]),
                )
            if value not in choices[name]:
                raise InputError(
                    "bad-option",
                    f"the option {name} cannot be {value!r}",
                    hint="one of " + ", ".join(choices[name]),
                )
        return cls(**options)  # type: ignore[arg-type]  # checked above


@dataclass(frozen=True, slots=True)
class Detection:
    """When an event may be used: at once, when nothing earlier can still come, or when that is likely enough."""

    mode: Mode
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A named composite that patterns can use like an event type."""

    name: str
    pattern: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A pattern to detect, with its name, its interpretation and the selection of its matches."""

    pattern: Pattern
    definitions: tuple[Definition, ...] = ()
    where: Filter | None = None
    detection: Detection | None = None
    distribution: str | None = None
    interpretation: Interpretation = Interpretation()
    selection: Selection = Selection()
    name: str = "pattern"
