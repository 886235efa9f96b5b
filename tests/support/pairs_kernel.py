"""The event algebra on its kernel, many traces as keys of one stream, in a form that compares with the definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tocsin.algebra.pairs.clock import observed
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.online.evaluate import evaluate
from tocsin.algebra.pairs.semantics import instances, reactions
from tocsin.automata.execute import batch_of
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.events import Event, Interval
from tocsin.runtime import state as states
from tocsin.runtime.feed import feed
from tocsin.runtime.moments import FOREVER

TICK = "tick"
# Time and start of an instance, and what it is made of: the ids of events, the names and times of time events.
Row = tuple[int, int, tuple[object, ...]]


class Setting(NamedTuple):
    """How expressions are asked: whether the traces bring their ticks, and whether reactions are wanted."""

    given_ticks: bool = True
    reacts: bool = False


def _observation(expression: Expression, trace: Observation, setting: Setting, until: int) -> Observation:
    found = observed(expression, trace.events, trace.ticks if setting.given_ticks else None)
    return replace(found, end=max(found.end, until))


def defined(
    expression: Expression, trace: Observation, setting: Setting = Setting(), until: int = 0
) -> list[Row]:
    """What the definitions find, if observation goes on at least `until` a time: until then what is periodic does, too."""
    observation = _observation(expression, trace, setting, until)
    return _rows((reactions if setting.reacts else instances)(expression, observation))


def online(expression: Expression, trace: Observation, setting: Setting = Setting()) -> list[Row]:
    """What the online evaluation finds."""
    return _rows(evaluate(expression, _observation(expression, trace, setting, 0)))


def _rows(found: Iterable[Instance]) -> list[Row]:
    return sorted(((i.time, i.start, tuple(map(_leaf, i.leaves()))) for i in found), key=repr)


def _leaf(leaf: Instance) -> object:
    return leaf.id if leaf.event is not None else (str(leaf.id).partition(".")[0], leaf.time)


def detected(
    expression: Expression,
    traces: Sequence[Observation],
    setting: Setting = Setting(),
    *,
    piecewise: bool = False,
) -> list[list[Row]]:
    """What the kernel finds in each trace, at once or one moment at a time, with the state as bytes in between."""
    wanted = Wanted("p", expression, TICK if setting.given_ticks else None, setting.reacts)
    compiled = compile_profiles([wanted])
    rows = [event for key, trace in enumerate(traces) for event in _events(trace, key, setting)]
    rows.sort(key=lambda event: (event.interval.end, TICK in event.types))
    events = {number: replace(event, id=number) for number, event in enumerate(rows)}
    times = sorted({event.interval.end for event in rows})
    found: list[list[Row]] = [[] for _ in traces]
    state = states.initial(compiled.plan)
    for part in [[time] for time in times[:-1]] + [times[-1:]] if piecewise else [times]:
        chosen = {n: e for n, e in events.items() if e.interval.end in part}
        last = part == times or part == times[-1:]
        result = feed(compiled.plan, state, batch_of(compiled, chosen), FOREVER if last else part[-1])
        _read(result, rows, found)
        assert result.state is not None
        state = states.from_bytes(states.to_bytes(result.state))
    return [sorted(own, key=repr) for own in found]


def _events(trace: Observation, key: int, setting: Setting) -> list[Event]:
    clock = trace.ticks if setting.given_ticks else ()
    ticks = [Event(f"tick.{t}", frozenset({TICK}), Interval(t, t)) for t in clock]
    return [replace(event, key=key) for event in (*trace.events, *ticks)]


def last_pause(traces: Sequence[Observation], setting: Setting) -> int:
    """How far time has advanced when the last moment of all traces is fed on its own."""
    rows = (e for key, trace in enumerate(traces) for e in _events(trace, key, setting))
    return [0, 0, *sorted({event.interval.end for event in rows})][-2]


def _read(result, rows: Sequence[Event], found: list[list[Row]]) -> None:
    matches, names = result.matches[0], ("after", "at", "every", "tick")
    handles = result.events.column("handle").to_pylist()
    for number in range(len(matches.key)):
        leaves: list[object] = []
        for at in range(int(matches.offsets[number]), int(matches.offsets[number + 1])):
            ref, role = int(matches.refs[at]), int(matches.roles[at])
            leaves.append(rows[handles[ref]].id if role >= 0 else (names[-1 - role], int(matches.times[at])))
        (key,) = result.keys.value(matches.key[number])
        found[key].append((int(matches.end[number]), int(matches.start[number]), tuple(leaves)))
