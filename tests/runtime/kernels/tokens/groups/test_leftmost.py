"""The kernel of queues finds the leftmost matches that the meaning has, on patterns people write and long traces of them."""

from __future__ import annotations

from random import Random

import pytest

from support.kernel_cases import detector_of, events_of, refs_of, work_of
from tocsin.algebra.tokens import semantics
from tocsin.automata import execute
from tocsin.events import Composite, Event, Interval
from tocsin.languages.core import parse
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.tokens.groups import leftmost, memory

SECOND = 1_000_000
ANY_ORDER = (
    "([A], ([B][C] | [C][B]))_{T1=9s} | ([B], ([A][C] | [C][A]))_{T2=9s} | ([C], ([A][B] | [B][A]))_{T3=9s}"
)
PATTERNS = {
    "a window": "([A], [B][C])_{T1=9s}",
    "no window": "[A][B][C]",
    "the same twice": "([A], [A][B])_{T1=9s}",
    "what must not come": "([A], [C in {C, B}])_{T1=9s}",
    "any order": ANY_ORDER,
    "one or the other": "([A]|[B], [C])_{T1=6s}",
    "a first that can fail": "([A in {A, D}], [B][C])_{T1=9s}",
}


def random_trace(seed: int, *, length: bool) -> list[Event]:
    """Events of two keys, some of the same moment."""
    random = Random(seed)
    events, now = [], 0
    for number in range(60):
        now += random.choice((0, 1, 1, 2, 5)) * SECOND
        begin = now - random.choice((0, 2)) * SECOND if length else now
        events.append(
            Event(
                number, frozenset({random.choice("ABCD")}), Interval(begin, now), {}, key=random.choice("pq")
            )
        )
    return events


def shown(composites: list[Composite]) -> list[str]:
    return sorted(f"{c.key} {c.ids} {[leaf.role for leaf in c.leaves()]} {c.interval}" for c in composites)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Matches | None]:
    """What the kernel has answered; None where it gave up."""
    told: list[Matches | None] = []
    find = leftmost.find

    def noted(*arguments: object) -> Matches | None:
        told.append(find(*arguments))  # type: ignore[arg-type]
        return told[-1]

    monkeypatch.setattr(memory.leftmost, "find", noted)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("length", [False, True])
@pytest.mark.parametrize("name", PATTERNS)
def test_queues_find_what_the_meaning_has(name: str, length: bool, answers: list[Matches | None]) -> None:
    asked = parse(f"{PATTERNS[name]} with matches = leftmost")
    matches = 0
    for seed in range(40):
        events = random_trace(seed, length=length)
        expected = shown(semantics.detect(asked, events))
        assert shown(execute.detect(asked, events)) == expected, seed
        matches += len(expected)
    assert matches > 2
    assert len(answers) == 40
    assert None not in answers


# The first A waits for C with the second B, the next one with the third: their queue is linked around what began between them.
def test_starts_of_one_stage_need_not_be_neighbours(answers: list[Matches | None]) -> None:
    events = [
        Event(number, frozenset({type}), Interval(second * SECOND, second * SECOND), {}, key="p")
        for number, (type, second) in enumerate([("A", 0), ("B", 1), ("A", 8), ("B", 9), ("C", 10)])
    ]
    asked = parse(f"{ANY_ORDER} with matches = leftmost")
    assert [c.ids for c in execute.detect(asked, events)] == [[1, 2, 4]]
    assert len(answers) == 1


@pytest.mark.slow
def test_the_kernel_itself_on_a_trace_by_hand() -> None:
    detector, bits = detector_of("([A], [B])_{T1=10s} with matches = leftmost")
    work = work_of(detector, events_of(bits, "A0 A1 B2 B3 A4 A5 B15", "B0 A1 B2"), keep=False)
    before = memory.initial(detector)
    tables, rows = memory.prepared(work, before.known, before.fed)
    stages = leftmost.stages_of(tables)
    assert stages is not None
    matches = leftmost.find(tables, stages, rows)
    assert matches is not None
    assert refs_of(matches) == [(0, [0, 2]), (0, [5, 6]), (1, [8, 9])]  # the A at 4 s is out of its window
