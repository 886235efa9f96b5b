"""Read a pipeline file: every mistake of it is found in one go, and none is left to be found by Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tocsin.algebra.selection import Selection
from tocsin.algebra.subscription import Reading
from tocsin.errors import InputError, PipelineError, PipelineErrors, did_you_mean
from tocsin.languages.registry import ALIASES, LANGUAGES, selection_of
from tocsin.spark.completion import LANGUAGES as SENDING
from tocsin.spark.completion import check_options
from tocsin.spark.deliver import checked_receiver
from tocsin.spark.pipeline.document import read_document
from tocsin.spark.pipeline.jobs import plan_jobs
from tocsin.spark.pipeline.model import Attached, Declarations, Delivery, Entry, Pipeline, Source
from tocsin.spark.pipeline.read_events import read_declarations
from tocsin.spark.pipeline.read_outputs import read_outputs
from tocsin.spark.pipeline.read_sources import read_source
from tocsin.spark.pipeline.read_stream import check_stream, read_stream
from tocsin.spark.pipeline.table import Table


def read_pipeline(path: str | Path) -> Pipeline:
    """The pipeline a file describes; raises `PipelineErrors` with all mistakes, each with its line.

    Files must be there and patterns must be right; the columns of the sources are looked at when it runs.
    """
    document, values = read_document(Path(path))
    errors: list[PipelineError] = []
    root = Table(document, errors, values)
    settings = root.table("pipeline") or Table(document, errors, {}, ("pipeline",))
    declarations = read_declarations(root, settings.flag("strict_types"))
    sources = tuple(read_source(table) for table in root.tables("source"))
    entries = tuple(_entry(table, Path(path).parent) for table in root.tables("subscription"))
    _check_present(root, "source", "subscription")
    _check_names(root, sources, entries, declarations)
    files = [source.location for source in sources if source.format != "table" and source.feed is None]
    stream = read_stream(root, sources)
    outputs = read_outputs(root, [entry.name for entry in entries], files, stream)
    pipeline = Pipeline(
        document=document,
        name=settings.text("name") or Path(path).stem,
        sources=sources,
        declarations=declarations,
        subscriptions=entries,
        sinks=outputs.sinks,
        dead_letters=outputs.dead_letters,
        late=outputs.late,
        stream=stream,
        spark=_spark(root.table("spark")),
        max_partial_matches=settings.number("max_partial_matches", 1),
    )
    settings.finish()
    root.finish()
    if not errors:
        # Only now: a pattern is read with the types and names that the rest of the file gives it.
        plan = plan_jobs(pipeline, errors)
        if stream is not None and not errors:
            check_stream(pipeline, plan, root)
    if errors:
        raise PipelineErrors(errors)
    return pipeline


def _check_present(root: Table, *keys: str) -> None:
    for key in keys:
        if not root.values.get(key):
            root.note("missing-key", f"there is no [[{key}]]", hint=f"a pipeline has at least one [[{key}]]")


def _entry(table: Table, folder: Path) -> Entry:
    name = table.name("name", "a subscription") or ""
    text, file = table.text("pattern"), table.text("file")
    if (text is None) == (file is None) and not ("pattern" in table.values and text is None):
        message = f"[[subscription]] {name!r} needs a pattern, or a file with one, and not both"
        table.note("missing-key", message, hint="pattern = '…' or file = 'name.tocsin'")
    if file is not None:
        text = _pattern_file(table, folder / file)
        file = str(folder / file)
    language = table.text("language") or "core"
    if language not in (*LANGUAGES, *ALIASES, *SENDING):
        hint = did_you_mean(language, (*LANGUAGES, *SENDING))
        table.note("unknown-language", f"there is no language {language!r}", "language", hint, value=True)
    entry = Entry(
        name,
        text or "",
        table.place,
        file,
        language,
        table.texts("key") or (),
        Reading() if language in SENDING else _reading(table.table("options")),
        _selection(table, language),
        table.texts("attributes"),
        table.texts("events") or (),
    )
    if entry.sends:
        options = _options(table.table("options"), language)
        entry = replace(entry, options=options, deliver=_delivery(table.table("deliver")))
    if language == "ksu":
        entry = replace(
            entry,
            correlation=table.text("correlation"),
            types=_attached(table, folder, "types"),
            assembly=_attached(table, folder, "assembly"),
        )
    table.finish()
    return entry


def _attached(table: Table, folder: Path, key: str) -> Attached | None:
    file = table.text(key)
    text = None if file is None else _pattern_file(table, folder / file, key)
    return None if file is None or text is None else Attached(text, str(folder / file))


def _pattern_file(table: Table, path: Path, key: str = "file") -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        table.note("missing-file", f"{path} cannot be read: {problem.strerror}", key, value=True)
    except UnicodeDecodeError:
        table.note("unreadable-file", f"{path} is not text in UTF-8", key, value=True)
    return None


def _delivery(table: Table | None) -> Delivery | None:
    if table is None:
        return None
    every = table.text("every", required=True)
    found = Delivery(every or "1s", table.number("capacity", 1), table.number("most", 1))
    try:
        checked_receiver(found.every, found.capacity, found.most)
    except InputError as problem:
        table.note(problem.code, problem.message, "every", problem.hint, value=True)
    table.finish()
    return found


def _options(options: Table | None, language: str) -> dict[str, object]:
    """The options of a language that sends events; each is asked for alone, so that every wrong one is noted."""
    known: dict[str, object] = {}
    for key in options.names() if options else ():
        assert options is not None
        try:
            check_options(language, {key: options.values[key]})
            known[key] = options.values[key]
        except InputError as problem:
            options.note(problem.code, problem.message, key, problem.hint, value=problem.code == "bad-option")
    return known


def _reading(options: Table | None) -> Reading:
    """Each option is asked for alone, so that every wrong one is noted."""
    known: dict[str, object] = {}
    for key in options.names() if options else ():
        assert options is not None
        try:
            Reading.of({key: options.values[key]})
            known[key] = options.values[key]
        except InputError as problem:
            value = problem.code == "bad-option"
            options.note(problem.code, problem.message, key, problem.hint, value=value)
    return Reading.of(known)


def _selection(table: Table, language: str) -> Selection | None:
    """Which matches are wanted; both keys are asked for alone, so that every wrong one is noted."""
    known: dict[str, object] = {}
    for key in ("matches", "take"):
        given = table.text(key)
        try:
            selection_of(language, **{key: given})
            known[key] = given
        except InputError as problem:
            table.note(
                problem.code, problem.message, key, problem.hint, value=problem.code == "bad-selection"
            )
    return None if language in SENDING else selection_of(language, **known)


def _spark(table: Table | None, prefix: str = "") -> dict[str, str]:
    """Settings of Spark; `sql.shuffle.partitions = 4` may be written as tables inside tables."""
    settings: dict[str, str] = {}
    for key in table.names() if table else ():
        assert table is not None
        name, value = f"{prefix}{key}", table.values[key]
        if isinstance(value, dict):
            settings |= _spark(table.table(key), f"{name}.")
        elif isinstance(value, str | int | float):
            plain = name if name.startswith("spark.") else f"spark.{name}"
            settings[plain] = str(value).lower() if isinstance(value, bool) else str(value)
        else:
            table.note("bad-type", f"{key} must be a text, a number, true or false", key, value=True)
    return settings


def _check_names(
    root: Table, sources: tuple[Source, ...], entries: tuple[Entry, ...], declarations: Declarations
) -> None:
    """No name twice, and where the types are declared, no type and no attribute that is not."""
    taken = dict.fromkeys((*(t.name for t in declarations.types), *declarations.sets), "an event type")
    tables = {table.place: table for table in (*root.tables("source"), *root.tables("subscription"))}
    for what, named in (("source", sources), ("subscription", entries)):
        seen: set[str] = set()
        for one in named:
            if one.name in seen:
                tables[one.place].note(
                    "duplicate-name", f"there are two {what}s {one.name!r}", "name", value=True
                )
            elif what == "subscription" and one.name in taken:
                message = f"{one.name!r} is {taken[one.name]} already"
                tables[one.place].note("duplicate-name", message, "name", "choose another name", value=True)
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
