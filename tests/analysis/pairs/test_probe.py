"""Black boxes made of the online evaluation, with each setting: the true one is among those reported."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.pairs_languages import ALGEBRA, language_of
from support.pairs_notation import read_algebra
from tocsin.algebra.pairs.expression import Conjunction, Primitive, Simultaneity
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.groups import Operator, Traits
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.online.evaluate import evaluate
from tocsin.algebra.pairs.operators import disjunction
from tocsin.algebra.pairs.parameters import LAST, Detection, Mode, Views
from tocsin.algebra.pairs.profile import Profile
from tocsin.analysis.pairs import Command, Detector, Probe, Setting, distinguishing, probe, probing_profiles
from tocsin.analysis.pairs.detectors import Refused
from tocsin.analysis.pairs.settings import expected, settings
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.languages.language import Context, Language
from tocsin.languages.registry import language

Events = Sequence[Mapping[str, Any]]
A, B = Primitive("a"), Primitive("b")
KEEP_LAST = Detection((Mode(LAST), Mode(LAST)))


def black_box(setting: Setting, timeframe: int | None = None, excluded: bool = False) -> Detector:
    """A detector with one setting. It knows the operator of a profile, and nothing else of it."""

    def detector(profile: str, events: Events) -> list[list[str]]:
        operator = {Ordered: Operator.SEQUENCE, Conjunction: Operator.CONJUNCTION}.get(
            type(read_algebra(profile))
        )
        if operator is None:
            raise Refused("no such operator")
        frame = timeframe if timeframe is None or not excluded else timeframe - 1
        whole = setting.expression(operator, frame)
        seen = [Event(e["id"], frozenset({e["type"]}), Interval(e["time"], e["time"])) for e in events]
        return [[str(leaf.id) for leaf in i.leaves()] for i in evaluate(whole, Observation.of(seen))]

    return detector


@pytest.mark.slow
@pytest.mark.parametrize("operator", [Operator.SEQUENCE, Operator.CONJUNCTION])
@pytest.mark.parametrize("setting", settings(Operator.SEQUENCE), ids=lambda setting: setting.words)
def test_the_true_setting_is_among_those_reported(operator: Operator, setting: Setting) -> None:
    text = {Operator.SEQUENCE: "(a ; b)", Operator.CONJUNCTION: "(a , b)"}[operator]
    found = probe(black_box(setting), {operator.value: text}).of(operator)
    assert setting in found.explained_by
    assert all(word is None for word in found.pairs().values())  # all that can be told apart has been
    about = Probe(operator)
    for words, trace in found.refuted.items():
        (other,) = [one for one in settings(operator) if one.words == words]
        assert expected(about, other, trace) != expected(about, setting, trace) == found.probes[trace]


@pytest.mark.slow
@pytest.mark.parametrize("timeframe", [1, 3, 40, 720])
@pytest.mark.parametrize(("excluded", "word"), [(False, "included"), (True, "excluded")])
def test_the_boundary_of_a_timeframe(timeframe: int, excluded: bool, word: str) -> None:
    setting = Setting("last, keep", KEEP_LAST)
    found = probe(black_box(setting, timeframe, excluded), {"conjunction": "(a , b)"}).of("conjunction")
    assert found.boundary(timeframe) == word
    assert found.window == timeframe - excluded
    if found.window > 1:
        assert setting in found.explained_by


def test_without_a_timeframe_there_is_no_window() -> None:
    found = probe(black_box(Setting("", KEEP_LAST)), {"sequence": "(a ; b)"}).of("sequence")
    assert (found.window, found.boundary(5)) == (None, "not kept")
    assert "window: no limit" in str(found)


def in_order_of_arrival(profile: str, events: Events) -> list[list[str]]:
    opened = [event["id"] for event in events if event["type"] == "a"]
    return [
        [one, event["id"]]
        for event in events
        if event["type"] == "b"
        for one in opened
        if _before(one, event, events)
    ]


def _before(one: str, other: Mapping[str, Any], events: Events) -> bool:
    ids = [event["id"] for event in events]
    return ids.index(one) < ids.index(other["id"])


def at_the_same_time_too(profile: str, events: Events) -> list[list[str]]:
    times = {event["id"]: event["time"] for event in events}
    return [[a, b] for a in times if a[0] == "a" for b in times if b[0] == "b" and times[a] <= times[b]]


@pytest.mark.parametrize(
    ("detector", "ties"),
    [
        (black_box(Setting("", Views())), "strict"),
        (in_order_of_arrival, "arrival"),
        (at_the_same_time_too, "any"),
    ],
)
def test_events_of_the_same_time(detector: Detector, ties: str) -> None:
    found = probe(detector, {"sequence": "(a ; b)"}).of("sequence")
    assert found.ties == ties
    assert "all, keep" in [one.words for one in found.explained_by]


def test_a_tolerance_is_a_window() -> None:
    def detector(profile: str, events: Events) -> list[list[str]]:
        seen = [Event(e["id"], frozenset({e["type"]}), Interval(e["time"], e["time"])) for e in events]
        whole = Simultaneity((A, B), tolerance=4)
        return [[str(leaf.id) for leaf in i.leaves()] for i in evaluate(whole, Observation.of(seen))]

    found = probe(detector, {"simultaneity": "(a : b)"}).of("simultaneity")
    assert (found.window, found.ties) == (4, "any")


@pytest.mark.parametrize("z", ["first", "last", "all"])
def test_a_disjunction_chooses_too(z: str) -> None:
    def detector(profile: str, events: Events) -> list[list[str]]:
        seen = [Event(e["id"], frozenset({e["type"]}), Interval(e["time"], e["time"])) for e in events]
        return [[str(i.id)] for i in evaluate(disjunction("a", "b", first=z), Observation.of(seen))]

    found = probe(detector, {"disjunction": "(a | b)"}).of("disjunction")
    assert {one.how.first for one in found.explained_by if isinstance(one.how, Views)} == {
        disjunction("a", "b", first=z).how.first  # type: ignore[union-attr]
    }


def test_what_does_something_else_is_not_explained() -> None:
    def detector(profile: str, events: Events) -> list[list[str]]:
        return [[event["id"], event["id"]] for event in events if event["type"] == "b"]

    found = probe(detector, {"sequence": "(a ; b)"}).of("sequence")
    assert found.explained_by == ()
    assert set(found.refuted) == {one.words for one in settings(Operator.SEQUENCE)}
    assert "none of the settings that are known" in str(found)


def test_a_detector_of_primitive_events_only() -> None:
    def detector(profile: str, events: Events) -> list[list[str]]:
        raise Refused("no composite events")

    found = probe(detector, {"sequence": "(a ; b)", "conjunction": "(a , b)"})
    assert found.primitive_only
    assert str(found).startswith("primitive events only\nsequence: refused (no composite events)")
    assert found.to_dict()["operators"][0]["refused"] == "no composite events"
    with pytest.raises(InputError, match="not an operator that is probed"):
        probe(detector, {"sequences": "a"})


def test_a_pair_of_settings_has_the_shortest_trace() -> None:
    about, by_words = Probe(Operator.SEQUENCE), {one.words: one for one in settings(Operator.SEQUENCE)}
    assert distinguishing(about, by_words["first, keep"], by_words["last, keep"]) == "aab"
    assert distinguishing(about, by_words["first, delete"], by_words["first, delete & reapply"]) == "aabb"
    assert (
        distinguishing(about, by_words["last, keep"], by_words["runs: last of a with all of b, unique pairs"])
        is None
    )


def test_profiles_are_written_in_a_language() -> None:
    assert probing_profiles(ALGEBRA)["sequence"] == "(a ; b)"
    assert list(probing_profiles(language_of("two", Traits.of("conjunction", "disjunction")))) == [
        "conjunction",
        "disjunction",
    ]
    assert probing_profiles(language_of("none", Traits.of())) == {}


class _Description:
    operators = (
        {"name": "sequence", "syntax": "<a:event> ; <b>"},
        {"name": "conjunction", "syntax": "<a> , <b>"},
        {"name": "disjunction", "syntax": "<a> | <c>"},
    )


def test_profiles_are_written_as_a_description_says() -> None:
    described = replace(ALGEBRA, parse=in_parentheses, parts={"description": _Description})
    assert probing_profiles(described) == {"sequence": "(a ; b)", "conjunction": "(a , b)"}


def in_parentheses(text: str, options: object, context: Context) -> Profile:
    if not text.startswith("("):
        return Profile("", A)  # what comes after a is taken for an action
    return Profile("", read_algebra(text))


COMMAND = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["profile"] != "a ; b":
        print(json.dumps({"error": "only sequences"}), flush=True)
        continue
    opened, found = None, []
    for event in asked["events"]:
        if event["type"] == "a":
            opened = opened or event
        elif opened and opened["time"] < event["time"]:
            found.append([opened["id"], event["id"]])
            opened = None
    print(json.dumps({"matches": found}), flush=True)
"""


def test_a_command_is_probed(tmp_path: Path) -> None:
    script = tmp_path / "detector.py"
    script.write_text(COMMAND)
    with Command([sys.executable, str(script)]) as detector:
        found = probe(detector, {"sequence": "a ; b", "conjunction": "a & b"})
    assert found.of("sequence").explained_by[0].words == "first, delete"
    assert found.of("sequence").ties == "strict"
    assert found.of("conjunction").refused == "only sequences"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "import sys; sys.stdin.readline(); print('hello', flush=True); sys.stdin.read()",
            "which is not JSON",
        ),
        ("import sys; sys.stdin.readline(); print('[1]', flush=True); sys.stdin.read()", r"answers '\[1\]'"),
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("import time; time.sleep(60)", "does not answer within 0.5 s"),
    ],
)
def test_a_command_that_does_not_answer(code: str, message: str) -> None:
    timeout = 0.5 if "sleep" in code else 20
    with Command([sys.executable, "-c", code], timeout) as detector, pytest.raises(InputError, match=message):
        probe(detector, {"sequence": "a ; b"})


def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="cannot be started"):
        Command(["/no/such/detector"])


# --- the surveyed languages ---------------------------------------------------------------------------------

SECOND = 1_000_000
# What the survey says of their sequences, or of their conjunctions if they have none.
KNOWN = {
    "active-house": "first, delete",
    "cobea": "all, keep",
    "compas": "all, keep",
    "conquer": "all, keep",
    "eve": "first, delete & reapply",
    "facility-management": "all, keep",
    "gem": "first, delete",
    "opencq": "all, keep",
    "plan": "first, delete",
    "ready": "all, keep",
    "rebeca": "first, delete & reapply",
    "samos": "first, delete & reapply",
    "siena": "first, delete",
    "snoop": "last, keep",
    "yeast": "first, delete, once",
}
PRIMITIVE_ONLY = ["corba-ns", "elvin", "hermes", "keryx", "salamander"]


def emulated(own: Language) -> Detector:
    """A detector that reads profiles of a language, and knows nothing of the operator that it is asked about."""

    def detector(profile: str, events: Events) -> list[list[str]]:
        seen = [
            Event(
                e["id"],
                frozenset({e["type"]}),
                Interval(e["time"] * SECOND, e["time"] * SECOND),
                {"workflow": "one", "created": e["time"] * SECOND},
            )
            for e in events
        ]
        found = evaluate(own.read(profile).expression, Observation.of(seen))
        return [[str(leaf.id) for leaf in i.leaves() if leaf.event is not None] for i in found]

    return detector


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), KNOWN.items(), ids=list(KNOWN))
def test_a_surveyed_language_is_found_out(name: str, words: str) -> None:
    own = language(name)
    profiles = probing_profiles(own)
    operator = "sequence" if "sequence" in profiles else "conjunction"
    found = probe(emulated(own), {operator: profiles[operator]}).of(operator)
    assert words in [one.words for one in found.explained_by]
    assert found.window == (720 if name == "gem" else None)


@pytest.mark.parametrize("name", PRIMITIVE_ONLY)
def test_the_others_have_primitive_events_only(name: str) -> None:
    own = language(name)
    assert probing_profiles(own) == {}
    assert probe(emulated(own), probing_profiles(own)).primitive_only
