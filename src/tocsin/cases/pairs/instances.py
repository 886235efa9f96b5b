"""What an engine finds for an expression in some events, in a form that all engines share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tocsin.algebra.pairs.clock import observed
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.observation import Instance
from tocsin.algebra.pairs.semantics import instances, reactions
from tocsin.automata.pairs.compile import Wanted
from tocsin.automata.pairs.in_process import detect
from tocsin.cases.model import ON_SPARK, Asked, Compared, Skip
from tocsin.cases.pairs.class_times import TICK
from tocsin.errors import CaseError
from tocsin.events import Event, Interval
from tocsin.languages.language import Language
from tocsin.runtime.moments import FOREVER

if TYPE_CHECKING:
    from tocsin.cases.parts import Part


@dataclass(frozen=True, slots=True)
class Found:
    """An instance: when it occurs, and the ids of what it is made of; of time events their names."""

    time: int
    ids: tuple[object, ...]

    @property
    def match(self) -> object:
        """As cases write it: the id of an event alone, or a list."""
        return self.ids[0] if len(self.ids) == 1 else list(self.ids)


@dataclass(frozen=True, slots=True)
class Instances:
    """A request for the instances of an expression; the result is a list of `Found`.

    `ticks` are the times of the clock, without which the events themselves make it tick. `reacts`: a negation is wanted
    when it becomes true, as an action is.
    """

    language: Language
    expression: Expression
    events: Sequence[Event]
    ticks: Sequence[int] | None = None
    reacts: bool = False

    @property
    def with_ticks(self) -> list[Event]:
        """The events with the ticks of the clock as events of a type of their own."""
        clock = [Event(f"tick.{tick}", frozenset({TICK}), Interval(tick, tick)) for tick in self.ticks or ()]
        return sorted([*self.events, *clock], key=lambda event: (event.interval.end, TICK in event.types))

    @property
    def wanted(self) -> Wanted:
        """What is to be compiled."""
        return Wanted("", self.expression, None if self.ticks is None else TICK, self.reacts)

    def part(self, number: int) -> Part:
        """The request as a part of a query."""
        # Imported here, because it loads Spark.
        from tocsin.cases.pairs.tables import instances_part

        return instances_part(self, number)


def asked(question: Instances, engine: str, compared: Callable[[list[Found]], Compared]) -> Compared | Asked:
    """The result of an engine compared, or the request to Spark."""
    match engine:
        case "reference":
            return compared(_defined(question))
        case "local":
            return compared(_detected(question, FOREVER))
    if engine not in ON_SPARK:
        raise CaseError("unknown-engine", f"there is no engine {engine!r}")
    if engine == "stream" and len(_detected(question, FOREVER - 1)) < len(_detected(question, FOREVER)):
        raise Skip("a stream never ends, and what is asked is decided only at the end")
    return Asked(question, compared)


def _defined(question: Instances) -> list[Found]:
    observation = observed(question.expression, question.events, question.ticks)
    found = (reactions if question.reacts else instances)(question.expression, observation)
    return [Found(one.time, tuple(_name(leaf) for leaf in one.leaves())) for one in found]


def _name(leaf: Instance) -> Any:
    return leaf.id if leaf.event is not None else str(leaf.id).partition(".")[0]


def _detected(question: Instances, until: int) -> list[Found]:
    found = detect(question.wanted, question.with_ticks, until)
    return [
        Found(one.time, tuple(part.name if part.id is None else part.id for part in one.parts))
        for one in found
    ]
