"""What a shard remembers, for other patterns than it was made with: subscriptions that are still there go on.

A subscription is still there if its fingerprint is: its name may have changed, its meaning has not. Others start afresh with
the events that come; of those that wait already, they are told only what the former patterns asked, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime import state as states
from tocsin.runtime.following import state_after
from tocsin.runtime.partition import bits_of
from tocsin.runtime.program import Plan, closure, from_bytes
from tocsin.runtime.shard import Line, Remembered, recall, remember
from tocsin.runtime.state import Memory


class Outline(NamedTuple):
    """What must be known of the patterns of a line to understand what was remembered of them."""

    at_once: bool
    detectors: dict[str, tuple[int, ...]]  # of each subscription, known by its meaning and when it came
    questions: tuple[str, ...]  # by bit
    words: int


def outline(line: Line) -> Outline:
    """The outline of a line, to be kept with its memories."""
    plan = from_bytes(line.plan)
    own = {known: closure(plan, number) for number, known in enumerate(_known(line, plan))}
    return Outline(line.at_once, own, line.questions, plan.words)


def in_common(old: Outline, line: Line) -> int:
    """How many subscriptions of a line are still there; those of another order of time are not."""
    if old.at_once != line.at_once:
        return 0
    return sum(known in old.detectors for known in _known(line, from_bytes(line.plan)))


def _known(line: Line, plan: Plan) -> list[str]:
    """What a subscription is known by. Where rules may change, one that came later is another, though it means the same."""
    prints = [output.fingerprint for output in plan.outputs]
    return [f"{one}@{since}" for one, since in zip(prints, line.since, strict=True)] if line.since else prints


def carried_over(old: Outline, line: Line, memory: bytes) -> bytes | None:
    """A memory for the patterns of a line; None if nothing of it is left."""
    plan = from_bytes(line.plan)
    before, waiting = recall(memory)
    came_from = _former(old, line, plan)
    fresh = states.initial(plan, in_order=not line.at_once).detectors
    own: list[Memory] = [
        before.detectors[came_from[number]] if number in came_from else fresh[number]
        for number in range(len(plan.detectors))
    ]
    now = {former: number for number, former in came_from.items()}
    composites = [one._replace(detector=now.get(one.detector, -1)) for one in before.composites]
    state = states.initial(plan, in_order=not line.at_once)
    if before.events is not None:
        state = state_after(plan, before.keys, before.values, before.events, composites, own)
    if waiting is not None and not line.asks:
        waiting = _asked_anew(old, line, plan, waiting)
    if not state.keys.size and (waiting is None or not waiting.num_rows):
        return None
    return remember(Remembered(state, waiting))


def _former(old: Outline, line: Line, plan: Plan) -> dict[int, int]:
    """For each detector that was there before the number it had."""
    former: dict[int, int] = {}
    for number, known in enumerate(_known(line, plan)):
        if known in old.detectors and _runs(plan, number):
            former.update(zip(closure(plan, number), old.detectors[known], strict=True))
    return former


def _runs(plan: Plan, output: int) -> bool:
    """Whether a subscription has detectors of its own: one that never sends anything reports from that of another."""
    emissions = [e for number in plan.outputs[output].detectors for e in plan.detectors[number].emissions]
    return not emissions or any(emission.output == output for emission in emissions)


def _asked_anew(old: Outline, line: Line, plan: Plan, waiting: pa.Table) -> pa.Table:
    """Events that wait, with the answers where the patterns look for them now; questions that are new are not answered."""
    answers = bits_of(waiting, old.words)
    places = {question: bit for bit, question in enumerate(old.questions) if question}
    words = np.zeros((waiting.num_rows, plan.words), np.uint64)
    for bit, question in enumerate(line.questions):
        if question in places:
            former = places[question]
            answer = answers[:, former >> 6] >> np.uint64(former & 63) & np.uint64(1)
            words[:, bit >> 6] |= answer << np.uint64(bit & 63)
    table = waiting.drop_columns([f"bits{word}" for word in range(old.words)])
    for word in range(plan.words):
        table = table.append_column(f"bits{word}", pa.array(words[:, word].view(np.int64)))
    for name in line.columns:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows))
    return table
