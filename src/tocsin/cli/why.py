"""`tocsin why PATTERN --from FILE --key-value VALUE`: how far partial matches got, and what ended them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tocsin.cli.arguments.event_file import add_event_file, columns_of, event_file, names_of, time_of
from tocsin.cli.arguments.pattern import add_files_beside, add_pattern, given_pattern
from tocsin.cli.texts import write_text

_HELP = """\
Of one key, or of a table without one, it shows each partial match: the events it took, what it waited for, what ended
it and when. The meaning of the language itself is followed event by event, so give it a key, or a span of time, with
some thousand events at most.

examples:
  tocsin why '[Open];[Close]' --from doors.csv --key room --key-value 12
  tocsin why @rules/fire.tocsin --from day.parquet --key room,floor --key-value 12,3 --at 2024-01-31T09:00:00Z
  tocsin why @rules/fire.tocsin --from out/checkpoint --key room --key-value 12     what a stream keeps
  tocsin why @fuel.ecl --from flight.csv --since 2024-01-31T09:00:00 --until 2024-01-31T10:00:00 --html why.html
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "why",
        help="show how far partial matches got",
        description="Show how far the partial matches of a pattern got among the events of a key, and what ended them.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_pattern(parser)
    add_event_file(parser, what="a file or folder of events, or the checkpoint of a stream")
    parser.add_argument("--key-value", metavar="VALUE,…", help="the key to look at")
    parser.add_argument("--at", metavar="TIME", help="the moment to look at; else that of the last event")
    parser.add_argument("--since", metavar="TIME", help="leave out what ended before")
    parser.add_argument("--until", metavar="TIME", help="leave out what ended after")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a timeline to a file")
    add_files_beside(parser)


def run(options: argparse.Namespace) -> int:
    """Print the account."""
    given = given_pattern(options)
    given.check()
    # Imported here, because they load Spark.
    from tocsin.spark.session.failures import quiet_spark_errors
    from tocsin.spark.session.session import local_session
    from tocsin.spark.why import why
    from tocsin.spark.why_kept import is_checkpoint

    quiet_spark_errors()
    events: Any = options.file
    if not is_checkpoint(options.file):
        file = event_file(options)
        events = file.opened(local_session())
    key = names_of(options.key)
    value = names_of(options.key_value)
    with given.located():
        account = why(
            events,
            given.text,
            columns_of(options),
            given.options,
            key_value=None if value is None else value[0] if key and len(key) == 1 else tuple(value),
            at=options.at,
            since=options.since,
            until=options.until,
            language=given.language,
            key=key,
            time=time_of(options),
            type=options.type,
            matches=options.matches,
            take=options.take,
        )
    if options.html is not None:
        write_text(options.html, account._repr_html_())
    print(json.dumps(account.to_dict(), indent=2, default=str) if options.json else account)
    return 0
