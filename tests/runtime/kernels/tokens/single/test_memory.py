"""Every partial match by itself: what is found, remembered and read again."""

from __future__ import annotations

import numpy as np
import pytest

from support.kernel_cases import SECOND, detector_of, events_of, read_again, refs_of, same, shifted, work_of
from tocsin.errors import InputError, LimitError
from tocsin.runtime.kernels.protocol import Fed
from tocsin.runtime.kernels.tokens.single import memory as kernel
from tocsin.runtime.moments import FOREVER

PATTERN = "([A], [B])_{T1=10s} with matches = any"


def fed():  # type: ignore[no-untyped-def]
    """Two keys, of which one has seen two A and a B, the other an A; three seconds have passed."""
    detector, bits = detector_of(PATTERN)
    events = events_of(bits, "A0 A1 B2", "A2")
    done = kernel.feed(kernel.initial(detector), work_of(detector, events, until=3 * SECOND))
    assert isinstance(done, Fed)
    return detector, bits, done


@pytest.mark.slow  # kernels are compiled
def test_what_two_keys_find() -> None:
    _, _, done = fed()
    assert sorted(refs_of(done.matches)) == [(0, [0, 2]), (0, [1, 2])]


@pytest.mark.slow
def test_what_is_remembered_of_them() -> None:
    detector, _, done = fed()
    held = kernel.held(detector, done.content)
    assert kernel.size(done.content) == 3
    assert kernel.due(detector, done.content) == 10 * SECOND
    assert set(held.keys.tolist()) == {0, 1}
    assert {ref for ref in held.refs.tolist() if ref >= 0} == {0, 1, 3}
    assert not len(held.values)


@pytest.mark.slow
def test_a_memory_that_was_bytes_goes_on() -> None:
    detector, bits, done = fed()
    memory = read_again(kernel, done.content)
    assert same(memory, done.content)
    later = events_of(bits, "B4", "B5", ref=100)
    after = kernel.feed(memory, work_of(detector, later, until=FOREVER))
    assert isinstance(after, Fed)
    assert sorted(refs_of(after.matches)) == [(0, [0, 100]), (0, [1, 100]), (1, [3, 101])]
    assert kernel.size(after.content) == 0  # the window is over


@pytest.mark.slow
def test_some_keys_alone_and_other_numbers() -> None:
    detector, _, done = fed()
    alone = kernel.restrict(done.content, np.array([False, True]))
    assert kernel.size(alone) == 1
    assert set(kernel.held(detector, alone).keys.tolist()) == {1}
    held = kernel.held(detector, kernel.renumber(detector, alone, shifted(2, 4, by=5)))
    assert set(held.keys.tolist()) == {6}
    assert {ref for ref in held.refs.tolist() if ref >= 0} == {8}


def test_a_memory_with_other_fields_is_refused() -> None:
    detector, _ = detector_of(PATTERN)
    fields = kernel.fields(kernel.initial(detector))
    for wrong in ({**fields, "more": 1}, dict(list(fields.items())[1:])):
        with pytest.raises(InputError, match="checkpoint-damaged"):
            kernel.from_fields(wrong)


@pytest.mark.slow
def test_a_timer_ends_a_partial_match() -> None:
    detector, bits = detector_of("([A], [B])_{T1=5s}")
    for until, waiting in ((4, 1), (5, 0)):
        done = kernel.feed(
            kernel.initial(detector), work_of(detector, events_of(bits, "A0"), until=until * SECOND)
        )
        assert kernel.size(done.content) == waiting


@pytest.mark.slow
def test_variables_are_bound_and_compared() -> None:
    detector, bits = detector_of("[A(x = $v)][B(x = $v)]")
    work = work_of(detector, events_of(bits, "A0 A1 B2"), values=[[1], ["one"], ["one"]])
    done = kernel.feed(kernel.initial(detector), work)
    assert refs_of(done.matches) == [(0, [1, 2])]
    assert [work.interned.values[number] for number in done.matches.variables[0]] == ["one"]
    assert kernel.size(done.content) == 1
    assert kernel.held(detector, done.content).values.tolist() == [0]  # the number of 1


@pytest.mark.slow
def test_more_partial_matches_than_allowed_are_an_error() -> None:
    detector, bits = detector_of("[A][B]")
    work = work_of(detector, events_of(bits, "A0 A1 A2 A3"), limit=2)
    with pytest.raises(LimitError, match=r"too-many-partial-matches: more than 2 .*'k0'"):
        kernel.feed(kernel.initial(detector), work)


@pytest.mark.slow
def test_copies_of_a_part_find_a_match_with_their_timers_once() -> None:
    """Each copy has a timer of its own, and the match is the same whichever of them runs out."""
    detector, bits = detector_of("([A], [T1])_{T1=1s}{0,2}".replace("{0,2}", "*"))
    done = kernel.feed(kernel.initial(detector), work_of(detector, events_of(bits, "A0"), until=FOREVER))
    assert isinstance(done, Fed)
    assert len(refs_of(done.matches)) == 1
