"""The meaning of completion expressions, in simple, slow Python; every machine must agree with it.

There is no machine here: the state is a tree shaped like the expression, and events are passed down it. The
rules, with their numbers in the project's list of decisions:

- every running part finishes the event before its operator decides (C.1.6), success before failure;
- one event serves all parts that run side by side (C.1.17);
- a part that is restarted, or comes next in a sequence, starts with the next event (C.1.12);
- a mode's guard takes the event away from the active mode, whose own guard is not armed (C.1.13);
- a completed part ignores further events (C.1.18).

Within one event an operator decides one *internal step* after the last of its parts; outputs come in the
order of those steps, and within a step in textual order (C.1.5).

Paper: 000, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

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
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
)
from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.machine_semantics import react, settle
from tocsin.algebra.completion.machine_semantics import status as status_of_machine
from tocsin.algebra.completion.output import Output, value_of
from tocsin.algebra.completion.run import Run, Status


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running expression: its current part, round or mode, and the progress of its parts.

    Of a machine it is the states that are active.
    """

    index: int = 0
    parts: tuple[State, ...] = ()
    active: frozenset[str] = frozenset()


State = Status | Progress


@dataclass(frozen=True, slots=True)
class _Step:
    """The effect of one event: the new state, the last internal step needed, the outputs with their steps."""

    state: State
    last: int = 0
    outputs: tuple[tuple[int, Output], ...] = ()


def run(
    expression: Expression, events: Iterable[Fields], interpretation: Interpretation = Interpretation()
) -> Run:
    """Evaluate an expression over a trace.

    >>> from tocsin.algebra.completion.expression import TRUE
    >>> from tocsin.algebra.completion.output import Constant
    >>> run(Repeat(Push(Constant("x"), Predicate(TRUE)), 2), [{"type": "a"}] * 3).outputs
    ((1, 'x'), (2, 'x'))
    """
    state, outputs, completed_at = start(expression), [], None
    for position, event in enumerate(events, 1):
        state, made = feed(expression, state, event, interpretation)
        outputs += [(position, value_of(output, event)) for output in made]
        if completed_at is None and isinstance(state, Status):
            completed_at = position
    return Run(tuple(outputs), status(state), completed_at)


def status(state: State) -> Status:
    """The status of an evaluation in this state."""
    return state if isinstance(state, Status) else Status.RUNNING


def start(expression: Expression) -> State:
    """The state before the first event."""
    match expression:
        case Named(_, body):
            return start(body)
        case Predicate():
            return Progress()
        case Handwritten(machine):
            return _standing(machine, settle(machine, machine.initial).states)
        case Accumulate(parts) | Select(parts) | SelectStar(parts) | Parallel(parts):
            return Progress(0, tuple([start(part) for part in parts]))
        case DoUnless(body, unless):
            return Progress(0, (start(body), start(unless)))
        case Sequential(parts):
            return Progress(0, (start(parts[0]),))
        case Modes(modes):
            return Progress(0, (start(modes[0].body),))
        case Fail(body) | Push(_, body) | Repeat(body) | Persist(body) | Loop(body):
            return Progress(0, (start(body),))
        case _:
            assert_never(expression)


def feed(
    expression: Expression, state: State, event: Fields, interpretation: Interpretation = Interpretation()
) -> tuple[State, tuple[Output, ...]]:
    """The state after one more event, and the outputs it caused."""
    step = _feed(expression, state, event, interpretation)
    in_order = sorted(step.outputs, key=lambda output: output[0])
    return step.state, tuple(output for _, output in in_order)


def matters(expression: Expression, state: State, event: Fields) -> bool:
    """Whether an awaited predicate or an armed guard accepts the event; if not, it can be dropped."""
    if isinstance(state, Status):
        return False
    match expression:
        case Named(_, body):
            return matters(body, state, event)
        case Predicate(filter):
            return holds(filter, event)
        case Handwritten(machine):
            return react(machine, state.active, event).fired != ((),)
        case Accumulate(parts) | Select(parts) | SelectStar(parts) | Parallel(parts):
            return any(matters(*pair, event) for pair in zip(parts, state.parts, strict=True))
        case DoUnless(body, unless):
            return matters(body, state.parts[0], event) or matters(unless, state.parts[1], event)
        case Sequential(parts):
            return matters(parts[state.index], state.parts[0], event)
        case Fail(body) | Push(_, body) | Repeat(body) | Persist(body) | Loop(body):
            return matters(body, state.parts[0], event)
        case Modes(modes):
            return _switch(expression, state.index, event) is not None or matters(
                modes[state.index].body, state.parts[0], event
            )
        case _:
            assert_never(expression)


def _feed(expression: Expression, state: State, event: Fields, interpretation: Interpretation) -> _Step:
    if isinstance(state, Status):
        return _Step(state)
    match expression:
        case Named(_, body):
            return _feed(body, state, event, interpretation)
        case Predicate(filter):
            return _Step(Status.SUCCESS if holds(filter, event) else state)
        case Handwritten(machine):
            return _in_machine(machine, state, event)
        case Accumulate(parts) | Select(parts) | SelectStar(parts) | Parallel(parts):
            return _together(expression, parts, state, event, interpretation)
        case DoUnless(body, unless):
            return _together(expression, (body, unless), state, event, interpretation)
        case Sequential(parts):
            step = _feed(parts[state.index], state.parts[0], event, interpretation)
            return _one_after_the_other(parts, state.index, step)
        case Modes():
            return _in_mode(expression, state, event, interpretation)
        case Fail(body) | Push(_, body) | Repeat(body) | Persist(body) | Loop(body):
            return _around(
                expression, state.index, _feed(body, state.parts[0], event, interpretation), interpretation
            )
        case _:
            assert_never(expression)


def _in_machine(machine: Machine, state: Progress, event: Fields) -> _Step:
    reaction = react(machine, state.active, event)
    outputs = tuple((0, emit.output) for emit in reaction.outputs)
    return _Step(_standing(machine, reaction.states), len(reaction.fired) - 1, outputs)


def _standing(machine: Machine, active: frozenset[str]) -> State:
    """A machine that has reached a final state has completed."""
    reached = status_of_machine(machine, active)
    return Progress(0, (), active) if reached is Status.RUNNING else reached


# --- operators whose parts run side by side -------------------------------------------------------

_Together = Accumulate | Select | SelectStar | Parallel | DoUnless


def _together(
    expression: _Together,
    parts: Sequence[Expression],
    state: Progress,
    event: Fields,
    interpretation: Interpretation,
) -> _Step:
    steps = [
        _feed(part, before, event, interpretation) for part, before in zip(parts, state.parts, strict=True)
    ]
    last = max(step.last for step in steps)
    outputs = tuple([output for step in steps for output in step.outputs])
    decided = _decide(expression, [status(step.state) for step in steps], interpretation)
    if decided is Status.RUNNING:
        return _Step(Progress(0, tuple([step.state for step in steps])), last, outputs)
    return _Step(decided, last + 1, outputs)


def _decide(expression: _Together, statuses: Sequence[Status], interpretation: Interpretation) -> Status:
    succeeded = [status is Status.SUCCESS for status in statuses]
    failed = [status is Status.FAILURE for status in statuses]
    match expression:
        case Accumulate():
            return _first(all(succeeded), any(failed))
        case Select():
            return _first(any(succeeded), all(failed))
        case SelectStar():
            return _first(any(succeeded), any(failed))
        case Parallel():
            return Status.RUNNING
        case DoUnless():
            tie_fails = interpretation.unless_tie == "failure" and succeeded[1]
            return _first(succeeded[0] and not tie_fails, failed[0] or succeeded[1])
        case _:
            assert_never(expression)


def _first(success: bool, failure: bool) -> Status:
    """The status when success takes precedence over failure."""
    if success:
        return Status.SUCCESS
    return Status.FAILURE if failure else Status.RUNNING


# --- operators that run one part at a time --------------------------------------------------------


def _one_after_the_other(parts: Sequence[Expression], index: int, step: _Step) -> _Step:
    if not isinstance(step.state, Status):
        return _Step(Progress(index, (step.state,)), step.last, step.outputs)
    if step.state is Status.FAILURE or index + 1 == len(parts):
        return _Step(step.state, step.last + 1, step.outputs)
    return _Step(Progress(index + 1, (start(parts[index + 1]),)), step.last + 1, step.outputs)


def _switch(expression: Modes, active: int, event: Fields) -> int | None:
    """The mode an event leads to: the first whose guard accepts it, the active one left out."""
    armed = (i for i in range(len(expression.modes)) if i != active)
    return next((i for i in armed if holds(expression.modes[i].guard, event)), None)


def _in_mode(expression: Modes, state: Progress, event: Fields, interpretation: Interpretation) -> _Step:
    entered = _switch(expression, state.index, event)
    if entered is not None:
        return _Step(Progress(entered, (start(expression.modes[entered].body),)), 1)
    step = _feed(expression.modes[state.index].body, state.parts[0], event, interpretation)
    return _Step(Progress(state.index, (step.state,)), step.last, step.outputs)


def _around(
    expression: Fail | Push | Repeat | Persist | Loop, round: int, step: _Step, interpretation: Interpretation
) -> _Step:
    """The step of an operator with a single part, from the outcome of that part."""
    if not isinstance(step.state, Status):
        return _Step(Progress(round, (step.state,)), step.last, step.outputs)
    now, outputs = step.last + 1, step.outputs
    succeeded = step.state is Status.SUCCESS
    # Rounds are only counted where the count matters, so that equivalent states compare equal.
    counted = isinstance(expression, Repeat | Persist | Loop) and expression.times is not None
    again = Progress(round + 1 if counted else 0, (start(expression.body),))
    match expression:
        case Fail():
            after: State = Status.FAILURE if succeeded else Status.SUCCESS
        case Push(output):
            after = step.state
            outputs += ((now, output),) if succeeded else ()
        case Repeat(_, times):
            after = Status.SUCCESS if round + 1 == times else again
        case Persist(_, times):
            after = Status.SUCCESS if succeeded else Status.FAILURE if round + 1 == times else again
        case Loop(_, times):
            ended = Status(interpretation.loop_ends)
            after = ended if not succeeded else Status.SUCCESS if round + 1 == times else again
        case _:
            assert_never(expression)
    return _Step(after, now, outputs)
