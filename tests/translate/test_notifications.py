"""Notifications become those of the subscriber, also between two foreign services (Fig. 15), and a filter runs on and on."""

from __future__ import annotations

import pytest

from support.pairs_languages import language_of
from support.pairs_strategies import ids, observe
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.groups import Traits
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.operators import conjunction, disjunction, negation, selection, sequence
from tocsin.algebra.pairs.semantics import instances
from tocsin.translate import translate
from tocsin.translate.derive import Wish, derive
from tocsin.translate.notifications import returned
from tocsin.translate.post_filter import delivered, feed, finish, start, tick

CE = Traits.of("conjunction", "disjunction", "negation")
SYSTEM_A = language_of("system-a", Traits.of("sequence", "disjunction", timeframe=True))
SYSTEM_B = language_of("system-b", Traits.of("conjunction", timeframe=True))
TRACE = observe("a@1 b@3 b@9 a@12 a@20 b@20")


def test_two_foreign_services_are_mediated() -> None:
    found = translate("(a , b)_5", SYSTEM_B, SYSTEM_A)
    assert (found.text, found.kind.value) == ("((a ; b)_5 | (b ; a)_5)_5", "equivalent")
    assert found.translation.claimed  # it misses the pair of the time 20
    profile = found.translation.profiles[0]
    notified = instances(profile.installed, TRACE)
    assert ids(notified) == [["a.1", "b.1"], ["b.2", "a.2"]]
    back = [returned(profile.step, notification) for notification in notified]
    assert ids(one for one in back if one is not None) == [["a.1", "b.1"], ["a.2", "b.2"]]


def test_the_stronger_side_makes_up_for_the_weaker() -> None:
    exact = translate("(a , b)_5", SYSTEM_B, SYSTEM_A, exact=True).translation
    assert ids(delivered(exact, TRACE)) == [["a.1", "b.1"], ["a.2", "b.2"], ["a.3", "b.3"]]


@pytest.mark.parametrize(
    ("profile", "installed"),
    [
        (sequence(sequence("a", "b"), "c"), ["((a, b), c)"]),
        (disjunction(sequence("a", "b"), sequence("b", "a")), ["((a, b) | (b, a))"]),
        (conjunction(sequence("a", "b"), negation("c", float("inf"))), ["((a, b), !(c))"]),
        (sequence(conjunction("a", "a"), "b"), ["((a, a), b)"]),
        (selection(sequence("a", "b"), 2), ["(a, b)"]),
    ],
)
def test_conditions_are_checked_wherever_they_are(profile: Expression, installed: list[str]) -> None:
    found = derive(profile, Wish(CE, exact=True))
    assert [show(one.installed) for one in found.profiles] == installed
    for trace in (TRACE, observe("b@1 a@2 b@2 c@3 a@4 b@5 c@6"), observe("c@1 a@2 b@3")):
        assert set(delivered(found, trace)) == set(instances(profile, trace))


def test_a_filter_counts_what_it_drops() -> None:
    found = derive(sequence("a", "b"), Wish(CE))
    running = start(found)
    for notification in instances(found.profiles[0].installed, TRACE):
        feed(running, [(found.profiles[0].name, notification)])
    assert (running.received, running.dropped) == (9, 5)


def test_a_filter_keeps_no_more_than_its_timeframe() -> None:
    found = derive(sequence("a", "b", within=4), Wish(CE, exact=True))
    running = start(found)
    most = matches = 0
    for time in range(500):
        name = "ab"[time % 2]
        one = Observation.of(observe(f"{name}@{time}").events)
        (notification,) = instances(found.profiles["ab".index(name)].installed, one)
        matches += len(feed(running, [(f"N({name})", notification)]))
        assert running.detection is not None
        most = max(most, running.detection.kept())
    assert most <= 6
    assert matches == 2 * 250 - 1


def test_an_absence_is_decided_by_the_subscribers_clock() -> None:
    found = derive(
        negation("a", 3), Wish(Traits.of("conjunction", "disjunction", "sequence", timeframe=True))
    )
    running = start(found)
    (notification,) = instances(found.profiles[0].installed, observe("a@1"))
    feed(running, [(found.profiles[0].name, notification)])
    # A tick is decided when its time is over, for events of its time count.
    decided = [[one.time for one in tick(running, time)] for time in (3, 4, 5, 6)]
    assert decided == [[], [], [], [5]]
    assert [one.time for one in finish(running, 9)] == [6]
