"""Programs as flat arrays, and the plan that connects them: all that a worker receives of a pattern.

Nothing here depends on patterns, languages or Spark. `automata` writes programs; the kernels read them. A program is one
detector; a plan is the detectors of a job in an order in which each comes after those whose composites it reads.

Every table names its dtype and shape: S states, M moves, K steps, Q tests, P specs, C code rows, T timers, W words of bits.
Few wide tables instead of many narrow ones, because a kernel passes its arrays from function to function.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tocsin.errors import InputError
from tocsin.runtime.operators import Operators

Array = np.ndarray[Any, Any]

VERSION = 8

# Rows of `code`: (operation, a, b, c), evaluated on a stack with the truth values below.
LEAF, COMPARE, BIND, UNIFY, AND, OR, NOT = range(7)
FALSE, TRUE, UNKNOWN = range(3)
# Which events a partial match may skip: only those it cannot use, any, or none.
UNUSABLE, ANYTHING, NOTHING = range(3)
EQ, NE, LT, LE, GT, GE = range(6)

# Columns of the tables of a program. `…_STOP` is the row after the last of a range.
STATE_FIRST, STATE_STOP, STATE_STRONG, STATE_BINDS, STATE_TIMERS = range(5)
MOVE_TEST, MOVE_STRONG, MOVE_ENTERS, MOVE_LINK, MOVE_EMITS, MOVE_FIRST, MOVE_STOP = range(7)
STEP_STATE, STEP_STARTS, STEP_GOES_ON, STEP_LINKS = range(4)
TEST_EXCEPTED, TEST_TIMERS, TEST_TAKEN, TEST_TAKEN_STOP, TEST_LOOKED_AT, TEST_LOOKED_AT_STOP = range(6)
SPEC_BIT, SPEC_CODE, SPEC_CODE_STOP, SPEC_ROLE = range(4)
TIMER_AFTER, TIMER_MOMENT, TIMER_RANK, TIMER_LIMIT, TIMER_NAMED = range(5)


class Program(NamedTuple):
    """One detector of the token family. Masks are 64 bits in an int64; ranges are a first row and the row after the last."""

    restart_always: bool
    leaves_out: int  # UNUSABLE, ANYTHING or NOTHING
    points: bool  # whether events have no length, so that one follows another strongly if it is later at all
    variables: int  # how many variables a token carries
    links: int  # how many ends of strong links a token carries
    starts: Array  # int64 (number of start states,)
    states: Array  # int64 (S, 5): moves from, to; all moves strong; meaning depends on variables; mask of running timers
    domain: Array  # uint64 (S, W): bits of the events that can move or end a token
    moves: (
        Array  # int64 (M, 7): test; strong; mask of links entered; link to check or -1; emits; steps from, to
    )
    steps: Array  # int64 (K, 4): state; masks of timers to start, timers kept running, links still needed
    # The specs that a test takes and those it excepts are adjacent: the excepted ones end where the taken ones begin.
    tests: Array  # int64 (Q, 6): specs excepted from; mask of timers taken; specs taken from, to; looked at from, to
    spec_list: Array  # int64: what tests refer to
    specs: Array  # int64 (P, 4): bit without which the spec cannot hold; code from, to (empty if the bit decides); role
    code: Array  # int64 (C, 4)
    # int64 (T, 5): microseconds after, or -1; moment, if absolute; rank of the name; whether it is a limit; first of the name
    timers: Array
    closes: (
        Array  # int64 (S, T) if there are limits: the state in which a token goes on when one runs out, or -1
    )


class Walk(NamedTuple):
    """One detector of the completion family: a state and a kind of event give the next state and some actions.

    A kind of event is the results of the detector's own predicates, as bits of a whole number. The table may have gaps;
    the stepper fills them when an event needs them (see `table`).
    """

    domain: Array  # uint64 (1, W): the bits that make an event relevant
    bits: tuple[int, ...]  # the bit of each of its predicates
    registers: int  # the number of events it can store
    uses: Array  # int64 (emissions, U): the registers an emission needs, -1 where it needs no more
    stepper: bytes  # a pickled `table.Stepper`
    table: bytes  # a pickled `table.Cells`: the cells computed beforehand


class Emission(NamedTuple):
    """An event that a detector of the completion family sends."""

    output: int  # the subscription it belongs to
    what: str  # `push`, `success`, `failure`, `trigger`, `skipped` or `dead`
    type: (
        str | None
    )  # the type of the event that is sent, None if only the event itself knows; the branch of a trigger
    value: (
        str | None
    )  # a constant, the name of an event that is sent on, the labels of a trigger, what was missing
    roles: tuple[str, ...]  # the names of the events in the registers it needs
    fields: tuple[tuple[str, tuple[Any, ...]], ...]  # ("literal", value) or ("field", role, attribute)
    forwards: str | None = None  # the role of the event that is sent on as it is; "" for the event itself
    declared: tuple[tuple[str, str], ...] | None = None  # the attributes of the type, if it is declared

    @property
    def table(self) -> str:
        """The name of the table that its events go to: constants share one, and so do events of unknown type."""
        if self.value is not None and self.forwards is None:
            return "constant"
        return self.type or "forwarded"


class Choice(NamedTuple):
    """Which matches of a detector are reported, in the terms of `algebra.tokens.selection`."""

    matches: str = "each"
    take: str = "all"
    limit: int = 0


class Detector(NamedTuple):
    """A program with the data that the shell around the kernel needs."""

    program: Program | Walk | Operators
    inputs: tuple[int, ...]  # detectors whose composites it reads
    roles: tuple[str, ...]  # names of events, sorted
    timer_names: tuple[str, ...]
    variable_names: tuple[str, ...]
    emissions: tuple[Emission, ...] = ()
    choice: Choice = Choice()
    parts: tuple[int, ...] = ()  # the inputs that are parts of the same pattern, and not events of their own


class CompositeTest(NamedTuple):
    """A bit of a composite event: it comes from `detector`, and the condition on its variables has this truth."""

    bit: int
    detector: int
    condition: tuple[Any, ...]  # see `conditions`
    truth: bool


class Output(NamedTuple):
    """A subscription: the detectors it reports, its name, and the condition on whole matches."""

    name: str
    detectors: tuple[int, ...]
    where: tuple[Any, ...]  # see `conditions`
    fingerprint: str  # the base of the match ids: the pattern, not its name


class Plan(NamedTuple):
    """Everything a worker needs to run a job."""

    version: int
    words: int  # 64-bit words of bits per event
    columns: tuple[str, ...]  # attributes that kernels compare between events
    detectors: tuple[Detector, ...]
    composite_tests: tuple[CompositeTest, ...]
    outputs: tuple[Output, ...]


def closure(plan: Plan, output: int) -> tuple[int, ...]:
    """The detectors that an output needs, in an order that does not depend on the rest of the plan."""
    needed: dict[int, None] = {}

    def visit(number: int) -> None:
        if number not in needed:
            needed[number] = None
            for other in plan.detectors[number].inputs:
                visit(other)

    for number in plan.outputs[output].detectors:
        visit(number)
    return tuple(needed)


def subplan(plan: Plan, outputs: Sequence[int]) -> Plan:
    """The plan reduced to some of its outputs and the detectors they need; bits and columns stay."""
    needed = sorted({number for output in outputs for number in closure(plan, output)})
    place = {number: at for at, number in enumerate(needed)}
    output_place = {number: at for at, number in enumerate(outputs)}
    return plan._replace(
        detectors=tuple(
            one._replace(
                inputs=tuple(place[number] for number in one.inputs),
                parts=tuple(place[number] for number in one.parts),
                emissions=tuple(e._replace(output=output_place.get(e.output, -1)) for e in one.emissions),
            )
            for one in (plan.detectors[number] for number in needed)
        ),
        composite_tests=tuple(
            test._replace(detector=place[test.detector])
            for test in plan.composite_tests
            if test.detector in place
        ),
        outputs=tuple(
            one._replace(detectors=tuple(place[number] for number in one.detectors))
            for one in (plan.outputs[number] for number in outputs)
        ),
    )


def travelling(what: str, attribute: str) -> str:
    """The column in which an attribute travels to the workers, as a `value` to compare or a `field` to report.

    A dot would refer to a field of a struct, but travelling columns are flat.
    """
    return f"{what}:{attribute.replace('.', '/')}"


def to_bytes(plan: Plan) -> bytes:
    """The plan as bytes, small enough to travel with every task."""
    return zlib.compress(pickle.dumps(plan, protocol=5), 1)


@lru_cache(
    maxsize=16
)  # a worker of a stream receives the same plan again and again, and its machines grow with it
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
