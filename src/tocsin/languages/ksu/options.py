"""The options of the correlation language: its interpretation, and files beside a library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from tocsin.algebra.correlation.expression import Abort, Activity, Interpretation, Library, Overwrite
from tocsin.algebra.correlation.types import Types
from tocsin.errors import InputError, did_you_mean
from tocsin.languages.attached import Attached, located
from tocsin.languages.ksu.idl import parse_idl

Ports = Mapping[str, Mapping[str, str]]
_READING = tuple(one.name for one in fields(Interpretation))


@dataclass(frozen=True, slots=True)
class CorrelationOptions:
    """How correlations are interpreted, and what they are connected to.

    Args:
        activity, abort, overwrite: see `tocsin.algebra.correlation.expression.Interpretation`.
        triggers: whether a row is reported for each trigger of a filter, besides the events that are sent.
        types: the event types in IDL; a text, or a `pathlib.Path` to read it from.
        assembly: which ports are connected; a text, or a `pathlib.Path` to read it from.
        ports: instead of an assembly, for each correlation and each of its events the source it comes from. As text,
            `Latest.a=GPS.out1,Latest.b=INS.out1`.
        correlation: the one to use from a library; by default all.
    """

    activity: Activity = "literal"
    abort: Abort = "eager"
    overwrite: Overwrite = "recent"
    triggers: bool = False
    types: Types | None = field(default=None, metadata={"beside": "file", "ending": ".idl"})
    assembly: Attached | None = field(default=None, metadata={"beside": "file", "ending": ".cad"})
    ports: Ports | None = None
    correlation: str | None = field(default=None, metadata={"beside": "text"})

    @classmethod
    def of(cls, options: Mapping[str, object]) -> CorrelationOptions:
        """The options given by a mapping of names to values.

        >>> CorrelationOptions.of({"overwrite": "earliest", "triggers": "true"}).triggers
        True
        """
        known = [one.name for one in fields(cls)]
        for name in options:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InputError("unknown-option", f"there is no option {name!r}", hint=hint)
        interpretation = Interpretation.of(
            {name: value for name, value in options.items() if name in _READING}
        )
        assembly, ports = options.get("assembly"), options.get("ports")
        if assembly is not None and ports is not None:
            message = "both ports and an assembly say where events come from"
            raise InputError("bad-option", message, hint="keep one")
        correlation = options.get("correlation")
        return cls(
            interpretation.activity,
            interpretation.abort,
            interpretation.overwrite,
            _flag(options.get("triggers", False)),
            _types(options.get("types")),
            None if assembly is None else Attached.of(assembly),
            read_ports(ports) if isinstance(ports, str) else _ports(ports),
            None if correlation is None else str(correlation),
        )

    @property
    def interpretation(self) -> Interpretation:
        """The interpretation of the paper that is followed."""
        return Interpretation(self.activity, self.abort, self.overwrite)

    def chosen(self, library: Library) -> Library:
        """The library, reduced to the chosen correlation if there is one."""
        if self.correlation is None:
            return library
        found = library.find(self.correlation)
        if found is None:
            names = [correlation.name for correlation in library.correlations]
            message = f"there is no correlation {self.correlation!r}"
            raise InputError("unknown-correlation", message, hint=did_you_mean(self.correlation, names))
        return Library((found,), library.warnings)


def read_ports(text: str) -> Ports:
    """The sources that a text binds events to.

    >>> read_ports("Latest.a=GPS.out1, Latest.b=INS.out1")
    {'Latest': {'a': 'GPS.out1', 'b': 'INS.out1'}}
    """
    found: dict[str, dict[str, str]] = {}
    for binding in text.split(","):
        end, equals, source = (part.strip() for part in binding.partition("="))
        correlation, dot, event = end.partition(".")
        if not (correlation and dot and event and equals and source):
            hint = "write Correlation.event=source, as in Latest.a=GPS.out1"
            raise InputError("bad-option", f"{binding.strip()!r} binds no event to a source", hint=hint)
        if found.setdefault(correlation, {}).setdefault(event, source) != source:
            raise InputError("bound-twice", f"the ports bind {end} twice", hint="keep one of them")
    return found


def _ports(given: object) -> Ports | None:
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(events, Mapping) for events in given.values()):
        hint = "give a source for each event of each correlation, as in {'Latest': {'a': 'GPS.out1'}}"
        raise InputError("bad-option", f"the option ports cannot be {given!r}", hint=hint)
    return {str(name): dict(events) for name, events in given.items()}


def _types(given: object) -> Types | None:
    if given is None or isinstance(given, Types):
        return given
    text, file = Attached.of(given)
    with located(file):
        return parse_idl(text)


def _flag(given: object) -> bool:
    if given not in (True, False, "true", "false"):
        raise InputError("bad-option", f"the option triggers cannot be {given!r}", hint="one of true, false")
    return given in (True, "true")
