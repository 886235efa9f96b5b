"""Whatever order events arrive in, the service finds what the ordered trace has."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.strategies import subscriptions, traces
from tocsin.algebra.tokens.pattern import AllOf, walk
from tocsin.algebra.tokens.semantics import FOREVER, Detection, detect
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.events import Catalog, Composite, Event, trace
from tocsin.service import Service

SOURCES = ("s1", "s2", "s3")


def shapes(composites: list[Composite]) -> list[str]:
    """What must be equal: the events in their order and nesting, the interval and the key."""
    return sorted(f"{c.key} {c.ids} {c.interval.start}-{c.interval.end}" for c in composites)


def with_key(event: Event, source: str | None = None) -> Event:
    """The key of an event as an attribute, which is where the service looks for it."""
    return replace(event, attributes={**event.attributes, "room": event.key}, source=source)


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[Event], list[Event]]:
    """A trace, and the same events as they arrive: each source in its own order, the sources in any."""
    events = [with_key(event, draw(st.sampled_from(SOURCES))) for event in draw(traces(keys=("p", "q")))]
    queues: dict[str | None, list[Event]] = defaultdict(list)
    for event in trace(events):
        queues[event.source].append(event)
    order = draw(st.permutations([event.source for event in events]))
    return events, [queues[source].pop(0) for source in order]


def open_order(subscription: Subscription) -> bool:
    """Whether named composites meet composites of parallel parts, whose order at equal times is left open."""
    patterns = [subscription.pattern, *(definition.pattern for definition in subscription.definitions)]
    parallel = any(isinstance(node, AllOf) for pattern in patterns for node in walk(pattern))
    return parallel and bool(subscription.definitions)


def published(service: Service, arriving: list[Event]) -> None:
    for event in arriving:
        service.publish(event)
    service.close()


@pytest.mark.slow
@given(subscriptions(), arrivals(), st.booleans())
def test_guaranteed_detection_finds_what_the_ordered_trace_has(
    subscription: Subscription, arriving: tuple[list[Event], list[Event]], by_key: bool
) -> None:
    assume(not open_order(subscription))
    found: list[Composite] = []
    service = Service(Catalog(), sources=SOURCES)
    service.subscribe(subscription, found.append, detection="guaranteed", key="room" if by_key else None)
    events, order = arriving
    published(service, order)
    keyed = events if by_key else [replace(event, key=None) for event in events]
    assert shapes(found) == shapes(detect(subscription, keyed))
    assert service.unused == ()


@pytest.mark.slow
@given(subscriptions(depth=2), arrivals())
def test_composites_that_are_published_back_are_what_named_composites_are(
    subscription: Subscription, arriving: tuple[list[Event], list[Event]]
) -> None:
    assume(subscription.definitions and not open_order(subscription))
    whole = replace(subscription, where=None)
    service = Service(Catalog(), sources=SOURCES)
    for definition in whole.definitions:
        part = Subscription(definition.pattern, interpretation=whole.interpretation)
        service.subscribe(part, lambda composite: None, detection="guaranteed", name=definition.name)
    found: list[Composite] = []
    service.subscribe(replace(whole, definitions=()), found.append, detection="guaranteed")
    events, order = arriving
    published(service, order)
    assert shapes(found) == shapes(detect(whole, [replace(event, key=None) for event in events]))


@pytest.mark.slow
@given(subscriptions(definitions=0), st.data())
def test_best_effort_detection_is_the_detector_fed_as_events_arrive(
    subscription: Subscription, data: st.DataObject
) -> None:
    assume(not any(isinstance(node, AllOf) for node in walk(subscription.pattern)))
    drawn = data.draw(st.permutations(data.draw(traces())))
    # Ids grow as events arrive: the runtime does not look at them to tell which of two of equal time came first.
    arriving = [replace(with_key(event), id=number) for number, event in enumerate(drawn)]
    found: list[Composite] = []
    service = Service(Catalog())
    service.subscribe(subscription, found.append, key="room", detection="best-effort")
    published(service, arriving)

    detections = {event.key: Detection(subscription, event.key) for event in arriving}
    expected: list[Composite] = []
    clock = -1
    for event in arriving:
        clock = max(clock, event.interval.end - 1)
        for key, detection in detections.items():
            expected += detection.feed([event] if key == event.key else [], clock)
    for detection in detections.values():
        expected += detection.feed([], FOREVER)
    assert shapes(found) == shapes(expected)


@pytest.mark.slow
@given(subscriptions(), arrivals(), st.integers(0, 8))
def test_composites_come_as_soon_as_they_are_certain_and_in_order(
    subscription: Subscription, arriving: tuple[list[Event], list[Event]], cut: int
) -> None:
    assume(not open_order(subscription))
    found: list[Composite] = []
    service = Service(Catalog(), sources=SOURCES)
    service.subscribe(subscription, found.append, detection="guaranteed")
    so_far = [replace(event, key=None) for event in arriving[1][:cut]]
    for event in so_far:
        service.publish(event)
    now = max((event.interval.end for event in so_far), default=0)
    service.advance(now)
    assert shapes(found) == shapes(detect(subscription, so_far, until=now))
    assert all(a.interval.end <= b.interval.end for a, b in pairwise(found))
