"""The components of an aircraft: which ports they have, what they send, how often, and how soon after a tick.

Rate generators tick, and a periodic component sends an event for each tick of one of them. Times are whole microseconds.

Paper: 001, section 1 (one sender faster than the other) and section 4.4.1 (two steering queues and one air frame).
It gives no rates; ours are 1 to 40 Hz.
"""

from __future__ import annotations

from typing import NamedTuple

MILLISECOND = 1_000
SECOND = 1_000 * MILLISECOND
MINUTE = 60 * SECOND

SENSORS = 4
MODES = ("navigate", "tactical", "land")


class Port(NamedTuple):
    """Where a component sends events of one type; `hz` is 0 if only special occasions make it do so."""

    source: str
    type: str
    hz: int = 0
    soonest: int = 0
    latest: int = 1

    @property
    def component(self) -> str:
        return self.source.partition(".")[0]


PORTS = (
    *(Port(f"Timer.hz{hz}", "TimeOut", hz, 0, MILLISECOND // 5) for hz in (1, 5, 20, 40)),
    # Both steering queues are faster than the air frame, so it always meets new events of both: a double match.
    Port("AirFrame.out1", "Attitude", 5, MILLISECOND, 20 * MILLISECOND),
    Port("NavSteering.out1", "Steering", 20, MILLISECOND, 20 * MILLISECOND),
    Port("TacticalSteering.out1", "Steering", 20, MILLISECOND, 20 * MILLISECOND),
    Port("INS.out1", "Position", 40, MILLISECOND, 10 * MILLISECOND),
    Port("GPS.out1", "Position", 20, MILLISECOND, 30 * MILLISECOND),
    # A fix takes a while, so an alarm can come in between.
    Port("Navigator.out1", "Position", 1, 100 * MILLISECOND, 600 * MILLISECOND),
    *(
        Port(f"AirData{n}.out1", "DataNotify", 20, MILLISECOND, 10 * MILLISECOND)
        for n in range(1, SENSORS + 1)
    ),
    Port("GPS.alarm", "Alarm"),
    *(Port(f"Validity.drop{n}", "Validity") for n in range(1, SENSORS + 1)),
    *(Port(f"Validity.restore{n}", "Validity") for n in range(1, SENSORS + 1)),
    *(Port(f"Pilot.{mode}", "Control") for mode in MODES),
)
NUMBER = {port.source: number for number, port in enumerate(PORTS)}

# The attributes of each type, besides the SourceID of those who notify.
PAYLOAD = {
    "Attitude": ("pitch", "roll"),
    "Position": ("latitude", "longitude"),
    "Steering": ("heading",),
    "DataNotify": ("Value",),
    "Validity": ("valid",),
}
NOTIFIES = ("Attitude", "Position", "Steering", "DataNotify", "Alarm")
COMPONENTS = tuple(dict.fromkeys(port.component for port in PORTS))
