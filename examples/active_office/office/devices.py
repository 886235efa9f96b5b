"""The sensors of the building: each is polled once a minute.

A device keeps its own state and its own random numbers, so changing one does not change what the others
report. All events of a minute lie inside that minute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from office.events import ACTIONS, Events, Type, make_events
from office.movement import HOME, Floats, Ints, Moves
from office.plan import MINUTE, MINUTES, OFFICES, PEOPLE, RESIDENTS, ROOMS, SECOND


class Device(Protocol):
    """All sensors of one kind in the building."""

    def step(self, minute: int, moves: Moves) -> Events:
        """Report what happened in one minute, in any order."""
        ...


class Pulse:
    """A sensor that reports once a minute, at its own second of the minute, give or take five."""

    def __init__(self, shape: tuple[int, int], rng: np.random.Generator) -> None:
        self._rng = rng
        self._second = rng.integers(5 * SECOND, 55 * SECOND, shape)

    def step(self) -> Ints:
        """Return the milliseconds into this minute at which each sensor reports."""
        return self._second + self._rng.integers(-5 * SECOND, 5 * SECOND, self._second.shape)


class Badges:
    """Report where each person is, about once a minute (``Pers``)."""

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        self._pulse = Pulse((floors, len(PEOPLE)), rng)

    def step(self, minute: int, moves: Moves) -> Events:
        reported_at = self._pulse.step()
        # Somebody on the way was last seen in the room just left.
        room = np.where(reported_at < moves.arrives_at, moves.before, moves.after)
        floor, person = np.indices(room.shape)
        time = minute * MINUTE + reported_at
        return make_events(Type.Pers, time.ravel(), floor.ravel(), room=room.ravel(), person=person.ravel())


class Doors:
    """Open and close a door when somebody leaves a room, and another when the next one is entered."""

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        self._rng = rng

    def step(self, minute: int, moves: Moves) -> Events:
        moved = moves.before != moves.after
        floor = np.tile(moved.nonzero()[0], 2)
        room = np.concatenate([moves.before[moved], moves.after[moved]])
        opens = minute * MINUTE + np.concatenate([moves.leaves_at[moved], moves.arrives_at[moved]])
        closes = opens + self._rng.integers(SECOND, 4 * SECOND, opens.shape)
        open_, close = range(len(ACTIONS))
        return np.concatenate(
            [
                make_events(Type.Door, opens, floor, room=room, action=open_),
                make_events(Type.Door, closes, floor, room=room, action=close),
            ]
        )


class Thermometers:
    """Read the temperature of each room about once a minute (``Temp``).

    A room follows the day's curve, from 19.5 up to 21.5 °C at 13:00. Where the heating fails it cools down
    towards 8 °C and is below 15 °C after some twenty minutes; it warms up again after the repair.
    """

    FAILS = 4 / (MINUTES * len(ROOMS))  # a minute and room: four failures a day and floor
    IS_REPAIRED = 1 / 75
    OUTSIDE = 8.0
    EXCHANGE = 0.03  # share of the difference lost after a minute
    NOISE = 0.15

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        self._rng = rng
        shape = (floors, len(ROOMS))
        self._pulse = Pulse(shape, rng)
        self._offset = rng.normal(0, 0.4, shape)
        self._degrees = self._heated(0)
        self._failed = np.zeros(shape, bool)

    def step(self, minute: int, moves: Moves) -> Events:
        chance = self._rng.random(self._failed.shape)
        self._failed = np.where(self._failed, chance >= self.IS_REPAIRED, chance < self.FAILS)
        target = np.where(self._failed, self.OUTSIDE, self._heated(minute))
        self._degrees += self.EXCHANGE * (target - self._degrees)
        reading = np.round(self._degrees + self._rng.normal(0, self.NOISE, target.shape), 2)
        floor, room = np.indices(reading.shape)
        time = minute * MINUTE + self._pulse.step()
        return make_events(Type.Temp, time.ravel(), floor.ravel(), room=room.ravel(), value=reading.ravel())

    def _heated(self, minute: int) -> Floats:
        return self._offset + 19.5 + 2 * math.sin(math.pi * minute / MINUTES)


class Boards:
    """Switch the whiteboards of the meeting rooms on and off (``BoardOn``, ``BoardOff``).

    A meeting is two people or more in a meeting room. They switch the board on sooner or later, and off when
    they are done with it or when fewer than two are left. Now and then a board is on in an empty room.
    """

    ON_IN_MEETING = 0.08
    ON_IN_EMPTY_ROOM = 0.015
    OFF_IN_MEETING = 0.012
    OFF_IN_EMPTY_ROOM = 0.3

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._on = np.zeros((floors, len(ROOMS) - len(OFFICES)), bool)
        self._for_nobody = np.zeros_like(self._on)

    def step(self, minute: int, moves: Moves) -> Events:
        meeting_rooms = np.arange(len(OFFICES), len(ROOMS))
        people = (moves.after[:, :, None] == meeting_rooms).sum(axis=1)
        meeting, empty = people >= 2, people == 0
        chance = self._rng.random(self._on.shape)
        switched_on = ~self._on & (chance < meeting * self.ON_IN_MEETING + empty * self.ON_IN_EMPTY_ROOM)
        self._for_nobody = np.where(switched_on, empty, self._for_nobody & empty)
        too_few = np.where(self._for_nobody, self.OFF_IN_EMPTY_ROOM, 1)
        switched_off = self._on & (chance < np.where(meeting, self.OFF_IN_MEETING, too_few))
        self._on ^= switched_on | switched_off
        # Not before everybody is gone who leaves in this minute.
        time = minute * MINUTE + self._rng.integers(30 * SECOND, MINUTE, self._on.shape)
        return np.concatenate(
            [
                _where(switched_on, Type.BoardOn, time, meeting_rooms),
                _where(switched_off, Type.BoardOff, time, meeting_rooms),
            ]
        )


class Workstations:
    """Log residents in when they are back in their own office (``Login``).

    Most of them do, after half a minute or some minutes; others leave before they have, or never do.
    """

    LOGS_IN = 0.8
    SETTLES = 30 * SECOND
    MEAN_DELAY = 120 * SECOND
    NEVER = np.iinfo(np.int64).max

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        self._rng = rng
        shape = (floors, len(RESIDENTS))
        self._home = np.zeros(shape, bool)
        self._due = np.full(shape, self.NEVER)

    def step(self, minute: int, moves: Moves) -> Events:
        room, arrives_at = (column[:, : len(RESIDENTS)] for column in (moves.after, moves.arrives_at))
        home = room == HOME[: len(RESIDENTS)]
        came_home = home & ~self._home
        self._home = home
        delay = self.SETTLES + self._rng.exponential(self.MEAN_DELAY, home.shape).astype(np.int64)
        will = self._rng.random(home.shape) < self.LOGS_IN
        self._due = np.where(came_home & will, minute * MINUTE + arrives_at + delay, self._due)
        self._due[~home] = self.NEVER
        now = self._due < (minute + 1) * MINUTE
        floor, person = now.nonzero()
        events = make_events(Type.Login, self._due[now], floor, room=room[now], person=person)
        self._due[now] = self.NEVER
        return events


class Network:
    """Report low bandwidth at the network points, one in each room (``ReducedBandwidth``).

    Mostly a single point is slow for a moment. A few times a day the floor has a real fault: for eight
    minutes most of its points report.
    """

    ALONE = 0.004  # a minute and point
    FAULT = 1 / 200  # a minute and floor
    FAULT_MINUTES = 8
    IN_FAULT = 0.25  # a minute and point

    def __init__(self, floors: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._fault_ends = np.zeros(floors, np.int64)

    def step(self, minute: int, moves: Moves) -> Events:
        floors = len(self._fault_ends)
        shape = (floors, len(ROOMS))
        begins = (self._rng.random(floors) < self.FAULT) & (self._fault_ends <= minute)
        self._fault_ends[begins] = minute + self.FAULT_MINUTES
        fault = (self._fault_ends > minute)[:, None]
        reports = self._rng.random(shape) < np.where(fault, self.IN_FAULT, self.ALONE)
        mbit = np.where(fault, self._rng.uniform(1, 20, shape), self._rng.uniform(30, 80, shape)).round(1)
        time = minute * MINUTE + self._rng.integers(0, MINUTE, shape)
        return _where(reports, Type.ReducedBandwidth, time, np.arange(len(ROOMS)), value=mbit[reports])


DEVICES: tuple[Callable[[int, np.random.Generator], Device], ...] = (
    Badges,
    Doors,
    Thermometers,
    Boards,
    Workstations,
    Network,
)


def _where(chosen: npt.NDArray[np.bool_], type_: Type, time: Ints, rooms: Ints, **attributes: Any) -> Events:
    """Make an event for each chosen pair of a floor and a room."""
    floor, column = chosen.nonzero()
    return make_events(type_, time[chosen], floor, room=rooms[column], **attributes)
