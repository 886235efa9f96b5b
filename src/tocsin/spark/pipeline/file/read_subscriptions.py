"""Read the `[[subscription]]` tables of a pipeline file, and the rule files that they name.

The header of a rule file takes precedence over what the table says for all its files.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError, PipelineError, PipelineErrors
from tocsin.events import parse_duration
from tocsin.languages.attached import Attached, read_text
from tocsin.languages.language import Language
from tocsin.languages.lexis import is_name
from tocsin.languages.registry import DEFAULT, language, language_of_file, selection_of
from tocsin.languages.rule_file import Metadata, RuleFile, read_rule
from tocsin.spark.deliver import checked_receiver
from tocsin.spark.pipeline.file.model import Delivery, Entry
from tocsin.spark.pipeline.file.section import Table

_WILDCARDS = "*?["


def read_subscriptions(table: Table, folder: Path) -> list[Entry]:
    """Return the subscriptions of one table: one with a pattern, or one for each file that it names."""
    text, file = table.text("pattern"), table.text("file")
    if (text is None) == (file is None) and not ("pattern" in table.values and text is None):
        message = f"[[subscription]] {table.values.get('name', '')!r} needs a pattern, or a file with one, and not both"
        table.note("missing-key", message, hint="pattern = '…' or file = 'name.tocsin'")
    if file is None:
        name = table.name("name", "a subscription") or ""
        entries = [_entry(table, folder, name, text or "", None)]
    else:
        rules = list(_rules(table, folder, file))
        entries = [_entry(table, folder, _name_of(table, rule), rule.text, rule) for rule in rules]
        if not rules:
            table.names()  # what else is wrong with it depends on the files
    table.finish()
    return entries


def _rules(table: Table, folder: Path, file: str) -> Iterator[RuleFile]:
    """Return the rule files that a table names, by name; note mistakes in them."""
    several = any(sign in file for sign in _WILDCARDS)
    paths = [folder / file]
    if several:
        paths = sorted(Path(path) for path in glob.glob(str(folder / file), recursive=True))
        paths = [path for path in paths if path.is_file()]
        if not paths:
            table.note("no-file", f"there is no file {folder / file}", "file", value=True)
        if "name" in table.values:
            hint = "leave it out: each file has a name of its own"
            table.note("bad-value", f"the files {file} cannot all have one name", "name", hint)
    for path in paths:
        try:
            yield read_rule(path)
        except PipelineErrors as problems:
            table.errors += problems.errors
        except PipelineError as problem:
            table.errors.append(problem)
        except InputError as problem:
            table.note(problem.code, problem.message, "file", problem.hint, value=True)


def _name_of(table: Table, rule: RuleFile) -> str:
    """Return the name given by the table, or else by the file."""
    given = table.name("name", "a subscription") if "name" in table.values else None
    if given is not None and not any(sign in str(table.values["file"]) for sign in _WILDCARDS):
        return given
    if not is_name(rule.title):
        hint = "say name: … between two lines --- above its pattern"
        table.note(
            "bad-name", f"{rule.file} is not a valid name for a subscription", "file", hint, value=True
        )
    return rule.title


def _entry(table: Table, folder: Path, name: str, text: str, rule: RuleFile | None) -> Entry:
    said = {} if rule is None else dict(rule.settings)
    own = _language(table, rule)
    options = {**_options(table.table("options"), own), **_beside(table, folder, own)}
    return Entry(
        name,
        text,
        table.place,
        None if rule is None else rule.file,
        own.name,
        said.get("key", table.texts("key") or ()),
        _selection(table, own, rule),
        said.get("attributes", table.texts("attributes")),
        table.texts("events") or (),
        {**options, **_options_of_file(table, own, rule)},
        _delivery(table.table("deliver")) if own.sends else None,
        _metadata(table, rule),
        _quiet(table, rule, own),
        rule,
    )


def _metadata(table: Table, rule: RuleFile | None) -> Metadata:
    described, severity, tags = table.text("description"), table.text("severity"), table.texts("tags")
    own = Metadata() if rule is None else rule.metadata
    return Metadata(own.description or described, own.severity or severity, own.tags or tags or ())


def _quiet(table: Table, rule: RuleFile | None, own: Language) -> int | None:
    everywhere = table.duration("quiet", required=False)
    said = None if rule is None else rule.settings.get("quiet")
    found = everywhere if said is None else parse_duration(said)
    if found is not None and own.sends:
        message = f"{own.title} sends events, and only matches can be held back"
        hint = "leave quiet out; deliver = { every = … } says how a receiver takes events"
        if rule is not None and said is not None:
            _note(table, rule, InputError("bad-value", message, hint=hint))
        else:
            table.note("bad-value", message, "quiet", hint)
        return None
    return found


def _note(table: Table, rule: RuleFile, problem: InputError) -> None:
    """Note a mistake in the header of a rule file."""
    table.errors.append(PipelineError(problem.code, problem.message, None, problem.hint, rule.file))


def _language(table: Table, rule: RuleFile | None) -> Language:
    """Return the language named by the rule file or the table, or implied by the ending of the file."""
    try:
        if rule is not None and "language" in rule.settings:
            return language(rule.settings["language"])
    except InputError as problem:
        _note(table, rule, problem)  # type: ignore[arg-type]
    named = table.text("language")
    try:
        if named is not None:
            return language(named)
    except InputError as problem:
        table.note(problem.code, problem.message, "language", problem.hint, value=True)
    return (None if rule is None else language_of_file(rule.file)) or language(DEFAULT)


def _options_of_file(table: Table, own: Language, rule: RuleFile | None) -> dict[str, Any]:
    options: dict[str, Any] = {} if rule is None else rule.settings.get("options", {})
    try:
        own.options_of(options)
    except InputError as problem:
        _note(table, rule, problem)  # type: ignore[arg-type]
        return {}
    return options


def _beside(table: Table, folder: Path, own: Language) -> dict[str, object]:
    """Return the options of a language that are written beside the pattern: texts, and the contents of files."""
    found = {
        key: _attached(table, folder, key) if kind == "file" else table.text(key)
        for key, kind in own.beside().items()
    }
    return {key: value for key, value in found.items() if value is not None}


def _attached(table: Table, folder: Path, key: str) -> Attached | None:
    file = table.text(key)
    text = None if file is None else _text_of(table, folder / file, key)
    return None if file is None or text is None else Attached(text, str(folder / file))


def _text_of(table: Table, path: Path, key: str) -> str | None:
    try:
        return read_text(path)
    except InputError as problem:
        table.note(problem.code, problem.message, key, problem.hint, value=True)
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
    """Return the options of a language; each is checked on its own, so that every wrong one is noted."""
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


def _selection(table: Table, own: Language, rule: RuleFile | None) -> Selection | None:
    """Return the selection of matches; each key is checked on its own, so that every wrong one is noted."""
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
    said = {} if rule is None else {k: v for k, v in rule.settings.items() if k in ("matches", "take")}
    try:
        return selection_of(own, **{**known, **said}) if own.selects or said else None
    except InputError as problem:
        _note(table, rule, problem)  # type: ignore[arg-type]
        return None
