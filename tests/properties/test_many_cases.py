"""Reference = kernel on twenty thousand random patterns and traces of the token family, whole and one moment at a time.

A million cases are run by hand now and then: see `many_cases`.
"""

from __future__ import annotations

import pytest

from many_cases import TRACES, differences

CASES = 20_000
PARTS = 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_kernel_finds_what_the_reference_finds(part: int) -> None:
    seeds = range(CASES // TRACES // PARTS)
    wrong = [difference for seed in seeds for difference in differences(1_000_000 + part * len(seeds) + seed)]
    assert not wrong, "\n".join(wrong[:3])


# Partial matches of other keys had a say in which match comes first; a group lost events between two batches.
@pytest.mark.parametrize("seed", [112, 20_005_091])
def test_what_was_wrong_once(seed: int) -> None:
    assert not differences(seed)
