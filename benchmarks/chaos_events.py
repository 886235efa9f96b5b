"""The events of the chaos run: in no good order, some of them twice, some of them no events at all.

Event times run on by themselves, whatever the time is; so the right answer depends on nothing but the seed and the number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

STEP = 20  # milliseconds from one event to the next
DELAY = 4_000  # milliseconds that the pipeline allows an event to be behind
_BEHIND = 1_500  # milliseconds that events really are behind, at most
_LONG_AFTER = 3 * DELAY // STEP  # messages after which a repeated event is surely late
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
    """Messages to send, and what is to become of them."""

    random: Random
    events: list[dict[str, Any]] = field(default_factory=list)  # those that count, each once
    relevant: int = 0  # of these, those that a pattern looks at
    irrelevant: int = 0  # messages, repeated ones included
    dead: int = 0
    again: int = 0  # repeated messages of events that a pattern looks at
    _later: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    @property
    def sent(self) -> int:
        return self.relevant + self.irrelevant + self.dead + self.again

    def messages(self, number: int) -> Iterator[bytes]:
        """Some more messages, about so many."""
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
        """Everything that was to come later, and an event so late that all before it is decided."""
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
        """What cannot be used, in one way or another."""
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
