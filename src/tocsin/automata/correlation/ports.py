"""Filters that assign the events of a table to the events of a correlation.

With ports, an event is identified by its source, and one whose type is not that of the port is a dead letter. Without
ports it is identified by its type.
"""

from __future__ import annotations

from collections.abc import Mapping

from tocsin.algebra.correlation.expression import Correlation
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Or
from tocsin.errors import InputError, PatternError, PatternErrors, did_you_mean
from tocsin.values import Relation

_NONE: Filter = Or(())


def port_filters(
    correlation: Correlation, types: Types | None, ports: Mapping[str, str] | None
) -> tuple[Filter, ...]:
    """Filters: for each parameter, events from its port; then for each, those that also have the right type.

    An event of no port satisfies none of them, so Spark can drop it.
    """
    parameters = correlation.parameters
    if ports is None:
        _refuse_doubt(correlation, types)
        return 2 * tuple(_is("type", p.type) for p in parameters)
    _check_ports(correlation, ports)
    # An event that no port is bound to never arrives.
    sources = tuple(_is("source", ports[p.name]) if p.name in ports else _NONE for p in parameters)
    if types is None:
        return 2 * sources
    admitted = (And((source, _is("type", p.type))) for source, p in zip(sources, parameters, strict=True))
    return (*sources, *admitted)


def _check_ports(correlation: Correlation, ports: Mapping[str, str]) -> None:
    names = [parameter.name for parameter in correlation.parameters]
    taken: dict[str, str] = {}
    for name, source in ports.items():
        if name not in names:
            message = f"correlation {correlation.name} has no event {name!r}"
            raise InputError("unknown-event", message, hint=did_you_mean(name, names))
        if (other := taken.setdefault(source, name)) != name:
            message = f"port {source} is bound to both {other} and {name} of {correlation.name}"
            raise InputError("bound-twice", message, hint="use one event for it, twice in the filter")


def _refuse_doubt(correlation: Correlation, types: Types | None) -> None:
    """Refuse ambiguous parameters: an event could belong to either of two."""
    errors = []
    for number, parameter in enumerate(correlation.parameters):
        for other in correlation.parameters[:number]:
            related = parameter.type == other.type or (
                types is not None
                and (
                    types.is_subtype(parameter.type, other.type)
                    or types.is_subtype(other.type, parameter.type)
                )
            )
            if related:
                message = f"an event of type {parameter.type} could be {other.name} or {parameter.name} of {correlation.name}"
                hint = "say from which source each comes: with an assembly, or ports"
                errors.append(PatternError("no-port", message, parameter.span, hint))
    if errors:
        raise PatternErrors(errors)


def _is(name: str, value: str) -> Filter:
    return Compare(Attribute(name), Relation.EQ, Literal(value))
