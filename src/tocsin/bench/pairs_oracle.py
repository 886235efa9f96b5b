"""The correct results of the workloads of the event algebra: a plain loop over the events of each key.

It knows nothing of instances, frontiers or kernels: for each event it looks through a list of the events that are available.
"""

from __future__ import annotations

import numpy as np

from tocsin.bench.events import Columns
from tocsin.bench.workloads import Workload

Event = tuple[int, int]  # time, place


def pairs(workload: Workload, window: int, events: Columns) -> tuple[int, int]:
    """How many pairs of A and B there are, and the sum of their milliseconds."""
    duplicates, consumption = workload.selection.split()
    kinds = np.where(events.is_type("A"), 0, np.where(events.is_type("B"), 1, -1))
    chosen = np.flatnonzero(kinds >= 0)
    matches = spans = 0
    available: tuple[list[Event], list[Event]] = ([], [])
    before = None
    rows = zip(events.key[chosen].tolist(), events.time[chosen].tolist(), kinds[chosen].tolist(), strict=True)
    for place, (key, time, kind) in enumerate(rows):
        if key != before:
            available, before = ([], []), key
        for own in available:
            while own and own[0][0] <= time - window:
                del own[0]
        taken: list[Event] = []
        if kind == 1 or workload.shape == "conjunction":
            others = available[1 - kind]
            fitting = [one for one in others if workload.shape == "conjunction" or one[0] < time]
            taken = (
                fitting[:1] if duplicates == "first" else fitting[-1:] if duplicates == "last" else fitting
            )
        matches += len(taken)
        spans += sum(time - one[0] for one in taken)
        if taken and consumption == "delete":
            available = ([], [])
        elif taken and consumption == "delete_reapply":
            available[1 - kind][:] = [one for one in available[1 - kind] if one not in taken]
        if not taken or consumption == "keep":
            available[kind].append((time, place))
    return matches, spans
