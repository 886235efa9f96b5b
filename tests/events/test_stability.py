"""Detection policies: every rule by hand, then what must hold whatever arrives, then a simulated network."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.events.lateness import REMEMBERED, Lateness
from tocsin.events.stability import Policy, policy

SECOND = 1_000_000
Arrival = tuple[str, str | None, int]  # source, item or heartbeat, end


def released(policy: Policy[str], arrivals: Iterable[Arrival]) -> list[list[str]]:
    """What each arrival sets free; events are ordered by end and name."""
    return [policy.arrive(source, item, end, (end, item or "")) for source, item, end in arrivals]


# --- best effort -------------------------------------------------------------------------------------------


def test_best_effort_hands_out_in_the_order_of_arrival() -> None:
    free = policy("best-effort", ["s1", "s2"])
    assert released(free, [("s2", "b", 2), ("s1", "a", 1), ("s1", None, 9)]) == [["b"], ["a"], []]
    assert (free.waiting, free.late) == (0, [])


def test_best_effort_lets_timers_run_out_before_the_latest_moment_seen() -> None:
    free = policy("best-effort")
    released(free, [("s", "a", 5), ("s", "b", 3)])
    assert free.watermark == 4
    assert free.advance(7) == []
    assert free.watermark == 7


def test_best_effort_needs_no_source() -> None:
    assert policy("best-effort").arrive(None, "a", 1, (1,)) == ["a"]


# --- guaranteed --------------------------------------------------------------------------------------------


def test_an_event_waits_for_every_other_source_to_pass_it() -> None:
    sure = policy("guaranteed", ["s1", "s2"])
    # cam-079: after the heartbeat both are stable; of its own source an event needs nothing more.
    assert released(sure, [("s2", "b", 2), ("s1", "a", 1), ("s1", None, 3)]) == [[], ["a"], ["b"]]
    assert sure.watermark == 1
    released(sure, [("s2", None, 4)])
    assert sure.watermark == 2


def test_a_moment_can_be_waited_for_until_it_is_whole() -> None:
    # As above, but of its own source an event needs something later, too.
    sure = policy("guaranteed", ["s1", "s2"], whole_moments=True)
    arrivals = [("s2", "b", 2), ("s1", "a", 1), ("s1", None, 3), ("s2", None, 4)]
    assert released(sure, arrivals) == [[], [], ["a"], ["b"]]
    assert sure.watermark == 2


def test_later_means_a_strictly_later_end() -> None:
    sure = policy("guaranteed", ["s1", "s2"])
    assert released(sure, [("s1", "a", 5), ("s2", "b", 5), ("s2", None, 6), ("s1", None, 6)]) == [
        [],
        [],
        ["a"],
        ["b"],
    ]


def test_the_source_of_the_first_event_can_hold_up_the_others() -> None:
    sure = policy("guaranteed", ["s1", "s2", "s3"])
    # The event of s2 alone would be stable against s1; the first one waits for s3, so both do.
    assert released(sure, [("s1", "a", 1), ("s2", "b", 2), ("s1", None, 9), ("s3", None, 9)]) == [
        [],
        [],
        [],
        ["a", "b"],
    ]


def test_a_silent_source_holds_up_everything() -> None:
    sure = policy("guaranteed", ["s1", "s2"])  # cam-082
    assert released(sure, [("s1", "a", 1), ("s2", "b", 2)]) == [[], ["a"]]
    assert sure.waiting == 1


def test_one_source_is_always_stable() -> None:
    sure = policy("guaranteed", ["s"])
    assert released(sure, [("s", "a", 1), ("s", "b", 1), ("s", "c", 2)]) == [["a"], ["b"], ["c"]]
    assert sure.watermark == 1


def test_the_literal_rule_of_the_paper_misses_what_comes_from_another_source() -> None:
    # cam-081 read literally: b is stable as soon as its own source has gone on, and a comes too late.
    literal = policy("guaranteed", ["s1", "s2"], stability="same-source")
    arrivals = [("s2", "b", 2), ("s2", None, 4), ("s1", "a", 1), ("s1", None, 5)]
    assert released(literal, arrivals) == [[], ["b"], [], ["a"]]
    assert literal.late == []


def test_an_event_behind_its_own_source_is_reported_as_late() -> None:
    sure = policy("guaranteed", ["s1", "s2"])
    released(sure, [("s1", "b", 5), ("s1", "a", 3), ("s1", "b", 5)])
    assert [(late.item, late.source, late.reason) for late in sure.late] == [
        ("a", "s1", "'s1' had delivered a later event before"),
        ("b", "s1", "it came twice"),
    ]
    assert released(sure, [("s1", None, 8), ("s1", "c", 7)]) == [[], []]
    assert sure.late[-1].reason == "'s1' was past that time already"


def test_an_event_at_the_moment_of_a_heartbeat_is_in_time() -> None:
    sure = policy("guaranteed", ["s1", "s2"])
    assert released(sure, [("s1", None, 5), ("s1", "a", 5), ("s2", None, 6)]) == [[], [], ["a"]]


def test_time_that_goes_on_is_a_promise_of_all_sources() -> None:
    sure = policy("guaranteed", ["s1", "s2"])
    released(sure, [("s1", "a", 5), ("s1", "b", 6)])
    assert (sure.advance(5), sure.watermark) == (["a"], 5)
    assert released(sure, [("s2", "c", 5)]) == [[]]
    assert [late.item for late in sure.late] == ["c"]


def test_a_source_that_fell_silent_is_named_and_can_be_left_out() -> None:
    sure = policy("guaranteed", ["s1", "s2", "s3"])
    released(sure, [("s1", "a", 10), ("s2", None, 20)])
    assert sure.silent(20, 5) == ("s1", "s3")
    assert sure.silent(20, 10) == ("s3",)
    assert sure.leave_out("s3") == ["a"]
    assert sure.watermark == 9
    # It may still be in time; if it is not, that is said.
    assert released(sure, [("s3", "late", 9), ("s3", "c", 15), ("s1", None, 16)]) == [[], [], ["c"]]
    assert [(late.item, late.reason) for late in sure.late] == [
        ("late", "later events had been used already")
    ]


def test_the_last_source_cannot_be_left_out() -> None:
    sure = policy("guaranteed", ["s1", "s2"])
    sure.leave_out("s1")
    with pytest.raises(InputError, match="only source left"):
        sure.leave_out("s2")


@pytest.mark.parametrize(
    ("make", "code", "hint"),
    [
        (lambda: policy("garanteed", ["s"]), "unknown-policy", "'guaranteed'"),
        (lambda: policy("guaranteed"), "no-sources", "name the sources"),
        (lambda: policy("guaranteed", ["s"], stability="none"), "bad-option", "same-source"),
        (lambda: policy("probabilistic", ["s"]), "bad-threshold", "0.95"),
        (lambda: policy("probabilistic", ["s"], threshold=1.5), "bad-threshold", "0.95"),
        (lambda: policy("guaranteed", ["door"]).arrive("dor", "a", 1, (1,)), "unknown-source", "'door'"),
        (lambda: policy("guaranteed", ["door"]).arrive(None, "a", 1, (1,)), "no-source", "door"),
        (lambda: policy("guaranteed", ["door"]).leave_out("window"), "unknown-source", "door"),
    ],
)
def test_mistakes_say_what_to_do(make: Any, code: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.code == code
    assert hint in (caught.value.hint or "")


# --- whatever arrives --------------------------------------------------------------------------------------

SOURCES = ["s1", "s2", "s3"]


@st.composite
def interleavings(draw: st.DrawFn) -> list[Arrival]:
    """Three sources, each in the total order, with heartbeats, arriving in any interleaving."""
    names = count()
    queues = []
    for source in SOURCES:
        ends = sorted(draw(st.lists(st.integers(0, 12), max_size=8)))
        queue = [(source, f"e{next(names):02}" if draw(st.booleans()) else None, end) for end in ends]
        queues.append(sorted(queue, key=lambda arrival: (arrival[2], arrival[1] or "")))
    mixed = draw(st.permutations([number for number, queue in enumerate(queues) for _ in queue]))
    return [queues[number].pop(0) for number in mixed]


@given(interleavings(), st.integers(0, 30), st.integers(-1, 13))
def test_guaranteed_hands_out_the_ordered_trace(arrivals: list[Arrival], cut: int, stop: int) -> None:
    sure = policy("guaranteed", SOURCES)
    got = [item for part in released(sure, arrivals[:cut]) for item in part]
    arrived = [(end, item) for _, item, end in arrivals[:cut] if item is not None]
    assert len(got) + sure.waiting + len(sure.late) == len(arrived)
    assert sorted(arrived)[: len(got)] == [(end, item) for end, item in sorted(arrived) if item in got]
    assert all(item in got for end, item in arrived if end <= sure.watermark)
    got += [item for part in released(sure, arrivals[cut:]) for item in part]
    got += sure.advance(stop) + sure.advance(99)
    everything = sorted((end, item) for _, item, end in arrivals if item is not None)
    assert (got, sure.late, sure.waiting) == ([item for _, item in everything], [], 0)


MAKE = {
    "best effort": lambda: policy("best-effort", SOURCES),
    "literal": lambda: policy("guaranteed", SOURCES, stability="same-source"),
    "guaranteed": lambda: policy("guaranteed", SOURCES),
    "unlikely": lambda: policy("probabilistic", SOURCES, threshold=0.2),
    "likely": lambda: policy("probabilistic", SOURCES, threshold=0.7),
    "whole moments": lambda: policy("guaranteed", SOURCES, whole_moments=True),
    "likely whole moments": lambda: policy("probabilistic", SOURCES, threshold=0.7, whole_moments=True),
}


@pytest.mark.parametrize("kind", MAKE)
@given(unruly=st.lists(st.tuples(st.sampled_from(SOURCES), st.booleans(), st.integers(0, 9)), max_size=30))
def test_nothing_is_lost_however_unruly_the_sources(kind: str, unruly: list[tuple[str, bool, int]]) -> None:
    tested = MAKE[kind]()
    in_order = kind not in ("best effort", "literal")
    arrivals = [(source, f"e{n}" if event else None, end) for n, (source, event, end) in enumerate(unruly)]
    got: list[str] = []
    watermark = tested.watermark
    for source, item, end in arrivals:
        before = tested.watermark
        fresh = tested.arrive(source, item, end, (end, item or ""))
        got += fresh
        assert tested.watermark >= watermark
        watermark = tested.watermark
        if in_order:
            # What is handed out lies after the time that was promised to be over.
            assert all(e > before for _, i, e in arrivals if i in fresh)
    items = [item for _, item, _ in arrivals if item is not None]
    assert len(got) + tested.waiting + len(tested.late) == len(items)
    got += tested.advance(99)
    assert sorted([*got, *(late.item for late in tested.late)]) == sorted(items)
    if in_order:
        place = {item: (end, item) for _, item, end in arrivals if item is not None}
        assert got == sorted(got, key=lambda item: place[item])


# --- probabilistic -----------------------------------------------------------------------------------------


def test_delays_that_were_seen_say_what_is_likely() -> None:
    likely = policy("probabilistic", ["fast", "slow"], threshold=0.75)
    for second in range(1, 8):  # seven times `slow` is two seconds behind
        released(likely, [("fast", None, (second + 2) * SECOND), ("slow", None, second * SECOND)])
    assert released(likely, [("fast", "a", 10 * SECOND), ("fast", None, 12 * SECOND)]) == [[], []]
    assert likely.watermark == 10 * SECOND - 1
    # More than two seconds ago: 7 of 7 delays were shorter, which makes 7 of 8.
    assert released(likely, [("fast", None, 12 * SECOND + 1)]) == [["a"]]
    # That nothing at all is under way is a claim about both sources: 7/8 * 7/8.
    assert likely.watermark == 10 * SECOND


def test_as_long_as_nothing_is_known_of_a_source_it_is_waited_for() -> None:
    likely = policy("probabilistic", ["fast", "slow"], threshold=0.5)
    assert released(likely, [("fast", "a", 1), ("fast", None, 10**12)]) == [[], []]
    assert released(likely, [("slow", None, 2)]) == [["a"]]


def test_what_was_overtaken_is_reported() -> None:
    likely = policy("probabilistic", ["fast", "slow"], threshold=0.5)
    arrivals = [("slow", None, 0), ("fast", "b", 5), ("fast", None, 9)]
    assert released(likely, arrivals) == [[], [], ["b"]]
    assert released(likely, [("slow", "a", 4), ("slow", "c", 9), ("fast", None, 10)]) == [[], [], ["c"]]
    assert [(late.item, late.reason) for late in likely.late] == [("a", "later events had been used already")]


def test_only_the_latest_delays_are_remembered() -> None:
    delays = Lateness()
    for _ in range(REMEMBERED):
        delays.add(50)
    for _ in range(REMEMBERED // 2):
        delays.add(10)
    assert delays.share_below(50) == (REMEMBERED // 2) / (REMEMBERED + 1)
    for _ in range(REMEMBERED // 2):
        delays.add(10)
    assert delays.share_below(50) == REMEMBERED / (REMEMBERED + 1)


def network(seed: int) -> list[tuple[int, str, int]]:
    """Arrivals (when, source, end) of a busy, a middling and a sparse source, each with its own delays."""
    chance = random.Random(seed)
    arrivals = []
    for source, gap, delay in (("busy", 1.0, 0.5), ("middling", 4.0, 3.0), ("sparse", 15.0, 6.0)):
        end, arrival = 0.0, 0.0
        while end < 3_000:
            end += chance.expovariate(1 / gap)
            # In order on one link: nothing overtakes what was sent before it.
            arrival = max(arrival + 1e-6, end + chance.lognormvariate(0, 1) * delay)
            arrivals.append((round(arrival * SECOND), source, round(end * SECOND)))
    return sorted(arrivals)


def simulated(
    arrivals: list[tuple[int, str, int]], tested: Policy[int], *, wall_clock: bool
) -> tuple[float, float, list[list[int]]]:
    """The share of events that nothing earlier came after, and how long events waited on average."""
    handed_out: list[list[int]] = []
    when_used: dict[int, int] = {}
    for number, (when, source, end) in enumerate(arrivals):
        fresh = tested.arrive(source, number, end, (end, number), when if wall_clock else None)
        handed_out.append(fresh)
        when_used.update(dict.fromkeys(fresh, number))
    earliest_after = [0] * len(arrivals) + [1 << 62]
    for number in range(len(arrivals) - 1, -1, -1):
        earliest_after[number] = min(arrivals[number][2], earliest_after[number + 1])
    right = sum(arrivals[n][2] <= earliest_after[used + 1] for n, used in when_used.items())
    waited = sum(arrivals[used][0] - arrivals[n][0] for n, used in when_used.items())
    return right / len(when_used), waited / len(when_used) / SECOND, handed_out


@pytest.mark.slow
@pytest.mark.parametrize("wall_clock", [False, True])
def test_the_share_of_right_decisions_is_what_the_threshold_asks_for(wall_clock: bool) -> None:
    arrivals = network(seed=1)
    best_effort, _, _ = simulated(arrivals, policy("best-effort", SOURCES), wall_clock=wall_clock)
    assert best_effort < 0.6
    waits = [0.0]
    for threshold in (0.6, 0.8, 0.9, 0.95, 0.99):
        likely = policy("probabilistic", ["busy", "middling", "sparse"], threshold=threshold)
        share, waited, _ = simulated(arrivals, likely, wall_clock=wall_clock)
        assert share >= threshold - 0.02, (threshold, share)
        assert waited > waits[-1]
        waits.append(waited)
    sure = policy("guaranteed", ["busy", "middling", "sparse"])
    share, waited, in_order = simulated(arrivals, sure, wall_clock=wall_clock)
    assert share == 1
    assert waits[1] < 0.7 * waited
    assert waits[-1] == pytest.approx(waited, rel=0.05)
    almost = policy("probabilistic", ["busy", "middling", "sparse"], threshold=1)
    assert simulated(arrivals, almost, wall_clock=wall_clock) == (1, waited, in_order)
