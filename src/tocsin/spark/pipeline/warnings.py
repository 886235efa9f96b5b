"""What is odd about the subscriptions of a pipeline, but no mistake: those that never or always fire, or get stuck."""

from __future__ import annotations

from tocsin.analysis import findings
from tocsin.automata.compile import compile
from tocsin.automata.needs import dead_ends
from tocsin.automata.never import never
from tocsin.errors import PatternError, PatternErrors, PipelineError
from tocsin.languages.ksu import parse_idl
from tocsin.spark.completion import read_library, read_program
from tocsin.spark.pipeline.model import Entry, Pipeline
from tocsin.spark.pipeline.patterns import parse_entries
from tocsin.spark.pipeline.senders import Sender, in_file


def pipeline_warnings(pipeline: Pipeline) -> tuple[PipelineError, ...]:
    """The warnings for a pipeline without mistakes, in the order of its file."""
    catalog = pipeline.declarations.catalog()
    parsed = parse_entries(pipeline, [], None)
    found: list[PipelineError] = []
    for entry in pipeline.subscriptions:
        one = parsed.get(entry.name)
        if one is None:
            continue
        if isinstance(one, Sender):
            problems = _of_sender(entry)
        else:
            automata = compile([one.subscription]).automata
            problems = [*never(one.subscription, catalog), *dead_ends(one.subscription, automata)]
        if problems:
            found += in_file(pipeline, entry, PatternErrors(problems), entry.file)
    # Subscriptions may share a file.
    return tuple({str(warning): warning for warning in found}.values())


def _of_sender(entry: Entry) -> list[PatternError]:
    if entry.language == "ecl":
        return findings(read_program(entry.text, entry.options))
    types = None if entry.types is None else parse_idl(entry.types.text)
    return list(read_library(entry.text, types).warnings)
