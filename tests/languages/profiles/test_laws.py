"""What holds for every described language: it reads what it writes, and what it reads runs event by event as it is meant."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from support.profile_texts import notation, random_profile
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.online.evaluate import evaluate
from tocsin.algebra.pairs.profile import Profile
from tocsin.algebra.pairs.semantics import instances
from tocsin.errors import PatternError, PatternErrors
from tocsin.events import Event, Interval
from tocsin.languages.profiles.description import built_in_names
from tocsin.languages.registry import language

SECOND = 1_000_000
NAMES = list(built_in_names())
# What the check refuses although it can be written.
REFUSED = {
    "timeframe-missing",
    "never-matches",
    "misplaced-moment",
    "empty-interval",
    "bad-count",
}


def _read(name: str, text: str) -> Profile | None:
    try:
        found: Profile = language(name).read(text)
    except PatternErrors as problems:
        if {error.code for error in problems.errors} <= REFUSED:
            return None
        raise
    return found


def _shown(name: str, profile: Profile) -> str | None:
    try:
        return language(name).text_of(profile)
    except PatternError as error:
        if error.code == "not-expressible":
            return None
        raise


def test_there_are_twenty() -> None:
    assert len(NAMES) == 20


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_reads_what_it_writes(name: str) -> None:
    random, own = Random(name), notation(name)
    read = 0
    for _ in range(200):
        profile = random_profile(own, random)
        text = _shown(name, profile)
        if text is None:
            assert own.filters  # not every filter language has every comparison of texts
            continue
        again = _read(name, text)
        if again is not None:
            read += 1
            labels = {"labels": again.parameters["labels"]} if "labels" in again.parameters else {}
            expected: Any = {**profile.parameters, **labels}
            assert (again.expression, again.actions, again.notify) == (
                profile.expression,
                profile.actions,
                profile.notify,
            ), text
            assert dict(again.parameters) == expected
            assert language(name).text_of(again) == text
    assert read > 60


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if notation(name).own.composes])
def test_it_runs_event_by_event_as_it_is_meant(name: str) -> None:
    random, own = Random(f"run {name}"), notation(name)
    found = 0
    for _ in range(60):
        profile = random_profile(own, random, depth=2, plain=True)
        if _read(name, language(name).text_of(profile)) is None:
            continue
        observation = _observation(random)
        expected = sorted(str(i.ids) for i in instances(profile.expression, observation))
        assert sorted(str(i.ids) for i in evaluate(profile.expression, observation)) == expected, profile
        found += len(expected)
    assert found > 20


def _observation(random: Random) -> Observation:
    time, events = 0, []
    for number in range(random.randrange(6, 12)):
        time += random.choice((0, 1, 1, 2))
        kind = random.choice("abc")
        at = Interval(time * SECOND, time * SECOND)
        known = {"workflow": random.randrange(2), "flow": 1, "made": random.randrange(9), "created": number}
        events.append(Event(f"{kind}{number}", frozenset({kind}), at, known))
    ticks = [tick * SECOND for tick in range(0, time + 2, 2)]
    return Observation.of(events, ticks, (time + 12) * SECOND)
