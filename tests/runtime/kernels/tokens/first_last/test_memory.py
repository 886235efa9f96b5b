"""The first matches of an event: what is found, remembered and read again."""

from __future__ import annotations

import numpy as np
import pytest

from support.kernel_cases import SECOND, detector_of, events_of, read_again, refs_of, same, shifted, work_of
from tocsin.errors import InputError, LimitError
from tocsin.runtime.kernels.protocol import Fed, Memory
from tocsin.runtime.kernels.tokens.first_last import memory as kernel
from tocsin.runtime.moments import FOREVER

PATTERN = "([A], [B])_{T1=10s} with matches = any, take = first 1"


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
    assert sorted(refs_of(done.matches)) == [(0, [0, 2])]


@pytest.mark.slow
def test_what_is_remembered_of_them() -> None:
    detector, _, done = fed()
    held = kernel.held(detector, done.content)
    assert kernel.size(done.content) == 3
    assert kernel.due(detector, done.content) == 12 * SECOND + 1
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
    assert sorted(refs_of(after.matches)) == [(0, [0, 100]), (1, [3, 101])]
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
def test_an_event_that_comes_too_early_cannot_be_used() -> None:
    detector, bits, done = fed()
    early = events_of(bits, "B1", "", ref=100)
    with pytest.raises(LimitError, match="cannot-go-back"):
        kernel.feed(done.content, work_of(detector, early))
    nothing_yet = kernel.initial(detector)._replace(fed=5 * SECOND)
    handed_over = kernel.feed(nothing_yet, work_of(detector, early))
    assert isinstance(handed_over, Memory)
    assert handed_over.kind == "single"


@pytest.mark.slow
def test_of_the_last_one_only_its_chain_is_kept() -> None:
    detector, bits = detector_of(PATTERN.replace("first 1", "last"))
    events = events_of(bits, "A0 A1 B2", "A2")
    done = kernel.feed(kernel.initial(detector), work_of(detector, events, until=3 * SECOND))
    assert isinstance(done, Fed)
    assert refs_of(done.matches) == [(0, [1, 2])]
    assert sorted(kernel.held(detector, done.content).refs.tolist()) == [1, 3]
    memory = read_again(kernel, done.content)
    after = kernel.feed(memory, work_of(detector, events_of(bits, "B4", "B5", ref=100)))
    assert isinstance(after, Fed)
    assert refs_of(after.matches) == [(0, [1, 100]), (1, [3, 101])]
