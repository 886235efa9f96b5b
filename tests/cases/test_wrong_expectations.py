"""No wrong expectation can pass: every expectation of the paper's cases is made wrong in every way we can think of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tocsin.cases.files import WrittenCase, read_cases
from tocsin.cases.runner import run_cases

FILES = sorted((Path(__file__).parent.parent / "conformance").glob("c*.yaml"))
KNOWN = [c for f in FILES for c in read_cases(f) if c.case["kind"] not in ("distribution", "placement")]

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


def _wrong(expect: Expectation) -> Iterator[tuple[str, Expectation]]:
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


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize(
    "written", KNOWN, ids=lambda written: f"{Path(written.file).stem}: {written.case['id']}"
)
def test_a_wrong_expectation_fails(written: WrittenCase, engine: str) -> None:
    case = copy.deepcopy(dict(written.case))
    for what, expect in _wrong(case["expect"]):
        changed = WrittenCase(written.file, written.line, {**case, "expect": expect})
        (outcome,) = run_cases([changed], [engine])
        assert outcome.status == "failed", f"{what}: {expect}"
        if what.endswith(COMPARED):
            assert not outcome.why, f"{what}: refused rather than compared: {outcome.why}"


@pytest.mark.parametrize("engine", ["reference", "local"])
@pytest.mark.parametrize("part", ["trace", "options", "given"])
@pytest.mark.parametrize(
    "written", KNOWN, ids=lambda written: f"{Path(written.file).stem}: {written.case['id']}"
)
def test_a_misspelt_key_fails(written: WrittenCase, part: str, engine: str) -> None:
    """Whatever it stands in: a key nobody looks at could be the one that matters."""
    case = copy.deepcopy(dict(written.case))
    inside = case.get(part) or {}
    changed = []
    if part == "trace":
        for number, event in enumerate(inside):
            if isinstance(event, dict):
                changed += [
                    [*inside[:number], {**event, "typ": "A"}, *inside[number + 1 :]],
                    [*inside[:number], {k: v for k, v in event.items() if k != "t"}, *inside[number + 1 :]],
                ]
    else:
        changed.append({**inside, "no_such_key": 1})
    for wrong in changed:
        (outcome,) = run_cases([WrittenCase("x", 1, {**case, part: wrong})], [engine])
        assert outcome.status == "failed", wrong
    (outcome,) = run_cases([WrittenCase("x", 1, {**case, "expct": {}})], [engine])
    assert outcome.status == "failed"
