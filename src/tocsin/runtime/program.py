"""What a worker runs: programs as flat arrays, and the plan that wires them together.

Nothing here knows a pattern, a language or Spark. `automata` writes programs; the kernels read them. A program is one
detector; a plan is the detectors of a job in an order in which each comes after those whose composites it reads.

Every table names its dtype and shape: S states, M moves, K steps, Q tests, P specs, C code rows, T timers, W words of bits.
Few wide tables instead of many narrow ones, because a kernel hands its arrays from function to function.
"""

from __future__ import annotations

import pickle
import zlib
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import InputError

Array = np.ndarray[Any, Any]

VERSION = 2
TOKENS = 0  # the family of programs that the token kernel runs

# Rows of `code`: (operation, a, b, c), evaluated on a stack with the truth values below.
LEAF, COMPARE, BIND, UNIFY, AND, OR, NOT = range(7)
FALSE, TRUE, UNKNOWN = range(3)
EQ, NE, LT, LE, GT, GE = range(6)


class Program(NamedTuple):
    """One detector of the token family. Masks are 64 bits in an int64; ranges are a first row and the row after the last."""

    family: int
    restart_always: bool
    variables: int  # how many variables a token carries
    links: int  # how many ends of strong links a token carries
    starts: Array  # int64 (number of start states,)
    states: Array  # int64 (S, 5): moves from, to; all moves strong; meaning depends on variables; mask of running timers
    domain: Array  # uint64 (S, W): bits of the events that can move or end a token
    moves: (
        Array  # int64 (M, 7): test; strong; mask of links entered; link to check or -1; emits; steps from, to
    )
    steps: Array  # int64 (K, 4): state; masks of timers to start, timers that go on, links still needed
    tests: (
        Array  # int64 (Q, 6): negated; mask of timers taken; accepted specs from, to; domain specs from, to
    )
    spec_list: Array  # int64: what tests refer to
    specs: Array  # int64 (P, 4): bit that says that the spec may hold; code from, to (empty if the bit decides); role
    code: Array  # int64 (C, 4)
    timers: Array  # int64 (T, 3): microseconds after, or -1; moment, if absolute; rank of the name


class Detector(NamedTuple):
    """A program with what the shell around the kernel needs to know."""

    program: Program
    inputs: tuple[int, ...]  # detectors whose composites it reads
    roles: tuple[str, ...]  # names of events, sorted
    timer_names: tuple[str, ...]
    variable_names: tuple[str, ...]


class CompositeTest(NamedTuple):
    """A bit of a composite event: it comes from `detector`, and the condition on its variables has this truth."""

    bit: int
    detector: int
    condition: tuple[Any, ...]  # see `conditions`
    truth: bool


class Output(NamedTuple):
    """A subscription: which detector it reports, under which name, and the condition on whole matches."""

    name: str
    detector: int
    where: tuple[Any, ...]  # see `conditions`
    fingerprint: str  # what the match ids are derived from: the pattern, not its name


class Plan(NamedTuple):
    """Everything a worker needs to run a job."""

    version: int
    words: int  # 64-bit words of bits per event
    columns: tuple[str, ...]  # attributes that kernels compare between events
    detectors: tuple[Detector, ...]
    composite_tests: tuple[CompositeTest, ...]
    outputs: tuple[Output, ...]


def to_bytes(plan: Plan) -> bytes:
    """The plan as bytes, small enough to travel with every task."""
    return zlib.compress(pickle.dumps(plan, protocol=5), 1)


def from_bytes(data: bytes) -> Plan:
    """The plan that `to_bytes` wrote."""
    plan = pickle.loads(zlib.decompress(data))
    if not isinstance(plan, Plan) or plan.version != VERSION:
        raise InputError(
            "plan-version",
            f"this plan has version {getattr(plan, 'version', 'unknown')}, the runtime reads version {VERSION}",
            hint="install the same version of tocsin on the driver and on the workers",
        )
    return plan
