"""`tocsin state CHECKPOINT`: the state of a stream."""

from __future__ import annotations

import argparse
import json
from typing import Any

_HELP = """\
Reads Spark's state store; the query need not run. `until` is how far a shard is decided, `oldest` the oldest
event it remembers, `waiting` are events that have come but are not decided yet, `left_out` the sources that are
not waited for. The subscriptions of a pipeline with one key are a job.

examples:
  tocsin state out/checkpoint
  tocsin state out/checkpoint --json | jq .bytes
"""
_COLUMNS = ("job", "shard", "keys", "partial_matches", "waiting", "bytes", "until", "oldest", "left_out")


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "state",
        help="show what a stream remembers, from its checkpoint",
        description="Show of each shard of a stream how many keys and partial matches it remembers.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="the folder of the checkpoint")
    parser.add_argument("--json", action="store_true", help="one object a line, for programs")


def run(options: argparse.Namespace) -> int:
    """Show the figures of each shard, and of all."""
    # Imported here, because they load Spark.
    from rich.console import Console
    from rich.table import Table

    from tocsin.spark.session.session import some_session
    from tocsin.spark.stream.inspect import read_state

    with some_session("tocsin state") as spark:
        rows = read_state(spark, options.checkpoint).to_pylist()
    if options.json:
        for row in rows:
            print(json.dumps({name: _plain(row[name]) for name in _COLUMNS}))
        return 0
    table = Table(*(name.replace("_", " ") for name in _COLUMNS), box=None, header_style="")
    for row in rows:
        table.add_row(*(_shown(row[name]) for name in _COLUMNS))
    totals = [
        f"{sum(row[name] for row in rows):,}" for name in ("keys", "partial_matches", "waiting", "bytes")
    ]
    table.add_row("all", "", *totals)
    Console(highlight=False, soft_wrap=True).print(table)
    return 0


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(_plain(value))
