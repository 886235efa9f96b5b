"""The options of a stream in the engine's form, converted from those a user writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from tocsin.algebra.tokens.subscription import Detection, Mode
from tocsin.errors import InputError, did_you_mean
from tocsin.events import format_duration, parse_duration
from tocsin.events.pace import PaceSettings
from tocsin.spark.options import Stream

_LATE = ("fail", "drop", "keep")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """When the events of a stream are used. Durations are in microseconds."""

    delay: int
    detection: Detection | None = None
    sources: tuple[str, ...] = ()
    silent_after: int | None = None
    idle: int | None = None
    shards: int | None = None
    late: str = "fail"
    repeated: str = "keep"
    ahead: int | None = None  # how far ahead of wall-clock time events may be; None for any

    @classmethod
    def of(cls, written: Stream) -> StreamOptions:
        """Convert the options of a user; raise `InputError` for an invalid one."""
        if written.late not in _LATE:
            raise InputError("bad-option", f"late cannot be {written.late!r}", hint="use fail, drop or keep")
        if written.shards is not None and written.shards < 1:
            raise InputError("bad-option", f"shards cannot be {written.shards}", hint="use 1 or more")
        return cls(
            _microseconds("delay", written.delay),
            None if written.detection is None else _policy(written.detection),
            tuple(written.sources),
            None if written.silent_after is None else _microseconds("silent_after", written.silent_after),
            None if written.idle is None else _microseconds("idle", written.idle),
            written.shards,
            written.late,
            ahead=None if written.ahead == "any" else _microseconds("ahead", written.ahead),
        )

    @property
    def allowed_ahead(self) -> str:
        """How far ahead of wall-clock time events may be, as text."""
        return "any" if self.ahead is None else format_duration(self.ahead)

    def pace(self, own: Detection | None) -> PaceSettings:
        """Return when events are used: by the subscription's own policy, or by these options."""
        asked = own or self.detection
        if asked is None:
            return PaceSettings(delay=self.delay, idle_after=self.idle)
        waits = asked.mode != "best-effort"
        return PaceSettings(
            asked.mode,
            self.delay,
            self.sources if waits else (),
            asked.threshold,
            self.silent_after if waits else None,
            self.idle,
        )


def _policy(text: str) -> Detection:
    """Parse a policy as in the core language: `guaranteed`, `best-effort`, `probabilistic(0.95)`."""
    name, bracket, rest = text.partition("(")
    threshold = None
    if bracket:
        try:
            threshold = float(rest.rstrip().removesuffix(")"))
        except ValueError:
            hint = "write it as in probabilistic(0.95)"
            raise InputError("bad-option", f"detection cannot be {text!r}", hint=hint) from None
    for mode in get_args(Mode):
        if mode == name.strip():
            return Detection(mode, threshold)
    hint = did_you_mean(name, get_args(Mode))
    raise InputError("unknown-policy", f"there is no detection policy {name!r}", hint=hint)


def _microseconds(option: str, text: str) -> int:
    found = parse_duration(text)
    if found is None:
        raise InputError(
            "bad-option", f"{option} cannot be {text!r}", hint="use a duration such as 10s, 5min or 1h"
        )
    return found
