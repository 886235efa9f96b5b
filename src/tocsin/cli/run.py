"""`tocsin run FILE`: run a pipeline file."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tocsin.errors import InputError

_HELP = """\
The file names sources of events, subscriptions with their patterns, and sinks for what is found. The result
goes to standard output, the progress to standard error.

A pipeline whose sources are streams runs until it gets Ctrl-C or SIGTERM, which it obeys after the micro-batch that
runs; a second one stops it at once. From the same checkpoint it goes on.

examples:
  tocsin run pipeline.toml
  tocsin run pipeline.toml --check          say what is wrong with the file, and do nothing else
  tocsin run pipeline.toml --quiet --json   for a program that reads the result
  tocsin run stream.toml --once             use the events that are there, and end
  tocsin run stream.toml --log stream.log   a line of JSON for each micro-batch
  tocsin run stream.toml --metrics 9464     the same for Prometheus, at 127.0.0.1:9464/metrics
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "run",
        help="run a pipeline file",
        description="Run a pipeline: find the composite events of all its subscriptions, and write them out.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the pipeline, a TOML file")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--json", action="store_true", help="give the result as JSON")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="say by which route the events of each subscription were read, and why by no faster one",
    )
    parser.add_argument("--check", action="store_true", help="only check the file; Spark is not started")
    parser.add_argument(
        "--once", action="store_true", help="of a stream, process what is there now, and stop"
    )
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="of a stream, add a line for each micro-batch"
    )
    parser.add_argument(
        "--live",
        action=argparse.BooleanOptionalAction,
        help="show a stream as it runs, on a terminal (which is so unless --once or --no-live is said)",
    )
    parser.add_argument(
        "--metrics",
        metavar="[ADDRESS:]PORT",
        help="of a stream, serve metrics for Prometheus; without an address only to this machine",
    )
    parser.add_argument(
        "--allow-spark-settings",
        action="store_true",
        help="let [spark] of the file make any setting; some run code, so only for a file that you trust",
    )


def run(options: argparse.Namespace) -> int:
    """Run or check one pipeline; errors are raised, for `main` to show."""
    # Imported here, because it loads Spark, and --help should not.
    from tocsin.cli.display.live import Live
    from tocsin.cli.display.progress import Steps
    from tocsin.spark.observe.few import NAMED, few
    from tocsin.spark.observe.metrics import Metrics
    from tocsin.spark.pipeline import read_pipeline, run_pipeline
    from tocsin.spark.pipeline.file.warnings import pipeline_warnings
    from tocsin.spark.pipeline.report.progress import Lines, Silent
    from tocsin.spark.session.failures import quiet_spark_errors

    pipeline = read_pipeline(options.file, allow_spark_settings=options.allow_spark_settings)
    _check_options(options, pipeline.stream is not None)
    if options.check:
        names = [entry.name for entry in pipeline.subscriptions]
        named = f"subscriptions: {few(names)}" if len(names) <= NAMED else few(names)
        warnings = pipeline_warnings(pipeline)
        print("".join(f"warning: {warning}\n\n" for warning in warnings), end="")
        print(f"{options.file}: no mistakes; {named}")
        return 0
    quiet_spark_errors()
    live = pipeline.stream is not None and (not options.once if options.live is None else options.live)
    with ExitStack() as stack:
        watchers = []
        if options.metrics is not None:
            metrics = Metrics()
            address, port = _address(options.metrics)
            at = f"{address}:{metrics.serve(port, address)}"
            stack.callback(metrics.close)
            watchers.append(metrics)
        if options.quiet:
            progress: Any = Silent()
        elif sys.stderr.isatty():
            progress = stack.enter_context(Live() if live else Steps())
        else:
            progress = Lines(sys.stderr)
        if watchers:
            progress.begin("serving metrics")
            progress.done(f"http://{at}/metrics")
        report = run_pipeline(
            pipeline,
            progress=progress,
            once=options.once,
            log=options.log,
            watchers=watchers,
            obey_signals=True,
        )
    if not options.quiet and sys.stderr.isatty():
        print(file=sys.stderr)
    print(json.dumps(report.as_dict(), indent=2) if options.json else report)
    if options.verbose:
        print(report.shown_routes(), file=sys.stderr)
    return 0


def _check_options(options: argparse.Namespace, stream: bool) -> None:
    for name in ("once", "log", "live", "metrics"):
        if getattr(options, name) and not stream:
            message = f"--{name} is for streams, and no source of {options.file} is one"
            raise InputError("bad-option", message, hint="say stream = true in its [[source]]")
    if options.metrics is not None:
        _address(options.metrics)
        if importlib.util.find_spec("prometheus_client") is None:
            hint = "pip install 'tocsin[metrics]'"
            raise InputError("missing-package", "metrics need prometheus-client", hint=hint)
    if options.log is not None and not options.log.resolve().parent.is_dir():
        raise InputError(
            "no-file", f"there is no folder {options.log.parent} for --log", hint="make it first"
        )


def _address(text: str) -> tuple[str, int]:
    """Where to listen, from `PORT` or `ADDRESS:PORT`."""
    address, _, port = text.rpartition(":")
    if not port.isdecimal():
        hint = "a port such as 9464, or 0.0.0.0:9464 for other machines too"
        raise InputError("bad-option", f"--metrics cannot be {text!r}", hint=hint)
    return address or "127.0.0.1", int(port)
