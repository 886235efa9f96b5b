"""Every way we can think of to make the expectation of a case wrong; the harness must notice each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

# What is wrong here only a comparison can find out; the rest may be refused at first sight.
COMPARED = (
    *(
        "one is missing",
        "one twice",
        "one that is not there",
        "another event",
        "an event more",
        "an event less",
    ),
    *(
        "flatter or deeper",
        "backwards",
        "is later",
        "it starts earlier",
        "it ends later",
        "one more",
        "no state",
    ),
    *("the other way round", "another pattern", "another code", "a state too many"),
)

Expectation = dict[str, Any]


def wrong(expect: Expectation) -> Iterator[tuple[str, Expectation]]:
    """Wrong versions of an expectation, each with what is wrong with it."""
    yield "nothing is expected", {}
    for key, value in expect.items():
        yield f"{key} is misspelt", {(k + "_" if k == key else k): v for k, v in expect.items()}
        yield f"something is added to {key}", {**expect, key + "_too": value}
        for what, changed in _wrong_value(key, value):
            yield f"{key}: {what}", {**expect, key: changed}


def _wrong_value(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if key == "matches":
        yield from _wrong_matches(value)
    elif key == "error":
        yield "the other way round", not value if isinstance(value, bool) else False
        yield "another code", "no-such-code"
        yield "no code", None
    elif key == "core":
        yield "another pattern", "[Nonsense]"
        yield "no pattern", "[A"
    elif isinstance(value, bool):
        yield "the other way round", not value
        yield "as a number", int(value)
        yield "as a text", str(value).lower()
    elif isinstance(value, int):
        yield "one more", value + 1
        yield "as a text", str(value)
    elif isinstance(value, list):
        yield "the last is missing", value[:-1]
        yield "one too many", [*value, value[-1]]
        yield "the other way about", value[::-1] if value != value[::-1] else [*value, *value]
        if key == "active_states":
            yield "a state too many", [[*value[0], "S9"], *value[1:]]
            yield "a state twice", [[*value[0], *value[0]], *value[1:]]
            yield "no state", [[], *value[1:]]
    else:
        raise AssertionError(f"nobody makes {key} wrong")


def _wrong_matches(matches: list[Any]) -> Iterator[tuple[str, Any]]:
    yield "not a list", None
    other = {"events": [77], "at": 77, "t": [77, 77], "detected_after_arrival": 77, "count": 77}
    said = matches[0] if matches else ("events", "at", "t")
    yield "one that is not there", [*matches, {key: other[key] for key in said}]
    for number, match in enumerate(matches):
        rest = matches[:number] + matches[number + 1 :]
        yield "one is missing", rest
        yield "one twice", [*matches, match]
        for what, wrong in _wrong_match(match):
            yield f"match {number + 1}, {what}", [*rest, wrong]


def _wrong_match(match: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in match.items():
        rest = {k: v for k, v in match.items() if k != key}
        yield f"{key} is misspelt", {**rest, key + "_": value}
        if key == "events":
            yield "another event", {**rest, key: _first_changed(value, lambda one: 78)}
            yield "an event as text", {**rest, key: _first_changed(value, lambda one: f"{one}!")}
            yield "an event more", {**rest, key: [*value, 79]}
            yield "an event less", {**rest, key: value[:-1]}
            yield "flatter or deeper", {**rest, key: [value]}
            if value != value[::-1]:
                yield "backwards", {**rest, key: value[::-1]}
        elif key in ("at", "detected_after_arrival"):
            yield f"{key} is later", {**rest, key: _later(value)}
        elif key == "t":
            yield "it starts earlier", {**rest, key: [-1, value[1]]}
            yield "it ends later", {**rest, key: [value[0], _later(value[1])]}
            yield "it has no end", {**rest, key: value[:1]}
        elif key == "count":
            yield "it counts one more", {**rest, key: value + 1}
            yield "the count as text", {**rest, key: str(value)}
    yield "nothing is said of it", {}


def _first_changed(events: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    first, *rest = events
    return [_first_changed(first, change) if isinstance(first, list) else change(first), *rest]


def _later(value: Any) -> Any:
    """A little later, however the time is written."""
    return value + 1 if isinstance(value, int) else "77d"


def wrong_answer(key: str, value: object) -> object:
    """Another answer of an ECL or KSU case than the right one."""
    match value:
        case [] if key == "triggers":
            return [{"at": 1, "labels": ["l9"]}]
        case bool():
            return not value
        case int():
            return value + 1
        case [str(), *_]:
            return value[1:]
        case list():
            return value[1:] if value else [[9, "nobody pushes this"]]
        case None:
            return 1
        case _:
            return "nonsense"
