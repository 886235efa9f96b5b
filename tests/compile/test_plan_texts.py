"""Texts become one plan, whatever their language."""

from __future__ import annotations

from pathlib import Path

import pytest

import tocsin
from tocsin.compile.family import KnownEvents, NamedText
from tocsin.compile.plan_texts import family_of, linked, named_texts, plan_texts
from tocsin.errors import InputError, PatternErrors, PipelineErrors
from tocsin.events import Catalog, EventType
from tocsin.languages.language import Language
from tocsin.languages.registry import language

LATEST = """\
Fix correlation Latest (Fix a, Fix b) l:(a;b) {
  case l: push b;
}
"""
ALARM = "Fix correlation Alarm (Fix a) l:a { case l: push a; }"
IDL = "eventtype Fix { attribute short place; }; eventtype Good : Fix { };"
ASSEMBLY = "connect GPS.out -> Latest.a;\nconnect INS.out -> Latest.b;\nconnect GPS.out -> Alarm.a;"


def test_patterns_report_matches_under_their_names() -> None:
    planned = plan_texts(named_texts({"x": "[A];[B]", "y": "[C]"}), KnownEvents())
    assert [output.name for output in planned.compiled.plan.outputs] == ["x", "y"]
    assert [one.name for one in planned.subscriptions] == ["x", "y"]


def test_patterns_of_several_languages_are_one_plan() -> None:
    texts = [
        NamedText(language("core"), "x", "[A];[B]", {"restart": "always"}),
        NamedText(language("pretty"), "y", '"A" followed by "B"'),
    ]
    planned = plan_texts(texts, KnownEvents())
    assert len(planned.compiled.plan.detectors) == 1  # they mean the same


def test_texts_of_one_program_share_their_machines() -> None:
    text = "repeat {push(x) {sequential {a, b}}}"
    alone = plan_texts(named_texts(text, "ecl"), KnownEvents())
    both = plan_texts(named_texts({"p": text, "q": text}, "ecl"), KnownEvents())
    assert [output.name for output in both.compiled.plan.outputs] == ["p", "q"]
    assert len(both.compiled.plan.detectors) <= 2 * len(alone.compiled.plan.detectors)


def test_what_is_known_of_events_is_checked() -> None:
    known = KnownEvents({"temp": "float"})
    with pytest.raises(PatternErrors, match="did you mean 'temp'"):
        plan_texts(named_texts("[A(tmep < 5)]"), known)
    with pytest.raises(PatternErrors, match="did you mean 'temp'"):
        plan_texts(named_texts("repeat {push(x) {<tmep < 5>}}", "ecl"), known)
    closed = KnownEvents(catalog=Catalog([EventType("Door")], closed=True))
    with pytest.raises(PatternErrors, match="unknown-type"):
        plan_texts(named_texts("[Dor]"), closed)


def test_an_assembly_connects_the_correlations_of_all_texts() -> None:
    options = {"types": IDL, "assembly": ASSEMBLY}
    texts = linked(named_texts({"one": LATEST, "two": ALARM}, "ksu", options))
    assert texts[0].options.ports == {"Latest": {"a": "GPS.out", "b": "INS.out"}}
    assert texts[1].options.ports == {"Alarm": {"a": "GPS.out"}}
    planned = plan_texts(named_texts({"one": LATEST, "two": ALARM}, "ksu", options), KnownEvents())
    assert [output.name for output in planned.compiled.plan.outputs] == ["one", "two"]
    assert planned.catalog.members("Fix") == {"Fix", "Good"}


def test_a_mistake_in_an_assembly_names_its_file(tmp_path: Path) -> None:
    file = tmp_path / "flight.cad"
    file.write_text(ASSEMBLY.replace("Alarm.a", "Alarm.b"))
    with pytest.raises(PipelineErrors, match=r"flight\.cad, line 3"):
        linked(named_texts({"one": LATEST, "two": ALARM}, "ksu", {"assembly": file}))


def test_ports_of_a_correlation_that_may_come_later() -> None:
    options = {"ports": {"Latest": {"a": "GPS.out", "b": "INS.out"}, "Alarm": {"a": "GPS.out"}}}
    texts = named_texts(LATEST, "ksu", options)
    with pytest.raises(InputError, match="there is no correlation 'Alarm'"):
        linked(texts)
    assert list(linked(texts, more_to_come=True)[0].options.ports) == ["Latest"]


def test_a_text_is_checked_without_the_options_of_its_query() -> None:
    text = NamedText(language("ksu"), "r", LATEST)
    family = family_of(text.language)
    family.check(text, KnownEvents({}))
    with pytest.raises(PatternErrors, match="no-port"):
        family.read([text], KnownEvents({}))
    with pytest.raises(PatternErrors):
        family.check(NamedText(language("ksu"), "r", "Fix correlation"), KnownEvents({}))


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("core", "[A(x > 5 AND x < 3)]", "never-matches"),
        ("ecl", "subscribe S {<x > 5> /\\ <x < 3>}", "never-fires"),
        ("ksu", "N correlation C (E a) l:a || m:a { case l & m: push a }", "never-true"),
    ],
)
def test_what_is_odd_is_a_warning(name: str, text: str, code: str) -> None:
    own = language(name)
    found = family_of(own).warnings(NamedText(own, "it", text), KnownEvents())
    assert code in [one.code for one in found]


def test_patterns_and_senders_are_not_one_plan() -> None:
    texts = [NamedText(language("core"), "x", "[A]"), NamedText(language("ecl"), "y", "a")]
    with pytest.raises(InputError, match="some of these patterns report matches, and others send events"):
        plan_texts(texts, KnownEvents())


def test_nothing_to_detect() -> None:
    with pytest.raises(InputError, match="no-pattern"):
        named_texts({})
    with pytest.raises(InputError, match="there is no correlation to run"):
        plan_texts(named_texts("", "ksu"), KnownEvents())


def test_values_are_taken_as_texts_are() -> None:
    built = tocsin.event("A").followed_by(tocsin.event("B"))
    given = {"x": tocsin.parse("[A];[B]", name="x"), "y": built}
    planned = plan_texts(named_texts(given), KnownEvents())
    assert [one.name for one in planned.subscriptions] == ["x", "y"]
    with pytest.raises(InputError, match="this is a pattern\nhint: say language='core'"):
        plan_texts(named_texts(built.subscription(), "ecl"), KnownEvents())


def test_a_family_that_is_not_known() -> None:
    odd = Language(name="odd", title="Odd", family="oddities", parse=str, show=str)
    with pytest.raises(InputError, match="the language 'odd' is of a family 'oddities' that is not known"):
        named_texts("x", odd)
