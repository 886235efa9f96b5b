"""The file of events of a command line: where it is, and which columns its events have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.errors import InputError

if TYPE_CHECKING:
    from tocsin.spark.options import Columns


def add_event_file(
    parser: argparse.ArgumentParser, *, required: bool = True, what: str = "a file or folder of events"
) -> None:
    """Add the arguments for a file of events to a command."""
    parser.add_argument("--from", dest="file", required=required, metavar="FILE", help=what)
    parser.add_argument(
        "--format", help="parquet, csv (with a header) or json (one object a line); else by the ending"
    )
    parser.add_argument("--time", metavar="COLUMN", help="the time, or START,END for events that last")
    parser.add_argument("--time-unit", metavar="UNIT", help="of numeric times since 1970: s, ms, us or ns")
    parser.add_argument("--type", metavar="COLUMN", help="the column that says what type an event is")
    parser.add_argument("--event-type", metavar="NAME", help="the type of all events, if no column says it")
    parser.add_argument(
        "--key", metavar="COLUMN,…", help="look for the pattern among the events of each key alone"
    )
    parser.add_argument("--id", metavar="COLUMN", help="a unique column; it orders events of the same time")
    parser.add_argument(
        "--order", metavar="COLUMN", help="orders events of the same time before their ids do"
    )
    parser.add_argument(
        "--source", metavar="COLUMN", help="the device or port an event is from; else `source`"
    )


class EventFile(NamedTuple):
    """A file of events that exists, in a format that can be read."""

    path: str
    format: str

    def opened(self, session: Any) -> Any:
        """Return the events as `tocsin.detect` takes them: Parquet by its path, other files as a table."""
        # Imported here, because it loads Spark.
        from tocsin.spark.events.event_files import read_file

        return self.path if self.format == "parquet" else read_file(session, self.path, self.format)


def event_file(options: argparse.Namespace) -> EventFile:
    """Return the file that a command line names; refuse one that does not exist, before Spark is started."""
    from tocsin.spark.events.event_files import file_format, whole_path

    return EventFile(whole_path(options.file), file_format(options.file, options.format))


def refuse_without_file(options: argparse.Namespace) -> None:
    """Refuse columns of events where no file of events is given."""
    for name in ("format", "time", "time_unit", "type", "event_type", "key", "id", "order", "source"):
        if getattr(options, name) is not None:
            option = name.replace("_", "-")
            raise InputError(
                "bad-option", f"--{option} describes events, and there are none", hint="say --from FILE"
            )


def columns_of(options: argparse.Namespace) -> Columns:
    """Return the columns of the events, as far as they are named."""
    from tocsin.spark.options import Columns

    return Columns(options.event_type, options.id, options.source, options.time_unit, order=options.order)


def names_of(text: str | None) -> list[str] | None:
    """Return the names in a list such as `room,floor`."""
    return None if text is None else [name.strip() for name in text.split(",")]


def time_of(options: argparse.Namespace) -> str | list[str] | None:
    """Return the time column, or the columns of start and end."""
    names = names_of(options.time)
    return names[0] if names and len(names) == 1 else names
