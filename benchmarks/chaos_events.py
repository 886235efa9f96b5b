"""The events of the chaos run: out of order, some of them duplicated, some of them malformed.

Event times are independent of wall-clock time, so the right result depends only on the seed and the number of events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

STEP = 20  # milliseconds from one event to the next
DELAY = 4_000  # milliseconds of lateness that the pipeline allows
_BEHIND = 1_500  # actual maximum lateness of events, in milliseconds
_LONG_AFTER = 3 * DELAY // STEP  # messages after which a repeated event is certainly late
_END = 3_600_000  # milliseconds after the last event: then everything is decided

SUBSCRIPTIONS = """
[event.Open]
room = "int"
who = "string"

[event.Close]
room = "int"
who = "string"

[event.Badge]
who = "string"

[event.Beat]
room = "int"

[[subscription]]
name = "Through"
key = "room"
pattern = "([Open], [Close])_{T1=2s}"

[[subscription]]
name = "LeftOpen"
key = "room"
pattern = "([Open], [T1 in {T1, Close}])_{T1=3s}"
attributes = ["who"]

[[subscription]]
name = "Entered"
key = "who"
pattern = "([Badge], [Open])_{T1=1s}"
"""


@dataclass
class Story:
    """Messages to send, and the counts that a correct run must arrive at."""

    random: Random
    events: list[dict[str, Any]] = field(default_factory=list)  # the distinct valid events
    relevant: int = 0  # of these, the relevant ones
    irrelevant: int = 0  # messages, repeated ones included
    dead: int = 0
    again: int = 0  # repeated messages of relevant events
    _later: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    @property
    def sent(self) -> int:
        return self.relevant + self.irrelevant + self.dead + self.again

    def messages(self, number: int) -> Iterator[bytes]:
        """About `number` more messages."""
        fresh = [self._event(len(self.events) + n) for n in range(number)]
        # No event is moved further than `_BEHIND` in time.
        order = sorted(fresh, key=lambda event: event["time"] + self.random.uniform(0, _BEHIND))
        for event in order:
            self.events.append(event)
            yield self._tell(event, again=False)
            chance = self.random.random()
            if chance < 0.03:
                yield self._tell(event, again=True)
            elif chance < 0.06:
                self._later.append((self.sent + self.random.randrange(1, 2 * _LONG_AFTER), event))
            elif chance < 0.09:
                self.dead += 1
                yield self._malformed(event)
            while self._later and self._later[0][0] <= self.sent:
                yield self._tell(self._later.pop(0)[1], again=True)

    def last(self) -> Iterator[bytes]:
        """All messages held back, then an event far enough ahead to move the watermark past everything before it."""
        for _, event in self._later:
            yield self._tell(event, again=True)
        end = self._event(len(self.events)) | {"type": "Beat"}
        end["time"] += _END
        self.events.append(end)
        yield self._tell(end, again=False)

    def _event(self, number: int) -> dict[str, Any]:
        type = self.random.choices(("Open", "Close", "Badge", "Beat"), (4, 4, 2, 1))[0]
        event: dict[str, Any] = {"id": f"e{number}", "type": type, "time": number * STEP}
        if type != "Badge":
            event["room"] = self.random.randrange(40)
        if type != "Beat":
            event["who"] = f"p{self.random.randrange(25)}"
        return event

    def _tell(self, event: dict[str, Any], *, again: bool) -> bytes:
        if event["type"] == "Beat":
            self.irrelevant += 1
        elif again:
            self.again += 1
        else:
            self.relevant += 1
        return json.dumps(event).encode()

    def _malformed(self, event: dict[str, Any]) -> bytes:
        """A message that is malformed in one of several ways."""
        text = json.dumps(event)
        broken = (
            text[:-1].encode(),
            b"\xff\xfe\x00" + text.encode(),
            b"",
            json.dumps(event | {"time": "soon"}).encode(),
            json.dumps({name: value for name, value in event.items() if name != "time"}).encode(),
            json.dumps(event | {"type": "Nobody"}).encode(),
            json.dumps(event | {"type": "Open", "room": "the blue one"}).encode(),
            json.dumps({"id": event["id"], "type": "Close", "time": event["time"]}).encode(),  # no key
        )
        return self.random.choice(broken)
