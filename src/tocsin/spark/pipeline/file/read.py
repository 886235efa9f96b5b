"""Read a pipeline file into values, collecting all mistakes so that they are reported together."""

from __future__ import annotations

from pathlib import Path

from tocsin.errors import did_you_mean
from tocsin.spark.pipeline.file.document import read_document
from tocsin.spark.pipeline.file.model import Declarations, Entry, Pipeline, Source
from tocsin.spark.pipeline.file.read_events import read_declarations
from tocsin.spark.pipeline.file.read_outputs import read_outputs
from tocsin.spark.pipeline.file.read_sources import read_source
from tocsin.spark.pipeline.file.read_stream import read_stream
from tocsin.spark.pipeline.file.read_subscriptions import read_subscriptions
from tocsin.spark.pipeline.file.section import Table
from tocsin.spark.session.allowed_settings import refusal

_TRUSTED = (
    "some settings of Spark run code; if you trust the file, say --allow-spark-settings, or in Python "
    "read_pipeline(…, allow_spark_settings=True)"
)


def read_file(path: Path, allow_spark_settings: bool = False) -> tuple[Pipeline, Table]:
    """Return the pipeline, with patterns still as text, and the root table of the file with the mistakes found.

    With mistakes in it, the pipeline is good for nothing but to look for more of them.

    Args:
        allow_spark_settings: whether the file may make any setting of Spark, and not only the harmless ones.
    """
    document, values = read_document(path)
    root = Table(document, [], values)
    settings = root.table("pipeline") or Table(document, root.errors, {}, ("pipeline",))
    declarations = read_declarations(root, settings.flag("strict_types"))
    sources = tuple(read_source(table) for table in root.tables("source"))
    entries = tuple(
        entry for table in root.tables("subscription") for entry in read_subscriptions(table, path.parent)
    )
    _check_present(root, "source", "subscription")
    _check_names(root, sources, entries, declarations)
    files = [source.location for source in sources if source.format != "table" and source.feed is None]
    stream = read_stream(root, sources)
    outputs = read_outputs(root, [entry.name for entry in entries], files, stream)
    pipeline = Pipeline(
        document=document,
        name=settings.text("name") or path.stem,
        sources=sources,
        declarations=declarations,
        subscriptions=entries,
        sinks=outputs.sinks,
        dead_letters=outputs.dead_letters,
        late=outputs.late,
        stream=stream,
        spark=_spark(root.table("spark"), allow_spark_settings),
        max_partial_matches=settings.number("max_partial_matches", 1),
    )
    settings.finish()
    root.finish()
    return pipeline, root


def _check_present(root: Table, *keys: str) -> None:
    for key in keys:
        if not root.values.get(key):
            root.note("missing-key", f"there is no [[{key}]]", hint=f"a pipeline has at least one [[{key}]]")


def _spark(table: Table | None, all_allowed: bool, prefix: str = "") -> dict[str, str]:
    """Return the Spark settings; TOML reads `sql.shuffle.partitions = 4` as nested tables."""
    settings: dict[str, str] = {}
    for key in table.names() if table else ():
        assert table is not None
        name, value = f"{prefix}{key}", table.values[key]
        if isinstance(value, dict):
            settings |= _spark(table.table(key), all_allowed, f"{name}.")
        elif isinstance(value, str | int | float):
            plain = name if name.startswith("spark.") else f"spark.{name}"
            settings[plain] = str(value).lower() if isinstance(value, bool) else str(value)
            problem = None if all_allowed else refusal(plain, settings[plain])
            if problem is not None:
                table.note("spark-setting", problem, key, _TRUSTED)
        else:
            table.note("bad-type", f"{key} must be a text, a number, true or false", key, value=True)
    return settings


def _check_names(
    root: Table, sources: tuple[Source, ...], entries: tuple[Entry, ...], declarations: Declarations
) -> None:
    """Note duplicate names and, where types are declared, undeclared types and attributes."""
    taken = dict.fromkeys((*(t.name for t in declarations.types), *declarations.sets), "an event type")
    tables = {table.place: table for table in (*root.tables("source"), *root.tables("subscription"))}
    for what, named in (("source", sources), ("subscription", entries)):
        seen: set[str] = set()
        for one in named:
            of_file = isinstance(one, Entry) and one.rule is not None
            key = "file" if of_file and "name" not in tables[one.place].values else "name"
            where = f" (one is in {one.file})" if isinstance(one, Entry) and key == "file" else ""
            if one.name in seen:
                message = f"there are two {what}s {one.name!r}{where}"
                tables[one.place].note("duplicate-name", message, key, value=True)
            elif what == "subscription" and one.name in taken:
                message = f"{one.name!r} is {taken[one.name]} already{where}"
                tables[one.place].note("duplicate-name", message, key, "choose another name", value=True)
            seen.add(one.name)
    if declarations.strict:
        known = {*declarations.attributes, "source"}
        for entry in entries:
            _check_known(tables[entry.place], "key", entry.key, known, "attribute")
            _check_known(tables[entry.place], "attributes", entry.attributes or (), known, "attribute")
        for source in sources:
            if source.event_type:
                types = [event_type.name for event_type in declarations.types]
                _check_known(tables[source.place], "event_type", (source.event_type,), types, "event type")
            for index, limit in enumerate(source.limits):
                inner = Table(root.document, root.errors, {}, (*source.place, "limit", index))
                _check_known(inner, "type", (limit.type,), taken, "event type")
                _check_known(inner, "by", limit.by, known, "attribute")


def _check_known(table: Table, key: str, names: tuple[str, ...], known: object, what: str) -> None:
    choices = [str(name) for name in known]  # type: ignore[attr-defined]
    for name in names:
        if name not in choices:
            message = f"there is no {what} {name!r}"
            table.note(f"unknown-{what.split()[-1]}", message, key, did_you_mean(name, choices), value=True)
