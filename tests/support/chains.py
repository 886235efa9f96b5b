"""Patterns whose matches are chains (`matches = leftmost`), with events and what the whole stream gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import NamedTuple

import pyarrow as pa

import tocsin
from support.strategies import SECOND, dice, plain_subscription, selecting, subscription, trace
from support.table_columns import of_columns
from support.time_chunks import job_of, prepared, rows
from tocsin.algebra.tokens.selection import Selection
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.span import overlap
from tocsin.events import Event, Interval
from tocsin.runtime.batch.partition import Job, detect_partition

LEFTMOST = " with matches = leftmost"
TEXTS = [
    "([A], [B][C])_{T1=4s}",
    "([A], [C in {C, B}])_{T1=5s}",
    "([A], ([B][C] | [C][B]))_{T1=3s} | ([B], ([A][C] | [C][A]))_{T2=3s}",
    "([A], [B] | [C][D])_{T1=6s}",  # a later start can be complete before an earlier one
    "([A], [T1 in {T1, B}])_{T1=3s}",
    "([A], [B][B])_{T1=4s}",
    "([A], [B]*[C])_{T1=5s}",
    "[A]",
]


def random_events(random: Random, count: int, keys: int, span: int) -> list[Event]:
    """Events of four types at whole seconds, many of them at the same moment, of which some kinds come in turns."""
    moments = sorted(random.randrange(span) for _ in range(count))
    turns, noise = random.choice(["AB", "ABC", "AABB"]), random.choice([0.02, 0.1, 1.0])
    return [
        event(
            random.choice("AABBCCD") if random.random() < noise else turns[n % len(turns)],
            t,
            n,
            random.randrange(keys),
        )
        for n, t in enumerate(moments)
    ]


def event(type: str, time: int, number: int, key: int | None = None) -> Event:
    return Event(number, frozenset({type}), Interval(time * SECOND, time * SECOND), {}, key)


class Case(NamedTuple):
    """A pattern whose matches are chains, events without a key, and the matches of the whole."""

    compiled: Compiled
    job: Job
    table: pa.Table
    whole: list[str]


def case(compiled: Compiled, events: list[Event]) -> Case:
    table, job = prepared(compiled, events), job_of(compiled)
    return Case(compiled, job, table, rows(list(detect_partition(job, table.to_batches()))))


def random_patterns() -> Iterator[Case]:
    """Random patterns that can be cut, with random events."""
    for seed in range(600):
        draw = dice(Random(seed))
        made = plain_subscription(draw) if seed % 2 else subscription(draw)
        made = replace(selecting(made, Selection("leftmost")), where=None)
        if not of_columns(made) or overlap(compiled := compile([made]), chains=True) is None:
            continue
        if events := [replace(event, key=None) for event in trace(draw, max_size=16)]:
            yield case(compiled, events)


def chains_that_never_meet() -> Case:
    """A match from one A is over behind the next A, so that there are always two chains, one beside the other."""
    compiled = compile([tocsin.parse(f"([A], [B][B])_{{T1=10s}}{LEFTMOST}")])
    found = case(compiled, [event("AB"[t % 2], t, t) for t in range(400)])
    assert len(found.whole) == 100
    return found
