"""Parses assembly files, the `.cad` files: which ports feed a correlation, and which ports get its output.

`connect A.out1 -> AfterTimeout.a; connect AfterTimeout -> C.in1;` binds the event `a` of the correlation
`AfterTimeout` to the port `out1` of the component `A`, and sends its output to the port `in1` of `C`.

The file may describe a whole system (see `system`); here only its connections matter.

Paper: 001, sections 3.7 and 6; the notation is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.system.model import End, Wire
from tocsin.errors import PatternError, PatternErrors, did_you_mean
from tocsin.languages.ksu.system.layout import read_layout
from tocsin.languages.ksu.words import SYMBOLS
from tocsin.languages.lexis import Reader


@dataclass(frozen=True, slots=True)
class Assembly:
    """The connections of a system, with warnings.

    >>> found = parse_assembly("connect A.out1 -> Late.a; connect Late -> C.in1;")
    >>> str(found.sources("Late")["a"]), [str(port) for port in found.receivers("Late")]
    ('A.out1', ['C.in1'])
    """

    connections: tuple[Wire, ...]
    warnings: tuple[PatternError, ...] = field(default=(), compare=False)

    def sources(self, correlation: str) -> dict[str, End]:
        """The port each event of a correlation is bound to."""
        bound = [c for c in self.connections if c.target.owner == correlation]
        return {c.target.port: c.source for c in bound if c.target.port is not None}

    def receivers(self, correlation: str) -> tuple[End, ...]:
        """The ports that get what a correlation sends."""
        return tuple(c.target for c in self.connections if c.source == End(correlation))


def parse_assembly(text: str, library: Library | None = None, types: Types | None = None) -> Assembly:
    """Parse a text to an assembly; raises `PatternErrors` with all mistakes.

    If the library is given, ports of correlations are checked; with the event types, also what flows between
    two of them.
    """
    reader = Reader(text, SYMBOLS)
    found = read_layout(reader).wires
    errors = list(reader.errors)
    warnings: tuple[PatternError, ...] = ()
    if library is not None:
        errors += _check(found, library, types)
        errors += _loops(found, library)
        warnings = tuple(_unbound(found, library))
    if errors:
        raise PatternErrors(errors)
    return Assembly(tuple(found), warnings)


def show_assembly(assembly: Assembly) -> str:
    """The text of an assembly."""
    return "\n".join(f"connect {c.source} -> {c.target};" for c in assembly.connections)


def _check(connections: list[Wire], library: Library, types: Types | None) -> Iterator[PatternError]:
    taken: set[End] = set()
    used: dict[tuple[str, End], str | None] = {}
    for connection in connections:
        source, target = connection.source, connection.target
        yield from _check_ends(connection, library)
        receiver = library.find(target.owner)
        if receiver is None:
            continue
        if target in taken:
            hint = "give each source an event of its own, and join them in the filter with |"
            yield PatternError("bound-twice", f"event {target} is bound twice", target.span, hint)
        other = used.setdefault((target.owner, source), target.port)
        if other != target.port:
            message = f"port {source} is bound to both {other} and {target.port} of {target.owner}"
            yield PatternError(
                "bound-twice", message, source.span, "use one event for it, twice in the filter"
            )
        taken.add(target)
        if types is not None:
            yield from _check_flow(connection, library.find(source.owner), receiver, types)


def _loops(connections: list[Wire], library: Library) -> Iterator[PatternError]:
    """Wires that lead a correlation's output back to it."""
    feeds: dict[str, list[Wire]] = {}
    for connection in connections:
        if library.find(connection.source.owner) and library.find(connection.target.owner):
            feeds.setdefault(connection.source.owner, []).append(connection)
    for connection in (one for several in feeds.values() for one in several):
        reached, waiting = set[str](), [connection.target.owner]
        while waiting:
            owner = waiting.pop()
            if owner not in reached:
                reached.add(owner)
                waiting += [one.target.owner for one in feeds.get(owner, ())]
        if connection.source.owner in reached:
            message = f"{connection.source.owner} would receive what comes of its own output"
            yield PatternError("connection-loop", message, connection.span, "one connection must go")


def _check_ends(connection: Wire, library: Library) -> Iterator[PatternError]:
    """Check that a correlation sends through its one output, and receives through its parameters."""
    source, target = connection.source, connection.target
    sender, receiver = library.find(source.owner), library.find(target.owner)
    if sender is None and source.port is None:
        hint = did_you_mean(source.owner, [c.name for c in library.correlations])
        yield PatternError(
            "unknown-correlation", f"correlation {source.owner} not declared", source.span, hint
        )
    if sender is not None and source.port is not None:
        message = f"the output of correlation {sender.name} has no port {source.port}"
        yield PatternError("unknown-port", message, source.span, f"write connect {sender.name} -> …")
    if target.port is None:
        yield PatternError(
            "no-port", f"{target.owner} needs a port to receive", target.span, "write Name.port"
        )
    elif receiver is not None:
        names = [parameter.name for parameter in receiver.parameters]
        if target.port not in names:
            message = f"event {target.port} not declared in {receiver.name}"
            yield PatternError("unknown-event", message, target.span, did_you_mean(target.port, names))


def _check_flow(
    connection: Wire, sender: Correlation | None, receiver: Correlation, types: Types
) -> Iterator[PatternError]:
    expected = next((p.type for p in receiver.parameters if p.name == connection.target.port), None)
    if sender is None or expected is None or types.is_subtype(sender.output, expected):
        return
    message = f"{sender.output} is not a subtype of {expected}, the type of {connection.target}"
    yield PatternError("wrong-type", message, connection.span)


def _unbound(connections: list[Wire], library: Library) -> Iterator[PatternError]:
    """Events of the correlations in use that have no source."""
    names = {port.owner for c in connections for port in (c.source, c.target)}
    bound = {(c.target.owner, c.target.port) for c in connections}
    for correlation in library.correlations:
        for parameter in correlation.parameters:
            if correlation.name in names and (correlation.name, parameter.name) not in bound:
                message = (
                    f"event {parameter.name} of {correlation.name} is bound to no port, so it never arrives"
                )
                yield PatternError(
                    "unbound-event",
                    message,
                    parameter.span,
                    f"connect … -> {correlation.name}.{parameter.name};",
                )
