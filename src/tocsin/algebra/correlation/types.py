"""The event types a correlation is checked against: records with typed attributes and single inheritance.

>>> notify = RecordType("Notify", {"SourceID": "short"})
>>> types = Types((notify, RecordType("DataNotify", {"Value": "float"}, "Notify")))
>>> types.is_subtype("DataNotify", "Notify"), dict(types.attributes("DataNotify"))
(True, {'SourceID': 'short', 'Value': 'float'})

Every event also has the attributes that control its delivery (`delivery`), unless its type declares an
attribute of that name itself.

Paper: 001, section 4.3; the types are those of CORBA IDL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tocsin.errors import Span
from tocsin.events import Catalog, EventType
from tocsin.values import Value, kind

DELIVERY_ATTRIBUTES: Mapping[str, str] = {
    "priority": "long",
    "expiry": "double",
    "overwrite": "string",
    "drop": "string",
}
DELIVERY_CHOICES: Mapping[str, tuple[str, ...]] = {
    "overwrite": ("recent", "earliest"),
    "drop": ("oldest", "newest", "lowest"),
}

# Smallest and largest value of each whole-number type.
_RANGES = {
    "octet": (0, 255),
    "short": (-(2**15), 2**15 - 1),
    "unsigned short": (0, 2**16 - 1),
    "long": (-(2**31), 2**31 - 1),
    "unsigned long": (0, 2**32 - 1),
    "long long": (-(2**63), 2**63 - 1),
}
_CATALOG_KINDS = {
    "float": "float",
    "double": "float",
    "boolean": "bool",
    "char": "string",
    "string": "string",
}
PRIMITIVES = (*_RANGES, *_CATALOG_KINDS)


@dataclass(frozen=True, slots=True)
class RecordType:
    """An event type. A subtype has the attributes of its parent too."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    parent: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Types:
    """Event types by name, parents before children."""

    records: tuple[RecordType, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(record.name for record in self.records)

    @cached_property
    def _by_name(self) -> Mapping[str, RecordType]:
        return {record.name: record for record in self.records}

    def find(self, name: str) -> RecordType | None:
        """The type of this full name."""
        return self._by_name.get(name)

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The type itself and its parents, nearest first."""
        chain = [name]
        while (record := self.find(chain[-1])) is not None and record.parent is not None:
            chain.append(record.parent)
        return tuple(chain)

    def is_subtype(self, name: str, ancestor: str) -> bool:
        """Whether events of a type can stand for events of another; every type is a subtype of itself."""
        return ancestor in self.ancestors(name)

    def attributes(self, name: str) -> Mapping[str, str]:
        """The attributes of a type, the inherited ones first."""
        merged: dict[str, str] = {}
        for ancestor in reversed(self.ancestors(name)):
            if (record := self.find(ancestor)) is not None:
                merged |= record.attributes
        return merged

    def attribute(self, name: str, attribute: str) -> str | None:
        """The primitive type of an attribute; None if events of this type have none of this name."""
        return {**DELIVERY_ATTRIBUTES, **self.attributes(name)}.get(attribute)


def assignable(source: str, target: str) -> bool:
    """Whether values of a primitive type fit into another.

    >>> assignable("short", "long"), assignable("long", "float"), assignable("float", "short")
    (True, True, False)
    """
    if source == target:
        return True
    if source in _RANGES and target in _RANGES:
        return _RANGES[target][0] <= _RANGES[source][0] and _RANGES[source][1] <= _RANGES[target][1]
    if source in _RANGES:
        return target in ("float", "double")
    return (source, target) in (("float", "double"), ("char", "string"))


def holds_value(value: Value, target: str) -> bool:
    """Whether an attribute of a primitive type can hold a constant.

    >>> holds_value(7, "octet"), holds_value(256, "octet"), holds_value("yes", "boolean")
    (True, False, False)
    """
    if isinstance(value, bool):
        return target == "boolean"
    if isinstance(value, int) and target in _RANGES:
        low, high = _RANGES[target]
        return low <= value <= high
    if isinstance(value, int | float):
        return target in ("float", "double")
    return isinstance(value, str) and (target == "string" or (target == "char" and len(value) == 1))


def value_type(value: Value) -> str:
    """The name of a constant's type in messages."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return {"bool": "boolean", "number": "double", "none": "null"}.get(kind(value), "string")


def catalog_kind(type: str) -> str:
    """The catalog's name for a primitive type."""
    return _CATALOG_KINDS.get(type, "int")


def catalog(types: Types) -> Catalog:
    """The catalog of these types, as the rest of Tocsin uses it.

    >>> catalog(Types((RecordType("Notify", {"SourceID": "short"}),))).attributes("Notify")
    {'SourceID': 'int'}
    """
    return Catalog(
        EventType(
            record.name,
            {a: catalog_kind(k) for a, k in record.attributes.items()},
            record.parent,
        )
        for record in types.records
    )
