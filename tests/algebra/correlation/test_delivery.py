"""Outputs on their way to a receiver: urgent ones first, and nothing lost without a word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.algebra.correlation.delivery import Lost, Queue, deliver, offer
from tocsin.algebra.correlation.outcome import Arrival, Output
from tocsin.algebra.correlation.semantics import run
from tocsin.languages.ksu import parse


def out(at: int, type: str = "T", **attributes: object) -> Output:
    return Output(at, type, attributes, time=at * 1000)  # type: ignore[arg-type]  # any value will do


def filled(*outputs: Output, capacity: int | None = None) -> Queue:
    queue = Queue(capacity)
    for output in outputs:
        queue = offer(queue, output)
    return queue


def places(outputs: tuple[Output, ...]) -> list[int]:
    return [output.at for output in outputs]


def lost(queue: Queue) -> list[tuple[int, str]]:
    return [(one.output.at, one.why) for one in queue.lost]


def test_the_urgent_first_and_then_as_they_came() -> None:
    queue = filled(out(1), out(2, priority=3), out(3), out(4, priority=3))
    left, taken = deliver(queue, most=3)
    assert (places(taken), places(left.waiting)) == ([2, 4, 1], [3])


def test_what_is_expired_is_not_delivered() -> None:
    queue = filled(out(1, expiry=5), out(2, expiry=50), out(3))
    left, taken = deliver(queue, now=7_000)
    assert (places(taken), lost(left)) == ([2, 3], [(1, "expired")])


def test_sensor_data_replaces_what_waits_and_errors_give_way() -> None:
    recent = filled(out(1), out(2, "U"), out(3, overwrite="recent"))
    assert (places(recent.waiting), lost(recent)) == ([2, 3], [(1, "overwritten")])
    earliest = filled(out(1), out(2, overwrite="earliest"), out(3, "U", overwrite="earliest"))
    assert (places(earliest.waiting), lost(earliest)) == ([1, 3], [(2, "overwritten")])


def test_what_goes_when_the_queue_is_full() -> None:
    assert lost(filled(out(1), out(2), capacity=1)) == [(2, "dropped")]
    assert lost(filled(out(1), out(2, drop="newest"), capacity=1)) == [(2, "dropped")]
    assert lost(filled(out(1), out(2, drop="oldest"), capacity=1)) == [(1, "dropped")]
    lowest = filled(out(1, priority=2), out(2, priority=1), out(3, priority=1, drop="lowest"), capacity=2)
    assert lost(lowest) == [(3, "dropped")]


def test_payload_that_only_has_the_name_is_not_obeyed() -> None:
    assert filled(out(1), out(2, overwrite=7, drop="never", priority="high")).lost == ()


def test_a_transformer_decides() -> None:
    text = """Alarm correlation Watch (E a, E b) l1:a | l2:b {
        case l1: push new Alarm { priority = 1 }; case l2: push new Alarm { priority = a.level, overwrite = "recent" };
        case l2: push new Alarm { priority = 9 } }"""
    outcome = run(parse(text).correlations[0], [Arrival("a"), Arrival("b")])
    _, taken = deliver(filled(*outcome.outputs))
    assert [output.attributes["priority"] for output in taken] == [9, 1]


outputs = st.builds(
    lambda at, type, attributes: Output(
        at, type, {k: v for k, v in attributes.items() if v is not None}, time=at
    ),
    st.integers(0, 5),
    st.sampled_from("TU"),
    st.fixed_dictionaries(
        {
            "priority": st.sampled_from([None, 1, 2]),
            "expiry": st.sampled_from([None, 0.001]),
            "overwrite": st.sampled_from([None, "recent", "earliest"]),
            "drop": st.sampled_from([None, "oldest", "newest", "lowest"]),
        }
    ),
)


@given(st.lists(outputs), st.sampled_from([None, 1, 2]), st.sampled_from([None, 3]))
def test_the_counts_add_up(offered: list[Output], capacity: int | None, now: int | None) -> None:
    queue = filled(*offered, capacity=capacity)
    assert capacity is None or len(queue.waiting) <= capacity
    left, taken = deliver(queue, now, most=2)
    assert len(offered) == len(taken) + len(left.waiting) + len(left.lost)
    assert all(isinstance(one, Lost) for one in left.lost)
