"""The service that applications talk to: register types, publish events, subscribe to patterns of them.

Paper: 003, Fig. 5 (registerType, createCE, publish, subscribe, unsubscribe), "Detection Policies".
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NewType

from tocsin.algebra.tokens.subscription import Detection as DetectionPolicy
from tocsin.automata.tokens.plan import plan
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog, Event, EventType
from tocsin.events.stability import policy
from tocsin.languages.language import Language
from tocsin.languages.registry import DEFAULT
from tocsin.runtime.moments import FOREVER
from tocsin.service.create import Duration, Moment, duration, interval, moment, new_event
from tocsin.service.delivery import Delivery
from tocsin.service.names import check_neighbours, check_order, composite_type, with_composites
from tocsin.service.request import Names, SubscriptionOptions, read_request
from tocsin.service.subscriber import Callback, Detection, SingleEvents, Subscriber, Unused, origin

SubscriptionId = NewType("SubscriptionId", int)
COMMON = {"source": "string"}  # attributes that patterns may use of every event


class Service:
    """Publish events and subscribe to patterns of them, in one process.

    >>> service = Service()
    >>> service.register_type("Door", {"room": "string"})
    >>> service.register_type("Temp", {"room": "string", "temp": "float"})
    >>> number = service.subscribe("[Door];[Temp(temp < 15)]", lambda cold: print(cold.ids), key="room")
    >>> service.publish(service.create_event("Door", room="FE02", at="2004-01-31T19:00:00"))
    >>> service.publish(service.create_event("Temp", room="FE02", temp=14.0, at="2004-01-31T19:01:00"))
    [1, 2]

    A subscription sees what is published after it was made. Its composites are published in turn, under its name,
    so that other subscriptions can use it. Callbacks may publish, subscribe and unsubscribe; what they publish
    comes after what is being delivered. Several threads may use one service.

    Args:
        catalog: event types and sets to begin with. One that is not closed takes events of any type.
        sources: the names of all sources of events. Guaranteed and probabilistic detection wait for them.
    """

    def __init__(self, catalog: Catalog | None = None, *, sources: Iterable[str] = ()) -> None:
        self._catalog = Catalog(common=COMMON, closed=True) if catalog is None else copy.deepcopy(catalog)
        self._sources = tuple(dict.fromkeys(sources))
        self._delivery = Delivery()
        self._ids, self._numbers = count(1), count(1)

    @classmethod
    def from_pipeline(
        cls,
        path: str | Path,
        callbacks: Callback | Mapping[str, Callback],
        *,
        detection: str | DetectionPolicy | None = None,
        sources: Iterable[str] = (),
    ) -> Service:
        """A service with the event types, sets, limits and subscriptions of a pipeline file.

        Args:
            callbacks: one for all subscriptions of the file, or one for each by name; those that are not named are
                detected only if others use them.
            detection: for all subscriptions; by default what their patterns say.
        """
        # Only here: the rest of the service does without Spark.
        from tocsin.service.pipelines import read_contents

        contents = read_contents(path, COMMON)
        named = [one.entry.name for one in contents.subscriptions]
        called = callbacks if isinstance(callbacks, Mapping) else dict.fromkeys(named, callbacks)
        for name in called:
            if name not in named:
                hint = did_you_mean(name, named)
                raise InputError("unknown-subscription", f"{path} has no subscription {name!r}", hint=hint)
        service = cls(contents.catalog, sources=sources)
        for one in contents.needed(called):
            name = one.entry.name
            callback = called.get(name, lambda composite: None)
            number = service.subscribe(
                one.subscription, callback, key=one.entry.key, detection=detection, name=name
            )
            service._delivery.subscribers[number].limits = contents.limits()
        return service

    # Types and events

    def register_type(
        self, name: str, attributes: Mapping[str, str] | None = None, *, parent: str | None = None
    ) -> None:
        """Make an event type known, with its attributes: string, int, float, bool or timestamp."""
        self._check_free(name)
        self._catalog.declare(EventType(name, dict(attributes or {}), parent))

    def register_set(self, name: str, members: Iterable[str]) -> None:
        """Give several types one name, to be used as in `[Door in Sensors]`."""
        self._check_free(name)
        self._catalog.declare_set(name, members)

    def create_event(
        self,
        type: str,
        attributes: Mapping[str, object] | None = None,
        /,
        *,
        at: Moment | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        source: str | None = None,
        id: int | str | None = None,
        **more: object,
    ) -> Event:
        """A new event of a registered type, not yet published.

        Args:
            attributes: attributes whose names are taken, such as `end`; others can simply be named.
            at: when it happened, or `start` and `end`: an ISO text, a datetime, or microseconds since 1970.
            id: unique among all events; by default a number of its own.
        """
        when = interval(at, start, end)
        given = {**(attributes or {}), **more}
        made = new_event(self._catalog, id or 0, type, when, source, given)
        # Numbered only now: an event that was refused leaves no gap.
        return made if id is not None else replace(made, id=next(self._ids))

    def publish(self, event: Event) -> None:
        """Deliver an event to everyone who subscribed to it, alone or as part of a pattern."""
        end = event.interval.end
        if event.interval.start > end:
            raise InputError("bad-time", "the event ends before it starts", hint="exchange start and end")
        self._check_source(event.source)
        self._delivery.do(lambda subscriber: subscriber.arrive(event.source, event, end), end)

    def heartbeat(self, source: str, at: Moment) -> None:
        """Report that a source has sent everything up to a time, so that detection does not wait for it."""
        self._check_source(source)
        end = moment(at)
        self._delivery.do(lambda subscriber: subscriber.arrive(source, None, end), end)

    def advance(self, time: Moment) -> None:
        """Advance time: all events up to and at this time have been published, timers up to it run out."""
        end = moment(time)
        self._delivery.do(lambda subscriber: subscriber.advance(end), end)

    def close(self) -> None:
        """End the service: waiting events are used, timers run out, nothing more can be published."""
        if not self._delivery.closed:
            try:
                self._delivery.do(lambda subscriber: subscriber.advance(FOREVER), FOREVER)
            finally:
                self._delivery.closed = True

    # Subscriptions

    def subscribe(
        self,
        pattern: Any,
        callback: Callback,
        *,
        name: str | None = None,
        language: str | Language = DEFAULT,
        key: Names = None,
        detection: str | DetectionPolicy | None = None,
        options: SubscriptionOptions = SubscriptionOptions(),
    ) -> SubscriptionId:
        """Call back with every event of a type, or every composite event of a pattern, from now on.

        Args:
            pattern: `Temp(temp < 15)` for single events, or a pattern: its text, what `tocsin.parse` gives for one, or what
                `tocsin.event` builds.
            callback: gets an `Event` for single events, a `Composite` for patterns.
            name: under which other subscriptions can use the composites.
            key: an attribute or several; the pattern is then looked for among the events that agree in them.
            detection: `best-effort` (events are used as they arrive), `guaranteed` (in order, once nothing earlier
                can come) or `probabilistic(0.95)`; it takes precedence over what the pattern says.
            options: which matches are wanted, sources to listen to, a prefilter and more.
        """
        with self._delivery.lock:
            number = next(self._numbers)
            label = name or f"subscription-{number}"
            self._check_free(label)
            others = [other for other in self._subscribers if other.publishes]
            catalog = with_composites(self._catalog, [o.composite for o in others if o.composite is not None])
            request = read_request(
                pattern,
                catalog,
                name=label,
                language=language,
                key=key,
                detection=detection,
                options=options,
            )
            check_order(label, request.uses, {other.name: other.uses for other in self._subscribers})
            upstream = tuple(other.name for other in others if other.name in request.uses)
            check_neighbours(request.subscription, upstream)
            mode, single = request.detection.mode, request.single
            waits = mode != "best-effort"
            heard = (
                self._heard(mode, options.sources, upstream) if waits or options.sources is not None else None
            )
            self._delivery.subscribers[number] = Subscriber(
                number,
                label,
                callback,
                SingleEvents(single) if single else Detection(request.subscription, request.key),
                policy(
                    mode,
                    heard or (),
                    stability=request.stability,
                    threshold=request.detection.threshold,
                    whole_moments=len(plan([request.subscription]).detectors) > 1,
                ),
                waits=waits,
                since=self._delivery.done,
                sources=heard,
                key=request.key,
                limits=options.limits,
                uses=request.uses,
                upstream=upstream,
                composite=composite_type(request.subscription, catalog, request.key),
                publishes=name is not None and single is None,
            )
        return SubscriptionId(number)

    def unsubscribe(self, id: SubscriptionId) -> None:
        """Stop calling back. Detection continues only as long as another subscription uses the composites."""
        with self._delivery.lock:
            subscribers = self._delivery.subscribers
            if id not in subscribers or subscribers[id].callback is None:
                raise InputError("unknown-subscription", f"there is no subscription {id}")
            subscribers[id].callback = None
            # Backwards: a removed one may have been the last to use an earlier one.
            for number, one in reversed(tuple(subscribers.items())):
                needed = any(one.name in other.upstream for other in subscribers.values())
                if one.callback is None and not needed:
                    del subscribers[number]

    @property
    def unused(self) -> tuple[Unused, ...]:
        """The most recent events that a subscription wanted and could not use: too late, or without the key."""
        return tuple(one for subscriber in self._subscribers for one in subscriber.unused)

    # Sources

    def silent(self, after: Duration) -> tuple[str, ...]:
        """The sources that are waited for and have been silent for longer than this, in event time."""
        latest, gap = self._delivery.latest, duration(after)
        missed = {name for one in self._subscribers if one.waits for name in one.policy.silent(latest, gap)}
        return tuple(source for source in self._sources if source in missed)

    def leave_out(self, source: str) -> None:
        """Stop waiting for a source. Its events are still used as long as they are not late."""
        self._check_source(source)
        self._delivery.do(lambda subscriber: subscriber.leave_out(source), self._delivery.latest)

    # What is checked

    @property
    def _subscribers(self) -> tuple[Subscriber, ...]:
        return tuple(self._delivery.subscribers.values())

    def _check_free(self, name: str) -> None:
        taken = "an event type" if name in self._catalog.names else None
        taken = "a subscription" if any(one.name == name for one in self._subscribers) else taken
        if taken is not None:
            raise InputError("duplicate-name", f"{name!r} is {taken} already", hint="choose another name")

    def _check_source(self, source: str | None) -> None:
        if self._sources and source not in self._sources:
            message = (
                "the event has no source" if source is None else f"the source {source!r} is not declared"
            )
            raise InputError("unknown-source", message, hint=did_you_mean(source or "", self._sources))

    def _heard(self, mode: str, sources: Iterable[str] | None, upstream: Sequence[str]) -> frozenset[str]:
        """The sources a subscription listens to: the requested ones, and the subscriptions it uses."""
        own = self._sources if sources is None else tuple(sources)
        if not own:
            message = f"{mode} detection must know all sources of events"
            raise InputError("no-sources", message, hint="name them: Service(sources=[…])")
        for source in own:
            self._check_source(source)
        return frozenset({*own, *(origin(name) for name in upstream)})
