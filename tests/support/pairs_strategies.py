"""Random traces and random profiles of the event algebra. Traces are short and full of ties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from random import Random

from hypothesis import strategies as st

from tocsin.algebra.pairs.expression import (
    After,
    Chain,
    Conjunction,
    Disjunction,
    During,
    Each,
    Every,
    Expression,
    Negation,
    Primitive,
    Selection,
    Sequence,
    Several,
    Simultaneity,
)
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.operators import choice
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    Concurrency,
    Consumption,
    Coupling,
    Delimiter,
    Detection,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
from tocsin.events import Event, Interval

CLASSES = "abc"
PICKS = [FIRST, LAST, ALL, Pick(2, 2), Pick(2, 3), Pick(1, 2)]
picks = st.sampled_from(PICKS)
timeframes = st.one_of(st.none(), st.integers(1, 6))


def observe(text: str, ticks: Iterable[int] = (), end: int | None = None) -> Observation:
    """The observation of a text such as `a@1 b@2 a@2`; ids are `a.1`, `b.1`, `a.2`."""
    seen: Counter[str] = Counter()
    events = []
    for word in text.split():
        name, time = word.split("@")
        seen[name] += 1
        made = {"made": (seen[name] + int(time)) % 3}  # an attribute of a few values
        events.append(Event(f"{name}.{seen[name]}", frozenset({name}), Interval(int(time), int(time)), made))
    return Observation.of(events, ticks, end)


def ids(found: Iterable[Instance]) -> list[object]:
    """The ids of instances, in a form that reads well in a test."""
    return [instance.ids for instance in found]


@st.composite
def observations(draw: st.DrawFn, ties: bool = True, ticks: bool = False, most: int = 9) -> Observation:
    """Short traces of three classes; without ties every event has a time of its own."""
    names = draw(st.lists(st.sampled_from(CLASSES), max_size=most))
    steps = [draw(st.integers(0 if ties else 1, 3)) for _ in names]
    times = [sum(steps[: number + 1]) for number in range(len(steps))]
    text = " ".join(f"{name}@{time}" for name, time in zip(names, times, strict=True))
    clock = draw(st.lists(st.integers(0, 20), max_size=6)) if ticks else []
    return observe(text, clock, 30)


views = st.builds(Views, picks, picks, st.sampled_from(Pairing))
delimiters = st.sampled_from([Delimiter(), Delimiter(2, 2), Delimiter(1, 2), Delimiter(2, None)])
modes = st.one_of(
    st.builds(Mode, picks, st.sampled_from(Consumption)),
    st.builds(Mode, st.sampled_from([FIRST, LAST, *Gather]), st.sampled_from(Consumption), delimiters),
)


@st.composite
def detections(draw: st.DrawFn, count: int = 2) -> Detection:
    """Any modes for so many operands."""
    return Detection(
        tuple(draw(modes) for _ in range(count)),
        draw(st.sampled_from(Traversal)),
        draw(st.sampled_from(Coupling)),
        draw(st.sampled_from(Concurrency)),
    )


def uniform(duplicates: Pick | Gather | str, consumption: Consumption, count: int = 2) -> Detection:
    """The same duplicates and consumption for every operand."""
    return Detection((Mode(choice(duplicates), consumption),) * count)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2, parts: bool = False) -> Expression:
    """Profiles with every operator, in both evaluations; with `parts` also those that look at a part of what is observed."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return Primitive(draw(st.sampled_from(CLASSES)))
    part = expressions(depth - 1, parts)
    kind = draw(st.integers(0, 12 if parts else 8))
    if kind == 0:
        return Negation(draw(part), draw(st.integers(0, 6)))
    if kind == 1:
        return Selection(draw(part), draw(picks))
    if kind == 2:
        return After(draw(part), draw(st.integers(0, 4)))
    if kind == 3:
        return Every(draw(st.integers(1, 4)), draw(part), draw(st.one_of(st.none(), part)))
    operands = (draw(part), draw(part))
    if kind == 9:
        return Several(
            (*operands, draw(part)), draw(st.integers(1, 3)), draw(timeframes), draw(detections(3))
        )
    if kind == 10:
        names = draw(st.lists(st.sampled_from(CLASSES), min_size=2, max_size=3))
        return Chain(tuple(Primitive(name) for name in names), draw(st.sampled_from([None, "made"])))
    if kind == 11:
        since = draw(st.integers(0, 6))
        return During(operands[0], since, since + draw(st.integers(0, 6)))
    if kind == 12:
        return Each(operands[0], "made")
    how = draw(st.one_of(views, detections()))
    frame = draw(timeframes)
    if kind == 4:
        return Disjunction(operands, frame, how)
    if kind == 5:
        return Simultaneity(operands, frame, how, draw(st.integers(0, 2)))
    if kind == 6:
        return Conjunction(operands, frame, how)
    return Sequence(operands, frame, how, draw(st.one_of(st.none(), part)) if kind == 7 else None)


# --- nested operators, more evenly than Hypothesis draws them ---------------------------------------------


def nested_profile(random: Random, depth: int = 2, parts: bool = False) -> Expression:
    """A profile in which operators with parameters stand under operators with parameters; `parts` as in `expressions`."""
    if depth == 0 or random.random() < 0.25:
        return Primitive(random.choice(CLASSES))
    kind = random.randrange(14 if parts else 12)
    part = partial(nested_profile, random, depth - 1, parts)
    if kind == 0:
        return Negation(part(), random.randrange(6))
    if kind == 1:
        return random.choice(
            [
                Selection(part(), random.choice(PICKS)),
                After(part(), random.randrange(4)),
                Every(2, part(), part()),
            ]
        )
    if kind == 12:
        mode = Mode(random.choice([*PICKS, Gather.RESTRICTED]), random.choice(list(Consumption)))
        return Several(
            (part(), part(), part()), random.choice([2, 3]), random.choice([None, 3]), Detection((mode,) * 3)
        )
    if kind == 13:
        since = random.randrange(4)
        return random.choice([During(part(), since, since + 8), Each(part(), "made")])
    operator = random.choice([Disjunction, Conjunction, Sequence, Sequence, Simultaneity])
    how = _random_views(random) if random.random() < 0.4 else _random_detection(random)
    expression = operator((part(), part()), random.choice([None, None, 3, 6]), how)
    if isinstance(expression, Sequence) and random.random() < 0.1:
        return replace(expression, without=part())
    return expression


def nested_observation(random: Random, most: int = 12) -> Observation:
    """A trace that is long enough for nested operators to meet."""
    time, words = 0, []
    for _ in range(random.randrange(4, most)):
        time += random.choice([0, 1, 1, 2])
        words.append(f"{random.choice(CLASSES)}@{time}")
    return observe(" ".join(words), [t for t in range(time + 2) if random.random() < 0.3], time + 3)


def _random_views(random: Random) -> Views:
    return Views(random.choice(PICKS), random.choice(PICKS), random.choice(list(Pairing)))


def _random_detection(random: Random) -> Detection:
    one = Mode(random.choice([*PICKS, *Gather]), random.choice(list(Consumption)))
    other = replace(one, consumption=random.choice(list(Consumption))) if random.random() < 0.3 else one
    usual = random.random() < 0.7
    return Detection(
        (one, other),
        random.choice(list(Traversal)),
        Coupling.NON_CONTINUOUS if usual else random.choice(list(Coupling)),
        Concurrency.OVERLAPPING if usual else random.choice(list(Concurrency)),
    )
