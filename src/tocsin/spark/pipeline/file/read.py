"""Reads a pipeline file into values; every mistake in it is noted, so that all are reported at once."""

from __future__ import annotations

from pathlib import Path

from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError, did_you_mean
from tocsin.languages.attached import Attached
from tocsin.languages.language import Language
from tocsin.languages.registry import DEFAULT, language, language_of_file, selection_of
from tocsin.spark.deliver import checked_receiver
from tocsin.spark.pipeline.file.document import read_document
from tocsin.spark.pipeline.file.model import Declarations, Delivery, Entry, Pipeline, Source
from tocsin.spark.pipeline.file.read_events import read_declarations
from tocsin.spark.pipeline.file.read_outputs import read_outputs
from tocsin.spark.pipeline.file.read_sources import read_source
from tocsin.spark.pipeline.file.read_stream import read_stream
from tocsin.spark.pipeline.file.section import Table


def read_file(path: Path) -> tuple[Pipeline, Table]:
    """The pipeline a file describes, its patterns still texts, and the whole file as a table with the mistakes found.

    With mistakes in it, the pipeline is good for nothing but to look for more of them.
    """
    document, values = read_document(path)
    root = Table(document, [], values)
    settings = root.table("pipeline") or Table(document, root.errors, {}, ("pipeline",))
    declarations = read_declarations(root, settings.flag("strict_types"))
    sources = tuple(read_source(table) for table in root.tables("source"))
    entries = tuple(_entry(table, path.parent) for table in root.tables("subscription"))
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
        spark=_spark(root.table("spark")),
        max_partial_matches=settings.number("max_partial_matches", 1),
    )
    settings.finish()
    root.finish()
    return pipeline, root


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
    own = _language(table, file)
    entry = Entry(
        name,
        text or "",
        table.place,
        file,
        own.name,
        table.texts("key") or (),
        _selection(table, own),
        table.texts("attributes"),
        table.texts("events") or (),
        {**_options(table.table("options"), own), **_beside(table, folder, own)},
        _delivery(table.table("deliver")) if own.sends else None,
    )
    table.finish()
    return entry


def _language(table: Table, file: str | None) -> Language:
    """The language that a subscription names, or that the ending of its file stands for."""
    named = table.text("language")
    try:
        if named is not None:
            return language(named)
    except InputError as problem:
        table.note(problem.code, problem.message, "language", problem.hint, value=True)
    return (None if file is None else language_of_file(file)) or language(DEFAULT)


def _beside(table: Table, folder: Path, own: Language) -> dict[str, object]:
    """The options of a language that stand beside the pattern: texts, and files, which are read."""
    found = {
        key: _attached(table, folder, key) if kind == "file" else table.text(key)
        for key, kind in own.beside().items()
    }
    return {key: value for key, value in found.items() if value is not None}


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


def _options(options: Table | None, own: Language) -> dict[str, object]:
    """The options of a language; each is checked alone, so that every wrong one is noted."""
    known: dict[str, object] = {}
    for key in options.names() if options else ():
        assert options is not None
        try:
            if key in own.beside():
                hint = f"write {key} = … under [[subscription]]"
                raise InputError("unknown-option", f"{key} stands beside the pattern", hint=hint)
            own.options_of({key: options.values[key]})
            known[key] = options.values[key]
        except InputError as problem:
            options.note(problem.code, problem.message, key, problem.hint, value=problem.code == "bad-option")
    return known


def _selection(table: Table, own: Language) -> Selection | None:
    """Which matches are wanted; both keys are asked for alone, so that every wrong one is noted."""
    known: dict[str, object] = {}
    for key in ("matches", "take"):
        given = table.text(key)
        try:
            selection_of(own, **{key: given})
            known[key] = given
        except InputError as problem:
            table.note(
                problem.code, problem.message, key, problem.hint, value=problem.code == "bad-selection"
            )
    return selection_of(own, **known) if own.selects else None


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
