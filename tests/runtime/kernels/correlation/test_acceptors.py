"""Acceptors of correlations in completion's kernel: what they send, what they keep of a window, and what they forget."""

from __future__ import annotations

import numpy as np
import pytest

from support.kernel_cases import events_of, read_again, refs_of, same, shifted, work_of
from tocsin.algebra.correlation.expression import Interpretation
from tocsin.automata.correlation.draft import ksu_drafts
from tocsin.automata.detection_plan import FieldTest
from tocsin.automata.transduce import transducers
from tocsin.languages.ksu import parse
from tocsin.runtime.kernels.completion import memory as kernel
from tocsin.runtime.kernels.protocol import Fed
from tocsin.runtime.kernels.registry import kernel_of
from tocsin.runtime.program import Detector

BOTH = "N correlation C (A a, B b) both:(a;b) { case both: push a; push b; }"


def acceptor(text: str) -> tuple[Detector, dict[str, int]]:
    """The detector of a correlation, and the bit of each port."""
    (correlation,) = parse(text).correlations
    ports = {"C": {"a": "A", "b": "B"}}
    compiled = transducers(
        ksu_drafts({"C": correlation}, None, ports, Interpretation(), triggers_reported=False, known=None)
    )
    (detector,) = compiled.plan.detectors
    bits = {}
    for bit, test in compiled.tests:
        assert isinstance(test, FieldTest)
        for port in ("A", "B"):
            if f"'{port}'" in repr(test.filter):
                bits[port] = 1 << bit
    assert bits.keys() == {"A", "B"}
    return detector, bits


DETECTOR, BITS = acceptor(BOTH)


def fed(*traces: str) -> Fed:
    found = kernel.feed(kernel.initial(DETECTOR), work_of(DETECTOR, events_of(BITS, *traces)))
    assert isinstance(found, Fed)
    return found


def test_completions_kernel_runs_it() -> None:
    assert kernel_of(DETECTOR) == "completion"


@pytest.mark.slow  # the kernel is compiled
def test_a_window_that_completes_sends_each_event_that_it_kept() -> None:
    matches = fed("B0 A1 X2 B3 B4", "A5").matches
    assert matches.emissions is not None
    # The B before the A begins no window, and the B after the window meets no A.
    assert refs_of(matches) == [(0, [1, 3]), (0, [3])]
    assert [DETECTOR.emissions[number].forwards for number in matches.emissions.tolist()] == ["a", "b"]


@pytest.mark.slow
def test_only_open_windows_are_remembered_and_go_on() -> None:
    memory = fed("A0 B1", "A2", "X3").content
    assert memory.keys.tolist() == [1]
    assert (
        {2} <= set(kernel.held(DETECTOR, memory).refs.tolist()) <= {-1, 2}
    )  # the A, and the beginning of its window
    again = read_again(kernel, memory)
    assert same(again, memory)
    moved = kernel.renumber(DETECTOR, again, shifted(3, 4, by=10))
    assert kernel.held(DETECTOR, moved).keys.tolist() == [11]
    after = kernel.feed(again, work_of(DETECTOR, events_of(BITS, "X9", "B9", "", ref=100)))
    assert isinstance(after, Fed)
    assert {key for key, _ in refs_of(after.matches)} == {1}
    assert kernel.size(after.content) == 0


@pytest.mark.slow
def test_some_keys_alone() -> None:
    alone = kernel.restrict(fed("A0", "A1", "A2").content, np.array([True, False, True]))
    assert alone.keys.tolist() == [0, 2]
