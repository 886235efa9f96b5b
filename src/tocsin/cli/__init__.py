"""The command line: `tocsin COMMAND …`. One module per command, each with `add_parser` and `run`.

Results go to standard output, errors to standard error. The exit code is 0 if all went well, 1 if a test failed,
--strict found something, engines disagree or a stream failed, 2 if something the user gave is wrong, 3 if Tocsin
itself failed, 130 after Ctrl-C, 143 after SIGTERM.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from types import ModuleType

import tocsin
from tocsin.errors import StreamError, TocsinError
from tocsin.spark.session.ending import Ending

COMMANDS = (
    "init",
    "run",
    "detect",
    "why",
    "explain",
    "check",
    "test",
    "languages",
    "state",
    "rules",
    "translate",
    "probe",
    "bench",
    "warm",
)
_EXAMPLES = """\
examples:
  tocsin init alerts
  tocsin detect '[Door];[Alarm]' --from events.parquet --key room
  tocsin why '[Door];[Alarm]' --from events.parquet --key room --key-value 12
  tocsin explain '([Door], [Alarm in {Alarm, T1}])_{T1=5min}'
  tocsin check subscriptions.ecl
  tocsin test cases.yaml
  tocsin languages
  tocsin run pipeline.toml
  tocsin rules add rules Fire '[Smoke];[Heat]'
  tocsin translate '(a ; b)_5' --from LANGUAGE --to LANGUAGE
  tocsin probe --language LANGUAGE -- ./detector
  tocsin bench --rows 1000000
  tocsin warm

tocsin COMMAND --help shows more of each. TOCSIN_DEBUG=1 shows where in Tocsin an error came from.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal can show every character
    with Ending() as ending:
        try:
            return _run(given)
        except KeyboardInterrupt:
            text, code = ending.outcome()
        except Exception as error:
            if ending.signal is not None:  # what failed had lost its Java
                text, code = ending.outcome()
            elif isinstance(error, BrokenPipeError):
                # The reader of our output has closed the pipe, as in `tocsin … | head`.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 0
            elif os.environ.get("TOCSIN_DEBUG"):
                raise
            else:
                text, code = _told(error)
        print(text, file=sys.stderr)
        return code


def _run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tocsin",
        description="Find composite events: patterns of events in tables and streams, on Apache Spark.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tocsin {tocsin.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    modules = _modules(arguments)
    for module in modules.values():
        module.add_parser(subparsers)
    try:
        options = parser.parse_args(arguments)
    except SystemExit as done:  # argparse has printed the error, or the help
        return int(done.code or 0)
    result: int = modules[options.command].run(options)
    return result


def _modules(arguments: Sequence[str]) -> dict[str, ModuleType]:
    """The commands; only the requested one if that is clear, because some are slow to load."""
    named = [argument for argument in arguments if not argument.startswith("-")][:1]
    wanted = named if named and named[0] in COMMANDS else COMMANDS
    homes = {name: f"{__name__}.{name}" for name in wanted}
    return {
        name: importlib.import_module(home) for name, home in homes.items() if importlib.util.find_spec(home)
    }


def _told(error: Exception) -> tuple[str, int]:
    """The message to show for an error, and the exit code."""
    if isinstance(error, TocsinError):
        return str(error), 1 if isinstance(error, StreamError) else 2
    if "pyspark" in sys.modules:
        # Imported here, because it loads Spark.
        from tocsin.spark.session.failures import explain_failure, is_from_spark

        if is_from_spark(error):
            return explain_failure(error), 2
    lines = str(error).strip().splitlines() or ["no reason given"]
    hint = "this is a mistake in Tocsin; TOCSIN_DEBUG=1 shows where it is"
    return f"tocsin: {type(error).__name__}: {lines[0]} ({hint})", 3
