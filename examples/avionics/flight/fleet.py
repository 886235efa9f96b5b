"""Aircraft in flight: what their components send, minute by minute, all aircraft at once.

Occasional events (modes, failures, alarms) are drawn for the whole flight at the start; periodic ones are generated
minute by minute. Modes, failures and alarms have random numbers of their own, so changing one leaves the others
unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flight.components import MILLISECOND, MINUTE, MODES, NUMBER, PORTS, SECOND, SENSORS, Port

# `first` and `second` are the attributes that `PAYLOAD` names, in its order; not a number where there is none.
ROW = np.dtype([("time", "i8"), ("aircraft", "i4"), ("port", "i1"), ("first", "f8"), ("second", "f8")])
Rows = npt.NDArray[np.void]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Gap(NamedTuple):
    """The time between two occurrences: its minimum and its mean."""

    least: int
    mean: int


BETWEEN_MODES = Gap(4 * SECOND, 10 * SECOND)
BETWEEN_ALARMS = Gap(SECOND // 2, 5 * SECOND)
SENSOR_WORKS, SENSOR_FAILS = Gap(10 * SECOND, 40 * SECOND), Gap(3 * SECOND, 8 * SECOND)
SILENT = 0.5  # the share of failures in which a sensor sends nothing; in the others it sends nonsense
NOTICED = (50 * MILLISECOND, 150 * MILLISECOND)  # how soon the validity controller notices a change

METRES_A_SECOND = 230.0
METRES_A_DEGREE = 111_000.0


class Fleet:
    """Some aircraft, each with its own course, phase of its rate generators, modes, failures and alarms."""

    def __init__(self, seed: int, scale: int, minutes: int) -> None:
        courses, modes, faults, alarms, self._latency, self._noise = np.random.default_rng(seed).spawn(6)
        horizon = minutes * MINUTE
        self._minutes = minutes
        self._aircraft = np.arange(scale)[:, None]
        self._phase = courses.integers(0, SECOND, (scale, 1))
        self._course = courses.uniform(0, 360, (scale, 1))
        self._latitude, self._longitude = courses.uniform(-60, 60, (2, scale, 1))
        self._switches = _occasions(modes, (scale,), horizon, BETWEEN_MODES)
        # Every aircraft navigates at first, and a switch always leads to another mode.
        steps = modes.integers(1, len(MODES), self._switches.shape)
        self._modes = np.hstack([np.zeros_like(self._aircraft), np.cumsum(steps, axis=1) % len(MODES)])
        # A sensor fails at the first, third, … of these times, and works again from the next on.
        self._faults = _occasions(faults, (scale, SENSORS), horizon, SENSOR_WORKS, SENSOR_FAILS)
        self._silent = faults.random(self._faults.shape) < SILENT
        noticed = self._faults + faults.integers(*NOTICED, self._faults.shape)
        alarm_times = _occasions(alarms, (scale,), horizon, BETWEEN_ALARMS)
        self._occasional = _in_order(
            np.concatenate(
                [
                    _rows(NUMBER["GPS.alarm"], alarm_times, self._aircraft),
                    _rows(NUMBER[f"Pilot.{MODES[0]}"] + self._modes[:, 1:], self._switches, self._aircraft),
                    _validity(noticed),
                ]
            )
        )

    def minutes(self) -> Iterator[Rows]:
        """The events sent in each minute of the flight, in time order."""
        late = np.empty(0, ROW)  # responses to the last ticks of the previous minute
        for minute in range(self._minutes):
            ends = (minute + 1) * MINUTE
            begun, over = np.searchsorted(self._occasional["time"], [minute * MINUTE, ends])
            periodic = [self._periodic(port, minute) for port in PORTS if port.hz]
            rows = _in_order(np.concatenate([late, self._occasional[begun:over], *periodic]))
            cut = np.searchsorted(rows["time"], ends)
            late = rows[cut:]
            yield rows[:cut]

    def _periodic(self, port: Port, minute: int) -> Rows:
        """The events a port sends in response to the ticks of one minute."""
        ticks = np.arange(minute * 60 * port.hz, (minute + 1) * 60 * port.hz) * SECOND // port.hz
        time = self._phase + ticks
        time = time + self._latency.integers(port.soonest, port.latest, time.shape)
        rows = _rows(NUMBER[port.source], time, self._aircraft, *self._payload(port, time))
        if port.component == "TacticalSteering":
            mode = np.take_along_axis(self._modes, _count(self._switches, time), axis=1)
            tactical: Bools = mode == MODES.index("tactical")
            return rows[tactical.ravel()]
        if port.type == "DataNotify":
            failed, silent = self._condition(int(port.component[-1]) - 1, time)
            rows["first"][failed.ravel()] = 0.0
            return rows[~silent.ravel()]
        return rows

    def _payload(self, port: Port, time: Ints) -> tuple[Any, ...]:
        """The attributes: a gentle flight, ten degrees to either side of a straight course."""
        seconds = time / SECOND
        swing = np.sin(2 * math.pi * seconds / 120)
        match port.type:
            case "Attitude":
                return np.round(2 + swing, 2), np.round(-15 * swing, 2)
            case "Position":
                degrees = METRES_A_SECOND * seconds / METRES_A_DEGREE
                course = np.radians(self._course)
                error = self._noise.normal(0, 1e-4, (2, *time.shape))
                latitude = self._latitude + degrees * np.cos(course) + error[0]
                longitude = self._longitude + degrees * np.sin(course) + error[1]
                return np.round(latitude, 6), np.round(longitude, 6)
            case "Steering":
                return (np.round((self._course + 10 * swing) % 360, 2),)
            case "DataNotify":
                return (np.round(30_000 + 100 * swing + self._noise.normal(0, 5, time.shape), 1),)
            case _:
                return ()

    def _condition(self, sensor: int, time: Ints) -> tuple[Bools, Bools]:
        """Whether a sensor has failed at each of some times, and whether it is also silent then."""
        changes = _count(self._faults[:, sensor], time)
        failed = changes % 2 == 1
        latest = np.maximum(changes - 1, 0)
        return failed, failed & np.take_along_axis(self._silent[:, sensor], latest, axis=1)


def _occasions(rng: np.random.Generator, shape: tuple[int, ...], horizon: int, *gaps: Gap) -> Ints:
    """The times of a recurring occurrence, up to past the horizon; the gaps alternate."""
    rounds = horizon // sum(gap.least for gap in gaps) + 1
    drawn = [gap.least + rng.exponential(gap.mean - gap.least, (*shape, rounds)) for gap in gaps]
    return np.cumsum(np.stack(drawn, axis=-1).reshape(*shape, -1), axis=-1).astype(np.int64)


def _count(occasions: Ints, time: Ints) -> Ints:
    """How often something has happened to each aircraft, at each of its times."""
    pairs = zip(occasions, time, strict=True)
    return np.stack([np.searchsorted(happened, at, side="right") for happened, at in pairs])


def _validity(noticed: Ints) -> Rows:
    """A message for each change of a sensor, with all the sensors that are valid then, as bits."""
    aircraft, sensor, change = (column.ravel() for column in np.indices(noticed.shape))
    order = np.lexsort((noticed.ravel(), aircraft))
    # Each sensor changes an even number of times, so with the last change of an aircraft all its sensors are
    # valid again, and the next aircraft starts from there.
    valid = 2**SENSORS - 1 ^ np.bitwise_xor.accumulate(1 << sensor[order])
    port = NUMBER["Validity.drop1"] + sensor + SENSORS * (change % 2)
    return _rows(port[order], noticed.ravel()[order], aircraft[order], valid)


def _rows(port: Any, time: Ints, aircraft: Ints, first: Any = np.nan, second: Any = np.nan) -> Rows:
    """Rows from columns, or from one value for all of them."""
    rows = np.empty(time.shape, ROW)
    rows["port"], rows["time"], rows["aircraft"] = port, time, aircraft
    rows["first"], rows["second"] = first, second
    return rows.ravel()


def _in_order(rows: Rows) -> Rows:
    order: Ints = np.argsort(rows["time"], kind="stable")
    return rows[order]
