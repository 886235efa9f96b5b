"""Times that no event has: microseconds far outside of any calendar, which still leave room to add and subtract."""

from __future__ import annotations

NEVER = 1 << 62  # the time of something that never happens; also of a timer that is not running
LONG_AGO = -NEVER  # before every event
FOREVER = NEVER - 1  # the time to advance to after the last event: later than every time but NEVER
