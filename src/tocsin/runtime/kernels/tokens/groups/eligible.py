"""Whether groups can run a program: predicates on single events only, and one window from the first event (see `machine`)."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.moments import NEVER
from tocsin.runtime.program import (
    MOVE_FIRST,
    MOVE_STOP,
    MOVE_STRONG,
    STATE_FIRST,
    STATE_STOP,
    STATE_TIMERS,
    TEST_TIMERS,
    TIMER_AFTER,
    TIMER_LIMIT,
    Array,
    Program,
)

NO_WINDOW = np.int64(1) << np.int64(61)


def window_of(program: Program) -> int | None:
    """How long after the end of its first event a match may continue; None if groups cannot run the program."""
    if program.variables or len(program.code) or (is_strong(program) and not program.points):
        return None
    if not len(program.timers):
        return int(NO_WINDOW)
    after = program.timers[:, TIMER_AFTER]
    if program.tests[:, TEST_TIMERS].any() or (after < 0).any() or (after != after[0]).any():
        return None
    limits = program.timers[:, TIMER_LIMIT]
    if (limits != limits[0]).any() or (program.closes >= 0).any():
        return None
    return int(after[0]) if timer_of(program) is not None else None


def over_at(program: Program, begun: Array) -> int:
    """The time at which the last of the partial matches that began at these times expires; NEVER if there is no window.

    Nothing is reported then, but they need not be remembered any longer.
    """
    window = window_of(program)
    if window is None or window >= NO_WINDOW or not len(begun):
        return NEVER
    return int(begun.max()) + window + 1


def can_escape(program: Program) -> bool:
    """Whether the window can run out unnoticed, because it is a timer and must come strictly after the last event."""
    return is_strong(program) and bool(len(program.timers)) and not program.timers[0, TIMER_LIMIT]


def is_strong(program: Program) -> bool:
    """Whether some event must start after the end of the one before it."""
    return bool(program.links) or bool(program.moves[:, MOVE_STRONG].any())


def timer_of(program: Program) -> dict[int, int] | None:
    """For each state that a partial match can wait in, the one timer that runs there since the first event."""
    found: dict[int, int] = {}
    queue: list[tuple[int, int]] = []

    def steps(state: int) -> list[Array]:
        first, stop = program.states[state, [STATE_FIRST, STATE_STOP]]
        return [program.steps[m[MOVE_FIRST] : m[MOVE_STOP]] for m in program.moves[first:stop]]

    for start in program.starts:
        for arriving in steps(start):
            for state, arms, *_ in arriving.tolist():
                if arms <= 0 or arms & (arms - 1):
                    return None
                queue.append((state, arms.bit_length() - 1))
    while queue:
        state, timer = queue.pop()
        if found.setdefault(state, timer) != timer or not program.states[state, STATE_TIMERS] >> timer & 1:
            return None
        for arriving in steps(state):
            for then, arms, goes_on, _ in arriving.tolist():
                if arms or not goes_on >> timer & 1:
                    return None
                if then not in found:
                    queue.append((then, timer))
                elif found[then] != timer:
                    return None
    # A start state that is also waited in would restart its timer.
    return None if any(int(start) in found for start in program.starts) else found
