"""Event types: a name, typed attributes, at most one parent; and named sets of types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tocsin.errors import InputError, did_you_mean

ATTRIBUTE_TYPES = ("string", "int", "float", "bool", "timestamp")


@dataclass(frozen=True, slots=True)
class EventType:
    """A kind of event. A subtype has its parent's attributes too, and is an event of the parent's type."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    parent: str | None = None


class AnyCase(dict[str, str]):
    """Attributes and their kinds, found whether they are written in upper or lower case.

    >>> "Temp" in AnyCase(temp="float"), AnyCase(temp="float").get("TEMP")
    (True, 'float')
    """

    def _own(self, name: object) -> object:
        if dict.__contains__(self, name) or not isinstance(name, str):
            return name
        return next((one for one in self if one.lower() == name.lower()), name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(self._own(name))

    def __getitem__(self, name: str) -> str:
        return super().__getitem__(self._own(name))  # type: ignore[index]

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(self._own(name), default)  # type: ignore[call-overload]

    def copy(self) -> AnyCase:
        return AnyCase(self)


class Catalog:
    """The event types and sets that patterns may name.

    >>> catalog = Catalog([EventType("Seen", {"name": "string"}), EventType("Badge", {"door": "int"}, "Seen")])
    >>> catalog.members("Seen") == {"Seen", "Badge"}, dict(catalog.attributes("Badge"))
    (True, {'name': 'string', 'door': 'int'})

    A catalog that was `closed` refuses names it does not know; an open one takes any name as a type. `common` are attributes
    that events of every type have, such as the columns of a table.
    """

    def __init__(
        self,
        types: Iterable[EventType] = (),
        sets: Mapping[str, Iterable[str]] | None = None,
        *,
        common: Mapping[str, str] | None = None,
        closed: bool = False,
    ) -> None:
        self._types: dict[str, EventType] = {}
        self._sets: dict[str, frozenset[str]] = {}
        self.closed = closed
        self._common: dict[str, str] = common.copy() if isinstance(common, AnyCase) else dict(common or {})
        for event_type in types:
            self.declare(event_type)
        for name, members in (sets or {}).items():
            self.declare_set(name, members)

    def declare(self, event_type: EventType) -> None:
        """Add a type, whose parent must be declared already."""
        name = event_type.name
        if name in self._types or name in self._sets:
            raise InputError("duplicate-type", f"the event type {name!r} is declared twice")
        if event_type.parent is not None and event_type.parent not in self._types:
            raise InputError(
                "unknown-type",
                f"the parent {event_type.parent!r} of {name!r} is not declared",
                hint=did_you_mean(event_type.parent, self._types, "declare the parent first"),
            )
        for attribute, kind in event_type.attributes.items():
            if kind not in ATTRIBUTE_TYPES:
                raise InputError(
                    "unknown-attribute-type",
                    f"{name}.{attribute} has the unknown type {kind!r}",
                    hint="one of " + ", ".join(ATTRIBUTE_TYPES),
                )
        inherited = self.attributes(event_type.parent) if event_type.parent else {}
        for attribute in event_type.attributes:
            if inherited.get(attribute, event_type.attributes[attribute]) != event_type.attributes[attribute]:
                raise InputError(
                    "attribute-clash",
                    f"{name}.{attribute} has another type than the inherited {attribute}",
                    hint=f"{event_type.parent} declares it as {inherited[attribute]}",
                )
        self._types[name] = event_type

    def declare_set(self, name: str, members: Iterable[str]) -> None:
        """Name a set of types, so that a pattern can say `[A in S]`."""
        if name in self._types or name in self._sets:
            raise InputError("duplicate-type", f"{name!r} is declared twice")
        closed: set[str] = set()
        for member in members:
            if not self.knows(member):
                raise InputError(
                    "unknown-type",
                    f"{member!r} in the set {name!r} is not declared",
                    hint=did_you_mean(member, self.names),
                )
            closed |= self.members(member)
        self._sets[name] = frozenset(closed)

    @property
    def names(self) -> tuple[str, ...]:
        """Every type and set name that a pattern may use."""
        return (*self._types, *self._sets)

    @property
    def types(self) -> tuple[EventType, ...]:
        """The declared types, parents before children."""
        return tuple(self._types.values())

    def knows(self, name: str) -> bool:
        """Whether a pattern may name this type or set."""
        return name in self._types or name in self._sets or not self.closed

    def members(self, name: str) -> frozenset[str]:
        """The concrete types whose events belong to a type or set."""
        if name in self._sets:
            return self._sets[name]
        return frozenset({name}) | {t.name for t in self._types.values() if name in self.ancestors(t.name)}

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The type itself and its parents, nearest first."""
        chain = [name]
        while (known := self._types.get(chain[-1])) is not None and known.parent is not None:
            chain.append(known.parent)
        return tuple(chain)

    def belongs_to(self, name: str) -> frozenset[str]:
        """Every type and set an event of this type belongs to."""
        return frozenset(self.ancestors(name)) | {s for s, members in self._sets.items() if name in members}

    def describes(self, name: str) -> bool:
        """Whether the attributes of a type or set are known, so that an unknown one is a mistake."""
        return bool(self._common) or name in self._types or name in self._sets

    def attributes(self, name: str) -> Mapping[str, str]:
        """Attributes of a type with those it inherits; of a set, those all its members share."""
        if name in self._sets:
            each = [dict(self.attributes(member)) for member in sorted(self._sets[name])]
            shared = each[0].items() if each else ()
            return {a: kind for a, kind in shared if all(other.get(a) == kind for other in each)}
        merged = self._common.copy()
        for ancestor in reversed(self.ancestors(name)):
            if ancestor in self._types:
                merged.update(self._types[ancestor].attributes)
        return merged
