"""Case files: both forms are read, and a mistake is named with its file, its line and what to do."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tocsin.cases.files import read_cases
from tocsin.cases.runner import run_cases
from tocsin.errors import CaseError

FULL = """\
- id: one
  kind: detect
  language: cambridge-core
  expression: '[A]'
  trace: [{u: 1, types: [A], t: [1, 1]}]
  expect: {matches: [{events: [1]}]}
"""


def _file(folder: Path, text: str) -> Path:
    path = folder / "cases.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return path


def _error(folder: Path, text: str) -> str:
    with pytest.raises(CaseError) as caught:
        read_cases(_file(folder, text))
    return str(caught.value)


def test_a_full_case_is_read_as_it_stands(tmp_path: Path) -> None:
    (written,) = read_cases(_file(tmp_path, FULL))
    assert written.place == f"{tmp_path / 'cases.yaml'}:1"
    assert written.case["trace"] == [{"u": 1, "types": ["A"], "t": [1, 1]}]


def test_a_short_case_becomes_a_full_one(tmp_path: Path) -> None:
    text = """\
    pattern: "[Door(room=$x)];[Temp(room=$x)]"
    events:
      - opened: Door @ 1s room=1 open=true by='Jean D''Arc'
      - Temp @ 2s..3.5s room=1 temp=-14.5 note=null
      - {type: [Temp, Seen], at: 2004-01-31T19:00:00, room: 2}
    matches:
      - [opened, 2]
      - {events: [1, T1, [2]], at: 3s}
    """
    (written,) = read_cases(_file(tmp_path, text))
    case = written.case
    assert (case["id"], case["kind"], case["language"]) == ("line 1", "detect", "core")
    assert case["trace"] == [
        {"u": 1, "types": ["Door"], "t": "1s", "attrs": {"room": 1, "open": True, "by": "Jean D'Arc"}},
        {"u": 2, "types": ["Temp"], "t": ["2s", "3.5s"], "attrs": {"room": 1, "temp": -14.5, "note": None}},
        {"u": 3, "types": ["Temp", "Seen"], "t": "2004-01-31T19:00:00", "attrs": {"room": 2}},
    ]
    assert case["expect"]["matches"] == [{"events": [1, 2]}, {"events": [1, "T1", [2]], "at": "3s"}]


def test_several_cases_in_one_file_have_their_lines(tmp_path: Path) -> None:
    text = """\
    - {name: first, pattern: '[A]', matches: []}
    - name: second
      pattern: '[B]'
      error: unknown-type
    ---
    name: third
    pattern: '[C]'
    matches: []
    """
    read = read_cases(_file(tmp_path, text))
    assert [(written.case["id"], written.line) for written in read] == [
        ("first", 1),
        ("second", 2),
        ("third", 6),
    ]


def test_only_true_and_false_are_booleans(tmp_path: Path) -> None:
    text = "pattern: '[A]'\nevents: [{type: A, at: 1s, on: off, yes: true, day: 2004-01-31, no: 1e3}]\nmatches: []\n"
    (written,) = read_cases(_file(tmp_path, text))
    (event,) = written.case["trace"]
    assert event["attrs"] == {"on": "off", "yes": True, "day": "2004-01-31", "no": 1000.0}


def test_a_mistake_is_underlined_in_its_file(tmp_path: Path) -> None:
    text = "pattern: '[A]'\nmathces: []\n"
    assert _error(tmp_path, text).splitlines() == [
        f"unknown-key: {tmp_path / 'cases.yaml'}: a case has no key 'mathces' (line 2, column 1)",
        "2 | mathces: []",
        "  | ^^^^^^^",
        "hint: did you mean 'matches'?",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no case"),
        ("[]", "has no case"),
        ("just words", "a mapping of keys to values is missing here"),
        ("[1, 2]", "(line 1, column 2)"),
        ("pattern: '[A]'", "does not say what is expected"),
        ("{pattern: '[A]', matches: [], error: x}", "says both matches and error"),
        ("{matches: []}", "has no pattern"),
        ("{pattern: [A], matches: []}", "put it in quotes"),
        ("{pattern: '[A]', matches: 3}", "a list is missing here"),
        ("{pattern: '[A]', matches: [3]}", "a match is a list of events"),
        ("{pattern: '[A]', events: [A @ 1s], matches: [[2]]}", "there is no event 2"),
        ("{pattern: '[A]', events: [A @ 1s], matches: [[true]]}", "there is no event True"),
        ("{pattern: '[A]', events: [A], matches: []}", "write TYPE @ TIME"),
        ("{pattern: '[A]', events: [{type: A}], matches: []}", "it has no type, or no time"),
        ("{pattern: '[A]', events: [A @ 1s room], matches: []}", "'room' is not an attribute"),
        ("{pattern: '[A]', events: [A @ 1s k=1 k=2], matches: []}", "'k' stands here twice"),
        ("{pattern: '[A]', events: [{x: A @ 1}, {x: A @ 2}], matches: []}", "two events are called 'x'"),
        ("{pattern: '[A]', events: [A @ 1s], error: x}", "needs no events"),
        ("{pattern: '[A]', pattern: '[B]', matches: []}", "'pattern' stands here twice"),
        ("{id: 1, kind: detect, language: core}", "has no 'expect'"),
        ("{pattern: '[A]', expression: '[A]', matches: []}", "a case has no key 'expression'"),
        ("pattern: [A", "bad-yaml"),
        ("pattern: !!python/name:os.system ''\nmatches: []", "there is no tag"),
        ("&a [*a]", "a mapping of keys to values is missing here"),
        ("{pattern: '[A]', options: &o {x: *o}, matches: []}", "this contains itself"),
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
        ("{pattern: '[A]', note: " + "1" * 5000 + ", matches: []}", "at most 100 digits"),
    ],
)
def test_a_mistake_is_an_error_that_says_what_to_do(tmp_path: Path, text: str, says: str) -> None:
    assert says in _error(tmp_path, text)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"there is no file"):
        read_cases(tmp_path / "nowhere.yaml")
    with pytest.raises(CaseError, match=r"is a folder"):
        read_cases(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CaseError, match=r"is not a text file"):
        read_cases(tmp_path / "binary.yaml")


def test_anchors_cannot_make_a_file_explode(tmp_path: Path) -> None:
    lines = ["- &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    text = "pattern: '[A]'\nmatches: []\noptions:\n  x:\n" + "\n".join("  " + line for line in lines) + "\n"
    assert "stands for more than" in _error(tmp_path, text)


def test_an_unknown_key_of_a_full_case_fails_that_case_alone(tmp_path: Path) -> None:
    text = """\
    - {id: 1, kind: parse, language: core, expression: '[A]', expect: {error: false}, mathces: []}
    - {id: 2, kind: parse, language: core, expression: '[A]', expect: {error: false}}
    """
    outcomes = list(run_cases(read_cases(_file(tmp_path, text)), ["reference"], skip_unknown=True))
    assert [outcome.status for outcome in outcomes] == ["failed", "passed"]
    assert "no key 'mathces'" in outcomes[0].why
