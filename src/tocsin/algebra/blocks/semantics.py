"""What a query finds in a stream of XML events: the reference for every engine.

Each operator is a function from all occurrences of its operands to its own, over the whole history at once; nothing is
forgotten. An operator acts on arrivals in turn. First the new occurrences of both operands are stored; then each new one
that can complete the operator looks among those of the other operand that arrived up to now. The context chooses among
them:

| context          | an occurrence pairs with                                    | what is used up                       |
|------------------|-------------------------------------------------------------|---------------------------------------|
| `recent`         | the newest, if that fits                                    | nothing                               |
| `recent_consume` | the newest, if that fits                                    | both                                  |
| `recent_per_key` | the newest with equal join variables, if that fits          | nothing                               |
| `chronicle`      | the oldest that fits                                        | both                                  |
| `continuous`     | each that fits, one detection for each                      | it and those                          |
| `cumulative`     | all that fit, in one detection                              | all that both operands stored         |

BEFORE, AFTER and NOT … BETWEEN are completed by the later operand only, which is not stored. AND, CONCURRENT and DURING
are completed by either operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.matching import Found, key_of
from tocsin.algebra.blocks.occurrence import Occurrence, Taken, XmlEvent, close, related, together
from tocsin.algebra.blocks.query import Context, Query, stream_of, variables
from tocsin.algebra.blocks.temporal import (
    Absent,
    Both,
    Composition,
    Of,
    OneOfTwo,
    Related,
    leaves,
    tree_of,
)
from tocsin.runtime.xml_tree import Content

Fits = Callable[[Occurrence, Occurrence], bool]


class Detection(NamedTuple):
    """The root of the event tree has fired: when, on which events, and what was constructed."""

    at: int
    events: tuple[int, ...]
    results: tuple[Content, ...]


class Answer(NamedTuple):
    """What a query finds: the blocks that match each event, and its detections."""

    matched: tuple[tuple[str, ...], ...]
    detections: tuple[Detection, ...]


def answer(query: Query, events: Sequence[XmlEvent]) -> Answer:
    """What a query finds in a stream of events, which are numbered from 1."""
    evaluation = Evaluation(query)
    history = History(
        {block: _matching(block, evaluation, events) for block in evaluation.blocks}, evaluation
    )
    tree = tree_of(query.where.composition, tuple(evaluation.blocks))
    found = occurrences(tree, query.where.context or "recent", history)
    detections = [detection(one, evaluation) for one in found]
    matched = tuple(
        tuple(
            block for block, some in history.matching.items() if any(one.at == event.number for one in some)
        )
        for event in events
    )
    return Answer(matched, tuple(one for one in detections if one.results))


def detection(occurrence: Occurrence, evaluation: Evaluation) -> Detection:
    """What is constructed for an occurrence of the whole tree; nothing, if its blocks do not join."""
    results = evaluation.results(occurrence.ways, occurrence.documents)
    return Detection(occurrence.at, occurrence.numbers, tuple(results))


@dataclass(frozen=True, slots=True)
class History:
    """The occurrences of each block in all events."""

    matching: Mapping[str, list[Occurrence]]
    evaluation: Evaluation


def _matching(block: str, evaluation: Evaluation, events: Sequence[XmlEvent]) -> list[Occurrence]:
    stream = stream_of(evaluation.blocks[block].source)
    found = []
    for event in events:
        if stream is not None and stream.name == event.stream:
            ways = evaluation.match(block, event.document)
            if ways:
                found.append(block_occurrence(block, event, ways))
    return found


def block_occurrence(block: str, event: XmlEvent, ways: Sequence[Found]) -> Occurrence:
    """An event that a block matches, as an occurrence."""
    taken = Taken(event.number, event.stream, event.document, tuple(ways))
    return Occurrence(event.number, event.time.start, event.time.end, {block: (taken,)})


def keys(occurrence: Occurrence, names: Sequence[str], evaluation: Evaluation) -> set[tuple[str, ...]]:
    """The values of join variables in an occurrence."""
    return {tuple(key_of(value) for value in row) for row in evaluation.keys(occurrence.ways, names)}


def occurrences(tree: Composition, context: Context, history: History) -> list[Occurrence]:
    """Every occurrence of a tree, in the order in which they are completed."""

    def of(part: Composition) -> list[Occurrence]:
        return occurrences(part, context, history)

    match tree:
        case Of(block):
            return list(history.matching[block])
        case OneOfTwo(left, right):
            return sorted([*of(left), *of(right)], key=lambda one: one.at)
        case Both(left, right):
            node = _Node(lambda *_: True, context, True, _shared(left, right, history), history)
            return node.combined(of(left), of(right))
        case Related("AFTER", left, right, within):
            return of(Related("BEFORE", right, left, within))
        case Related(relation, left, right, within):
            node = _Node(
                lambda one, other: related(relation, one, other) and close(one, other, within),
                context,
                relation != "BEFORE",
                _shared(left, right, history),
                history,
            )
            return node.combined(of(left), of(right))
        case Absent(absent, first, last):
            between = of(absent)

            def alone(one: Occurrence, other: Occurrence) -> bool:
                return one.end < other.start and not any(
                    x.at <= other.at and one.end < x.start and x.end < other.start for x in between
                )

            node = _Node(alone, context, False, _shared(first, last, history), history)
            return node.combined(of(first), of(last))
        case _:
            assert_never(tree)


def _shared(left: Composition, right: Composition, history: History) -> tuple[str, ...]:
    """The variables that both sides bind."""
    return shared(left, right, history.evaluation)


def shared(left: Composition, right: Composition, evaluation: Evaluation) -> tuple[str, ...]:
    """The variables that the blocks of both sides bind: those that join them."""
    sides = [
        {one.name for leaf in leaves(side) for one in variables(evaluation.blocks[leaf.block].pattern)}
        for side in (left, right)
    ]
    return tuple(sorted(sides[0] & sides[1]))


@dataclass
class _Node:
    """An operator with two operands: which pairs fit, and whether the left one can complete it, too."""

    fits: Fits
    context: Context
    either: bool
    names: tuple[str, ...]
    history: History
    used: set[int] = field(default_factory=set)  # the identities of occurrences

    def combined(self, lefts: list[Occurrence], rights: list[Occurrence]) -> list[Occurrence]:
        """The occurrences of the operator."""
        # Below an OR one event may be there twice: each time it is an occurrence of its own.
        lefts, rights = [replace(one) for one in lefts], [replace(one) for one in rights]
        found: list[Occurrence] = []
        for at in sorted({one.at for one in (*lefts, *rights)}):
            stored = [one for one in lefts if one.at <= at], [one for one in rights if one.at <= at]
            pairs: set[tuple[int, ...]] = set()
            for side, new in self._new(at, stored):
                others = stored[1 - side]
                for chosen in self._chosen(new, others, side):
                    pair = tuple(sorted(map(id, (new, *chosen))))
                    if pair not in pairs:
                        pairs.add(pair)
                        found.append(together(at, (new, *chosen)))
                        self._use(new, chosen, stored)
        return found

    def _new(self, at: int, stored: Sequence[list[Occurrence]]) -> Iterator[tuple[int, Occurrence]]:
        for side in (0, 1) if self.either else (1,):
            for one in stored[side]:
                if one.at == at and id(one) not in self.used:
                    yield side, one

    def _chosen(self, new: Occurrence, others: list[Occurrence], side: int) -> Iterator[list[Occurrence]]:
        """The groups of occurrences of the other operand that a new one completes a detection with."""

        def fits(other: Occurrence) -> bool:
            return self.fits(other, new) if side == 1 else self.fits(new, other)

        fitting = [one for one in others if id(one) not in self.used and fits(one)]
        match self.context:
            case "recent" | "recent_consume":
                yield from ([one] for one in fitting[-1:] if one is others[-1])
            case "recent_per_key":
                own = keys(new, self.names, self.history.evaluation)
                newest = {key: o for o in others for key in keys(o, self.names, self.history.evaluation)}
                yield from ([one] for one in fitting if any(newest.get(key) is one for key in own))
            case "chronicle":
                yield from ([one] for one in fitting[:1])
            case "continuous":
                yield from ([one] for one in fitting)
            case "cumulative":
                if fitting:
                    yield fitting
            case _:
                assert_never(self.context)

    def _use(self, new: Occurrence, chosen: list[Occurrence], stored: Sequence[list[Occurrence]]) -> None:
        match self.context:
            case "recent" | "recent_per_key":
                pass
            case "recent_consume" | "chronicle" | "continuous":
                self.used |= {id(one) for one in (new, *chosen)}
            case "cumulative":
                self.used |= {id(one) for side in stored for one in side}
