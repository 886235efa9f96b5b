"""Which ports can influence a port: backwards along connections, through correlations, and through components."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.correlation.expression import events
from tocsin.algebra.system.model import SENDING, End, System


def slice_of(system: System, end: End) -> tuple[End, ...]:
    """The ends that can influence what leaves by an end or arrives there, itself first, then the nearest."""
    found: dict[End, None] = {end: None}
    pending = [end]
    for one in pending:  # which grows during the loop
        for earlier in influences(system, one):
            if earlier not in found:
                found[earlier] = None
                pending.append(earlier)
    return tuple(found)


def influences(system: System, end: End) -> Iterator[End]:
    """The ends that influence an end directly."""
    correlation = system.library.find(end.owner)
    if correlation is not None and end.port is None:
        # What a branch takes, or what switches a label, decides what is sent.
        named = dict.fromkeys(name for branch in correlation.branches for name in sorted(events(branch)))
        yield from (End(end.owner, name) for name in named)
        return
    port = system.port(end)
    if port is None or port.direction == "consumes":
        yield from (wire.source for wire in system.wires if wire.target == end)
    elif port.direction in SENDING:
        yield from (End(end.owner, name) for name in inputs_of(system, end))


def inputs_of(system: System, end: End) -> tuple[str, ...]:
    """The ports of an instance that decide whether it sends by a port.

    They are those that its behaviour says; otherwise those on which it sends, and those that lead to a mode in which it sends.
    """
    behaviour = system.behaviour(end.owner)
    said = dict(behaviour.depends)
    if end.port in said:
        return said[end.port]
    sending = [one for one in behaviour.transitions if end.port in one.pushes]
    found = [one.on for one in sending]
    if any(set(one.modes) != set(behaviour.modes) for one in sending):
        # Whatever changes the mode may decide whether it sends.
        found += [one.on for one in behaviour.transitions if one.goto is not None]
    return tuple(dict.fromkeys(name for name in found if name is not None))
