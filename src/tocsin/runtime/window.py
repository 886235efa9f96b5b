"""Whether a program asks about single events only, within one window from the first event on (see `machine`)."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.program import Array, Program

NO_WINDOW = np.int64(1) << np.int64(61)


def window_of(program: Program) -> int | None:
    """How long after the end of its first event a match may go on; None if the program is no case for groups."""
    if program.variables or len(program.code) or (is_strong(program) and not program.points):
        return None
    if not len(program.timers):
        return int(NO_WINDOW)
    after = program.timers[:, 0]
    if program.tests[:, 1].any() or (after < 0).any() or (after != after[0]).any():
        return None
    return int(after[0]) if timer_of(program) is not None else None


def is_strong(program: Program) -> bool:
    """Whether some event must lie wholly after the one before."""
    return bool(program.links) or bool(program.moves[:, 1].any())


def timer_of(program: Program) -> dict[int, int] | None:
    """For each state that a partial match can wait in the one timer that runs there since the first event."""
    found: dict[int, int] = {}
    queue: list[tuple[int, int]] = []

    def steps(state: int) -> list[Array]:
        first, last = program.states[state, :2]
        return [program.steps[m[5] : m[6]] for m in program.moves[first:last]]

    for start in program.starts:
        for arriving in steps(start):
            for state, arms, *_ in arriving.tolist():
                if arms <= 0 or arms & (arms - 1):
                    return None
                queue.append((state, arms.bit_length() - 1))
    while queue:
        state, timer = queue.pop()
        if found.setdefault(state, timer) != timer or not program.states[state, 4] >> timer & 1:
            return None
        for arriving in steps(state):
            for then, arms, goes_on, _ in arriving.tolist():
                if arms or not goes_on >> timer & 1:
                    return None
                if then not in found:
                    queue.append((then, timer))
                elif found[then] != timer:
                    return None
    # A start state that is also waited in would start its timer anew.
    return None if any(int(start) in found for start in program.starts) else found
