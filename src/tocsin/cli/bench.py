"""`tocsin bench`: measure Tocsin and other engines side by side, on events made from a seed."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tocsin.bench.compare import short
from tocsin.bench.engines import ENGINES, Engine
from tocsin.bench.events import SEED, SHARES, EventSet, shares_of
from tocsin.bench.measure import Measurement, Request, Skipped, measure
from tocsin.bench.peers import bench_folder, install_flink
from tocsin.bench.table import table
from tocsin.bench.workloads import MANY, MINUTE, UNSUPPORTED, USUAL, WORKLOADS, Workload, workload
from tocsin.cli.texts import section
from tocsin.errors import InputError, did_you_mean
from tocsin.events.time import parse_duration
from tocsin.explain.render.layout import columns

WIDE = 200  # characters in a line of the table
_ROUNDS, _SECONDS = 6, 10.0  # of each engine on each workload at least, unless the command says it
_HELP = """\
Each engine runs each workload in a process of its own: one round to warm up, then the best of the others counts.
What it finds is held against answers worked out with numpy. An engine that fails or disagrees makes the exit
code 1; one that is not installed is left out, and said to be.

examples:
  tocsin bench
  tocsin bench --rows 10000000 --workloads W1,W3,W4 --engines tocsin-parquet,spark-sort,duckdb --json
  tocsin bench --types A=5,B=90,C=5 --engines tocsin-dataframe,spark-sort
  tocsin bench --window 1min,10min,100min --engines tocsin-kernel
  tocsin bench --patterns 1,10,100,1000 --engines tocsin-dataframe
  tocsin bench --keys 1 --cores 1,2 --engines tocsin-parquet
  tocsin bench --list
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "bench",
        help="measure Tocsin and other engines side by side",
        description="Measure Tocsin and other engines side by side, on events made from a seed.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rows", type=int, default=1_000_000, metavar="N", help="how many events; by default 1000000"
    )
    parser.add_argument(
        "--keys",
        type=int,
        default=10_000,
        metavar="K",
        help="how many keys; by default 10000. With 1, patterns have no key",
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, metavar="N", help=f"the seed of the events; by default {SEED}"
    )
    parser.add_argument(
        "--types",
        metavar="TYPES",
        help="only these types: ABC (all of them matter), or with weights A=5,B=90,C=5; else A to H, of "
        "which a fifth matters",
    )
    parser.add_argument("--workloads", metavar="NAME,…", help=f"the workloads; by default {','.join(USUAL)}")
    parser.add_argument(
        "--patterns",
        metavar="N,…",
        help="workloads of so many patterns at once, with few matches each, instead of the others or besides",
    )
    parser.add_argument("--engines", metavar="NAME,…", help="the engines; by default all that are installed")
    parser.add_argument(
        "--window", metavar="TIME,…", help="the window of the workloads, in whole seconds; by default 1min"
    )
    parser.add_argument(
        "--cores", metavar="N,…", help="how many cores, for every engine but tocsin-kernel; by default all"
    )
    parser.add_argument("--rounds", type=int, metavar="N", help="how many rounds; the first one warms up")
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="repeat rounds until they have taken as long; without --rounds 10, and at least 6 rounds",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=1_800,
        metavar="S",
        help="seconds for one engine on one workload; by default 1800",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per measurement")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="where files of events are kept; by default a cache folder",
    )
    parser.add_argument("--publish", type=Path, metavar="FOLDER", help="add tables and plots to this folder")
    parser.add_argument(
        "--install-peers", action="store_true", help="install Flink into an environment of its own, and stop"
    )
    parser.add_argument("--list", action="store_true", help="show workloads and engines, and stop")


def run(options: argparse.Namespace) -> int:
    """Measure and print; 1 if an engine failed or its result was wrong."""
    if options.list:
        _list()
        return 0
    if options.install_peers:
        print(f"Flink runs with {install_flink()}")
        return 0
    request = _request(options)
    measured: list[Measurement] = []
    for event in measure(request):
        if isinstance(event, Measurement):
            print(_outcome(event), file=sys.stderr)
            measured.append(event)
            if options.json:
                print(json.dumps(event.to_json()), flush=True)
        elif isinstance(event, Skipped):
            print(f"left out: {event.says}", file=sys.stderr)
        else:
            # The result follows on the same line.
            print(f"{event.says}: ", end="", file=sys.stderr, flush=True)
    if not options.json:
        _print_table(measured)
    if options.publish is not None:
        # Imported here, because it loads Spark to say which Java there is.
        from tocsin.bench.publish import publish

        print(f"figures: {publish(options.publish, request.events, measured)}", file=sys.stderr)
    return 0 if measured and all(one.agrees for one in measured) else 1


def _outcome(one: Measurement) -> str:
    if one.seconds is None:
        return f"failed: {one.reason}"
    shown = f"{one.seconds:.3f} s, {short(one.events_per_second)} events/s"
    return shown if one.agrees else f"{shown}, but {one.reason}"


def _print_table(measured: Sequence[Measurement]) -> None:
    # Imported here, because only a table needs it.
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    headings, rows = table(measured)
    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        words = heading in ("workload", "engine", "agrees")
        shown.add_column(heading, justify="left" if words else "right", no_wrap=True)
    for number, row in enumerate(rows):
        last = number + 1 == len(rows) or rows[number + 1][0] != row[0]
        shown.add_row(*row, end_section=last)
    width = max(WIDE, shutil.get_terminal_size().columns)
    Console(width=width, highlight=False).print(shown)


def _list() -> None:
    section("workloads", columns((one.name, one.says) for one in WORKLOADS.values()))
    section("not yet", columns(UNSUPPORTED.items()))
    engines = ((one.name, one.missing() or one.says) for one in ENGINES.values())
    section("engines", columns(engines))


# Options


def _request(options: argparse.Namespace) -> Request:
    for name in ("rounds", "seconds", "timeout"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            raise InputError("bad-option", f"--{name} cannot be {value}", hint="above zero")
    shares = shares_of(options.types) if options.types is not None else tuple(SHARES.items())
    if options.seed < 0:
        raise InputError("bad-option", f"--seed cannot be {options.seed}", hint="zero or above")
    return Request(
        EventSet(options.rows, options.keys, options.seed, shares),
        _workloads(options.workloads, options.patterns),
        _engines(options.engines),
        [_milliseconds(text) for text in _names(options.window)] or [MINUTE],
        _numbers("cores", options.cores) or [_all_cores()],
        options.rounds or _ROUNDS,
        options.seconds or (0.0 if options.rounds else _SECONDS),
        options.timeout,
        options.data or bench_folder(),
    )


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text is not None else []


def _numbers(option: str, text: str | None) -> list[int]:
    found = []
    for name in _names(text):
        if not name.isdecimal() or int(name) < 1:
            raise InputError(
                "bad-option", f"--{option} cannot be {name!r}", hint="numbers from 1 on, as in 1,2"
            )
        found.append(int(name))
    return found


def _workloads(names: str | None, patterns: str | None) -> list[Workload]:
    many = [f"{MANY}{count}" for count in _numbers("patterns", patterns)]
    named = _names(names) if names is not None else ([] if many else list(USUAL))
    if not named and not many:
        raise InputError("no-workload", "no workload is named", hint="one or more of " + ",".join(WORKLOADS))
    return [workload(name) for name in dict.fromkeys([*named, *many])]


def _engines(names: str | None) -> list[Engine]:
    """The named engines that can be used; prints which ones are left out."""
    wanted = _names(names) if names is not None else list(ENGINES)
    for name in wanted:
        if name not in ENGINES:
            raise InputError(
                "unknown-engine", f"there is no engine {name!r}", hint=did_you_mean(name, ENGINES)
            )
    found = []
    for name in dict.fromkeys(wanted):
        if reason := ENGINES[name].missing():
            print(f"left out: {name}: {reason}", file=sys.stderr)
        else:
            found.append(ENGINES[name])
    if not found:
        raise InputError("no-engine", "no engine is left", hint="one or more of " + ",".join(ENGINES))
    return found


def _milliseconds(text: str) -> int:
    micros = parse_duration(text)
    if not micros or micros % 1_000_000:
        raise InputError(
            "bad-option", f"--window cannot be {text!r}", hint="whole seconds, as in 90s or 5min"
        )
    return micros // 1_000


def _all_cores() -> int:
    # Imported here, because it loads Spark.
    from tocsin.spark.session.session import available_cores

    return available_cores()
