"""The scenarios of the Cambridge paper, published event by event: the same composites as from the whole trace."""

from __future__ import annotations

import random

import pytest

from tocsin.algebra.tokens.semantics import detect
from tocsin.events import Composite, Event
from tocsin.languages.core import parse
from tocsin.service import Service

MINUTE = 60_000_000
ROOMS = ("FE02", "FE04", "MR1")
COLD = "([Pers(location='FE02')] | [Door(location='FE02')], [Temp(location='FE02' AND temp < 15)])_{T1=5min}"
MEETING = (
    "[BoardOn][Pers(location='MR1') in {Pers(location='MR1'), BoardOff}][Pers(location='MR1')]*[BoardOff]"
)
SEND = "([Meeting], [T1 in {T1, Login(user='jean')}])_{T1=5min}"


def office(**options: object) -> Service:
    service = Service(**options)  # type: ignore[arg-type]
    service.register_type("Pers", {"location": "string", "name": "string"})
    service.register_type("Door", {"location": "string"})
    service.register_type("Temp", {"location": "string", "temp": "float"})
    service.register_type("BoardOn", {})
    service.register_type("BoardOff", {})
    service.register_type("Login", {"user": "string"})
    return service


def shapes(composites: list[Composite]) -> list[tuple[str, int, int]]:
    return sorted((str(c.ids), c.interval.start, c.interval.end) for c in composites)


def test_scenario_1_a_cold_room_that_somebody_is_in() -> None:
    service = office()
    found: list[Composite] = []
    service.subscribe(COLD, found.append, name="Cold")
    for type, at, attributes in [
        ("Pers", 0, {"location": "FE02", "name": "Jean"}),
        ("Temp", 1, {"location": "FE04", "temp": 10.0}),
        ("Temp", 2, {"location": "FE02", "temp": 15.0}),
        ("Temp", 3, {"location": "FE02", "temp": 14.9}),
        ("Temp", 4, {"location": "FE02", "temp": 14.0}),
        ("Door", 5, {"location": "FE02"}),
        ("Temp", 11, {"location": "FE02", "temp": 14.0}),
    ]:
        service.publish(service.create_event(type, attributes, at=at * MINUTE))
    service.close()
    assert [c.ids for c in found] == [[1, 4]]
    assert (found[0].interval.start, found[0].interval.end) == (0, 3 * MINUTE)


def test_scenario_2_a_summary_for_the_pda_unless_she_logs_in() -> None:
    service = office()
    sent: list[Composite] = []
    service.subscribe(MEETING, lambda meeting: None, name="Meeting")
    service.subscribe(SEND, sent.append, name="Send")
    for type, at, attributes in [
        ("BoardOn", 0, {}),
        ("Pers", 1, {"location": "MR1", "name": "Jean"}),
        ("BoardOff", 10, {}),
        ("Login", 12, {"user": "brian"}),
        ("BoardOn", 20, {}),
        ("Pers", 21, {"location": "MR1", "name": "Jean"}),
        ("BoardOff", 30, {}),
        ("Login", 35, {"user": "jean"}),  # just in time
        ("BoardOn", 40, {}),
        ("BoardOff", 41, {}),  # nobody came
    ]:
        service.publish(service.create_event(type, attributes, at=at * MINUTE))
    service.close()
    assert [c.ids for c in sent] == [[[1, 2, 3], "T1"]]
    assert sent[0].interval.end == 15 * MINUTE


def day(service: Service, seed: int) -> list[Event]:
    """Five hours of an office in which much happens at the same moment."""
    chance = random.Random(seed)
    events = []
    for minute in range(300):
        for _ in range(chance.randrange(3)):
            type = chance.choice(["Pers", "Pers", "Door", "Temp", "BoardOn", "BoardOff", "Login"])
            given: dict[str, object] = {}
            if type in ("Pers", "Door", "Temp"):
                given["location"] = chance.choice(ROOMS)
            if type == "Temp":
                given["temp"] = chance.choice([14.0, 16.0])
            if type == "Login":
                given["user"] = chance.choice(["jean", "brian"])
            source = "net" if type == "Login" else given.get("location", "MR1")
            events.append(service.create_event(type, given, at=minute * MINUTE, source=str(source)))
    return events


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_day_of_both_scenarios_is_what_the_whole_trace_has(seed: int) -> None:
    service = office(sources=[*ROOMS, "net"])
    cold: list[Composite] = []
    sent: list[Composite] = []
    service.subscribe(COLD, cold.append, detection="guaranteed")
    service.subscribe(MEETING, lambda meeting: None, name="Meeting", detection="guaranteed")
    service.subscribe(SEND, sent.append, detection="guaranteed")
    events = day(service, seed)
    # Each source in its order, the sources at their own pace.
    chance = random.Random(seed)
    queues = {source: [e for e in events if e.source == source] for source in (*ROOMS, "net")}
    while left := [queue for queue in queues.values() if queue]:
        service.publish(chance.choice(left).pop(0))
    service.close()
    assert shapes(cold) == shapes(detect(parse(COLD), events))
    assert shapes(sent) == shapes(detect(parse(f"Meeting := ({MEETING}); {SEND}"), events))
    assert cold
    assert sent
    assert service.unused == ()
