"""Read the `[event.NAME]` and `[set]` tables of a pipeline file."""

from __future__ import annotations

from tocsin.errors import did_you_mean
from tocsin.events import ATTRIBUTE_TYPES, EventType
from tocsin.languages.lexis import is_name
from tocsin.spark.pipeline.added_columns import ORIGIN, PREFIX
from tocsin.spark.pipeline.file.model import Declarations
from tocsin.spark.pipeline.file.section import Table

PARENT = "extends"  # the one key of [event.NAME] that is not an attribute


def read_declarations(root: Table, strict: bool | None) -> Declarations:
    """Return the declared types, parents first. Unless the file says otherwise, there are no others."""
    section = root.table("event")
    tables = {name: section.table(name) for name in section.names()} if section else {}
    found = {name: _event_type(name, table) for name, table in tables.items() if table is not None}
    if section is not None:
        for name in found:
            if not is_name(name):
                section.note("bad-name", f"{name!r} cannot be the name of an event type", name)
        _check_attributes(section, found)
    types = _parents_first(section, found)
    sets = _sets(root.table("set"), found)
    if strict and not types:
        root.note(
            "bad-value", "strict_types needs declared types", "pipeline", hint="declare them as [event.NAME]"
        )
    return Declarations(types, sets, bool(types) if strict is None else strict and bool(types))


def _event_type(name: str, table: Table) -> EventType:
    attributes: dict[str, str] = {}
    for key in table.names():
        if key == PARENT:
            continue
        kind = table.choice(key, ATTRIBUTE_TYPES, "string")
        if not is_name(key) or key.startswith(PREFIX):
            hint = "a name that patterns can use; `rename` in [[source]] gives a column such a name"
            table.note("bad-name", f"{key!r} cannot be the name of an attribute", key, hint)
        attributes[key] = kind or "string"
    return EventType(name, attributes, table.text(PARENT))


def _check_attributes(section: Table, types: dict[str, EventType]) -> None:
    """Note types that disagree about a shared attribute: it is one column, and Spark ignores case."""
    # Every event has this one: where it comes from.
    first: dict[str, tuple[str, str, str]] = {ORIGIN: (ORIGIN, "string", "of every event")}
    for name, event_type in types.items():
        for attribute, kind in event_type.attributes.items():
            spelt, other, owner = first.setdefault(attribute.lower(), (attribute, kind, f"of {name}"))
            if (spelt, other) != (attribute, kind):
                Table(section.document, section.errors, {}, (*section.place, name)).note(
                    "attribute-clash",
                    f"{attribute} of {name} is {kind}, but {spelt} {owner} is {other}",
                    attribute,
                    "write both the same way, or give one of them another name",
                    value=True,
                )


def _parents_first(section: Table | None, types: dict[str, EventType]) -> tuple[EventType, ...]:
    ordered: dict[str, EventType] = {}
    waiting = dict(types)
    while waiting:
        ready = [t for t in waiting.values() if t.parent is None or t.parent in ordered]
        if not ready:
            break
        for event_type in ready:
            ordered[event_type.name] = waiting.pop(event_type.name)
    for event_type in waiting.values():
        assert section is not None
        table = Table(section.document, section.errors, {}, (*section.place, event_type.name))
        parent = event_type.parent or ""
        if parent not in types:
            hint = did_you_mean(parent, types)
            table.note("unknown-type", f"there is no event type {parent!r}", PARENT, hint, value=True)
        elif (loop := _loop(event_type.name, types))[0] == event_type.name:
            message = f"event types extend each other in a loop: {' → '.join(loop)}"
            table.note("type-loop", message, PARENT, "leave one of them without a parent", value=True)
    return tuple(ordered.values())


def _loop(name: str, types: dict[str, EventType]) -> list[str]:
    """Return the loop among the parents of a type, its first type repeated at the end; else all parents after an empty name."""
    way = [name]
    while (parent := types[way[-1]].parent) in types and parent is not None:
        if parent in way:
            return [*way[way.index(parent) :], parent]
        way.append(parent)
    return ["", *way]


def _sets(table: Table | None, types: dict[str, EventType]) -> dict[str, tuple[str, ...]]:
    sets: dict[str, tuple[str, ...]] = {}
    for name in table.names() if table else ():
        assert table is not None
        members = table.texts(name) or ()
        known = [*types, *sets]
        if name in types or not is_name(name):
            table.note("bad-name", f"{name!r} cannot be the name of a set", name, "choose another name")
        for member in members if types else ():
            if member not in known:
                hint = did_you_mean(member, known)
                table.note("unknown-type", f"there is no event type {member!r}", name, hint, value=True)
        sets[name] = members
    return sets
