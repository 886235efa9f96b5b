"""Reads files of test cases. A case is written out in full, or in the short form of `cases.short`.

A file is a list of cases, one case, or several documents of either. In full a case has these keys:

| key | meaning |
|---|---|
| `id`, `kind`, `language` | its name, what is tested, and the language of the expression |
| `expression`, `options` | the text, and its interpretation options |
| `trace`, `given` | the events, and what else the kind needs |
| `expect` | the expected results; every key of it is checked |
| `source`, `basis`, `decision`, `note`, `alphabet` | for the reader only |
| `machine`, `other`, `idl`, `params` | what some languages need besides |

The contents of `trace`, `given`, `options` and `expect` are checked by the handler of the kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tocsin.cases.model import Case
from tocsin.cases.short import KEYS as SHORT_KEYS
from tocsin.cases.short import full_case
from tocsin.cases.tested_rule import TestedRule, rule_in
from tocsin.errors import CaseError, did_you_mean
from tocsin.languages.registry import language_of_file
from tocsin.languages.rule_file import RuleFile, read_rule
from tocsin.languages.yaml_document import Document

REQUIRED = ("id", "kind", "language", "expect")
KEYS = (
    *REQUIRED,
    *("expression", "options", "trace", "given"),
    *("source", "basis", "decision", "note", "alphabet"),
    *("machine", "other", "idl", "params"),
)


@dataclass(frozen=True, slots=True)
class WrittenCase:
    """A case and where it is written. A case with a `problem` has failed, and the others of its file are run."""

    file: str
    line: int
    case: Case
    problem: str = ""

    @property
    def place(self) -> str:
        """File and line, in the form editors accept."""
        return f"{self.file}:{self.line}"


def read_cases(path: Path) -> list[WrittenCase]:
    """The cases of a file, of a rule file, or of the rule files of a pipeline.

    Raises `CaseError` with the place of the first mistake.
    """
    if path.suffix == ".toml":
        return _of_pipeline(path)
    if language_of_file(path) is not None:
        return _of_rule(read_rule(path))
    document = Document.read(path)
    cases = [_case(document, node) for node in _case_nodes(document)]
    if not cases:
        hint = "a case has a pattern, events and matches"
        raise CaseError("no-cases", f"{path} has no case in it", hint=hint)
    return cases


def _of_pipeline(path: Path) -> list[WrittenCase]:
    # Imported here, because it loads Spark.
    from tocsin.spark.pipeline import read_pipeline

    rules = [entry.rule for entry in read_pipeline(path).subscriptions if entry.rule is not None]
    cases = [case for rule in rules if rule.cases is not None for case in _of_rule(rule)]
    if not cases:
        hint = "cases stand below the pattern of a rule file, after a third line ---"
        raise CaseError("no-cases", f"no rule file of {path} has a case in it", hint=hint)
    return cases


def _of_rule(rule: RuleFile) -> list[WrittenCase]:
    """The cases below the pattern of a rule file."""
    cases = []
    if rule.cases is not None:
        document = Document(rule.file, rule.whole, part=rule.cases, located=True)
        cases = [_case(document, node, rule_in(rule)) for node in _case_nodes(document)]
    if not cases:
        hint = "write cases below its pattern, after a third line ---"
        raise CaseError("no-cases", f"{rule.file} has no case in it", hint=hint)
    return cases


def _case_nodes(document: Document) -> Iterator[yaml.Node]:
    for node in document.nodes():
        if isinstance(node, yaml.SequenceNode):
            yield from node.value
        else:
            yield node


def _case(document: Document, node: yaml.Node, rule: TestedRule | None = None) -> WrittenCase:
    fields = document.fields(node)
    # `kind` is what every full case has, and `pattern`, or the name of a rule, what every short one has.
    short = "kind" not in fields and any(key in fields for key in SHORT_KEYS if key not in KEYS)
    known = SHORT_KEYS if short else KEYS
    unknown = [key for key in fields if key not in known]
    if short:
        for key in unknown:
            document.fail(
                fields[key][0], f"a case has no key {key!r}", did_you_mean(key, known), "unknown-key"
            )
        return WrittenCase(document.name, document.line(node), full_case(document, node, fields, rule))
    given = {} if rule is None else _given(document, fields, rule)
    for key in REQUIRED:
        if key not in fields and key not in given:
            hint = "or write it in short: pattern, events, matches"
            document.fail(node, f"this case has no {key!r}", hint, "missing-key")
    problem = "; ".join(f"a case has no key {key!r}: {did_you_mean(key, known)}" for key in unknown)
    case = {**given, **document.value(node)}
    return WrittenCase(document.name, document.line(node), case, problem)


def _given(
    document: Document, fields: dict[str, tuple[yaml.Node, yaml.Node]], rule: TestedRule
) -> dict[str, object]:
    """The keys that a full case of a rule file takes from its rule."""
    given = {"expression": rule.text, **rule.said}
    for key in given:
        if key in fields:
            document.fail(fields[key][0], f"the rule says the {key}", f"leave {key} out")
    return given
