"""Online evaluation of a profile: feed events and ticks in order, get the instances that are decided.

>>> from tocsin.algebra.pairs.operators import sequence
>>> from tocsin.events import Interval
>>> running = start(sequence("a", "b", within=2))
>>> [[i.ids for i in feed(running, Event(id, frozenset({id[0]}), Interval(t, t)))] for id, t in (("a1", 1), ("b1", 2))]
[[], [['a1', 'b1']]]

It agrees with `semantics` on every profile. What it keeps is bounded by the timeframes and by the duplicates that are wanted;
it is the design that a compiled kernel follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.algebra.pairs.expression import Expression, with_timeframes
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.online.arrange import arrange
from tocsin.algebra.pairs.online.stage import Moment, Stage
from tocsin.errors import InputError
from tocsin.events import Event


@dataclass
class Running:
    """A running evaluation."""

    stage: Stage
    time: int | None = None
    events: int = 0
    ticks: int = 0
    ticked: bool = False

    def kept(self) -> int:
        """How many instances, times and deletions it keeps."""
        return self.stage.kept()


def start(expression: Expression) -> Running:
    """An evaluation that has seen nothing yet."""
    return Running(arrange(with_timeframes(expression), outermost=True))


def feed(running: Running, event: Event) -> Sequence[Instance]:
    """The instances that an event decides. Events come in the order of time, before the tick of their time."""
    time = event.interval.end
    _pass(running, time, tick=False)
    place = (time, 0, running.events)
    running.events += 1
    return running.stage.advance(Moment(place, (time, 0, running.events), event)).instances


def tick(running: Running, time: int) -> Sequence[Instance]:
    """The instances that a tick of the clock decides."""
    _pass(running, time, tick=True)
    running.ticks += 1
    place = (time, 1, running.ticks)
    return running.stage.advance(Moment(place, (time, 1, running.ticks + 1), tick=running.ticks)).instances


def finish(running: Running, end: int) -> Sequence[Instance]:
    """The instances that the end of observation decides."""
    if running.time is not None and end < running.time:
        raise InputError(
            "early-end", f"the observation ends at {end}, but there was something at {running.time}"
        )
    return running.stage.advance(Moment(None, (end + 1, 0, 0), final=True)).instances


def evaluate(expression: Expression, observation: Observation) -> tuple[Instance, ...]:
    """The instances of an expression in a whole observation, found online."""
    running = start(expression)
    found: list[Instance] = []
    moments = [((event.interval.end, 0), event) for event in observation.events]
    for (time, _), event in sorted(
        [*moments, *(((t, 1), None) for t in observation.ticks)], key=lambda m: m[0]
    ):
        found += tick(running, time) if event is None else feed(running, event)
    return (*found, *finish(running, observation.end))


def _pass(running: Running, time: int, tick: bool) -> None:
    """Time passes to the next event or tick."""
    before = running.time
    if before is not None and (time < before or (time == before and running.ticked)):
        raise InputError(
            "out-of-order",
            f"something of the time {time} comes after the {'tick' if running.ticked else 'event'} of {before}",
            hint="sort events by time, and let a tick follow the events of its time",
        )
    running.time, running.ticked = time, tick
