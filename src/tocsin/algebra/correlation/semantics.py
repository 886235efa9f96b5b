"""The meaning of correlations, in simple, slow Python; everything faster must agree with it.

The definitions of the paper are in `definitions`, the contents of a window in `window`. This module turns
them into triggers, active labels and runs of the transformer. The rules, with their numbers in the
project's list of decisions:

- a window starts right after the previous trigger of its branch (C.2.2);
- labels of a branch are evaluated only when that branch triggers (C.2.4);
- all triggers of one event, their labels and what is aborted are fixed before the first body runs; then the
  bodies run in the order of the branches; then branches that an abort completed trigger, in rounds; none
  triggers twice (C.2.5, C.2.9);
- guards are evaluated first, then the bodies run in the order of the text (C.2.7).

Paper: 001, Definitions 4 to 7, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tocsin.algebra.correlation.definitions import Labels, holds, is_shortest, matches, without
from tocsin.algebra.correlation.expression import (
    Branches,
    Correlation,
    Expression,
    Interpretation,
    Labelled,
    Switch,
    events,
)
from tocsin.algebra.correlation.outcome import (
    Arrival,
    DeadLetter,
    Outcome,
    Output,
    Skipped,
    Trigger,
    admit,
    perform,
    survivor,
)
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.correlation.window import History, Moment, Place, aborted, accepts, placed, taking_part

__all__ = ["holds", "is_shortest", "matches", "run", "triggers", "without"]


def triggers(
    branches: Branches,
    trace: Iterable[str],
    interpretation: Interpretation | None = None,
    off: Iterable[str] = (),
) -> tuple[Trigger, ...]:
    """The triggers of a filter on a trace, with some labels switched off from the beginning.

    >>> from tocsin.algebra.correlation.expression import Atom, Sequence
    >>> [t.window for t in triggers((Sequence(Sequence(Atom("a"), Atom("b")), Atom("a")),), "abbabaaba")]
    [(1, 4), (5, 9)]
    """
    bare = Correlation("", "", (), branches, (Switch("abort", tuple(off)),))
    return run(bare, map(Arrival, trace), interpretation).triggers


def run(
    correlation: Correlation,
    trace: Iterable[Arrival],
    interpretation: Interpretation | None = None,
    types: Types | None = None,
) -> Outcome:
    """Run a correlation over a trace.

    If the types are given, events that do not fit their port are dead letters.
    """
    engine = Engine(correlation, interpretation or Interpretation(), types)
    for arrival in trace:
        engine.feed(arrival)
    return Outcome(
        tuple(engine.triggers),
        tuple(result for result in engine.results if isinstance(result, Output)),
        tuple(sorted(engine.off)),
        tuple(result for result in engine.results if isinstance(result, Skipped)),
        tuple(engine.dead),
    )


@dataclass
class _Window:
    """A branch with its labelled parts, each at its place, and its history since the last trigger."""

    root: Place
    labels: Mapping[str, Place]
    start: int = 1
    history: History = (Moment(None, frozenset()),)
    arrivals: list[Arrival] = field(default_factory=list)


def _window(branch: Expression) -> _Window:
    root = placed(branch)
    labels = {place.part.label: place for place in root.all() if isinstance(place.part, Labelled)}
    return _Window(root, labels)


class Engine:
    """A correlation while it runs over a trace."""

    def __init__(self, correlation: Correlation, interpretation: Interpretation, types: Types | None) -> None:
        self.correlation = correlation
        self.interpretation = interpretation
        self.types = types
        self.at = 0
        self.off: Labels = frozenset()
        self.triggers: list[Trigger] = []
        self.results: list[Output | Skipped] = []
        self.dead: list[DeadLetter] = []
        self.windows = [_window(branch) for branch in correlation.branches]
        for switch in correlation.initial:
            self._switch(switch)
        for window in self.windows:
            self._restart(window)

    def feed(self, arrival: Arrival) -> None:
        self.at += 1
        admitted = admit(arrival, self.at, self.correlation, self.types)
        if isinstance(admitted, DeadLetter):
            self.dead.append(admitted)
            return
        for window in self.windows:
            window.history += (Moment(admitted.event, window.history[-1].off),)
            window.arrivals.append(admitted)
        done: set[int] = set()
        completed = [
            n for n, window in enumerate(self.windows) if self._looks(window, admitted) and self._complete(n)
        ]
        while completed:
            done.update(completed)
            self._transform(completed, admitted.time)
            again = self.interpretation.abort == "eager"
            completed = [n for n in range(len(self.windows)) if again and n not in done and self._complete(n)]

    def _looks(self, window: _Window, arrival: Arrival) -> bool:
        """Whether to check a branch for completeness: with lazy aborts, only when an event it can use arrives."""
        left = without(window.root.part, self.off)
        return self.interpretation.abort == "eager" or (left is not None and arrival.event in events(left))

    def _complete(self, number: int) -> bool:
        window = self.windows[number]
        return accepts(window.root, window.history)

    def _transform(self, completed: Iterable[int], time: int | None) -> None:
        gone = [name for w in self.windows for name, place in w.labels.items() if aborted(place, self.off)]
        fixed = []
        for number in completed:
            window = self.windows[number]
            active = sorted(self._active(window) - set(gone))
            self.triggers.append(Trigger(self.at, number, (window.start, self.at), tuple(active)))
            fixed.append((active, self._seen(window)))
            self._restart(window)
        for active, seen in fixed:
            chosen = [case for case in self.correlation.cases if holds(case.guard, active, gone)]
            for statement in (statement for case in chosen for statement in case.body):
                if isinstance(statement, Switch):
                    self._switch(statement)
                else:
                    self.results.append(perform(statement, seen, self.at, time, self.types))

    def _active(self, window: _Window) -> Labels:
        """The labels whose expression the trigger matches. Paper: 001, Definitions 6 and 7."""
        if self.interpretation.activity == "local":
            return taking_part(window.root, window.history)
        alone = {label: placed(place.part, place.under) for label, place in window.labels.items()}
        return frozenset(label for label, place in alone.items() if accepts(place, window.history))

    def _seen(self, window: _Window) -> Mapping[str, Arrival]:
        """The arrivals the transformer sees: the most recent of each event, or the earliest."""
        seen: dict[str, Arrival] = {}
        for arrival in window.arrivals:
            old = seen.get(arrival.event, arrival)
            seen[arrival.event] = survivor(old, arrival, self.interpretation.overwrite)
        return seen

    def _switch(self, switch: Switch) -> None:
        for label in switch.labels:
            abort = switch.action == "abort" or (switch.action == "toggle" and label not in self.off)
            self.off = self.off | {label} if abort else self.off - {label}
            for window in self.windows:
                # A branch knows only its own labels; switching others does not affect its window.
                own = self.off & window.labels.keys()
                if own != window.history[-1].off:
                    window.history += (Moment(None, own),)

    def _restart(self, window: _Window) -> None:
        window.start = self.at + 1
        window.history = (Moment(None, window.history[-1].off),)
        window.arrivals = []
