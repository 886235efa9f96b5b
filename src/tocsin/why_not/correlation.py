"""How far the branches of correlations got, from the windows of their reference.

An attempt is a window of a branch: it begins with the first event that the branch can use after its last trigger, and becomes
a match when it triggers. Aborts make it lose events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tocsin.algebra.completion.fields import fields_of, holds
from tocsin.algebra.correlation.expression import Atom, Correlation, Library
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.algebra.correlation.semantics import Engine
from tocsin.algebra.correlation.window import Place, awaited, taken_atoms
from tocsin.algebra.predicate import Filter
from tocsin.automata.correlation.ports import port_filters
from tocsin.compile.family import NamedText, parsed
from tocsin.compile.plan_texts import family_of
from tocsin.events import Event
from tocsin.explain.correlation.wording import Printers, printers_of
from tocsin.why_not.account import Answer, Asked, Attempt, Happened, Taken


@dataclass
class _Watched:
    """A correlation as it runs; of each branch the events since its last trigger that it could use."""

    correlation: Correlation
    engine: Engine
    filters: tuple[Filter, ...]  # for each event of the correlation, which events are that
    printers: Printers
    used: list[list[Taken]] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)

    def feed(self, event: Event) -> None:
        fields = fields_of(event)
        parameters = zip(self.correlation.parameters, self.filters, strict=False)
        name = next((one.name for one, filter in parameters if holds(filter, fields)), None)
        if name is None:
            return
        happened = Happened(
            ", ".join(sorted(event.types)),
            event.interval.start,
            event.interval.end,
            event.id,
            dict(event.attributes),
        )
        before = [taken_atoms(window.root, window.history) for window in self.engine.windows]
        triggers = len(self.engine.triggers)
        self.engine.feed(Arrival(name, None, dict(event.attributes), event.interval.end))
        triggered = {trigger.branch for trigger in self.engine.triggers[triggers:]}
        for number, window in enumerate(self.engine.windows):
            if number in triggered:
                taken = (*self.used[number], Taken(name, happened))
                reason = "it triggers"
                self.attempts.append(
                    Attempt(self._named(number), taken, (), "matched", happened.end, None, reason)
                )
                self.used[number] = []
                continue
            after = taken_atoms(window.root, window.history)
            if after - before[number]:
                self.used[number].append(Taken(name, happened))
            elif before[number] - after:
                reason = "a label was switched off, and what it had taken is lost"
                self.attempts.append(
                    Attempt(
                        self._named(number),
                        tuple(self.used[number]),
                        self._awaited(number),
                        "ended",
                        happened.end,
                        happened,
                        reason,
                    )
                )
                kept = {_event(atom) for atom in after}
                self.used[number] = [one for one in self.used[number] if one.role in kept]

    def account(self) -> list[Attempt]:
        waiting = [
            Attempt(self._named(number), tuple(used), self._awaited(number), "waiting")
            for number, used in enumerate(self.used)
            if used
        ]
        return [*self.attempts, *waiting]

    def begins(self) -> tuple[str, ...]:
        return tuple(name for number in range(len(self.engine.windows)) for name in self._awaited(number))

    def _awaited(self, number: int) -> tuple[str, ...]:
        window = self.engine.windows[number]
        return tuple(dict.fromkeys(_event(atom) for atom in awaited(window.root, window.history)))

    def _named(self, number: int) -> str:
        if len(self.correlation.branches) == 1:
            return self.correlation.name
        return (
            f"{self.correlation.name}, branch {self.printers.expression(self.correlation.branches[number])}"
        )


def _event(place: Place) -> str:
    assert isinstance(place.part, Atom)
    return place.part.event


def account_for(asked: Asked) -> Answer:
    """The windows of all branches of a library."""
    text = NamedText(asked.language, "", asked.value, asked.options)
    (linked,) = family_of(asked.language).link([text], True)
    library: Library = parsed(linked)
    options = asked.language.options_of(linked.options)
    bound: Mapping[str, Mapping[str, str]] = options.ports or {}
    runs = []
    for one in library.correlations:
        engine = Engine(one, options.interpretation, options.types)
        filters = port_filters(one, options.types, bound.get(one.name))
        watched = _Watched(one, engine, filters, printers_of(asked.language))
        watched.used = [[] for _ in engine.windows]
        runs.append(watched)
    begins = tuple(dict.fromkeys(name for run in runs for name in run.begins()))
    for event in asked.events:
        for run in runs:
            run.feed(event)
    return Answer(tuple(one for run in runs for one in run.account()), begins, _dead(runs))


def _dead(runs: Sequence[_Watched]) -> tuple[str, ...]:
    return tuple(
        f"{run.correlation.name}: event {letter.at} does not fit its port, which takes {letter.expected}"
        for run in runs
        for letter in run.engine.dead
    )
