"""The surveyed languages: their texts become texts of the others, and keep what the kind of the translation promises."""

from __future__ import annotations

from random import Random

import pytest

from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.semantics import instances
from tocsin.errors import PatternError
from tocsin.events import Event, Interval
from tocsin.languages.registry import languages
from tocsin.translate import Kind, Translated, best_first, translate
from tocsin.translate.offers import offers
from tocsin.translate.post_filter import delivered

SECOND = 1_000_000
FAMILY = [own for own in languages() if own.family == "pairs"]
TEXTS = [
    ("cobea", "[duration=5s] a ; b", "compas", ["(a ; b)_5s"], "equivalent"),
    ("cobea", "[duration=5s] a & b", "yeast", None, "transferring"),
    ("cobea", "a ; b", "samos", ["a ; b"], "negative"),
    ("compas", "(a ; b)_5s", "plan", ["a", "b"], "transferring"),
    ("compas", "(a ; b)_5s", "cobea", ["[duration=5s] a ; b"], "equivalent"),
    (
        "compas",
        "[consumption=delete, duplicates=first] (a ; b)_5s",
        "gem",
        ["[window=5s] a ; b"],
        "equivalent",
    ),
    ("compas", "(a , b)", "conquer", ["a AND b"], "equivalent"),
    ("compas", "(a : b)", "cobea", None, "transferring"),
    (
        "gem",
        "[window=5s] a & b",
        "compas",
        ["[duplicates=first, consumption=delete] (a, b)_5s"],
        "equivalent",
    ),
    ("rebeca", "a ; b", "samos", ["a ; b"], "equivalent"),
    ("samos", "(a , b)", "rebeca", ["a & b"], "equivalent"),
    ("snoop", "a ; b", "samos", ["a", "b"], "transferring"),
    ("snoop", "a ; b", "ready", ["[duplicates=last] a ; b"], "equivalent"),
    ("ready", "a && b", "cobea", ["a & b"], "equivalent"),
]


def traces(random: Random) -> list[Observation]:
    found = []
    for _ in range(25):
        time, events = 0, []
        for number in range(random.randrange(3, 9)):
            time += random.choice([0, 1, 1, 2, 4])
            name = random.choice("ab")
            events.append(Event(f"{name}{number}", frozenset({name}), Interval(time * SECOND, time * SECOND)))
        found.append(
            Observation.of(events, [second * SECOND for second in range(time + 3)], (time + 9) * SECOND)
        )
    return found


TRACES = traces(Random(5))


def keeps_its_promise(found: Translated) -> bool:
    for trace in TRACES:
        wanted = set(instances(found.translation.source, trace))
        got = set(delivered(found.translation, trace))
        if (wanted - got and found.kind is not Kind.NEGATIVE) or (
            got - wanted and found.kind is not Kind.POSITIVE
        ):
            return False
    return True


@pytest.mark.parametrize(("source", "text", "target", "profiles", "kind"), TEXTS)
def test_a_text_in_another_language(
    source: str, text: str, target: str, profiles: list[str] | None, kind: str
) -> None:
    found = translate(text, source, target, exact=kind == "transferring")
    assert profiles is None or list(found.profiles) == profiles
    assert found.kind.value == kind
    assert not found.translation.claimed
    assert keeps_its_promise(found)
    for profile in found.profiles:
        assert found.target.read(profile)


def test_every_language_says_what_it_offers() -> None:
    assert len(FAMILY) >= 20
    groups = {own.name: group.name for own in FAMILY if (group := offers(own).group) is not None}
    assert {name: groups[name] for name in ("plan", "rebeca", "snoop", "samos", "eve")} == {
        "plan": "CE",
        "rebeca": "SCE",
        "snoop": "TCE",
        "samos": "OTCE",
        "eve": "STCE",
    }
    assert [own.name for own in FAMILY if not offers(own).composes] == [
        "corba-ns",
        "elvin",
        "hermes",
        "keryx",
        "salamander",
    ]


def test_duplicates_that_a_language_cannot_ask_for_are_named() -> None:
    with pytest.raises(PatternError) as caught:
        translate("a ; b", "snoop", "samos")
    assert "its duplicates and consumption go into none of the language's" in caught.value.message
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("the nearest is 'a' and 'b' with the post-filter")
    aside = translate("a ; b", "snoop", "samos", parameters=False)
    assert (aside.text, aside.kind.value, aside.translation.claimed) == ("a ; b", "equivalent", True)


def test_a_language_of_primitive_events_is_no_target_for_composites() -> None:
    with pytest.raises(PatternError, match="the language has primitive events only"):
        translate("a ; b", "cobea", "keryx")


def test_the_best_of_several_providers() -> None:
    found = [translate("[duration=5s] a ; b", "cobea", target) for target in ("ready", "compas", "conquer")]
    assert best_first(found)[0].target.name == "compas"
