"""How far a stream is decided: a silent source, an idle stream, sources nobody declared, settings that change."""

from __future__ import annotations

import pytest

from tocsin.errors import InputError
from tocsin.events.pace import Mark, Pace, PaceSettings

GUARANTEED = PaceSettings("guaranteed", sources=("door", "lamp"), silent_after=100)


def test_guaranteed_detection_waits_for_the_slowest_source() -> None:
    pace = Pace(PaceSettings("guaranteed", sources=("door", "lamp")))
    assert pace.hear([Mark("door", 1, 1_000)]) < 0
    assert pace.hear([Mark("lamp", 1, 10)]) == 9
    assert pace.hear([Mark("lamp", 1, 5)]) == 9  # a clock that jumps back takes nothing with it


def test_a_silent_source_is_left_out_until_it_is_heard_again() -> None:
    pace = Pace(GUARANTEED)
    pace.hear([Mark("door", 1, 10), Mark("lamp", 1, 10)])
    assert (pace.hear([Mark("door", 1, 500)]), pace.left_out) == (499, ("lamp",))
    assert (pace.hear([Mark("lamp", 1, 600)]), pace.left_out) == (499, ())
    assert pace.hear([Mark("door", 1, 600)]) == 599


def test_a_source_that_is_not_declared_is_named() -> None:
    with pytest.raises(InputError, match="events came of the source 'bell', which is not declared"):
        Pace(GUARANTEED).hear([Mark("bell", 1, 1)])


def test_an_idle_stream_goes_on_by_the_clock() -> None:
    pace = Pace(PaceSettings(delay=10, idle_after=100))
    assert pace.hear([Mark(None, 1, 1_000)], clock=1_005) == 990
    assert pace.hear([], clock=1_104) == 990
    assert pace.hear([], clock=1_500) == 1_390


def test_what_was_decided_stays_so_with_other_settings() -> None:
    before = Pace(PaceSettings(delay=10))
    before.hear([Mark(None, 1, 1_000)])
    after = Pace(PaceSettings(delay=500)).going_on_from(before)
    assert after.hear([Mark(None, 1, 1_100)]) == 990
