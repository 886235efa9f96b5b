"""Warnings about the subscriptions of a pipeline: those that never fire, always fire, or get stuck."""

from __future__ import annotations

from dataclasses import replace

from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import family_of
from tocsin.errors import PatternErrors, PipelineError
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.file.read_patterns import Parsed, parse_entries
from tocsin.spark.pipeline.file.read_senders import in_file


def pipeline_warnings(pipeline: Pipeline) -> tuple[PipelineError, ...]:
    """Return the warnings for a pipeline without mistakes, in the order of its file."""
    known = KnownEvents(catalog=pipeline.declarations.catalog())
    parsed = parse_entries(pipeline, [], None)
    found: list[PipelineError] = []
    for entry in pipeline.subscriptions:
        one = parsed.get(entry.name)
        if one is None:
            continue
        text = entry.named_text
        if isinstance(one, Parsed):  # read already, with the composites it uses
            text = replace(text, given=one.subscription)
        problems = family_of(text.language).warnings(text, known)
        if problems:
            found += in_file(pipeline, entry, PatternErrors(problems), entry.file)
    # Subscriptions may share a file.
    return tuple({str(warning): warning for warning in found}.values())
