"""The meaning of patterns, on cases worked out by hand from the paper and from the readings C.3.

Each case says why its answer is right. None of them is among the shared vectors.
"""

from __future__ import annotations

import pytest

from tocsin.algebra.tokens.semantics import Detection, detect
from tocsin.algebra.tokens.subscription import Interpretation
from tocsin.events import Event, Interval, Value
from tocsin.languages.core import parse

SECOND = 1_000_000
ALWAYS = Interpretation(restart="always")
FIRST_SYMBOL = Interpretation(strong_scope="first-symbol")


def events(trace: str) -> list[Event]:
    """Events from a text: `A@1 AB@2-5 C@3(k=1,s='p')`; one letter a type, seconds, ids counted from 1."""
    found = []
    for number, word in enumerate(trace.split(), start=1):
        what, _, asked = word.partition("(")
        types, _, when = what.partition("@")
        start, _, end = when.partition("-")
        interval = Interval(int(start) * SECOND, int(end or start) * SECOND)
        found.append(Event(number, frozenset(types), interval, attributes(asked.rstrip(")"))))
    return found


def attributes(text: str) -> dict[str, Value]:
    """`k=1,s='p'` as a mapping."""
    kinds = {"true": True, "false": False}
    found: dict[str, Value] = {}
    for name, _, value in (pair.partition("=") for pair in text.split(",") if pair):
        if value.startswith("'"):
            found[name] = value.strip("'")
        else:
            found[name] = kinds[value] if value in kinds else float(value) if "." in value else int(value)
    return found


def ids(pattern: str, trace: str, interpretation: Interpretation | None = None) -> list[object]:
    """The constituents of every match, in an order of their own."""
    return sorted(
        (c.ids for c in detect(parse(pattern, interpretation=interpretation), events(trace))), key=repr
    )


def same(found: list[object], expected: list[object]) -> bool:
    return found == sorted(expected, key=repr)


START = [
    # The start accepts and stays: every B starts a match. P ends it for good; what comes later finds nobody.
    ("[B in {B,P}]", "B@1 B@2 P@3 B@4", None, [[1], [2]]),
    # The same, with a start that is always there.
    ("[B in {B,P}]", "B@1 B@2 P@3 B@4", ALWAYS, [[1], [2], [4]]),
    # Each branch has its own start: Y ends that of B, X that of A; neither touches the other.
    ("[A in {A,X}] | [B in {B,Y}]", "Y@1 A@2 B@3 X@4 A@5", None, [[2]]),
    # X ends the partial match that waits for B, but is not in the domain of the start.
    ("[A][B in {B,X}]", "A@1 X@2 A@3 B@4", None, [[3, 4]]),
    # The start of an iteration and what follows are one state, so X, of the domain of A, ends the start.
    ("[A in {A,X}]*[B]", "X@1 B@2", None, []),
]

ITERATION = [
    # C.3.4: the state after A waits for B, X (to fail) and C at once: X ends it before C comes.
    ("[A][B in {B,X}]*[C]", "A@1 X@2 C@3", []),
    ("[A][B in {B,X}]*[C]", "A@1 C@2", [[1, 2]]),
    # An event that both the loop and what follows take leads to two tokens; a token takes the first it can.
    ("[A][A]*[A]", "A@1 A@2 A@3", [[1, 2], [1, 2, 3], [2, 3]]),
    # C.3.12: a pattern that ends in * is complete at every pass, and the empty match is none.
    ("[A][B]*", "A@1 B@2 B@3", [[1], [1, 2], [1, 2, 3]]),
    ("[A]*", "B@1 A@2 A@3", [[2], [2, 3], [3]]),
]

ALTERNATION = [
    # C.3.5: X ends the branch of B only; the one of C never looked at it.
    ("[A]([B in {B,X}] | [C])", "A@1 X@2 C@3", [[1, 3]]),
    # C.3.6: the same events found on two ways are one match.
    ("[A] | [A]", "A@1", [[1]]),
    ("([A] | [B])[C]", "AB@1 C@2", [[1, 2]]),
    # C.3.6: nothing is consumed: B belongs to both.
    ("[A];[B]", "A@1 A@2 B@3", [[1, 3], [2, 3]]),
]

ORDER = [
    # Paper (3): 3-5 is not over before 4-6 begins. All ways are strong, so C@4-6 is passed over (C.3.9).
    ("[A];[B];[C]", "A@1-2 B@3-5 C@4-6 C@7", None, [[1, 2, 4]]),
    # C.3.9: X follows B only weakly where all ways are strong, so it does not end the match ...
    ("[A]([B];[C in {C,X}])", "A@1 B@2-4 X@3-5 C@6", None, [[1, 2, 4]]),
    # ... but here it follows strongly, and does.
    ("[A]([B];[C in {C,X}])", "A@1 B@2-4 X@5 C@6", None, []),
    # C.3.8: the second B lies in the right side of `;` but starts before A is over: the token fails ...
    ("[A];([B][B]*[C])", "A@1-2 B@3 B@1-4 C@5", None, []),
    # ... unless only the first event of the right side is asked.
    ("[A];([B][B]*[C])", "A@1-2 B@3 B@1-4 C@5", FIRST_SYMBOL, [[1, 2, 3, 4]]),
    # C.3.10: without an A there is nothing that B must follow; after A@1-4, B@3-5 follows only weakly.
    ("[A]*;[B]", "A@1-4 B@3-5 B@6", None, [[2], [1, 3], [3]]),
    # Paper (7): of two events with equal times the smaller id comes first.
    ("[A][B]", "A@1 B@1", None, [[1, 2]]),
    ("[B][A]", "A@1 B@1", None, []),
]

TIMERS = [
    # C.3.11: each completion of the first part replaces the timer: it runs out at 8, not at 5.
    ("([A][A]*, [T1])_{T1=5s}", "A@0 A@3", [[1, 2, "T1"], [2, "T1"]]),
    # C.3.5: waiting for B and waiting for the timer are two tokens; B ends only the one that took it.
    ("([A], [B] | [T1])_{T1=3s}", "A@0 B@2", [[1, 2], [1, "T1"]]),
    # A timer comes after the events of its moment, even if that is the moment it was started.
    ("([A], [B])_{T1=0s}", "A@1 B@1", [[1, 2]]),
    ("([A], [B])_{T1=0s}", "A@1 B@2", []),
    # Of two timers that run out together the one whose name comes first fires; then the match is complete.
    ("([A], ([B], [T1, T2])_{T2=5s})_{T1=5s}", "A@1 B@1", [[1, 2, "T1"]]),
    # A fixed time that is over when the first part ends never fires; at its very moment it still does.
    ("([A], [T1])_{T1@1970-01-01T00:00:05}", "A@6", []),
    ("([A], [T1])_{T1@1970-01-01T00:00:05}", "A@5", [[1, "T1"]]),
    ("([A], [T1])_{T1@1970-01-01T00:00:05}", "A@2", [[1, "T1"]]),
    # The inner timer ends the inner part only if that still waits: B came in time, C has the outer minute.
    ("([A], ([B], [C])_{T2=2s})_{T1=60s}", "A@1 B@50 C@52", [[1, 2, 3]]),
    ("([A], ([B], [C])_{T2=2s})_{T1=60s}", "A@1 B@50 C@53", []),
]

VARIABLES = [
    # C.3.7: B(k=1) violates the condition of this token, so that it is outside its event set: passed over.
    ("[A(k = $x)][B(k != $x)]", "A@1(k=1) B@2(k=1) B@3(k=2)", [[1, 3]]),
    # An A without k cannot give $x a value.
    ("[A(k = $x)][B]", "A@1 A@2(k=1) B@3", [[2, 3]]),
    # A domain is compared with the value too: only a C of the same k ends the match.
    ("[A(k = $x)][B in {B, C(k = $x)}]", "A@1(k=1) C@2(k=2) B@3", [[1, 3]]),
    ("[A(k = $x)][B in {B, C(k = $x)}]", "A@1(k=1) C@2(k=1) B@3", []),
    # Values of different kinds are never equal; 1 and 1.0 are of one kind.
    ("[A(k = $x)][B(k = $x)]", "A@1(k=1) B@2(k='1') B@3(k=true) B@4(k=1.0)", [[1, 4]]),
    # As in SQL: unknown OR true is true, NOT unknown is unknown.
    ("[A(k = 1 OR s = 'p')]", "A@1(s='p') A@2(k=2)", [[1]]),
    ("[A(NOT (k = 1 AND s = 'p'))]", "A@1(s='q') A@2(s='p')", [[1]]),
    # Both sides of || bind $x, so that they must agree.
    ("[A(k = $x)] || [B(k = $x)]", "A@1(k=1) B@2(k=2) B@3(k=1)", [[[1], [3]]]),
    # The paper's way: every pair first, then the condition; A(1) is used up by B(2).
    ("[A][B] where A.k = B.k", "A@1(k=1) B@2(k=2) B@3(k=1)", []),
]

COMPOSITES = [
    # C.3.13: the composite [1,2] and its last event B@2 end together; it starts earlier, so B comes after it.
    ("C1 := ([A][B]); [C1][B]", "A@1 B@2", [[[1, 2], 2]]),
    ("C1 := ([A][B]); [B][C1]", "A@1 B@2", []),
    # With equal times the composite comes first.
    ("C1 := ([A]); [C1][A]", "A@1", [[[1], 1]]),
    # A composite has the variables of its pattern as attributes.
    ("C1 := ([A(k = $x)]); [C1(x = 2)]", "A@1(k=1) A@2(k=2)", [[[2]]]),
    # A composite in a domain ends the match when it is complete, not when it begins.
    ("C1 := ([A][B]); [A][C in {C, C1}]", "A@1 C@2 B@3", [[1, 2]]),
    ("C1 := ([A][B]); [A][C in {C, C1}]", "A@1 B@2 C@3", []),
]

PARALLEL = [
    # C.3.15: two detectors, so that A is on both sides; the order is left 1, right 1, left 2, right 2.
    ("[A] || [A]", "A@1 A@2", [[[1], [1]], [[1], [2]], [[2], [2]]]),
    # Inside a sequence the parallel part runs from the start of the stream: it may begin before C ...
    ("[C]([A] || [B])", "A@1 C@2 B@3", [[2, [[1], [3]]]]),
    # ... but then it does not strongly follow C.
    ("[C];([A] || [B])", "A@1 C@2 B@3", []),
    # The timer reaches the part as a whole: its composite is too late.
    ("([C], [A] || [B])_{T1=2s}", "C@1 A@2 B@4", []),
]


@pytest.mark.parametrize(("pattern", "trace", "interpretation", "expected"), START)
def test_start(
    pattern: str, trace: str, interpretation: Interpretation | None, expected: list[object]
) -> None:
    assert same(ids(pattern, trace, interpretation), expected)


@pytest.mark.parametrize(("pattern", "trace", "interpretation", "expected"), ORDER)
def test_order(
    pattern: str, trace: str, interpretation: Interpretation | None, expected: list[object]
) -> None:
    assert same(ids(pattern, trace, interpretation), expected)


@pytest.mark.parametrize(
    ("pattern", "trace", "expected"), [*ITERATION, *ALTERNATION, *TIMERS, *VARIABLES, *COMPOSITES, *PARALLEL]
)
def test_meaning(pattern: str, trace: str, expected: list[object]) -> None:
    assert same(ids(pattern, trace), expected)


def test_a_composite_lasts_from_its_first_start_to_its_last_end() -> None:
    # Paper (5): the union of the intervals. A starts last and B ends last; the timer is a constituent too.
    [found] = detect(parse("([B][A], [T1])_{T1=5s}"), events("B@1-4 A@2-6"))
    assert found.interval == Interval(1 * SECOND, 11 * SECOND)


def test_keys_are_detected_apart() -> None:
    # Law 5: detection by key is the union over keys, so that an A of one key never meets a B of another.
    a, b, c = events("A@1 B@2 B@3")
    keyed = [Event(e.id, e.types, e.interval, key=key) for e, key in ((a, "p"), (b, "q"), (c, "p"))]
    [found] = detect(parse("[A][B]"), keyed)
    assert (found.ids, found.key) == ([1, 3], "p")


def test_time_can_end_before_a_timer_runs_out() -> None:
    subscription = parse("([A], [T1])_{T1=5s}")
    assert detect(subscription, events("A@1"), until=5 * SECOND) == []
    assert [c.ids for c in detect(subscription, events("A@1"), until=6 * SECOND)] == [[1, "T1"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "trace", "expected"),
    [
        ("[B]*" * 4_999 + "[A]", "A@1", [[1]]),
        ("[A];" * 4_999 + "[A]", "A@1 A@2", []),
        ("[A]" + "[B]" * 1_199, "A@1" + " B@2" * 1_199, [[*range(1, 1_201)]]),
    ],
    ids=["all but one can be empty", "one after the other", "all taken"],
)
def test_a_sequence_may_be_longer_than_python_can_recurse(
    pattern: str, trace: str, expected: list[object]
) -> None:
    assert same(ids(pattern, trace), expected)


def test_detection_bit_by_bit_finds_what_the_whole_trace_has() -> None:
    # Each moment whole: C1 is complete at 2, and comes before the B that completes it.
    pattern, trace = "C1 := ([A][B]); ([C1] || [B], [T1])_{T1=5s}", "A@1 B@2 B@3 A@3 B@9"
    detection, found = Detection(parse(pattern)), []
    for moment in (1, 2, 3, 9, 20):
        own = [event for event in events(trace) if event.interval.end == moment * SECOND]
        found += detection.feed(own, moment * SECOND)
    assert len(found) == 4
    assert sorted((c.ids for c in found), key=repr) == ids(pattern, trace)
