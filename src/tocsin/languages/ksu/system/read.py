"""Reads a whole system from an assembly file and the files that it includes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.types import RecordType, Types
from tocsin.algebra.system.model import Behaviour, Component, System
from tocsin.errors import InputError, PatternError, PatternErrors
from tocsin.languages.attached import Attached, located
from tocsin.languages.ksu.idl import parse_declarations
from tocsin.languages.ksu.parser import parse
from tocsin.languages.ksu.system.behaviour import parse_behaviours
from tocsin.languages.ksu.system.layout import read_layout
from tocsin.languages.ksu.words import SYMBOLS
from tocsin.languages.lexis import Reader

_FILES = (".idl", ".cps", ".cor")


def is_system(text: str) -> bool:
    """Whether an assembly describes a whole system, and not only what correlations are connected to.

    >>> is_system('#include "a.idl" instance A a;'), is_system("connect A.out -> C.a;")
    (True, False)
    """
    reader = Reader(text, SYMBOLS)
    while not reader.at("end"):
        if reader.at("#") or (reader.at_word("instance") and reader.ahead().kind == "name"):
            return True
        reader.advance()
    return False


def read_system(given: Attached, read: Callable[[Path], Attached] = Attached.of) -> System:
    """The system of an assembly file; raises `PatternErrors` with all mistakes of the first file that has any."""
    with located(given.file):
        reader = Reader(given.text, SYMBOLS)
        layout = read_layout(reader)
        if reader.errors:
            raise PatternErrors(reader.errors)
    folder = Path(given.file or ".").parent
    records: dict[str, RecordType] = {}
    components: dict[str, Component] = {}
    behaviours: dict[str, Behaviour] = {}
    correlations: dict[str, Correlation] = {}

    def file(name: str) -> Attached:
        return read(folder / name)

    texts = [(token, Path(str(token.value)).suffix) for token in layout.includes]
    for token, ending in sorted(texts, key=lambda one: _FILES.index(one[1]) if one[1] in _FILES else -1):
        if ending not in _FILES:
            hint = f"a system includes files that end in {', '.join(_FILES)}"
            with located(given.file):
                raise PatternErrors(
                    [PatternError("bad-file", f"{token.value} cannot be included", token.span, hint)]
                )
        found = file(str(token.value))
        with located(found.file):
            if ending == ".idl":
                declared = parse_declarations(found.text, file)
                records |= {one.name: one for one in declared.types.records}
                components |= declared.components
            elif ending == ".cps":
                behaviours |= parse_behaviours(found.text)
            else:
                library = parse(found.text, Types(tuple(records.values())) if records else None)
                correlations |= {one.name: one for one in library.correlations}
    if not layout.instances:
        message = "the system has no instances"
        raise InputError("bad-file", message, hint="write instance COMPONENT NAME;")
    used = {one.owner for wire in layout.wires for one in (wire.source, wire.target)}
    return System(
        Types(tuple(records.values())),
        components,
        Library(tuple(one for name, one in correlations.items() if name in used)),
        behaviours,
        layout.instances,
        tuple(layout.wires),
        tuple(layout.rates),
        tuple(layout.specifications),
        layout.queue,
    )
