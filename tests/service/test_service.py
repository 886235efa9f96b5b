"""The service by hand: types, events, subscriptions, composites used by others, policies, callbacks that fail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from threading import Thread
from typing import Any

import pytest

from tocsin import event
from tocsin.algebra.tokens.subscription import Detection
from tocsin.errors import InputError, PatternErrors, ServiceError
from tocsin.events import Catalog, Composite, Event, EventType, Interval
from tocsin.languages.core import parse
from tocsin.service import Service, SubscriptionOptions
from tocsin.values import Time

MINUTE = 60_000_000
TYPES = [
    EventType("Sensor", {"room": "string"}),
    EventType("Door", {}, "Sensor"),
    EventType("Temp", {"temp": "float"}, "Sensor"),
    EventType("Seen", {"name": "string", "room": "string", "floor": "int"}),
    EventType("Login", {"user": "string", "since": "timestamp"}),
]


@pytest.fixture
def service() -> Service:
    return Service(Catalog(TYPES, {"Indoors": ["Door", "Temp"]}, common={"source": "string"}, closed=True))


def told(service: Service, expression: Any, **options: Any) -> list[Any]:
    """Subscribe, and collect what the callback gets."""
    found: list[Any] = []
    named = {name: options.pop(name) for name in ("name", "language", "key", "detection") if name in options}
    service.subscribe(expression, found.append, **named, options=SubscriptionOptions(**options))
    return found


def publish(service: Service, type: str, at: int, **more: Any) -> Event:
    made = service.create_event(type, at=at, **more)
    service.publish(made)
    return made


def ids(found: list[Composite]) -> list[Any]:
    return [composite.ids for composite in found]


# --- types and events


def test_a_type_must_be_registered_before_its_events_are_made() -> None:
    service = Service()
    with pytest.raises(InputError, match="register it first") as caught:
        service.create_event("Door", at=0)
    assert caught.value.code == "unknown-type"
    service.register_type("Door", {"room": "string"})
    service.register_type("Gate", {"width": "int"}, parent="Door")
    assert service.create_event("Gate", room="N", width=3, at=0).types == {"Door", "Gate"}
    with pytest.raises(InputError, match="did you mean 'Door'"):
        service.create_event("Dor", at=0)


def test_events_have_the_attributes_of_their_type(service: Service) -> None:
    made = service.create_event("Temp", room="FE02", temp=14, start=0, end=5, source="t1")
    assert (made.interval, made.source, dict(made.attributes)) == (
        Interval(0, 5),
        "t1",
        {"room": "FE02", "temp": 14},
    )
    assert made.types == {"Temp", "Sensor", "Indoors"}


@pytest.mark.parametrize(
    ("attributes", "code", "hint"),
    [
        ({"tmep": 14}, "unknown-attribute", "did you mean 'temp'?"),
        ({"temp": "cold"}, "type-mismatch", "float"),
        ({"temp": True}, "type-mismatch", "float"),
        ({"room": 3}, "type-mismatch", "string"),
        ({"room": ["FE02"]}, "bad-value", "a string"),
    ],
)
def test_a_wrong_attribute_is_refused(service: Service, attributes: Any, code: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        service.create_event("Temp", attributes, at=0)
    assert caught.value.code == code
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "when",
    [
        {},
        {"start": 0},
        {"at": 0, "end": 1},
        {"start": 2, "end": 1},
        {"at": "soon"},
        {"at": 1.5},
        {"at": True},
    ],
)
def test_an_event_needs_a_time(service: Service, when: Any) -> None:
    with pytest.raises(InputError, match=r"time|start"):
        service.create_event("Door", **when)


def test_times_come_in_three_forms(service: Service) -> None:
    texts = service.create_event("Login", at="2004-01-31T19:00:00", since="2004-01-31 18:00")
    dates = service.create_event(
        "Login", at=datetime(2004, 1, 31, 19, tzinfo=UTC), since=datetime(2004, 1, 31, 18, tzinfo=UTC)
    )
    assert texts.interval == dates.interval == Interval(1_075_575_600_000_000, 1_075_575_600_000_000)
    assert texts.attributes == dates.attributes == {"since": Time(1_075_572_000_000_000)}
    assert str(texts.attributes["since"]) == "2004-01-31T18:00:00"
    with pytest.raises(InputError, match="timestamp"):
        service.create_event("Login", at=0, since=True)


def test_a_whole_number_is_not_asked_of_a_float(service: Service) -> None:
    with pytest.raises(InputError, match="int"):
        service.create_event("Seen", floor=1.5, at=0)


def test_a_catalog_that_is_not_closed_takes_any_event() -> None:
    service = Service(Catalog())
    found = told(service, "[A];[B(x = 1)]")
    publish(service, "A", 1)
    publish(service, "B", 2, x=1)
    assert ids(found) == [[1, 2]]


def test_an_event_may_be_made_by_hand(service: Service) -> None:
    found = told(service, "Door")
    made = Event("d-1", frozenset({"Door"}), Interval(0, 1))
    service.publish(made)
    assert found == [made]
    with pytest.raises(InputError, match="ends before"):
        service.publish(Event("d-2", frozenset({"Door"}), Interval(2, 1)))


# --- single events


def test_single_events_are_handed_on_as_they_are(service: Service) -> None:
    doors, cold, indoors = told(service, "Door"), told(service, "Temp(temp < 15)"), told(service, "Indoors")
    made = [publish(service, "Door", 1), publish(service, "Temp", 2, temp=16.0)]
    made.append(publish(service, "Temp", 3, temp=14.0))
    publish(service, "Login", 4)
    assert doors == made[:1]
    assert cold == made[2:]
    assert indoors == made
    assert all(one is other for one, other in zip(indoors, made, strict=True))


def test_the_source_can_be_asked_for(service: Service) -> None:
    found = told(service, "Door(source = 'd1')")
    publish(service, "Door", 1, source="d1")
    publish(service, "Door", 2, source="d2")
    assert [one.id for one in found] == [1]


def test_single_events_have_no_key(service: Service) -> None:
    with pytest.raises(InputError, match="by key"):
        told(service, "Door", key="room")


# --- patterns


def test_a_subscription_sees_what_comes_after_it(service: Service) -> None:
    publish(service, "Door", 1)
    found = told(service, "[Door];[Temp]")
    publish(service, "Temp", 2)
    publish(service, "Door", 3)
    publish(service, "Temp", 4)
    assert ids(found) == [[3, 4]]


def test_a_composite_holds_the_very_events_that_were_published(service: Service) -> None:
    found = told(service, "[Door(room = $r)] || [Temp(room = $r)]", name="Both")
    door, temp = publish(service, "Door", 1, room="A"), publish(service, "Temp", 2, room="A")
    (both,) = found
    assert [constituent.event for constituent in both.leaves()] == [door, temp]
    assert all(c.event is made for c, made in zip(both.leaves(), (door, temp), strict=True))
    assert (both.type, both.interval, both.attributes) == ("Both", Interval(1, 2), {"r": "A"})


def test_unsubscribing_ends_it(service: Service) -> None:
    found: list[Any] = []
    number = service.subscribe("Door", found.append)
    publish(service, "Door", 1)
    service.unsubscribe(number)
    publish(service, "Door", 2)
    assert len(found) == 1
    with pytest.raises(InputError, match="no subscription"):
        service.unsubscribe(number)


def test_patterns_come_in_every_form(service: Service) -> None:
    forms = [
        told(service, "[Door];[Temp]"),
        told(service, '"Door" followed by "Temp"', language="pretty"),
        told(service, event("Temp").after(event("Door"))),
        told(service, parse("[Door];[Temp]")),
    ]
    publish(service, "Door", 1)
    publish(service, "Temp", 2)
    assert [ids(found) for found in forms] == [[[1, 2]]] * 4


def test_mistakes_in_a_pattern_are_all_reported(service: Service) -> None:
    with pytest.raises(PatternErrors) as caught:
        told(service, "[Dor];[Temp(tmep < 15)]")
    assert [error.code for error in caught.value.errors] == ["unknown-type", "unknown-attribute"]
    with pytest.raises(PatternErrors):
        told(service, event("Dor"))


def test_the_reading_is_an_option(service: Service) -> None:
    once = told(service, "[Door in {Door, Temp}]")
    again = told(service, "[Door in {Door, Temp}]", interpretation={"restart": "always"})
    publish(service, "Temp", 1)
    publish(service, "Door", 2)
    assert (ids(once), ids(again)) == ([], [[2]])
    with pytest.raises(InputError, match="unknown-option"):
        told(service, "[Door]", interpretation={"restrat": "always"})


def test_timers_run_out_when_time_goes_on(service: Service) -> None:
    found = told(service, "([Door], [T1 in {T1, Login}])_{T1=5min}")
    publish(service, "Door", 0)
    service.advance(5 * MINUTE - 1)
    assert found == []
    service.advance(5 * MINUTE)
    assert ids(found) == [[1, "T1"]]
    publish(service, "Door", 6 * MINUTE)
    publish(service, "Login", 11 * MINUTE)
    publish(service, "Door", 12 * MINUTE)
    service.close()
    assert ids(found) == [[1, "T1"], [4, "T1"]]


def test_any_event_tells_the_time(service: Service) -> None:
    found = told(service, "([Door], [T1 in {T1, Login}])_{T1=5min}")
    publish(service, "Door", 0)
    publish(service, "Seen", 5 * MINUTE)  # at the very moment: a login may still come
    assert found == []
    publish(service, "Seen", 5 * MINUTE + 1)
    assert ids(found) == [[1, "T1"]]


def test_nothing_can_be_published_after_the_end(service: Service) -> None:
    service.close()
    service.close()
    with pytest.raises(InputError, match="closed"):
        publish(service, "Door", 1)


# --- keys


def test_a_pattern_is_looked_for_by_key(service: Service) -> None:
    found = told(service, "[Door];[Temp]", key="room")
    publish(service, "Door", 1, room="A")
    publish(service, "Temp", 2, room="B")
    publish(service, "Temp", 3, room="A")
    assert [(one.ids, one.key) for one in found] == [([1, 3], "A")]


def test_a_key_of_several_attributes_is_a_tuple() -> None:
    service = Service(Catalog())
    found = told(service, "[A];[B]", key=["room", "floor"])
    for number, (type, floor) in enumerate([("A", 1), ("A", True), ("A", "1"), ("B", 1.0), ("B", True)]):
        publish(service, type, number, room="FE02", floor=floor)
    # 1 and 1.0 are the same number, but neither is true or a text.
    assert [(one.ids, one.key) for one in found] == [([1, 4], ("FE02", 1)), ([2, 5], ("FE02", True))]


def test_an_event_without_the_key_is_reported(service: Service) -> None:
    found = told(service, "[Door];[Temp]", key="room", name="Cold")
    lost = publish(service, "Door", 1)
    publish(service, "Login", 2)  # has no room either, but nobody asked for it
    publish(service, "Temp", 3, room="A")
    assert found == []
    assert service.unused == (("Cold", lost, "it has no key: room"),)


def test_a_key_that_no_event_has_is_refused(service: Service) -> None:
    with pytest.raises(InputError, match="did you mean 'room'"):
        told(service, "[Door];[Temp]", key="rom")


# --- composites that others use


def test_composites_are_events_for_others(service: Service) -> None:
    pairs = told(service, "[Door(room = $r)];[Temp(room = $r)]", name="Cold")
    later = told(service, "[Cold(r = 'A')];[Login]", name="Reported")
    every = told(service, "Cold")
    publish(service, "Door", 1, room="A")
    publish(service, "Temp", 2, room="A")
    publish(service, "Login", 3)
    assert ids(pairs) == [[1, 2]]
    assert ids(later) == [[[1, 2], 3]]
    assert later[0].constituents[0].event is pairs[0]
    assert every == pairs


def test_a_composite_comes_before_the_event_that_completed_it(service: Service) -> None:
    told(service, "[Door];[Temp]", name="Cold")
    before = told(service, "[Cold][Temp]")
    after = told(service, "[Temp][Cold]")
    publish(service, "Door", 1)
    publish(service, "Temp", 2)
    assert ids(before) == [[[1, 2], 2]]
    assert ids(after) == []


def test_the_key_of_a_composite_is_an_attribute(service: Service) -> None:
    told(service, "[Door];[Temp]", name="Cold", key="room")
    by_room = told(service, "[Cold][Cold]", key="room")
    anywhere = told(service, "[Cold(room = 'B')]")
    for at, (type, room) in enumerate([("Door", "A"), ("Door", "B"), ("Temp", "A"), ("Temp", "B")] * 2):
        publish(service, type, at, room=room)
    assert [(one.ids, one.key) for one in by_room] == [([[1, 3], [5, 7]], "A"), ([[2, 4], [6, 8]], "B")]
    assert ids(anywhere) == [[[2, 4]], [[6, 8]]]


def test_what_composites_lack_is_known_before_anything_runs(service: Service) -> None:
    told(service, "[Seen(name = $who)]", name="Somebody", key="floor")
    told(service, "[Somebody(who = 'Jean' AND floor = 1)]")
    with pytest.raises(PatternErrors, match="no attribute 'name'"):
        told(service, "[Somebody(name = 'Jean')]")
    with pytest.raises(PatternErrors, match="compared with a number"):
        told(service, "[Somebody(who = 1)]")


def test_loops_are_refused() -> None:
    service = Service(Catalog())
    with pytest.raises(InputError, match="its own composites"):
        told(service, "[A][Loop]", name="Loop")
    told(service, "[B]", name="First")
    with pytest.raises(InputError, match="cannot use each other") as caught:
        told(service, "[First]", name="B")
    assert caught.value.code == "subscription-loop"


def test_a_name_is_taken_once(service: Service) -> None:
    told(service, "[Door]", name="Cold")
    for name in ("Cold", "Temp", "Indoors"):
        with pytest.raises(InputError, match="already"):
            told(service, "[Door]", name=name)
    with pytest.raises(InputError, match="a subscription already"):
        service.register_type("Cold")
    with pytest.raises(InputError, match="a subscription already"):
        service.register_set("Cold", ["Door"])


def test_what_others_use_goes_on_without_its_subscriber(service: Service) -> None:
    heard: list[Any] = []
    number = service.subscribe("[Door]", heard.append, name="Opened")
    users: list[Any] = []
    user = service.subscribe("[Opened];[Temp]", users.append, name="Warned")
    service.unsubscribe(number)
    publish(service, "Door", 1)
    publish(service, "Temp", 2)
    assert (heard, ids(users)) == ([], [[[1], 2]])
    with pytest.raises(InputError, match="no subscription"):
        service.unsubscribe(number)
    service.unsubscribe(user)
    told(service, "[Temp]", name="Opened")  # nobody uses it any more, so the name is free


# --- detection policies


@pytest.mark.parametrize("way", ["argument", "text", "value"])
def test_guaranteed_detection_waits_for_its_sources(way: str) -> None:
    service = Service(Catalog(), sources=["s1", "s2"])
    told_at: list[int] = []
    arrivals = [("s2", "B", 2), ("s1", "A", 1), ("s1", None, 3), ("s2", None, 4)]
    found: list[Composite] = []
    text = "[A];[B]" + (" with detection = guaranteed" if way == "text" else "")
    detection = {"argument": "guaranteed", "text": None, "value": Detection("guaranteed")}[way]
    service.subscribe(text, found.append, detection=detection)
    for source, type, at in arrivals:
        if type is None:
            service.heartbeat(source, at)
        else:
            publish(service, type, at, source=source)
        told_at.append(len(found))
    assert told_at == [0, 0, 1, 1]  # cam-079
    assert found[0].interval == Interval(1, 2)


def test_best_effort_uses_events_as_they_come() -> None:
    service = Service(Catalog(), sources=["s1", "s2"])
    found = told(service, "[A];[B]")
    publish(service, "B", 2, source="s2")
    publish(service, "A", 1, source="s1")
    service.close()
    assert found == []  # cam-078


def test_best_effort_keeps_an_event_behind_a_timer_of_its_moment() -> None:
    service = Service(Catalog())
    found = told(service, "([A], [T1])_{T1=5ms}[B]")
    publish(service, "A", 0)
    publish(service, "C", 7_000)
    publish(service, "B", 5_000)  # T1 ran out at that very moment, so that it comes after this event (C.3.11)
    publish(service, "B", 8_000)
    assert ids(found) == [[1, "T1", 4]]


def test_the_literal_rule_is_an_option() -> None:
    service = Service(Catalog(), sources=["s1", "s2"])
    literal = told(service, "[A];[B]", detection="guaranteed", stability="same-source")
    sure = told(service, "[A];[B]", detection="guaranteed")
    publish(service, "B", 2, source="s2")
    service.heartbeat("s2", 4)
    publish(service, "A", 1, source="s1")
    service.heartbeat("s1", 5)
    service.heartbeat("s2", 6)
    assert (ids(literal), ids(sure)) == ([], [[2, 1]])  # cam-081


def test_single_events_can_be_waited_for_too() -> None:
    service = Service(Catalog(), sources=["s1", "s2"])
    found = told(service, "A", detection="guaranteed")
    publish(service, "A", 2, source="s1")
    publish(service, "A", 1, source="s2")
    publish(service, "B", 3, source="s2")
    assert [one.id for one in found] == [2, 1]


def test_a_guaranteed_subscription_over_composites_waits_for_them() -> None:
    service = Service(Catalog(), sources=["s1", "s2"])
    told(service, "([A], [T1 in {T1, B}])_{T1=5s}", detection="guaranteed", name="Alone")
    found = told(service, "[Alone];[C]", detection="guaranteed")
    publish(service, "A", 0, source="s1")
    publish(service, "C", 6_000_000, source="s1")
    assert found == []  # s2 may still tell of a B
    service.heartbeat("s2", 6_000_001)
    service.heartbeat("s1", 6_000_001)
    assert ids(found) == [[[1, "T1"], 2]]


def test_probabilistic_detection_does_not_wait_for_ever() -> None:
    service = Service(Catalog(), sources=["busy", "quiet"])
    sure = told(service, "[A];[B]", detection="guaranteed")
    likely = told(service, "[A];[B]", detection="probabilistic(0.8)")
    for second in range(1, 10):
        service.heartbeat("busy", second * 1_000_000)
        service.heartbeat("quiet", second * 1_000_000)
    publish(service, "A", 10_000_000, source="busy")
    publish(service, "B", 11_000_000, source="busy")
    service.heartbeat("busy", 13_000_000)
    assert (ids(sure), ids(likely)) == ([], [[1, 2]])


def test_a_silent_source_is_named_and_left_out() -> None:
    service = Service(Catalog(), sources=["s1", "s2", "s3"])
    assert service.silent("1min") == ()
    found = told(service, "[A];[B]", detection="guaranteed")
    publish(service, "A", 1 * MINUTE, source="s1")
    publish(service, "B", 2 * MINUTE, source="s1")
    service.heartbeat("s2", 3 * MINUTE)
    assert service.silent(timedelta(minutes=1)) == ("s3",)
    service.leave_out("s3")
    assert ids(found) == [[1, 2]]
    late = publish(service, "A", 1 * MINUTE, source="s3")
    assert [(one.event, one.reason) for one in service.unused] == [
        (late, "later events had been used already")
    ]


def test_a_late_event_is_reported() -> None:
    service = Service(Catalog(), sources=["s1"])
    told(service, "[A]", detection="guaranteed", name="All")
    publish(service, "A", 2, source="s1")
    late = publish(service, "A", 1, source="s1")
    assert service.unused == (("All", late, "'s1' had delivered a later event before"),)


def test_a_subscription_may_listen_to_some_sources_only() -> None:
    service = Service(Catalog(), sources=["s1", "s2"])
    found = told(service, "[A];[B]", detection="guaranteed", sources=["s1"])
    publish(service, "A", 1, source="s1")
    publish(service, "B", 2, source="s2")
    publish(service, "B", 3, source="s1")
    assert ids(found) == [[1, 3]]


def test_sources_must_be_declared() -> None:
    with pytest.raises(InputError, match="must know all sources"):
        told(Service(Catalog()), "[A]", detection="guaranteed")
    service = Service(Catalog(), sources=["door", "window"])
    found = told(service, "A")
    for source, hint in (("dor", "did you mean 'door'"), (None, "door, window")):
        with pytest.raises(InputError, match=hint):
            publish(service, "A", 1, source=source)
    with pytest.raises(InputError, match="not declared"):
        service.heartbeat("gate", 1)
    with pytest.raises(InputError, match="not declared"):
        told(service, "A", sources=["gate"])
    assert found == []


@pytest.mark.parametrize("text", ["garanteed", "probabilistic", "probabilistic(2)", "guaranteed twice", ""])
def test_a_policy_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(PatternErrors):
        told(Service(Catalog(), sources=["s"]), "[A]", detection=text or "?")


# --- limits


def test_repeated_events_can_be_limited(service: Service) -> None:
    found = told(service, "Seen", limit=("name", "room"), every="1min")
    doors = told(service, "Door", limit="name", every=timedelta(minutes=1))
    for at, name, room in [
        (0, "Jean", "A"),
        (30, "Jean", "A"),
        (40, "Jean", "B"),
        (50, "Jo", "A"),
        (60, "Jean", "A"),
    ]:
        publish(service, "Seen", at * 1_000_000, name=name, room=room)
    publish(service, "Seen", 61_000_000, name="Jean")  # no room, so it repeats nothing
    assert [one.id for one in found] == [1, 3, 4, 5, 6]
    publish(service, "Door", 1)
    publish(service, "Door", 2)
    assert len(doors) == 2
    with pytest.raises(InputError, match="belong together"):
        told(service, "Seen", limit="name")


def test_a_limit_forgets_what_it_no_longer_needs(service: Service) -> None:
    found = told(service, "Seen", limit="name", every=10)
    for at in range(10_050):
        publish(service, "Seen", at, name=str(at))
    publish(service, "Seen", 10_055, name="10049")
    assert len(found) == 10_050


# --- callbacks


def test_a_callback_that_fails_does_not_keep_others_from_being_served(service: Service) -> None:
    def broken(found: object) -> None:
        raise ValueError(f"no line for {type(found).__name__}")

    service.subscribe("[Door]", broken, name="First")
    good = told(service, "[Door]")
    others = told(service, "[First]")
    with pytest.raises(ServiceError) as caught:
        publish(service, "Door", 1)
    assert (ids(good), ids(others)) == ([[1]], [[[1]]])
    assert "broken of the subscription 'First' failed: ValueError: no line for Composite" in str(caught.value)
    assert [type(error) for _, error in caught.value.failures] == [ValueError]
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(ServiceError):
        publish(service, "Door", 2)
    assert ids(good) == [[1], [2]]


def test_all_failures_are_told_at_the_end(service: Service) -> None:
    service.subscribe("Door", lambda one: [][1])  # type: ignore[var-annotated]
    service.subscribe("Door", lambda one: {}["x"])  # type: ignore[var-annotated]
    with pytest.raises(ServiceError) as caught:
        publish(service, "Door", 1)
    assert [type(error) for _, error in caught.value.failures] == [IndexError, KeyError]


def test_what_a_callback_publishes_comes_after_what_is_delivered(service: Service) -> None:
    seen: list[str] = []

    def answer(door: Event) -> None:
        seen.append(f"door {door.id}")
        if door.interval.end < 3:
            publish(service, "Door", door.interval.end + 1)

    service.subscribe("Door", answer)
    service.subscribe("Door", lambda door: seen.append(f"second {door.id}"))
    publish(service, "Door", 1)
    assert seen == ["door 1", "second 1", "door 2", "second 2", "door 3", "second 3"]


def test_a_callback_may_subscribe_and_unsubscribe(service: Service) -> None:
    later: list[Any] = []
    seen: list[Any] = []

    def once(door: Event) -> None:
        seen.append(door.id)
        publish(service, "Door", 2)  # queued before the new subscription is made, so not seen by it
        service.subscribe("Door", later.append)
        service.unsubscribe(number)

    number = service.subscribe("Door", once)
    publish(service, "Door", 1)
    publish(service, "Door", 3)
    assert (seen, [one.id for one in later]) == ([1], [3])


def test_threads_may_publish_at_once() -> None:
    sources = [f"s{number}" for number in range(4)]
    service = Service(Catalog(), sources=sources)
    found = told(service, "[A][A]", detection="guaranteed")

    def run(number: int) -> None:
        for at in range(20):
            event = Event(100 * at + number, frozenset({"A"}), Interval(at, at), source=sources[number])
            service.publish(event)

    threads = [Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    service.close()
    order = [100 * at + number for at in range(20) for number in range(4)]
    assert ids(found) == [list(pair) for pair in pairwise(order)]


# --- which matches are wanted


def test_a_subscriber_says_which_matches_it_wants_unless_the_expression_does(service: Service) -> None:
    plain = told(service, "[Door][Temp]", matches="leftmost")
    said = told(service, "[Door][Temp] with matches = each", matches="leftmost")
    built = told(service, event("Door").then(event("Temp")), take="last")
    for number, type in enumerate(("Door", "Door", "Temp")):
        publish(service, type, number, id=number)
    assert (ids(plain), ids(said), ids(built)) == ([[0, 2]], [[0, 2], [1, 2]], [[1, 2]])


def test_neighbours_are_told_apart_by_events_that_no_atom_names(service: Service) -> None:
    found = told(service, "[Door][Temp]", matches="adjacent")
    for number, type in enumerate(("Door", "Seen", "Temp", "Door", "Temp")):
        publish(service, type, number, id=number)
    assert ids(found) == [[3, 4]]


def test_a_count_is_told_with_its_key_even_if_only_a_timer_is_left(service: Service) -> None:
    pattern = "([Seen], [T1])_{T1=1min} with take = count"
    found = told(service, pattern, key=("name", "floor"))
    for number in range(2):
        publish(service, "Seen", 0, id=number, name="Jean", room="A", floor=2)
    service.advance(MINUTE)
    ((composite),) = found
    assert (composite.ids, composite.attributes, composite.key) == (["T1"], {"count": 2}, ("Jean", 2))


def test_a_count_is_an_attribute_for_others(service: Service) -> None:
    told(service, "[Door][Temp]", take="count", name="Twice")
    found = told(service, "[Twice(count > 1)]")
    for number, type in enumerate(("Door", "Door", "Temp")):
        publish(service, type, number, id=number)
    assert len(found) == 1
    with pytest.raises(PatternErrors, match="unknown-attribute"):
        service.subscribe("[Twice(room = '1')]", print)


@pytest.mark.parametrize(
    ("expression", "options", "code"),
    [
        ("[Door][Temp]", {"matches": "longest"}, "bad-selection"),
        ("[Door] || [Temp]", {"matches": "adjacent"}, "adjacent-composites"),
        ("[Base][Temp]", {"matches": "adjacent"}, "adjacent-composites"),
        (parse("[Door] where Door.room = '1'"), {"take": "count"}, "count-where"),
        ("Door(room = '1')", {"take": "last"}, "bad-option"),
    ],
)
def test_a_selection_that_cannot_be_is_refused(
    service: Service, expression: Any, options: dict[str, str], code: str
) -> None:
    told(service, "[Door][Seen]", name="Base")
    with pytest.raises((InputError, PatternErrors), match=code):
        service.subscribe(expression, print, options=SubscriptionOptions(**options))


def test_profiles_of_the_event_algebra_are_not_subscribed_to() -> None:
    with pytest.raises(InputError, match=r"no-service: .* is for profiles"):
        Service().subscribe("(a ; b)_5", print, language="meta-ens")
