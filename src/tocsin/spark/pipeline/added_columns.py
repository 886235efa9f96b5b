"""The columns that a pipeline adds to its events. Attributes keep their own names beside them.

| column | meaning |
|---|---|
| `tocsin_source` | name of the `[[source]]`, or of the subscription whose composite the event is |
| `tocsin_file`, `tocsin_block`, `tocsin_row` | where the event was read |
| `tocsin_text` | the event as it was read; in the end only of those that cannot be used |
| `tocsin_problem` | why it cannot be read |
| `tocsin_type`, `tocsin_start`, `tocsin_end`, `tocsin_id` | what detection looks at; times in microseconds |
| `tocsin_limited` | whether a `limit` holds it back |
| `tocsin_parts` | the constituents of a composite, to be put in its place in what is reported |
| `tocsin_use` | what becomes of the event: one of the words below |
| `tocsin_job0`, … | whether the job of this number reads it |
"""

from __future__ import annotations

PREFIX = "tocsin_"
SOURCE = "tocsin_source"
FILE = "tocsin_file"
BLOCK = "tocsin_block"
ROW = "tocsin_row"
TEXT = "tocsin_text"
PROBLEM = "tocsin_problem"
TYPE = "tocsin_type"
START = "tocsin_start"
END = "tocsin_end"
ID = "tocsin_id"
LIMITED = "tocsin_limited"
PARTS = "tocsin_parts"
USE = "tocsin_use"
ORIGIN = "source"  # an attribute that every event has: the device it comes from

# What becomes of an event. Those that a limit held back count as irrelevant, but are shown on their own.
USED, IRRELEVANT, HELD_BACK, DEAD = "used", "irrelevant", "limited", "dead"


def job_flag(number: int) -> str:
    """The column that says whether a job reads an event."""
    return f"{PREFIX}job{number}"
