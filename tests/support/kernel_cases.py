"""Batches for single kernels: events by hand, as a kernel gets them from `runtime.feed`."""

from __future__ import annotations

import pickle
from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.automata.detection_plan import BitTest
from tocsin.automata.tokens.compile import compile
from tocsin.languages.core import parse
from tocsin.runtime.encoding import decode, encode
from tocsin.runtime.kernels.completion.table import CLEAR, EMIT, KEEP, Action, Cells
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.protocol import Events, Kernel, Numbers, Work
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.program import Detector, Emission, Walk
from tocsin.runtime.rows.keys import Keys
from tocsin.runtime.rows.value_numbers import Interned

SECOND = 1_000_000


def detector_of(pattern: str, *, points: bool = False) -> tuple[Detector, dict[str, int]]:
    """The only detector of a pattern whose specs ask for types alone, and the bits of each type."""
    compiled = compile([parse(pattern)], points=points)
    (detector,) = compiled.plan.detectors
    bits: dict[str, int] = {}
    for bit, test in compiled.tests:
        assert isinstance(test, BitTest)
        bits[str(test.type)] = bits.get(str(test.type), 0) | 1 << bit
    return detector, bits


def events_of(bits: dict[str, int], *keys: str, first: int = 0, ref: int = 0) -> Events:
    """For each key a trace as in `A0 B5`: a type and the second. Types that no pattern asks for have no bits."""
    words = [word for trace in keys for word in trace.split()]
    counts = [len(trace.split()) for trace in keys]
    time = np.array([(first + int(word[1:])) * SECOND for word in words], np.int64)
    answers = np.array([[bits.get(word[0], 0)] for word in words], np.uint64).reshape(-1, 1)
    return Events(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        time,
        time,
        ref + np.arange(len(words)),
        np.arange(len(words), dtype=np.int32),
        answers,
    )


def work_of(
    detector: Detector,
    events: Events,
    *,
    until: int = FOREVER,
    keep: bool = True,
    limit: int = 1000,
    values: list[list[object]] | None = None,
) -> Work:
    """A batch of these events for one detector; the keys are `k0`, `k1`, …; `values` are the cells of each row."""
    keys = len(events.offsets) - 1
    interned = Interned()
    cells = np.array([[interned.number(cell) for cell in row] for row in values or []], np.int32)  # type: ignore[arg-type]
    if values is None:
        cells = np.empty((len(events.end), 0), np.int32)
    names = Keys((pa.array([f"k{number}" for number in range(keys)]),), keys)
    nothing = np.empty(0, np.int64)
    return Work(detector, events, cells, (), nothing, interned, names, until, keep, limit)


def refs_of(matches: Matches) -> list[tuple[int, list[int]]]:
    """Key and events of each match."""
    ends = matches.offsets.tolist()
    return [
        (int(key), matches.refs[first:stop].tolist())
        for key, first, stop in zip(matches.key, ends[:-1], ends[1:], strict=True)
    ]


def shifted(keys: int, refs: int, by: int) -> Numbers:
    """New numbers: every key and every ref is so much higher."""
    return Numbers(
        np.append(np.arange(keys) + by, -1),
        np.array([-1]),
        np.append(np.arange(refs) + by, -1),
        np.empty(0, np.int64),
    )


class Pairs:
    """A stepper that sends every second event together with the one before it, which a register holds."""

    def start(self) -> Hashable:
        return (0,)

    def step(self, configuration: Hashable, answers: int) -> tuple[Hashable, tuple[Action, ...]]:
        if configuration == (0,):
            return (1,), ((KEEP, 0, 0),)
        return (0,), ((EMIT, 0, 1), (CLEAR, 0, 0))


def pairs_detector() -> Detector:
    """`Pairs` over the events that have bit 0."""
    stepper = pickle.dumps(Pairs())
    walk = Walk(np.array([[1]], np.uint64), (0,), 1, np.array([[0]]), stepper, pickle.dumps(Cells(stepper)))
    sends = Emission(0, "push", "Pair", None, ("first",), ())
    return Detector(walk, (), ("first", "second"), (), (), (sends,))


def read_again(kernel: Kernel, memory: Any) -> Any:
    """A memory that was bytes in between."""
    data = encode(kernel.fields(memory), kind="test", version=1)
    return kernel.from_fields(decode(data, kind="test", version=1))


def same(one: Any, other: Any) -> bool:
    """Whether two memories are equal, array by array."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool((one == other).all())
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
