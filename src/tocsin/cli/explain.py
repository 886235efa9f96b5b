"""`tocsin explain PATTERN`: the meaning of a pattern, how it is detected, and what it needs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from tocsin.cli.arguments.event_file import (
    add_event_file,
    columns_of,
    event_file,
    names_of,
    refuse_without_file,
    time_of,
)
from tocsin.cli.arguments.pattern import BESIDE, GivenPattern, add_files_beside, add_pattern, given_pattern
from tocsin.cli.texts import read_text, section, write_text
from tocsin.errors import InputError, PipelineError, PipelineErrors
from tocsin.events import Catalog, EventType
from tocsin.explain import Explanation, explain
from tocsin.explain.contents import Detectors, Route
from tocsin.explain.drawing import draw
from tocsin.languages.language import Language
from tocsin.languages.registry import language

_HELP = """\
examples:
  tocsin explain '[Door];[Alarm]'
  tocsin explain '"Door" followed by "Alarm" within "5min"' --language pretty
  tocsin explain @cold_room.tocsin --schema pipeline.toml --svg cold_room.svg
  tocsin explain 'repeat {push(low) {accumulate {Fuel, Alt}}}' --language ecl --code low.py
  tocsin explain @modal.cor --language ksu --types avionics.idl
  tocsin explain '[Door];[Alarm]' --from day.parquet --key room     and by which route its events are read
  tocsin explain pipeline.toml              what its subscriptions share
  tocsin explain '[Door];[Alarm]' --json | jq '.sections[].title'
"""
_FILES = ("svg", "schema", "code", *BESIDE)


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "explain",
        help="show what a pattern means and needs",
        description="Show a pattern as a tree, its detectors and automata, and what it needs to run.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_pattern(parser)
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draw the automata, machines or acceptors into this file"
    )
    parser.add_argument(
        "--schema",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="pipeline files, or others with [event.NAME] and [set] tables, to check the pattern against",
    )
    parser.add_argument(
        "--code", type=Path, metavar="FILE", help="write what sends events as a program of its own: .py or .c"
    )
    add_files_beside(parser)
    add_event_file(
        parser, required=False, what="events, to show by which route they would be read; nothing is detected"
    )
    parser.add_argument("--json", action="store_true", help="print the explanation as JSON")


def run(options: argparse.Namespace) -> int:
    """Print everything about a pattern."""
    if options.file is None:
        refuse_without_file(options)
    if options.pattern.endswith(".toml") and Path(options.pattern).is_file():
        _print(_of_pipeline(options), options)
        return 0
    own = language(options.language)
    _refuse_others(own, options)
    given, catalog = given_pattern(options), _catalog(options.schema)
    chosen = own.options_of(given.options)
    with given.located():
        explanation = explain(
            given.text, own, options=chosen, catalog=catalog, matches=options.matches, take=options.take
        )
        drawing = code = None
        if options.svg is not None:
            drawing = draw((_title(explanation, one.name), one) for one in explanation.diagrams)
        if options.code is not None:
            code = own.on("code")(
                own.read(given.text, chosen), f"Subscriptions of {own.title}", options.code.suffix
            )
        if options.file is not None:
            explanation = explanation.with_route(_route(given, options))
    _print(explanation, options)
    for heading, path, content in (("picture", options.svg, drawing), ("code", options.code, code)):
        if content is not None:
            write_text(path, content)
            if not options.json:
                section(heading, str(path))
    return 0


def _route(given: GivenPattern, options: argparse.Namespace) -> Route:
    """Return the route by which the events of a file would reach the pattern."""
    # Imported here, because only this option needs Spark.
    from tocsin.spark.detect import route
    from tocsin.spark.options import Run
    from tocsin.spark.session.failures import quiet_spark_errors
    from tocsin.spark.session.session import local_session

    file = event_file(options)
    quiet_spark_errors()
    session = local_session()
    return route(
        file.opened(session),
        given.text,
        columns_of(options),
        given.options,
        Run(spark=session if file.format == "parquet" else None),
        language=given.language,
        key=names_of(options.key),
        time=time_of(options),
        type=options.type,
        matches=options.matches,
        take=options.take,
    ).explained


def _print(explanation: Explanation, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(f"{explanation}\n")


def _refuse_others(own: Language, options: argparse.Namespace) -> None:
    """Refuse files that a language does not use."""
    has = {"svg": True, "schema": not own.sends, "code": own.offers("code")}
    has |= {name: own.beside().get(name) == "file" for name in BESIDE}
    for name in _FILES:
        if getattr(options, name) and not has[name]:
            hint = "it has " + " and ".join(f"--{one}" for one in _FILES if has[one])
            raise InputError("bad-option", f"{own.title} has no --{name}", hint=hint)


def _title(explanation: Explanation, name: str) -> str:
    """The title of a diagram, with the pattern of its detector."""
    patterns = {one.name: one.pattern for part in explanation.parts(Detectors) for one in part.detectors}
    return f"{name}  {patterns[name]}" if name in patterns else name


def _of_pipeline(options: argparse.Namespace) -> Explanation:
    """Explain what the subscriptions of each job of a pipeline share."""
    for name in (*_FILES, "option", "matches", "take", "from"):
        if getattr(options, "file" if name == "from" else name):
            hint = "give it with a single pattern"
            raise InputError("bad-option", f"--{name} does not apply to a pipeline", hint=hint)
    # Imported here, because only this needs pipelines, and they load Spark.
    from tocsin.explain.job_sharing import explain_jobs
    from tocsin.spark.pipeline import read_pipeline
    from tocsin.spark.pipeline.plan.jobs import plan_jobs

    file = Path(options.pattern)
    # Nothing is run, so the settings of Spark do not matter.
    return explain_jobs(plan_jobs(read_pipeline(file, allow_spark_settings=True)).jobs, read_text(file))


def _catalog(files: list[Path]) -> Catalog | None:
    """The event types that files declare, or None if there are no files."""
    if not files:
        return None
    # Imported here, because only this option needs to read pipeline files.
    from tocsin.spark.pipeline.file.document import read_document
    from tocsin.spark.pipeline.file.read_events import read_declarations
    from tocsin.spark.pipeline.file.section import Table

    errors: list[PipelineError] = []
    types: list[EventType] = []
    sets: dict[str, tuple[str, ...]] = {}
    for file in files:
        document, values = read_document(file)
        declarations = read_declarations(Table(document, errors, values), None)
        types += declarations.types
        sets |= declarations.sets
    if errors:
        raise PipelineErrors(errors)
    return Catalog(types, sets, closed=True)
