"""What `tocsin warm` does finds matches in every way that workers have."""

from __future__ import annotations

import pytest

from tocsin.spark import warm as rehearsal


@pytest.mark.slow
def test_every_pattern_is_found_with_every_key_whether_events_travel_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[tuple[bool, int]] = []
    detect = rehearsal._detect

    def noted(reading: rehearsal.ReadJob, job: rehearsal.Job) -> int:
        count = detect(reading, job)
        found.append((reading.layout is None, count))
        return count

    monkeypatch.setattr(rehearsal, "_detect", noted)
    total = rehearsal.rehearse()
    travelled, stayed = ([count for moved, count in found if moved is way] for way in (True, False))
    assert len(travelled) == len(stayed) == 16
    assert travelled == stayed
    assert all(travelled)
    assert total == 2 * sum(travelled)
