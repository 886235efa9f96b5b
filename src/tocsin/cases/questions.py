"""What cases ask of an engine, as data: so that Spark can be asked for many of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.algebra.completion import expression as ecl
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.subscription import Subscription
from tocsin.events import Catalog, Event


@dataclass(frozen=True, slots=True)
class Matches:
    """Which matches has a subscription in these events? The answer is a list of `Found`."""

    subscription: Subscription
    events: Sequence[Event]
    key: tuple[str, ...]
    catalog: Catalog


@dataclass(frozen=True, slots=True)
class EclRun:
    """What does an expression push, and does it complete? The answer is a `Run`."""

    expression: ecl.Expression
    trace: Sequence[Fields]
    reading: ecl.Reading


@dataclass(frozen=True, slots=True)
class KsuRun:
    """What does a correlation send, and when does it trigger? The answer is an `Outcome`."""

    correlation: ksu.Correlation
    trace: Sequence[Arrival]
    reading: ksu.Reading
    types: Types | None


Question = Matches | EclRun | KsuRun
