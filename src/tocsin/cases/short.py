"""The short form of a test case, as a person writes it:

    pattern: "[Door(room=$x)];[Temp(room=$x AND temp<15)]"
    events:
      - Door @ 1s room=1
      - Temp @ 2s room=1 temp=20.5
      - Temp @ 3s room=1 temp=14
    matches:
      - [1, 3]

`matches` are lists of event numbers, counted from 1, in the order of detection; timers stand there by their
names, and the events of a nested composite as a list of its own. `matches: []` says that nothing is found.
A match can also say when: `{events: [1, 3], at: 3s, t: [1s, 3s]}` with the end of its last event and its
interval.

An event is `TYPE @ TIME attribute=value …`. A time is a number of seconds, a duration since the start
(`5min`) or an ISO time; `1s..4s` is an interval. An event of several types is `B, A @ 1s`. The same as a
mapping is `{type: A, at: 1s, temp: 14}`. An event can have a name for the matches: `first: Door @ 1s`.

Instead of a `pattern` a case can name a rule, and then tests that and not a copy: `file: rules/fire.tocsin`, or
`pipeline: doors.toml` and `rule: LeftOpen`. The rule says the language, the key and the options. In a rule file the cases are
of its own rule.

Instead of `matches` a case can have `error`, the code (or list of codes) with which the pattern is refused.
Where matches are only counted, one says how many there are: `{events: [3], count: 2}`.
Further keys: `name`, `note`, `language` (core if not given), `options` (readings of the language; which matches are
wanted, as in `{matches: leftmost, take: first 3}`), `key`
(the attribute, or attributes, whose values split the events into streams of their own), `types` (the event
types there are: `{Seen: {name: string}, Badge: {extends: Seen, door: int}}`), `sets` (named sets of types:
`{S: [A, B]}`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from tocsin.cases.model import Case
from tocsin.cases.tested_rule import TestedRule, rule_of_file, rule_of_pipeline
from tocsin.errors import CaseError, InputError
from tocsin.languages.registry import DEFAULT
from tocsin.languages.yaml_document import Document

KEYS = (
    *("name", "pattern", "language", "options", "key", "types", "sets"),
    *("events", "matches", "error", "note", "file", "pipeline", "rule"),
)
_NAMING = ("file", "pipeline")  # keys that name a rule
_OF_RULE = ("language", "options", "key")  # keys that a rule decides
_EVENT = re.compile(r"(?P<types>[^@=]+)@\s*(?P<time>\S+)(?P<rest>.*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"\s+(?P<name>[^\s=]+)=(?P<value>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[^\s'\"]\S*)")
_NUMBER = re.compile(r"[-+]?(?:\d+|(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?)")
_HINT = "write TYPE @ TIME attribute=value …, as in: Door @ 5s room=1 open=true"

Fields = dict[str, tuple[yaml.Node, yaml.Node]]


def full_case(document: Document, node: yaml.Node, fields: Fields, rule: TestedRule | None = None) -> Case:
    """The full form of a case in short form, whose keys have been checked.

    Args:
        rule: the rule of the file that the case is in.
    """
    tested = _tested(document, node, fields, rule)
    answers = [key for key in ("matches", "error") if key in fields]
    if len(answers) != 1:
        problem = "says both matches and error" if answers else "does not say what is expected"
        document.fail(node, f"this case {problem}", "write matches: [[1, 2]], matches: [] or error: CODE")
    own = {key: document.value(value) for key, (_, value) in fields.items()}
    if tested is not None:
        own |= {"pattern": tested.text, **tested.said}
    case = {
        "id": str(own.get("name") or f"line {document.line(node)}"),
        "language": own.get("language") or DEFAULT,
        "expression": own["pattern"],
        **{key: own[key] for key in ("options", "key", "types", "sets") if own.get(key) is not None},
    }
    if not isinstance(own["pattern"], str):
        document.fail(fields["pattern"][1], "a pattern is a text", "put it in quotes")
    if "error" in fields:
        if "events" in fields:
            document.fail(fields["events"][0], "a pattern that is refused needs no events")
        return case | {"kind": "parse", "expect": {"error": own["error"]}}
    nodes = list(document.items(fields["events"][1])) if "events" in fields else []
    numbers: dict[str, int] = {}
    trace = [_event(document, event, number, numbers) for number, event in enumerate(nodes, 1)]
    matches = [_match(document, match, len(trace), numbers) for match in document.items(fields["matches"][1])]
    return case | {"kind": "detect", "trace": trace, "expect": {"matches": matches}}


def _tested(
    document: Document, node: yaml.Node, fields: Fields, rule: TestedRule | None
) -> TestedRule | None:
    """The rule that a case tests; None if it has a pattern of its own."""
    named = [key for key in ("pattern", *_NAMING) if key in fields]
    if rule is not None:
        if named:
            document.fail(fields[named[0]][0], "a case in a rule file tests the rule of the file")
    elif len(named) != 1:
        problem = "has no pattern" if not named else f"has {' and '.join(named)}"
        hint = "write pattern: '…', or file: FILE, or pipeline: FILE and rule: NAME"
        document.fail(node, f"this case {problem}", hint, "missing-key" if not named else "bad-case")
    if ("rule" in fields) != ("pipeline" in fields):
        document.fail(node, "rule and pipeline come together", "pipeline: FILE and rule: NAME")
    if rule is None and "pattern" in fields:
        return None
    for key in _OF_RULE:
        if key in fields:
            document.fail(fields[key][0], f"the rule says the {key}", f"leave {key} out")
    if rule is not None:
        return rule
    value = document.value(fields[named[0]][1])
    if not isinstance(value, str):
        document.fail(fields[named[0]][1], "the name of a file is a text")
    path = Path(document.name).parent / value
    try:
        if "pipeline" in fields:
            return rule_of_pipeline(path, str(document.value(fields["rule"][1])))
        return rule_of_file(path)
    except CaseError as problem:
        document.fail(fields[named[0]][1], problem.message, problem.hint, problem.code)
    except InputError as problem:
        document.fail(fields[named[0]][1], problem.message, problem.hint, problem.code)


def _event(document: Document, node: yaml.Node, number: int, numbers: dict[str, int]) -> dict[str, Any]:
    """An event in full form; its name, if any, is recorded in `numbers`."""
    written = document.value(node)
    if isinstance(written, dict) and "type" not in written and len(written) == 1:
        ((name, written),) = written.items()
        if name in numbers:
            document.fail(node, f"two events are called {name!r}", "give one of them another name")
        numbers[name] = number
    match written:
        case str():
            return {"u": number, **_text_event(document, node, written)}
        case {"type": types, "at": time, **attributes}:
            return {"u": number, "types": types, "t": time, "attrs": attributes}
        case _:
            document.fail(node, "this is not an event: it has no type, or no time", _HINT)


def _text_event(document: Document, node: yaml.Node, text: str) -> dict[str, Any]:
    event = _EVENT.fullmatch(text.strip())
    if event is None:
        document.fail(node, "this is not an event", _HINT)
    attributes: dict[str, Any] = {}
    rest = event["rest"].rstrip()
    at = 0
    while at < len(rest):
        attribute = _ATTRIBUTE.match(rest, at)
        if attribute is None:
            document.fail(node, f"{rest[at:].strip()!r} is not an attribute", _HINT)
        if attribute["name"] in attributes:
            document.fail(node, f"the attribute {attribute['name']!r} stands here twice", "keep one of them")
        attributes[attribute["name"]] = _value(attribute["value"])
        at = attribute.end()
    start, dots, end = event["time"].partition("..")
    types = [name.strip() for name in event["types"].split(",")]
    time = [_value(start), _value(end)] if dots else _value(start)
    return {"types": types, "t": time, "attrs": attributes}


def _value(text: str) -> int | float | str | bool | None:
    """A number, true, false, null, a text in quotes, or any other word as it stands."""
    if not text:
        return None
    if text[0] in "'\"":
        return text[1:-1].replace(text[0] * 2, text[0])
    if text in ("true", "false"):
        return text == "true"
    if text == "null":
        return None
    if _NUMBER.fullmatch(text):
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    return text


def _match(document: Document, node: yaml.Node, count: int, numbers: dict[str, int]) -> dict[str, Any]:
    """A match in full form, with names of events replaced by their numbers."""
    written = document.value(node)
    match = written if isinstance(written, dict) else {"events": written}
    if not isinstance(match.get("events"), list):
        document.fail(node, "a match is a list of events, as in [1, 2]", "or {events: [1, 2], at: 2s}")

    def numbered(part: object) -> object:
        if isinstance(part, list):
            return [numbered(inner) for inner in part]
        if isinstance(part, str) and part in numbers:
            return numbers[part]
        if (
            isinstance(part, bool)
            or not isinstance(part, int | str)
            or (isinstance(part, int) and not 1 <= part <= count)
        ):
            document.fail(node, f"there is no event {part!r}", f"there are {count}, numbered from 1")
        return part

    return match | {"events": numbered(match["events"])}
