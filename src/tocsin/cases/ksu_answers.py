"""How answers of the KSU engines and of its cases are written, so that the two can be compared.

An error of ours agrees with an expected one when it names everything that one names and has a further word in
common with it: which mistake was found is what counts, not the wording.

>>> from tocsin.errors import PatternError
>>> text = "N correlation C (E a) l1:a { case l9: push a }"
>>> agreeing("label l9 not declared", [PatternError("unknown-label", "there is no label l9")], text)
'label l9 not declared'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tocsin.algebra.correlation import (
    Accumulation,
    Atom,
    Collection,
    Expression,
    Labelled,
    Notice,
    Sequence,
)
from tocsin.algebra.correlation_outcome import Output, Trigger
from tocsin.errors import PatternError
from tocsin.languages.ksu import parse_filter
from tocsin.languages.ksu.printer import show_expression

_WORD = re.compile(r"\w+(?:::\w+)*")
# Words that say the same in a message about a mistake; those in the first line say nothing.
_SAME = {
    "": "a an the i of to in not no be and or error parse syntax invalid",
    "declared": "unknown undeclared undefined",
    "event": "identifier parameter port",
    "duplicate": "twice repeated",
    "assignable": "assign assigned assignment incompatible",
}
_MEANINGS = {word: meaning for meaning, words in _SAME.items() for word in words.split()}


def trigger_answer(trigger: Trigger, keys: Iterable[str]) -> Mapping[str, object]:
    """A trigger with the keys a case asks for."""
    known = {
        "at": trigger.at,
        "branch": trigger.branch,
        "window": list(trigger.window),
        "labels": list(trigger.labels),
    }
    return {key: known.get(key, f"nothing answers {key!r}") for key in keys}


def output_answer(output: Output, by_name: bool) -> object:
    """An output: a forwarded event by its name if that is asked for, else by its type and attributes."""
    if output.event is not None and by_name:
        return [output.at, output.event]
    return [output.at, payload({"type": output.type, **output.attributes})]


def payload(written: Any) -> object:
    """What an event holds, without attributes that are null; one that holds nothing is written `Type{}`.

    >>> payload({"type": "Notify", "SourceID": 7, "Value": None}), payload({"type": "Notify"})
    ({'type': 'Notify', 'SourceID': 7}, 'Notify{}')
    """
    if not isinstance(written, Mapping):
        return written
    held = {key: value for key, value in written.items() if value is not None}
    return f"{held['type']}{{}}" if set(held) == {"type"} else held


def agreeing(expected: object, found: Iterable[PatternError | Notice], text: str) -> object:
    """The expected answer itself if one of the messages agrees with it, else the messages.

    An answer of true or false only asks whether there are any. `text` is what the messages are about.
    """
    messages = [f"{item.code}: {item.message} ({item.hint or ''})" for item in found]
    if isinstance(expected, bool) or expected is None:
        return expected if bool(messages) == bool(expected) else messages
    return expected if any(_agrees(str(expected), message, text) for message in messages) else messages


def _agrees(expected: str, message: str, text: str) -> bool:
    names = set(_WORD.findall(text))
    wanted, said = _words(expected), _words(message)
    meant = {_meaning(word) for word in wanted - names}
    return wanted & names <= said and (
        not meant - {""} or bool(meant & {_meaning(word) for word in said} - {""})
    )


def _words(text: str) -> set[str]:
    return {word for found in _WORD.findall(text) for word in (found, *found.split("_"))}


def _meaning(word: str) -> str:
    """A word without its plural, or the word that stands for it; nothing for words that say nothing."""
    singular = word.lower().rstrip("s")
    return _MEANINGS.get(singular, singular)


def unlabelled(text: str) -> str:
    """A part of a filter without its labels, in one spelling."""
    return " || ".join(show_expression(_bare(branch)) for branch in parse_filter(text))


def bare(expression: Expression) -> str:
    """The text of an expression without its labels."""
    return show_expression(_bare(expression))


def _bare(expression: Expression) -> Expression:
    match expression:
        case Atom():
            return expression
        case Labelled(_, body):
            return _bare(body)
        case Accumulation(left, right) | Collection(left, right) | Sequence(left, right):
            return type(expression)(_bare(left), _bare(right))
