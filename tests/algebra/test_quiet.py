"""The reference of quiet rules, and what workers and streams compute, agree however alerts are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.algebra.quiet import heard
from tocsin.runtime.results.quiet_rows import hold_back

ENDS = st.lists(st.integers(0, 50), max_size=20)


@given(ENDS, st.integers(1, 20), st.integers(0, 20))
def test_alerts_in_two_pieces_are_held_back_as_in_one(ends: list[int], quiet: int, cut: int) -> None:
    first, last = hold_back(ends[:cut], quiet)
    second, _ = hold_back(ends[cut:], quiet, last)
    assert [place for place, told in enumerate([*first, *second]) if told] == heard(ends, quiet)
