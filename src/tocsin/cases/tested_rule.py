"""The rule that a case tests, where it is not written into the case: one of a rule file, or of a pipeline file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tocsin.errors import CaseError, did_you_mean
from tocsin.languages.registry import DEFAULT, language_of_file
from tocsin.languages.rule_file import RuleFile, read_rule


@dataclass(frozen=True, slots=True)
class TestedRule:
    """A rule as a case has it: `said` are the keys of the case that the rule decides."""

    __test__ = False  # pytest takes it for a test otherwise

    text: str
    said: Mapping[str, Any] = field(default_factory=dict)


def rule_in(rule: RuleFile) -> TestedRule:
    """The rule of a file."""
    own = language_of_file(rule.file)
    settings = rule.settings
    options = {**settings.get("options", {})}
    options |= {key: settings[key] for key in ("matches", "take") if key in settings}
    named = settings.get("language") or (DEFAULT if own is None else own.name)
    return TestedRule(rule.text, _said(named, settings.get("key", ()), options))


def rule_of_file(path: Path) -> TestedRule:
    """The rule in a file that a case names."""
    return rule_in(read_rule(path))


def rule_of_pipeline(path: Path, name: str) -> TestedRule:
    """A subscription of a pipeline, with the key, the options and the event types that it has there."""
    # Imported here, because it loads Spark.
    from tocsin.spark.pipeline import read_pipeline

    pipeline = read_pipeline(path)
    entries = {entry.name: entry for entry in pipeline.subscriptions}
    if name not in entries:
        hint = did_you_mean(name, entries)
        raise CaseError("unknown-subscription", f"{path} has no subscription {name!r}", hint=hint)
    entry = entries[name]
    if entry.events:
        message = f"{name} uses the composites of {', '.join(entry.events)}, which a case cannot make"
        raise CaseError("bad-case", message, hint="write the pattern into the case, with named composites")
    options = dict(entry.options)
    if entry.selection is not None:
        options |= {"matches": entry.selection.matches, "take": entry.selection.taken}
    said = _said(entry.language, entry.key, options)
    declared = pipeline.declarations
    if declared.types:
        said["types"] = {
            one.name: {**({"extends": one.parent} if one.parent else {}), **one.attributes}
            for one in declared.types
        }
    if declared.sets:
        said["sets"] = {set_name: list(members) for set_name, members in declared.sets.items()}
    return TestedRule(entry.text, said)


def _said(language: str, key: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"language": language}
    if key:
        said["key"] = list(key)
    if options:
        said["options"] = dict(options)
    return said
