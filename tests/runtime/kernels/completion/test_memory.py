"""Keys that step through a table: what they send, remember and read again."""

from __future__ import annotations

import numpy as np
import pytest

from support.kernel_cases import (
    SECOND,
    events_of,
    pairs_detector,
    read_again,
    refs_of,
    same,
    shifted,
    work_of,
)
from tocsin.errors import InputError
from tocsin.runtime.kernels.completion import memory as kernel
from tocsin.runtime.kernels.protocol import Fed
from tocsin.runtime.moments import NEVER

DETECTOR = pairs_detector()
BITS = {"A": 1}


def fed() -> Fed:
    """One key has seen three events, one another, and a third one that nobody looks at."""
    events = events_of(BITS, "A0 X1 A1 A2", "A5", "X6")
    return kernel.feed(kernel.initial(DETECTOR), work_of(DETECTOR, events))


@pytest.mark.slow  # the kernel is compiled
def test_every_second_event_is_sent_with_the_one_before() -> None:
    matches = fed().matches
    assert refs_of(matches) == [(0, [0, 2])]
    assert matches.roles.tolist() == [0, 1]
    assert (matches.start.tolist(), matches.end.tolist()) == ([0], [SECOND])
    assert matches.emissions is not None
    assert matches.emissions.tolist() == [0]


@pytest.mark.slow
def test_keys_that_are_where_they_began_are_not_remembered() -> None:
    memory = fed().content
    assert memory.keys.tolist() == [0, 1]
    assert memory.configurations == ((1,), (1,))
    assert kernel.size(memory) == 2
    assert kernel.due(DETECTOR, memory) == NEVER
    held = kernel.held(DETECTOR, memory)
    assert (held.keys.tolist(), held.refs.tolist(), held.values.tolist()) == ([0, 1], [3, 4], [])


@pytest.mark.slow
def test_a_memory_that_was_bytes_goes_on() -> None:
    memory = read_again(kernel, fed().content)
    assert same(memory, fed().content)
    after = kernel.feed(memory, work_of(DETECTOR, events_of(BITS, "A7", "", "A8", ref=100)))
    assert refs_of(after.matches) == [(0, [3, 100])]
    assert after.content.keys.tolist() == [1, 2]


@pytest.mark.slow
def test_some_keys_alone_and_other_numbers() -> None:
    alone = kernel.restrict(fed().content, np.array([False, True, True]))
    assert alone.keys.tolist() == [1]
    moved = kernel.renumber(DETECTOR, alone, shifted(3, 6, by=5))
    held = kernel.held(DETECTOR, moved)
    assert (held.keys.tolist(), held.refs.tolist()) == ([6], [9])


def test_a_memory_with_other_fields_is_refused() -> None:
    with pytest.raises(InputError, match="checkpoint-damaged"):
        kernel.from_fields({"keys": np.empty(0, np.int64)})
