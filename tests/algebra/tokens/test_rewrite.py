"""The laws by which patterns are made simpler: each changes what it should, and no match."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from support.many_tokens import shown
from support.strategies import a_selection, dice, selecting, small_pattern, trace
from tocsin.algebra.tokens.pattern import AnyOf, Order, Pattern, Repeat, Sequence, Within
from tocsin.algebra.tokens.rewrite import LAWS, simplified
from tocsin.algebra.tokens.semantics import detect
from tocsin.algebra.tokens.subscription import Interpretation, Subscription
from tocsin.events import Event, Interval
from tocsin.languages.core import parse

CASES = 300
Shape = Callable[[Pattern, Pattern, Pattern], Pattern]
SHAPES: dict[str, Shape] = {
    "nested_alternatives": lambda a, b, c: AnyOf((AnyOf((a, b)), c)),
    "equal_alternatives": lambda a, b, c: AnyOf((a, b, a, c)),
    "star_of_star": lambda a, b, c: Repeat(Repeat(a)),
    "adjacent_stars": lambda a, b, c: Sequence((c, Repeat(a), Repeat(a), b), Order.WEAK),
    "nested_limits": lambda a, b, c: Within(Within(a, 3_000_000), 2_000_000),
}
AROUND: tuple[Callable[[Pattern, Pattern], Pattern], ...] = (
    lambda own, other: own,
    lambda own, other: Repeat(own),
    lambda own, other: Sequence((other, own), Order.STRONG),
    lambda own, other: Sequence((own, other), Order.WEAK),
    lambda own, other: AnyOf((other, Sequence((own, other), Order.STRONG))),
)


def test_every_law_has_its_cases() -> None:
    assert [law.__name__ for law in LAWS] == list(SHAPES)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_law_changes_no_match(law: Callable[[Pattern, Callable[[Pattern], int]], Pattern]) -> None:
    changed = 0
    for seed in range(CASES):
        random = Random(seed)
        draw = dice(random)
        a, b, c = (small_pattern(draw, depth) for depth in (random.choice((0, 0, 1)), 0, 0))
        before = SHAPES[law.__name__](a, b, c)
        numbers: dict[Pattern, int] = {}
        after = law(before, lambda pattern, known=numbers: known.setdefault(pattern, len(known)))  # type: ignore[misc]
        changed += after != before
        around, interpretation = random.choice(AROUND), Interpretation(random.choice(("on-accept", "always")))
        selection, events = a_selection(draw), trace(draw, max_size=5, keys=("p",))
        found = [
            shown(
                detect(
                    selecting(Subscription(around(own, b), interpretation=interpretation), selection), events
                )
            )
            for own in (before, after)
        ]
        assert found[0] == found[1], (seed, around(before, b))
    assert changed > CASES / 3


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("[A]|[A]", "[A]"),
        ("([A]|[B])|[A]", "[A]|[B]"),
        ("([A]|([B]|([A]|[C])))*", "([A]|[B]|[C])*"),
        ("[A]****", "[A]*"),
        ("([A]|[A])**", "[A]*"),
        ("[A]*[A]*[B]*[A]*", "[A]*[B]*[A]*"),
        ("(([A]|[A])*[B])*" * 12, "([A]*[B])*"),
        ("([A]|[A])||[B]", "[A]||[B]"),
        ("([A][B]*;[C])**", "([A][B]*;[C])*"),
        ("([A][B] within 5s) within 3s", "[A][B] within 3s"),
        ("([A] within 5s)*", "[A]*"),
        ("([A][B] within 5s)|([A][B] within 4s)", "([A][B] within 5s)|([A][B] within 4s)"),
        ("[A]{2,3}|[A]{2,4}", "[A]{2,3}|[A]{2,4}"),
        # An event between strongly ordered parts counts, and so do different timers; for forks see below.
        ("[A]*;[A]*", "[A]*;[A]*"),
        ("([A]|[B])**", "([A]|[B])**"),
        ("([A]|[B])*([A]|[B])*", "([A]|[B])*([A]|[B])*"),
        ("([A],[B])_{T1=1s}|([A],[B])_{T1=2s}", "([A],[B])_{T1=1s}|([A],[B])_{T1=2s}"),
    ],
)
def test_what_becomes_simpler(text: str, simple: str) -> None:
    assert simplified(parse(text).pattern) == parse(simple).pattern


@pytest.mark.parametrize("stars", ["([A]|[B])**", "([A]|[B])*([A]|[B])*"])
def test_why_stars_over_a_fork_stay(stars: str) -> None:
    """B ends a match that waits for A or C. One that waits for A, B or C in one place leaves B out, and takes the second A."""
    events = [Event(n, frozenset({name}), Interval(n, n)) for n, name in enumerate("ABAC", start=1)]
    once, twice = (
        [match.ids for match in detect(parse(f"{own}[C in {{C,B}}] with matches = any"), events)]
        for own in ("([A]|[B])*", stars)
    )
    assert [1, 3, 4] not in once
    assert [1, 3, 4] in twice
