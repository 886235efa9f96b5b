"""`tocsin detect PATTERN --from FILE`: find a pattern in a file of events, once."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.cli.arguments.event_file import add_event_file, columns_of, event_file, names_of, time_of
from tocsin.cli.arguments.pattern import GivenPattern, add_files_beside, add_pattern, given_pattern, together
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import plan_texts
from tocsin.errors import InputError, TocsinWarning, counted
from tocsin.languages.registry import language

if TYPE_CHECKING:
    from tocsin.cli.display.progress import Activity

SHOWN = 100  # matches in a table, by default
EVENTS = 12  # events of a match in a table
WIDE = 160  # characters in a line of a table that no terminal shows
_HELP = """\
The table needs a time column: `time`, or the only column of a time type, or what --time names. The column
`type` says what an event is; without one, every event is an Event.

examples:
  tocsin detect '[Open(room=$x)];[Close(room=$x)]' --from doors.csv
  tocsin detect '[Door];[Temp(temp<15)] within 5min' --from day.parquet --key room
  tocsin detect @pattern.tocsin --from day.jsonl --time ts --time-unit ms --output jsonl | jq .match_id
  tocsin detect '[Open];[Close]' --matches leftmost --from doors.csv
  tocsin detect 'repeat {push(low) {<altitude < 500>}}' --language ecl --from flight.csv
  tocsin detect @latest.cor --types events.idl --ports 'Latest.a=GPS.out1,Latest.b=INS.out1' --from flight.csv
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "detect",
        help="find a pattern in a file of events",
        description="Find the composite events of a pattern in a file, once, and show them.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_pattern(parser)
    add_event_file(parser)
    parser.add_argument(
        "--unreadable",
        choices=("fail", "drop"),
        default="fail",
        help="what to do with rows that a pattern looks at and that lack time, type or key, or end before they start",
    )
    add_files_beside(parser)
    parser.add_argument(
        "--ports",
        metavar="C.E=SOURCE,…",
        help="the source of event E of correlation C, instead of an assembly",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help=f"show the first N matches; {SHOWN} in a table"
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="say by which route events are read and brought together, and why by no faster one",
    )
    parser.add_argument(
        "--output",
        choices=("table", "jsonl"),
        default="table",
        help="a table to read, or JSON lines with everything",
    )


def run(options: argparse.Namespace) -> int:
    """Print the matches; everything else goes to standard error."""
    if options.limit is not None and options.limit < 1:
        raise InputError("bad-option", f"--limit cannot be {options.limit}", hint="a number from 1 on")
    given = given_pattern(options)
    given = _read(given, options)  # before Spark is started, which takes seconds
    # Imported here, because help and mistakes need no terminal.
    from tocsin.cli.display.progress import activity

    with warnings.catch_warnings(), activity() as doing:
        warnings.simplefilter("always", TocsinWarning)
        warnings.showwarning = _show_warning
        rows, keys, more = _detected(given, options, doing)
    if options.output == "jsonl":
        for row in rows:
            print(json.dumps(_plain({**row, "variables": dict(row["variables"])}), ensure_ascii=False))
    elif rows:
        _print_table(rows, keys)
    _say(len(rows), more, ("row", "rows") if given.sends else ("match", "matches"))
    return 0


class _Found(NamedTuple):
    """The first matches as rows, their key columns, and whether there are more."""

    rows: list[dict[str, Any]]
    keys: Sequence[str]
    more: bool


def _detected(given: GivenPattern, options: argparse.Namespace, doing: Activity) -> _Found:
    """Start Spark and find the matches, up to the limit."""
    doing.step("starting Spark")
    # Imported here, because it loads Spark.
    from tocsin.runtime.results.match_rows import keys_among
    from tocsin.spark.detect import detect, route
    from tocsin.spark.options import Run
    from tocsin.spark.session.failures import quiet_spark_errors
    from tocsin.spark.session.session import local_session

    file = event_file(options)
    quiet_spark_errors()
    session = local_session()
    doing.step(f"reading {options.file}")
    doing.follow(session)
    events = file.opened(session)
    run = Run(spark=session if file.format == "parquet" else None, unreadable=options.unreadable)
    asked: list[Any] = [given.text, columns_of(options), given.options, run]
    named = {
        "language": given.language,
        "matches": options.matches,
        "take": options.take,
        "time": time_of(options),
        "type": options.type,
        "key": names_of(options.key),
    }
    with given.located():
        if options.verbose:
            print(route(events, *asked, **named), file=sys.stderr)
        matches = detect(events, *asked, **named)
    limit = options.limit or (SHOWN if options.output == "table" else None)
    ordered = matches.orderBy("end", "start", "match_id")
    doing.step("detecting")
    rows = (ordered if limit is None else ordered.limit(limit + 1)).toArrow().to_pylist()
    return _Found(rows[:limit], keys_among(matches.columns), limit is not None and len(rows) > limit)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as errors are printed, without the place in Tocsin's own code."""
    print(f"warning: {message}", file=sys.stderr)


def _read(given: GivenPattern, options: argparse.Namespace) -> GivenPattern:
    """The pattern, checked, with the ports it is bound to among the options of its language."""
    ports = {} if options.ports is None else {"ports": options.ports}
    whole = replace(given, options=together(given.options, ports))
    language(given.language).options_of(whole.options)
    with given.located():
        # Only for its mistakes: the columns are known only to Spark.
        plan_texts([whole.named_text], KnownEvents())
    return whole


def _say(count: int, more: bool, words: tuple[str, str]) -> None:
    one, many = words
    if more:
        shown = f"the first {one}" if count == 1 else f"the first {count:,} {many}"
        print(f"{shown}; --limit N shows more", file=sys.stderr)
    else:
        print(f"no {one}" if count == 0 else counted(count, one, many), file=sys.stderr)


def _plain(value: Any) -> Any:
    """Convert a value to JSON: times in ISO 8601, maps as objects."""
    match value:
        case datetime():
            return value.isoformat()
        case Mapping():
            return {name: _plain(part) for name, part in value.items()}
        case list() if value and all(isinstance(part, tuple) for part in value):
            return {str(name): _plain(part) for name, part in value}
        case list():
            return [_plain(part) for part in value]
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def _print_table(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> None:
    # Imported here, because only a table needs it.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    headings = [
        "start",
        "end",
        *keys,
        *(["pattern"] if len({row["pattern"] for row in rows}) > 1 else []),
        "events",
        *(["variables"] if any(row["variables"] for row in rows) else []),
        *(["what", "type", "value"] if "what" in rows[0] else []),
    ]
    for heading in headings:
        table.add_column(heading, no_wrap=heading in ("start", "end"))
    for row in rows:
        cells = {
            "start": _moment(row["start"]),
            "end": _moment(row["end"]),
            **{name: str(row[name]) for name in keys},
            "pattern": row["pattern"],
            "events": "\n".join(_events(row["constituents"])),
            "variables": "\n".join(f"${name} = {value}" for name, value in row["variables"]),
            "what": row.get("what") or "",
            "type": row.get("type") or "",
            "value": _sent(row),
        }
        table.add_row(*(Text(cells[heading]) for heading in headings))
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    Console(width=width, highlight=False).print(table)


def _moment(value: datetime) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S" + (".%f" if value.microsecond else ""))


def _events(constituents: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        f"{_role(c)} {c['start']:%H:%M:%S} {_attributes(c.get('attributes') or {})}".rstrip()
        for c in constituents
    ]
    if len(lines) <= EVENTS:
        return lines
    return [*lines[: EVENTS - 2], f"… {len(lines) - EVENTS + 1} more", lines[-1]]


def _role(constituent: Mapping[str, Any]) -> str:
    """The name that the pattern uses for an event; for ECL, which has none, the type."""
    return str(constituent["type"] if constituent["role"] == "event" else constituent["role"])


def _sent(row: Mapping[str, Any]) -> str:
    """The attributes of an event that was sent; for constants and all other rows, the value."""
    for table, attributes in (row.get("output") or {}).items():
        if attributes is not None and table != "constant":
            return _attributes(attributes)
    return row.get("value") or ""


def _attributes(attributes: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in attributes.items() if value is not None)
