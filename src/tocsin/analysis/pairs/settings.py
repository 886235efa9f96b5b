"""The settings that could explain a detector, and the traces that tell them apart.

>>> one, other = settings(Operator.SEQUENCE)[:2]
>>> one.words, other.words
('first, keep', 'first, delete')
>>> distinguishing(Probe(Operator.SEQUENCE), one, other)
'abb'

A trace is a word: its letters are events of the two classes, one after the other. Nothing more is said of settings that no word
of up to seven events tells apart: of a single operator some mean the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby, product

from tocsin.algebra.pairs.expression import Composition, Expression, Primitive, Selection
from tocsin.algebra.pairs.groups import NODES, Operator
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    Consumption,
    Detection,
    Evaluation,
    Gather,
    Mode,
    Pairing,
    Pick,
    Views,
    nth,
)
from tocsin.algebra.pairs.semantics import instances
from tocsin.events import Event, Interval

CLASSES = ("a", "b")
LONGEST = 7  # events of a trace
Matches = frozenset[tuple[tuple[str, ...], int]]  # the ids of each match, in order, and how often it came
_PICKS: dict[str, Pick] = {"first": FIRST, "last": LAST, "all": ALL}


@dataclass(frozen=True, slots=True)
class Setting:
    """An evaluation of an operator; `once` is for detectors that stop after the first match."""

    words: str
    how: Evaluation
    once: bool = False

    def expression(self, operator: Operator, timeframe: int | None = None) -> Expression:
        """The operator over the two classes, with this setting."""
        node = NODES[operator]
        assert issubclass(node, Composition), operator
        whole = node(tuple(Primitive(name) for name in CLASSES), timeframe, self.how)
        return Selection(whole, FIRST) if self.once else whole


def _detections() -> Iterable[tuple[str, Evaluation]]:
    taken: dict[str, Pick | Gather] = {**_PICKS, "second": nth(2), "first and second": Pick(1, 2)}
    gathered = {each.value.replace("_", " "): each for each in (Gather.CUMULATIVE, Gather.RESTRICTED)}
    for (words, selection), consumption in product({**taken, **gathered}.items(), Consumption):
        yield (
            f"{words}, {consumption.value.replace('_', ' & ')}",
            Detection((Mode(selection, consumption),) * 2),
        )


def _views() -> Iterable[tuple[str, Evaluation]]:
    for (one, z), (other, w), pairing in product(_PICKS.items(), _PICKS.items(), Pairing):
        yield f"runs: {one} of a with {other} of b, {pairing.value} pairs", Views(z, w, pairing)


@dataclass(frozen=True, slots=True)
class Probe:
    """An operator, and its timeframe if that is too short to be left aside."""

    operator: Operator
    timeframe: int | None = None


@cache
def settings(operator: Operator) -> tuple[Setting, ...]:
    """The settings that are considered for an operator, those that consume first."""
    found = [Setting(words, how) for words, how in (*_detections(), *_views())]
    return (*found, *(Setting(f"{one.words}, once", one.how, True) for one in found))


@cache
def words() -> tuple[str, ...]:
    """The traces, shorter ones first."""
    return tuple(
        "".join(letters) for length in range(2, LONGEST + 1) for letters in product("ab", repeat=length)
    )


def ids_of(word: str) -> list[str]:
    """The ids of the events of a trace: a1, b1, a2 and so on."""
    seen: Counter[str] = Counter()
    found = []
    for letter in word:
        seen[letter] += 1
        found.append(f"{letter}{seen[letter]}")
    return found


@cache
def expected(probe: Probe, setting: Setting, word: str) -> Matches:
    """The matches of a setting on a trace, by the reference."""
    events = [Event(id, frozenset({id[0]}), Interval(time, time)) for time, id in enumerate(ids_of(word), 1)]
    expression = setting.expression(probe.operator, probe.timeframe)
    return as_matches(_ids(one) for one in instances(expression, Observation.of(events)))


def _ids(match: Instance) -> list[str]:
    return [str(leaf.id) for leaf in match.leaves()]


def as_matches(found: Iterable[Iterable[str]]) -> Matches:
    """Matches in a form that does not depend on their order, nor on that of their events."""
    return frozenset(Counter(tuple(sorted(ids)) for ids in found).items())


@cache
def distinguishing(probe: Probe, one: Setting, other: Setting) -> str | None:
    """The shortest trace on which two settings have different matches; None if none of up to seven events is."""
    return next((w for w in words() if expected(probe, one, w) != expected(probe, other, w)), None)


def best_word(probe: Probe, remaining: Iterable[Setting], tried: set[str]) -> str | None:
    """Of the shortest traces that tell any two settings apart the one that leaves fewest; None if there is no such trace."""
    left = list(remaining)
    for _, group in groupby((word for word in words() if word not in tried), len):
        largest = {word: max(Counter(expected(probe, one, word) for one in left).values()) for word in group}
        best = min(largest, key=lambda word: largest[word])
        if largest[best] < len(left):
            return best
    return None


def all_pairs(probe: Probe, left: Iterable[Setting]) -> dict[tuple[str, str], str | None]:
    """For each two settings, by their words, a trace that tells them apart."""
    return {
        (one.words, other.words): distinguishing(probe, one, other) for one, other in combinations(left, 2)
    }
