"""`take = first n` and `take = last` look at what they report, not at what there is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from support.kernel_cases import work_of
from tocsin.automata.tokens.compile import compile
from tocsin.languages.core import parse
from tocsin.runtime.feed import Batch, Result, feed
from tocsin.runtime.kernels.protocol import Events
from tocsin.runtime.kernels.registry import kernel_of
from tocsin.runtime.kernels.tokens.first_last.memory import initial as no_ranks
from tocsin.runtime.kernels.tokens.first_last.memory import ranked
from tocsin.runtime.kernels.tokens.groups.enumerate import MATCH_LENGTH, PART_REF
from tocsin.runtime.kernels.tokens.groups.memory import prepared
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.program import SPEC_BIT, SPEC_ROLE, Plan, Program
from tocsin.runtime.state import initial

SECOND = 1_000_000
PATTERNS = ("[A][B][C][D]", "([A], [B][C][D])_{T1=1h}")
TAKEN = ("first 1", "first 3", "last")


def plan_of(pattern: str, take: str) -> Plan:
    return compile([parse(f"{pattern} with matches = any, take = {take}")]).plan


def events_of(plan: Plan, types: str) -> Events:
    """One event a second, all of one key; the questions are whether it is of each type, in the order of the pattern."""
    detector = plan.detectors[0]
    assert isinstance(detector.program, Program)
    role_of_spec = detector.program.specs[:, SPEC_ROLE]
    bits = np.zeros((len(detector.roles), 1), np.uint64)
    for spec, role in enumerate(role_of_spec.tolist()):
        bits[role, 0] |= np.uint64(1) << np.uint64(detector.program.specs[spec, SPEC_BIT])
    which = np.array([detector.roles.index(name) for name in types], np.int32)
    time = np.arange(len(types)) * SECOND
    return Events(np.array([0, len(types)]), time, time, np.arange(len(types)), which, bits)


def steps_of(pattern: str, take: str, types: str) -> tuple[int, list[list[int]]]:
    """How many steps the kernel takes, and what it reports."""
    plan = plan_of(pattern, take)
    detector, events = plan.detectors[0], events_of(plan, types)
    assert kernel_of(detector) == "first_last"
    work = work_of(detector, events, keep=False)
    before = no_ranks(detector)
    tables, rows = prepared(work, before.known, before.fed)
    found, parts, _, _, steps = ranked(before, work, tables, rows)
    sizes = found[:, MATCH_LENGTH].tolist()
    ends = np.cumsum(sizes).tolist()
    return steps, [parts[end - size : end, PART_REF].tolist() for end, size in zip(ends, sizes, strict=True)]


def fed(pattern: str, take: str, types: str, limit: int) -> Result:
    plan = plan_of(pattern, take)
    events = events_of(plan, types)
    batch = Batch(
        pa.table({"id": events.ref}),
        [],
        events.start,
        events.end,
        None,
        events.bits[events.signature],
        [],
    )
    return feed(plan, initial(plan), batch, FOREVER, limit=limit)


@pytest.mark.slow  # kernels are compiled
@pytest.mark.parametrize("take", TAKEN)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_event_that_completes_a_thousand_or_a_million_matches_costs_the_same(
    pattern: str, take: str
) -> None:
    costs, reported = [], []
    for size in (10, 100):
        before = "A" * size + "B" * size + "C" * size
        without, nothing = steps_of(pattern, take, before)
        steps, found = steps_of(pattern, take, before + "D")
        assert nothing == []
        costs.append(steps - without)
        reported.append([[ref // size for ref in match] for match in found])
    wanted = int(take.removeprefix("first ")) if take.startswith("first") else 1
    assert reported == [[[0, 1, 2, 3]] * wanted] * 2
    assert costs[0] == costs[1]
    assert costs[1] < 20 * wanted


@pytest.mark.slow
@pytest.mark.parametrize("take", TAKEN)
def test_the_cost_of_an_event_does_not_grow_with_the_window(take: str) -> None:
    types = "AABBCCD" * 1000
    short, _ = steps_of("([A], [B][C][D])_{T1=70s}", take, types)
    long, _ = steps_of("([A], [B][C][D])_{T1=700s}", take, types)
    assert long < 1.3 * short


@pytest.mark.slow
@pytest.mark.parametrize("take", TAKEN)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_that_are_not_reported_meet_no_limit(pattern: str, take: str) -> None:
    size = 100
    result = fed(pattern, take, "A" * size + "B" * size + "C" * size + "D", limit=400)
    refs = result.matches[0].refs.reshape(-1, 4).tolist()
    expected = {
        "first 1": [[0, 100, 200, 300]],
        "first 3": [[0, 100, 200, 300], [0, 100, 201, 300], [0, 100, 202, 300]],
        "last": [[99, 199, 299, 300]],
    }
    assert refs == expected[take]


@pytest.mark.slow
def test_what_is_kept_is_what_may_be_reported() -> None:
    result = fed("[A][B][C][D]", "first 2", "A" * 50 + "B" * 50 + "C" * 50, limit=50)
    assert result.state is not None
    (ranks,) = result.state.detectors
    assert ranks.kind == "first_last"
    assert len(ranks.content.roots) == 6  # two chains at each of three places
    assert result.state.events is not None
    assert result.state.events.num_rows == 6  # two of A, of B and of C


@pytest.mark.parametrize(
    ("pattern", "kernel"),
    [
        ("[A][B]", "first_last"),
        ("[A, B, C, D, E, F, G, H, I, J, K, L, M, N][Z]", "groups"),
    ],
)
def test_a_pattern_that_could_outgrow_its_machine_knows_each_partial_match(pattern: str, kernel: str) -> None:
    assert kernel_of(plan_of(pattern, "last").detectors[0]) == kernel
