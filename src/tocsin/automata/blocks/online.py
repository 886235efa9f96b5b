"""Many queries over one stream of documents, each document looked at once: the index, the trees, and what is constructed.

What a query constructs is an event, too, if it is one element: a stream with the name of the query, which others take it from.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from tocsin.algebra.blocks.construct import is_event
from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.matching import Found
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.algebra.blocks.query import Query, Stream, stream_of
from tocsin.algebra.blocks.semantics import Answer, Detection, detection
from tocsin.automata.blocks.event_tree import EventTree
from tocsin.automata.blocks.index import BlockIndex
from tocsin.errors import InputError, LimitError
from tocsin.runtime.xml_tree import numbered

MAX_FOLLOWING = (
    1_000  # events that queries construct, directly or from each other, after one that came from outside
)


class Sent(NamedTuple):
    """A detection of a query."""

    query: str
    detection: Detection


class _Running(NamedTuple):
    evaluation: Evaluation
    tree: EventTree


class Subscriptions:
    """Queries by name, which come and go while events are fed.

    The number of an event that a query constructs is that of the event that completed it. Events come in the order of their
    ends, unless they are said not to be `ordered`.
    """

    def __init__(self, *, ordered: bool = True) -> None:
        self._ordered = ordered
        self.index = BlockIndex()
        self._running: dict[str, _Running] = {}

    def add(self, name: str, query: Query) -> None:
        """Start a query; it sees the events from now on."""
        if name in self._running:
            message = f"there is a query {name!r} already"
            raise InputError("duplicate-name", message, hint="remove it first, or give another name")
        evaluation = Evaluation(query)
        self._running[name] = _Running(evaluation, EventTree(query, evaluation, ordered=self._ordered))
        for block in query.blocks:
            key, stream = (name, block.name), stream_of(block.source)
            assert stream is not None
            if isinstance(block.source, Stream):
                own = evaluation.own_predicates(block.name)
                root_only = query.interpretation.root_only
                self.index.add(key, stream.name, block.pattern, own, root_only=root_only)
            else:
                self.index.add_computed(key, stream.name, partial(evaluation.match, block.name))

    def remove(self, name: str) -> None:
        """End a query, and forget what it remembers."""
        running = self._running.pop(name, None)
        if running is None:
            raise InputError("unknown-name", f"there is no query {name!r}")
        for block in running.evaluation.blocks:
            self.index.remove((name, block))

    def matched(self, event: XmlEvent) -> dict[str, dict[str, list[Found]]]:
        """For each query that has some, the blocks that match an event."""
        found: dict[str, dict[str, list[Found]]] = {}
        for key, ways in self.index.match(event.stream, event.document).items():
            assert isinstance(key, tuple)
            name, block = key
            found.setdefault(name, {})[block] = ways
        return found

    def feed(self, event: XmlEvent) -> list[Sent]:
        """What an event completes, and what follows from that."""
        sent: list[Sent] = []
        waiting = [event]
        for number, one in enumerate(waiting):
            if number > MAX_FOLLOWING:
                message = f"more than {MAX_FOLLOWING:,} constructed events follow from one event"
                raise LimitError(
                    "too-many-results", message, hint="let no query take what it constructs itself"
                )
            for name, blocks in self.matched(one).items():
                new, following = self.fed(name, one, blocks)
                sent += new
                waiting += following
        return sent

    def fed(
        self, name: str, event: XmlEvent, blocks: dict[str, list[Found]]
    ) -> tuple[list[Sent], list[XmlEvent]]:
        """What an event whose blocks are known completes in one query, and the events that it constructs."""
        running = self._running[name]
        sent: list[Sent] = []
        following: list[XmlEvent] = []
        for occurrence in running.tree.feed(event, blocks):
            found = detection(occurrence, running.evaluation)
            if found.results:
                sent.append(Sent(name, found))
                if not self.index.takes(name):
                    continue
                time = type(event.time)(occurrence.start, occurrence.end)
                following += [
                    XmlEvent(event.number, name, time, numbered(result))
                    for result in found.results
                    if is_event(result)
                ]
        return sent, following

    @property
    def visits(self) -> int:
        """The visits of nodes of all event trees."""
        return sum(running.tree.visits for running in self._running.values())

    @property
    def stored(self) -> int:
        """The occurrences that all event trees keep."""
        return sum(running.tree.stored for running in self._running.values())


def answer_online(query: Query, events: Sequence[XmlEvent]) -> Answer:
    """What one query finds in a stream of events, as `algebra.blocks.semantics.answer` defines it."""
    ordered = all(one.time.end <= other.time.end for one, other in pairwise(events))
    running, name = Subscriptions(ordered=ordered), "query"
    running.add(name, query)
    matched: list[tuple[str, ...]] = []
    detections: list[Detection] = []
    for event in events:
        blocks = running.matched(event).get(name, {})
        matched.append(tuple(block.name for block in query.blocks if block.name in blocks))
        sent, _ = running.fed(name, event, blocks)
        detections += [one.detection for one in sent]
    return Answer(tuple(matched), tuple(detections))
