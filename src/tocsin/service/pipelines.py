"""The event types, prefilters and subscriptions of a pipeline file, for a service that has no Spark under it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tocsin.errors import InputError, PipelineError, PipelineErrors
from tocsin.events import Catalog
from tocsin.service.limit import Limit
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.read_patterns import Parsed, parse_entries


@dataclass(frozen=True, slots=True)
class Contents:
    """The event definitions of a pipeline file. `subscriptions`: each after those whose composites it uses."""

    catalog: Catalog
    subscriptions: tuple[Parsed, ...]
    prefilters: tuple[Limit, ...]

    def limits(self) -> tuple[Limit, ...]:
        """New prefilters: they record what passed, so each subscription needs its own."""
        return tuple(Limit(limit.by, limit.every, limit.type) for limit in self.prefilters)

    def needed(self, wanted: Iterable[str]) -> tuple[Parsed, ...]:
        """The subscriptions of these names, and those whose composites they use."""
        needed = set(wanted)
        for one in reversed(self.subscriptions):
            if one.entry.name in needed:
                needed |= set(one.uses)
        return tuple(one for one in self.subscriptions if one.entry.name in needed)


def read_contents(path: str | Path, common: dict[str, str]) -> Contents:
    """Read a pipeline file; raises `PipelineErrors` with all mistakes."""
    pipeline = read_pipeline(path, allow_spark_settings=True)  # the service starts no Spark
    known = common if pipeline.declarations.strict else None
    errors: list[PipelineError] = []
    parsed = parse_entries(pipeline, errors, known)
    if errors:
        raise PipelineErrors(errors)
    core = [one for one in parsed.values() if isinstance(one, Parsed)]
    if len(core) < len(parsed):
        names = ", ".join(name for name, one in parsed.items() if not isinstance(one, Parsed))
        message = f"a service detects patterns; {names} would send events"
        raise InputError("no-service", message, hint="run the pipeline with tocsin run")
    prefilters = [Limit(limit.by, limit.every, limit.type) for s in pipeline.sources for limit in s.limits]
    return Contents(pipeline.declarations.catalog(known), tuple(core), tuple(prefilters))
