"""How far ECL expressions got, from the tree of states of their reference.

An attempt begins when an event moves an expression away from where a fresh one, or a new round, stands. It became a match
when an event sends something or completes the whole with success; it ended when the expression is back at a beginning, or has
failed. What it waits for are the predicates that an event is tested against now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from tocsin.algebra.completion import semantics
from tocsin.algebra.completion.expression import (
    Accumulate,
    DoUnless,
    Expression,
    Fail,
    Handwritten,
    Interpretation,
    Loop,
    Modes,
    Named,
    Parallel,
    Persist,
    Predicate,
    Program,
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
)
from tocsin.algebra.completion.fields import Fields, fields_of
from tocsin.algebra.completion.output import Output
from tocsin.algebra.completion.run import Status
from tocsin.algebra.completion.semantics import State
from tocsin.algebra.predicate import Filter
from tocsin.events import Event
from tocsin.explain.completion.wording import printers_of
from tocsin.why_not.account import Answer, Asked, Attempt, Happened, Taken

Show = Callable[[Filter], str]


@dataclass
class _Run:
    """An expression as it runs: its state, what it awaits there, and the attempt that is under way."""

    name: str
    fresh: Callable[[], bool]  # whether it stands at a beginning
    awaited: Callable[[], tuple[str, ...]]
    step: Callable[
        [Fields], tuple[bool, tuple[str, ...], Status]
    ]  # whether it moved, what it sent, its status
    taken: list[Taken] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    over: bool = False

    def feed(self, event: Event) -> None:
        if self.over:
            return
        waited = self.awaited()
        moved, sent, status = self.step(fields_of(event))
        if not moved:
            return
        happened = _happened(event)
        self.taken.append(Taken(happened.type, happened))
        self.over = status is not Status.RUNNING
        if sent or status is Status.SUCCESS:
            said = f"it sends {', '.join(sent)}" if sent else "it has completed"
            self._end("matched", waited, happened, said)
        elif status is Status.FAILURE:
            self._end("ended", waited, happened, "it has failed, and does not start again")
        elif self.fresh():
            self._end("ended", waited, happened, "it failed here, and starts again")

    def _end(self, outcome: str, waited: tuple[str, ...], by: Happened, reason: str) -> None:
        taken = tuple(self.taken if outcome == "matched" else self.taken[:-1])
        if taken:
            ended_by = None if outcome == "matched" else by
            self.attempts.append(
                Attempt(self.name, taken, waited, outcome, by.end, ended_by, reason)  # type: ignore[arg-type]
            )
        self.taken = []

    def account(self) -> list[Attempt]:
        if self.taken and not self.over:
            return [*self.attempts, Attempt(self.name, tuple(self.taken), self.awaited(), "waiting")]
        return self.attempts


def account_for(asked: Asked) -> Answer:
    """The attempts of all subscriptions of a program."""
    printers = printers_of(asked.language)

    def sent(outputs: Sequence[Output]) -> tuple[str, ...]:
        return tuple(printers.output(output) for output in outputs)

    value = asked.value
    assert isinstance(value, Program)
    runs = [
        _expression(one.name or asked.name, one.expression, value.interpretation, printers.filter, sent)
        for one in value.subscriptions
    ]
    begins = tuple(dict.fromkeys(name for run in runs for name in run.awaited()))
    for event in asked.events:
        for run in runs:
            run.feed(event)
    notes = tuple(
        f"{run.name} has ended for good: {run.attempts[-1].reason}"
        for run in runs
        if run.over and run.attempts
    )
    return Answer(tuple(one for run in runs for one in run.account()), begins, notes)


def _expression(
    name: str,
    expression: Expression,
    interpretation: Interpretation,
    show: Show,
    sent: Callable[[Sequence[Output]], tuple[str, ...]],
) -> _Run:
    state = semantics.start(expression)

    def step(event: Fields) -> tuple[bool, tuple[str, ...], Status]:
        nonlocal state
        matters = semantics.matters(expression, state, event)
        state, outputs = semantics.feed(expression, state, event, interpretation)
        return matters, sent(outputs), semantics.status(state)

    return _Run(
        name,
        lambda: _is_fresh(expression, state),
        lambda: tuple(dict.fromkeys(show(filter) for filter in _awaited(expression, state))),
        step,
    )


def _is_fresh(expression: Expression, state: State) -> bool:
    """Whether an expression is at its start, or at the start of another round of a repetition."""
    if isinstance(state, Status):
        return False
    match expression:
        case Named(_, body):
            return _is_fresh(body, state)
        case Push(_, body) | Repeat(body) | Persist(body) | Loop(body) | Fail(body):
            return _is_fresh(body, state.parts[0])
        case _:
            return state == semantics.start(expression)


def _awaited(expression: Expression, state: State) -> Iterator[Filter]:
    """The predicates that the next event is tested against."""
    if isinstance(state, Status):
        return
    match expression:
        case Named(_, body):
            yield from _awaited(body, state)
        case Predicate(filter):
            yield filter
        case Handwritten(machine):
            ready = [t for t in machine.transitions if all(some & state.active for some in t.enable)]
            yield from (t.input for t in ready if t.input is not None)
        case Accumulate(parts) | Select(parts) | SelectStar(parts) | Parallel(parts):
            for part, own in zip(parts, state.parts, strict=True):
                yield from _awaited(part, own)
        case DoUnless(body, _):
            yield from _awaited(body, state.parts[0])
        case Sequential(parts):
            yield from _awaited(parts[state.index], state.parts[0])
        case Modes(modes):
            yield from _awaited(modes[state.index].body, state.parts[0])
            yield from (mode.guard for number, mode in enumerate(modes) if number != state.index)
        case Fail(body) | Push(_, body) | Repeat(body) | Persist(body) | Loop(body):
            yield from _awaited(body, state.parts[0])
        case _:
            assert_never(expression)


def _happened(event: Event) -> Happened:
    interval = event.interval
    name = ", ".join(sorted(event.types))
    return Happened(name, interval.start, interval.end, event.id, dict(event.attributes))
