"""Normal forms of the results of engines and cases, so that the two can be compared.

A mistake we report agrees with an expected message when it names everything that one names and has a further
word in common with it: which mistake was found is what counts, not the wording.

>>> from tocsin.errors import PatternError
>>> text = "N correlation C (E a) l1:a { case l9: push a }"
>>> agreeing("label l9 not declared", [PatternError("unknown-label", "there is no label l9")], text)
'label l9 not declared'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tocsin.algebra.correlation.expression import (
    Accumulation,
    Atom,
    Collection,
    Expression,
    Labelled,
    Sequence,
)
from tocsin.algebra.correlation.outcome import Arrival, Output, Trigger
from tocsin.cases.model import Case, only_keys
from tocsin.errors import PatternErrors, TocsinError
from tocsin.languages.language import Language

_TRIGGER_KEYS = ("at", "branch", "window", "labels")
_CODE = re.compile(r"[a-z]+(?:-[a-z]+)+")
_WORD = re.compile(r"\w+(?:::\w+)*")
# Synonyms in error messages; the words in the first line carry no meaning.
_SAME = {
    "": "a an the i of to in not no be and or error parse syntax invalid",
    "declared": "unknown undeclared undefined",
    "event": "identifier parameter port",
    "duplicate": "twice repeated",
    "assignable": "assign assigned assignment incompatible",
}
_MEANINGS = {word: meaning for meaning, words in _SAME.items() for word in words.split()}


def text(case: Case) -> str:
    """The texts of a case."""
    return f"{case['expression']}\n{case.get('idl') or ''}"


def arrival(written: Any) -> Arrival:
    """An event of a trace: a name, or a mapping with the name under `e`, the type, and the attributes."""
    if not isinstance(written, Mapping):
        return Arrival(str(written))
    attributes = {key: value for key, value in written.items() if key not in ("e", "type")}
    return Arrival(str(written["e"]), written.get("type"), attributes)


def triggers(expected: Any, found: Iterable[Trigger]) -> list[Mapping[str, object]]:
    """Triggers, each with the keys that the expected ones have."""
    asked = [only_keys(trigger, _TRIGGER_KEYS, "a trigger") for trigger in expected or ()]
    keys = dict.fromkeys(key for trigger in asked for key in trigger) or _TRIGGER_KEYS
    return [{key: _plain(getattr(trigger, key)) for key in keys} for trigger in found]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def output(sent: Output, by_name: bool) -> list[object]:
    """An output: a forwarded event by its name if `by_name`, otherwise type and attributes."""
    if sent.event is not None and by_name:
        return [sent.at, sent.event]
    return [sent.at, payload({"type": sent.type, **sent.attributes})]


def payload(written: Any) -> object:
    """The type and attributes of an event, without null attributes; one without any is written `Type{}`.

    >>> payload({"type": "Notify", "SourceID": 7, "Value": None}), payload({"type": "Notify"})
    ({'type': 'Notify', 'SourceID': 7}, 'Notify{}')
    """
    if not isinstance(written, Mapping):
        return written
    held = {key: value for key, value in written.items() if value is not None}
    return f"{held['type']}{{}}" if set(held) == {"type"} else held


def normal(own: Language, key: str, expected: Any) -> object:
    """The expected results of a case, normalised for comparison."""
    match key:
        case "outputs":
            return [[at, payload(written)] for at, written in expected]
        case "triggers":
            return [{**t, "labels": sorted(t["labels"])} if "labels" in t else t for t in expected]
        case "aborted_at_end":
            return sorted(expected)
        case "node_local":
            return [[node, _one_spelling(own, part)] for node, part in expected]
        case "cross_node":
            return [_one_spelling(own, part) for part in expected]
        case _:
            return expected


def every(error: TocsinError) -> tuple[TocsinError, ...]:
    """The mistakes that an error stands for."""
    return error.errors if isinstance(error, PatternErrors) else (error,)


def agreeing(expected: object, found: Iterable[TocsinError], about: str) -> object:
    """The expected value itself if one of the mistakes agrees with it, otherwise the mistakes.

    True or false only says whether there are any. `about` is the text they were found in.
    """
    found = list(found)
    if isinstance(expected, bool) or expected is None:
        return expected if bool(found) == bool(expected) else [str(error) for error in found] or False
    agreed = any(_agrees(str(expected), error, about) for error in found)
    return expected if agreed else [str(error) for error in found]


def _agrees(expected: str, error: TocsinError, about: str) -> bool:
    if _CODE.fullmatch(expected):
        return error.code == expected
    names = set(_WORD.findall(about))
    wanted, said = _words(expected), _words(f"{error.code} {error.message} {error.hint or ''}")
    meant = {_meaning(word) for word in wanted - names} - {""}
    return wanted & names <= said and (not meant or bool(meant & {_meaning(word) for word in said}))


def _words(message: str) -> set[str]:
    return set(_WORD.findall(message))


def _meaning(word: str) -> str:
    """A word in the singular, or its synonym; empty for words that carry no meaning."""
    singular = word.lower().rstrip("s")
    return _MEANINGS.get(singular, singular)


def unlabelled(own: Language, expression: Expression) -> str:
    """The text of an expression without its labels."""
    return str(own.part("show-branch")(_bare(expression)))


def _one_spelling(own: Language, part: str) -> str:
    return " || ".join(unlabelled(own, branch) for branch in own.part("filter")(part))


def _bare(expression: Expression) -> Expression:
    match expression:
        case Atom():
            return expression
        case Labelled(_, body):
            return _bare(body)
        case Accumulation(left, right) | Collection(left, right) | Sequence(left, right):
            return type(expression)(_bare(left), _bare(right))
