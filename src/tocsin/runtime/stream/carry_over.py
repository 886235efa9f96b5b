"""Converts the memory of a shard for changed patterns: subscriptions that are still there continue.

A subscription is still there if its fingerprint is: its name may have changed, its meaning has not. Others start from scratch
with the events that arrive; for events that wait already, they have only the predicates that the former patterns had, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime import state as states
from tocsin.runtime.batch.partition import bits_of
from tocsin.runtime.kernels.protocol import Memory
from tocsin.runtime.next_state import state_after
from tocsin.runtime.program import Plan, closure, from_bytes
from tocsin.runtime.stream.shard import PaceGroup, Remembered, recall, remember


class Outline(NamedTuple):
    """The description of a pace group's patterns that is needed to interpret their memories."""

    at_once: bool
    detectors: dict[str, tuple[int, ...]]  # by subscription: its meaning and when it was added
    predicates: tuple[str, ...]  # by bit
    words: int


def outline(group: PaceGroup) -> Outline:
    """The outline of a pace group, to be stored with its memories."""
    plan = from_bytes(group.plan)
    own = {known: closure(plan, number) for number, known in enumerate(_known(group, plan))}
    return Outline(group.at_once, own, group.predicates, plan.words)


def in_common(old: Outline, group: PaceGroup) -> int:
    """How many subscriptions of a pace group are still there; none if the order in which events are used has changed."""
    if old.at_once != group.at_once:
        return 0
    return sum(known in old.detectors for known in _known(group, from_bytes(group.plan)))


def _known(group: PaceGroup, plan: Plan) -> list[str]:
    """The identity of each subscription. Where rules may change, one added later is another, even with the same meaning."""
    prints = [output.fingerprint for output in plan.outputs]
    return (
        [f"{one}@{since}" for one, since in zip(prints, group.since, strict=True)] if group.since else prints
    )


def carried_over(old: Outline, group: PaceGroup, memory: bytes) -> bytes | None:
    """The memory converted for the patterns of a pace group; None if nothing of it is left."""
    plan = from_bytes(group.plan)
    before, waiting = recall(memory)
    came_from = _former(old, group, plan)
    fresh = states.initial(plan, in_order=not group.at_once).detectors
    own: list[Memory] = [
        before.detectors[came_from[number]] if number in came_from else fresh[number]
        for number in range(len(plan.detectors))
    ]
    now = {former: number for number, former in came_from.items()}
    composites = [one._replace(detector=now.get(one.detector, -1)) for one in before.composites]
    state = states.initial(plan, in_order=not group.at_once)
    if before.events is not None:
        state = state_after(plan, before.keys, before.values, before.events, composites, own)
    if waiting is not None and not group.asks:
        waiting = _with_new_bits(old, group, plan, waiting)
    if not state.keys.size and (waiting is None or not waiting.num_rows):
        return None
    return remember(Remembered(state, waiting))


def _former(old: Outline, group: PaceGroup, plan: Plan) -> dict[int, int]:
    """The former number of each detector that was there before."""
    former: dict[int, int] = {}
    for number, known in enumerate(_known(group, plan)):
        if known in old.detectors and _runs(plan, number):
            former.update(zip(closure(plan, number), old.detectors[known], strict=True))
    return former


def _runs(plan: Plan, output: int) -> bool:
    """Whether a subscription has detectors of its own: one that never sends anything shares that of another."""
    emissions = [e for number in plan.outputs[output].detectors for e in plan.detectors[number].emissions]
    return not emissions or any(emission.output == output for emission in emissions)


def _with_new_bits(old: Outline, group: PaceGroup, plan: Plan, waiting: pa.Table) -> pa.Table:
    """Waiting events with their bits moved to the new bit numbers; the bits of new predicates are 0."""
    answers = bits_of(waiting, old.words)
    places = {predicate: bit for bit, predicate in enumerate(old.predicates) if predicate}
    words = np.zeros((waiting.num_rows, plan.words), np.uint64)
    for bit, predicate in enumerate(group.predicates):
        if predicate in places:
            former = places[predicate]
            answer = answers[:, former >> 6] >> np.uint64(former & 63) & np.uint64(1)
            words[:, bit >> 6] |= answer << np.uint64(bit & 63)
    table = waiting.drop_columns([f"bits{word}" for word in range(old.words)])
    for word in range(plan.words):
        table = table.append_column(f"bits{word}", pa.array(words[:, word].view(np.int64)))
    for name in group.columns:
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows))
    return table
