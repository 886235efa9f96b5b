"""The subscriber's side of a translation, running: notifications and ticks go in, instances of the profile come out.

>>> from tocsin.algebra.pairs.groups import Traits
>>> from tocsin.algebra.pairs.observation import Observation
>>> from tocsin.algebra.pairs.operators import sequence
>>> from tocsin.events import Event, Interval
>>> from tocsin.translate.derive import Wish, derive
>>> found = derive(sequence("a", "b"), Wish(Traits.of("conjunction", "disjunction")))
>>> trace = [Event(id, frozenset({id[0]}), Interval(t, t)) for id, t in (("b1", 1), ("a1", 2), ("b2", 3))]
>>> [i.ids for i in delivered(found, Observation.of(trace))]
[['a1', 'b2']]

Paper: 004, section 5.1, post-filtering and auxiliary profiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from tocsin.algebra.pairs.observation import Instance, Observation, compose
from tocsin.algebra.pairs.online import evaluate as online
from tocsin.algebra.pairs.semantics import instances
from tocsin.events import Event, Interval
from tocsin.translate.notifications import returned
from tocsin.translate.translation import Translation

Notification = tuple[str, Instance]  # the name of its profile, and what the provider found


@dataclass(frozen=True, slots=True)
class Notified(Event):
    """A notification as an event, with the instance of the source that it stands for."""

    instance: Instance | None = None


@dataclass
class Running:
    """A post-filter that runs, and what it has counted."""

    translation: Translation
    detection: online.Running | None
    received: int = 0
    dropped: int = 0


def start(translation: Translation) -> Running:
    """A post-filter that has received nothing yet."""
    return Running(translation, None if translation.passes_on else online.start(translation.detects))


def feed(running: Running, notifications: Iterable[Notification]) -> list[Instance]:
    """The instances of the source that the notifications of one moment decide. Moments come in the order of time."""
    steps = {profile.name: profile.step for profile in running.translation.profiles}
    found: dict[Instance, set[str]] = {}  # one instance may be notified for several profiles
    for name, notification in notifications:
        running.received += 1
        instance = returned(steps[name], notification)
        if instance is None:
            running.dropped += 1
        else:
            found.setdefault(instance, set()).add(name)
    in_order = sorted(found, key=lambda instance: instance.order)
    if running.detection is None:
        return in_order
    delivered: list[Instance] = []
    for instance in in_order:
        delivered += _restored(
            online.feed(running.detection, _event(running.received, instance, found[instance]))
        )
    return delivered


def tick(running: Running, time: int) -> list[Instance]:
    """The instances of the source that a tick of the subscriber's clock decides."""
    if running.detection is None:
        return []
    return _restored(online.tick(running.detection, time))


def finish(running: Running, end: int) -> list[Instance]:
    """The instances of the source that the end of observation decides."""
    if running.detection is None:
        return []
    return _restored(online.finish(running.detection, end))


def delivered(translation: Translation, observation: Observation) -> tuple[Instance, ...]:
    """What a subscriber gets if a provider observes this: the notifications by the definitions, post-filtered."""
    running = start(translation)
    notified = sorted(
        (
            (profile.name, notification)
            for profile in translation.profiles
            for notification in instances(profile.installed, observation)
        ),
        key=lambda one: one[1].order,
    )
    moments: list[tuple[tuple[int, int], list[Notification]]] = [
        ((time, 0), list(some)) for time, some in groupby(notified, key=lambda one: one[1].time)
    ]
    moments += [((time, 1), []) for time in observation.ticks]
    found: list[Instance] = []
    for (time, is_tick), some in sorted(moments, key=lambda moment: moment[0]):
        found += tick(running, time) if is_tick else feed(running, some)
    return (*found, *finish(running, observation.end))


def _event(number: int, instance: Instance, names: Iterable[str]) -> Notified:
    """A notification as an event of its own; that of a primitive event has its attributes."""
    attributes = {} if instance.event is None else dict(instance.event.attributes)
    interval = Interval(instance.time, instance.time)
    return Notified(number, frozenset(names), interval, attributes, instance=instance)


def _restored(found: Sequence[Instance]) -> list[Instance]:
    """The instances with what was notified in the places of the notifications."""
    return [_inside(instance) for instance in found]


def _inside(instance: Instance) -> Instance:
    if isinstance(instance.event, Notified) and instance.event.instance is not None:
        return instance.event.instance
    return compose([_inside(part) for part in instance.parts], instance.time) if instance.parts else instance
