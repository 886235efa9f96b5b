"""The cost of a pattern: which matches are wanted, the detectors and kernels that find them, and the state they keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Matches:
    """The selection of a pattern in its own words (`policy`, `take`, `limit`) and in ours, and what it costs."""

    policy: str
    take: str
    limit: int
    wanted: str
    reported: str
    cost: str


@dataclass(frozen=True, slots=True)
class Detector:
    """A part of a pattern that runs on its own, with the detectors that it reads and that read it."""

    name: str
    pattern: str
    reads: tuple[str, ...] = ()
    read_by: tuple[str, ...] = ()
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Detectors:
    """The detectors of a pattern, each after those it reads."""

    detectors: tuple[Detector, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel that runs a detector, a machine or a branch, with the cost of an event and the reason for it.

    `on_points` is the kernel for events without a length, where that is another one, with its `cost_on_points`.
    `count` is how many detectors of a job run like this.
    """

    of: str
    kernel: str
    cost: str
    because: str = ""
    on_points: str | None = None
    cost_on_points: str | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Kernels:
    """How each part is run."""

    kernels: tuple[Kernel, ...]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate that is evaluated on single events, named after its purpose."""

    of: str
    condition: str


@dataclass(frozen=True, slots=True)
class Predicates:
    """The predicates of a pattern; each is evaluated once per event, however often it is used."""

    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements on events: types with the kinds of their attributes; and the pattern's variables and timers.

    `longest` is the most events that a match has, None if there is no limit.
    """

    types: Mapping[str, Mapping[str, str]]
    variables: tuple[str, ...] = ()
    timers: tuple[str, ...] = ()
    longest: int | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """The longest time that a partial match can wait in a state, in microseconds; None if there is no bound.

    `timers` end the wait. `can_miss`: not if the last event comes at the very moment they run out. `moments` are
    timers that end only a wait that begins before them.
    """

    detector: str
    state: str
    events: tuple[str, ...]
    longest: int | None = None
    timers: tuple[str, ...] = ()
    can_miss: bool = False
    moments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waits:
    """The states in which partial matches wait, and so the state that is kept between events."""

    waits: tuple[Wait, ...]

    @property
    def bounded(self) -> bool:
        """Whether a timer ends every wait."""
        return all(wait.longest is not None and not wait.can_miss for wait in self.waits)


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a machine after a pass: states and transitions, or configurations and kinds of events of a table.

    `refused` says why the pass did not take place.
    """

    stage: str
    states: int | None = None
    transitions: int | None = None
    configurations: int | None = None
    event_kinds: int | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Sizes:
    """The size of a machine after each pass."""

    sizes: tuple[Size, ...]
