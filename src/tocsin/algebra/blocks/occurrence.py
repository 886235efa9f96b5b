"""Events as blocks match them, and what becomes of several: occurrences, with interval times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tocsin.algebra.blocks.matching import Found
from tocsin.algebra.blocks.temporal import Relation
from tocsin.events import Interval
from tocsin.runtime.xml_tree import Content


@dataclass(frozen=True, slots=True)
class XmlEvent:
    """A document with its stream, its time, and its number in the order of arrival."""

    number: int
    stream: str
    time: Interval
    document: Content


class Taken(NamedTuple):
    """An event that a block has matched, and the ways in which it did."""

    number: int
    stream: str
    document: Content
    ways: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Blocks that have matched, each with its events.

    `at` is the number of the event that completed it. Its time lasts from the earliest start to the latest end.
    """

    at: int
    start: int
    end: int
    events: Mapping[str, tuple[Taken, ...]]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The events that take part, in the order of arrival."""
        return tuple(sorted({one.number for taken in self.events.values() for one in taken}))

    @property
    def ways(self) -> dict[str, list[Found]]:
        """For each block the ways in which it matches its events."""
        return {block: [way for one in taken for way in one.ways] for block, taken in self.events.items()}

    @property
    def documents(self) -> dict[str, Content]:
        """For each stream its documents, one after the other."""
        taken = {one.number: one for some in self.events.values() for one in some}
        found: dict[str, Content] = {}
        for number in sorted(taken):
            one = taken[number]
            found[one.stream] = found.get(one.stream, ()) + one.document
        return found


def together(at: int, parts: Iterable[Occurrence]) -> Occurrence:
    """Several occurrences as one."""
    parts = list(parts)
    events: dict[str, dict[int, Taken]] = {}
    for part in parts:
        for block, taken in part.events.items():
            events.setdefault(block, {}).update({one.number: one for one in taken})
    ordered = {block: tuple(taken[number] for number in sorted(taken)) for block, taken in events.items()}
    return Occurrence(at, min(part.start for part in parts), max(part.end for part in parts), ordered)


def related(relation: Relation, left: Occurrence, right: Occurrence) -> bool:
    """Whether two occurrences are in a relation of time."""
    match relation:
        case "BEFORE":
            return left.end < right.start
        case "AFTER":
            return right.end < left.start
        case "CONCURRENT":
            return not left.end < right.start and not right.end < left.start
        case "DURING":
            return right.start < left.start and left.end < right.end


def close(left: Occurrence, right: Occurrence, within: int | None) -> bool:
    """Whether the time from the start of both to their end is at most this long."""
    return within is None or max(left.end, right.end) - min(left.start, right.start) <= within
