"""What a worker runs: programs as flat arrays, and the plan that wires them together.

Nothing here knows a pattern, a language or Spark. `automata` writes programs; the kernels read them. A program is one
detector; a plan is the detectors of a job in an order in which each comes after those whose composites it reads.

Every table names its dtype and shape: S states, M moves, K steps, Q tests, P specs, C code rows, T timers, W words of bits.
"""

from __future__ import annotations

import pickle
import zlib
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import InputError

Array = np.ndarray[Any, Any]

VERSION = 1
TOKENS = 0  # the family of programs that the token kernel runs

# Rows of `code`: (operation, a, b, c), evaluated on a stack with the truth values below.
LEAF, COMPARE, BIND, UNIFY, AND, OR, NOT = range(7)
FALSE, TRUE, UNKNOWN = range(3)
EQ, NE, LT, LE, GT, GE = range(6)


class Program(NamedTuple):
    """One detector of the token family."""

    family: int
    restart_always: bool
    variables: int  # how many variables a token carries
    links: int  # how many ends of strong links a token carries
    starts: Array  # int32 (number of start states,)
    state_moves: Array  # int32 (S+1,)  moves of a state: from, to
    state_all_strong: Array  # bool (S,)
    state_has_code: Array  # bool (S,)  whether what an event means depends on the token's variables
    state_domain: Array  # uint64 (S, W)  bits of the events that can move or end a token
    state_timers: Array  # uint64 (S,)  timers that run here
    move_test: Array  # int32 (M,)
    move_strong: Array  # bool (M,)
    move_enters: Array  # uint64 (M,)  strong links whose right side begins with this move
    move_check: Array  # int32 (M,)  the strong link whose end the event must follow, or -1
    move_emits: Array  # bool (M,)
    move_steps: Array  # int32 (M+1,)
    step_state: Array  # int32 (K,)
    step_arms: Array  # uint64 (K,)  timers to start
    step_timers: Array  # uint64 (K,)  timers that go on running
    step_links: Array  # uint64 (K,)  strong links whose ends are still needed
    test_negated: Array  # bool (Q,)
    test_timers: Array  # uint64 (Q,)  timers the test takes
    test_accept: Array  # int32 (Q, 2)  into spec_list: from, to
    test_domain: Array  # int32 (Q, 2)  into spec_list: from, to
    spec_list: Array  # int32
    spec_bit: Array  # int32 (P,)  which bit of an event says that the spec may hold
    spec_code: Array  # int32 (P+1,)  into code; empty if the bit decides
    code: Array  # int32 (C, 4)
    timer_after: Array  # int64 (T,)  microseconds, or -1 for an absolute timer
    timer_at: Array  # int64 (T,)
    timer_rank: Array  # int32 (T,)  order of the names


class Detector(NamedTuple):
    """A program with what the shell around the kernel needs to know."""

    program: Program
    inputs: tuple[int, ...]  # detectors whose composites it reads
    spec_roles: tuple[str, ...]
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
