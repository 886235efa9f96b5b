"""Programs of the pairs family: a tree of operators as rows of a table, each after those that it reads.

Every column of `Operators.nodes` is named here; -1 stands for none or without a bound. A worker sees nothing else of a profile.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

# What a node is.
EVENTS, MOMENTS, PERIODS, ABSENCE, NUMBERED, NEVER_SO_FAR, ALL_OF, SOME_OF, ASKED = range(9)
ONE_OF, PAIRS_OF_VIEWS, PAIRS_OF_ONE, TERMINATORS, EACH_ONE = range(9, 14)

# Columns of a node. `…_STOP` is the place after the last of a range.
NODE_COLUMNS = 30
KIND, CHILD, CHILD_STOP, LIST, LENGTH, KEEPS, OPERATOR, WITHOUT, MODE, ROLE = range(10)
LOW, HIGH, SECOND_LOW, SECOND_HIGH, UNIQUE, IN_ORDER, LAST_ONLY, PLAIN, REACH, BACKWARDS = range(10, 20)
APART, ALONE, DELAY, AT, EDGE, LOOKS, CONTINUOUS, DIRECT, SINCE, UNTIL = range(20, 30)

# How the instances of the operands of a node relate.
DISJUNCTION, CONJUNCTION, SEQUENCE, SIMULTANEITY = range(4)

# Columns of the mode of an operand.
MODE_COLUMNS = 6
SELECTION, PICK_LOW, PICK_HIGH, CONSUMES, LEAST, MOST = range(6)
FIRST, LAST, PICK, CUMULATIVE, RESTRICTED, COMBINATIONS, COMBINATIONS_MINIMUM = range(7)
KEEP, DELETE, REAPPLY, OWN = range(4)
CLASS = 6  # the number of the class of an operand, in the column after its mode

# The lists of a node, from column LIST on: what it delivers now, what waits to be merged, and what it keeps.
OUT, OUT_DELETED, WAITING, DELETED, KEPT = range(5)
# KEPT is followed by lists whose use depends on the kind of the node.
DUE = KEPT  # of MOMENTS
RUNNING, STOPS = KEPT, KEPT + 1  # of PERIODS
TICKS, TIMES = KEPT, KEPT + 1  # of ABSENCE
LATEST = KEPT  # of NUMBERED
HELD = KEPT  # of ASKED
SEEN, PENDING = KEPT, KEPT + 1  # of ONE_OF and EACH_ONE
CHOSEN, FOUND, OPEN, ABSENT = KEPT, KEPT + 1, KEPT + 2, KEPT + 3  # of PAIRS_OF_VIEWS; ABSENT of all pairs
EARLIER = KEPT  # of PAIRS_OF_ONE
ACTIVE, FOREIGN, GONE = KEPT, KEPT + 1, KEPT + 2  # of TERMINATORS, then for each operand:
AVAILABLE, CANDIDATES, NEEDED, TOOK, COMBINED = range(5)
OPERANDS = KEPT + 4
PER_OPERAND = 5
CLOCK = 0  # the first list of all: the ticks to come


class Operators(NamedTuple):
    """One profile: its operators, and its clock."""

    domain: Array  # uint64 (1, W): the bits that make an event relevant
    bits: tuple[int, ...]  # by node: the bit of its events, -1 if it is not EVENTS
    nodes: Array  # int64 (N, NODE_COLUMNS)
    children: Array  # int64: what nodes read
    modes: Array  # int64 (M, MODE_COLUMNS + 1)
    widths: Array  # int64 (L,): numbers in an entry of each list
    clock: Array  # int64 (C, 2): an event of this node makes the clock tick so many microseconds later
    tick: int  # the bit of the events that are ticks, or -1
    reach: int  # for how long after its last event a key is observed, when all events are over
