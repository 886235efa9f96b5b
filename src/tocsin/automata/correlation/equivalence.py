"""Whether two filters trigger alike on every trace; if not, the shortest trace that tells them apart.

Both run side by side. What they remember is finite: the marks of each branch, and in which order the windows
of the branches started. The triggers on an event are compared as the set of their windows, as Definition 5
has it.

>>> from tocsin.algebra.correlation.expression import Accumulation, Atom, Sequence
>>> a, b = Atom("a"), Atom("b")
>>> difference((Accumulation(a, b),), (Accumulation(b, a),)) is None
True
>>> difference((Sequence(a, a),), (a,))
('a',)

Paper: 001, sections 3.1 and 4.4.1.
"""

from __future__ import annotations

from tocsin.algebra.correlation.expression import Branches
from tocsin.automata.correlation.acceptor import Machine, compile_expression, is_complete, step
from tocsin.errors import LimitError

MAX_STATES = 100_000
# The marks of each branch, and the rank of its window: 0 for the one that started first.
_Configuration = tuple[tuple[int, int], ...]


def difference(first: Branches, second: Branches, limit: int = MAX_STATES) -> tuple[str, ...] | None:
    """The shortest trace on which two filters trigger differently; None if there is none."""
    machines = [compile_expression(branch) for branch in (*first, *second)]
    events = sorted({event for machine in machines for event in machine.takers})
    initial: _Configuration = ((0, 0),) * len(machines)
    traces: dict[_Configuration, tuple[str, ...]] = {initial: ()}
    queue = [initial]
    for configuration in queue:
        for event in events:
            after, triggered = _move(machines, configuration, event)
            trace = (*traces[configuration], event)
            if _windows(triggered[: len(first)]) != _windows(triggered[len(first) :]):
                return trace
            if after not in traces:
                if len(traces) >= limit:
                    raise LimitError(
                        "too-many-states", f"comparing these filters takes more than {limit:,} states"
                    )
                traces[after] = trace
                queue.append(after)
    return None


def _windows(triggered: list[int | None]) -> set[int]:
    return {rank for rank in triggered if rank is not None}


def _move(
    machines: list[Machine], configuration: _Configuration, event: str
) -> tuple[_Configuration, list[int | None]]:
    """The configuration after an event, and for each branch the window it completed, if any."""
    fresh = len(machines)  # later than every window that is open
    marks, ranks, triggered = [], [], list[int | None]()
    for machine, (before, rank) in zip(machines, configuration, strict=True):
        now = step(machine, before, 0, event)
        done = is_complete(machine, now, 0)
        marks.append(0 if done else now)
        ranks.append(fresh if done else rank)
        triggered.append(rank if done else None)
    order = {rank: number for number, rank in enumerate(sorted(set(ranks)))}
    return tuple(zip(marks, (order[rank] for rank in ranks), strict=True)), triggered
