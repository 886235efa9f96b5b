"""Several subscriptions in one job: what they share, and the route by which events reach them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Job:
    """The subscriptions that are detected in one pass over the events of each key."""

    number: int
    key: tuple[str, ...]
    subscriptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sharing:
    """The parts shared by the subscriptions of a job.

    `saved` is the number of detectors that sharing leaves out, `most_used` how many each of the busiest detectors
    serves. `predicates` are evaluated once, though used `predicate_uses` times; `looked_up` counts those that are found
    by one look-up of the value of an attribute. `words` is the number of 64-bit words of results per event, None for a
    single subscription.
    """

    detectors: int
    saved: int
    most_used: Mapping[str, int]
    predicates: int
    predicate_uses: int
    looked_up: Mapping[str, int]
    words: int | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The route by which events reach the kernels, and why each faster one was not taken."""

    taken: str
    summary: str
    not_taken: Mapping[str, str]
