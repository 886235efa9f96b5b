"""Parses the statements of assembly files, the `.cad` files: instances on nodes, connections, rates and specifications.

```
#include "aircraft.idl"
#include "modes.cor"
instance Pilot pilot on left;
connect pilot.land -> Modal.toLanding;
rate gps.out1 20;
queue 4;
spec Alive: never deadlock;
```

Paper: 001, section 6; the notation is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tocsin.algebra.system.model import End, Instance, Rate, Wire
from tocsin.algebra.system.specification import Specification
from tocsin.languages.ksu.idl import included
from tocsin.languages.ksu.system.specification import specification
from tocsin.languages.ksu.words import skip_to
from tocsin.languages.lexis import Failure, Reader, Token

STATEMENTS = ("#", "instance", "connect", "rate", "queue", "spec")
MOST_UNDER_WAY = 1_000


@dataclass
class Layout:
    """What an assembly file says, as far as it has been read."""

    includes: list[Token] = field(default_factory=list)
    instances: dict[str, Instance] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)
    specifications: list[Specification] = field(default_factory=list)
    queue: int = 8


def read_layout(reader: Reader) -> Layout:
    """All statements of a text; mistakes are noted in the reader."""
    layout = Layout()
    while not reader.at("end"):
        start = reader.here
        try:
            _statement(reader, layout)
        except Failure:
            if reader.here is start:
                reader.advance()
            skip_to(reader, ";", *STATEMENTS)
            reader.accept(";")
    return layout


def _statement(reader: Reader, layout: Layout) -> None:
    start = reader.here
    if reader.at("#"):
        layout.includes.append(included(reader))
        return
    if reader.accept_word("instance"):
        _instances(reader, layout)
    elif reader.accept_word("connect"):
        source = end(reader)
        reader.expect("->", "'->' and the port that receives")
        target = end(reader)
        reader.expect(";", "';' after the connection")
        layout.wires.append(Wire(source, target, reader.span_from(start)))
        return
    elif reader.accept_word("rate"):
        of = end(reader)
        number = reader.expect("number", "how many events a second")
        layout.rates.append(Rate(of, float(number.value), reader.span_from(start)))
    elif reader.accept_word("queue"):
        number = reader.expect("number", "how many events may be under way at once")
        if not isinstance(number.value, int) or not 1 <= number.value <= MOST_UNDER_WAY:
            message = f"the queue has room for 1 to {MOST_UNDER_WAY:,} events"
            reader.note("bad-bound", message, number.span)
        else:
            layout.queue = number.value
    elif reader.accept_word("spec"):
        layout.specifications.append(specification(reader, start))
    else:
        reader.fail("#include, instance, connect, rate, queue or spec")
    reader.expect(";", "';'")


def _instances(reader: Reader, layout: Layout) -> None:
    component = reader.expect("name", "a component").text
    while reader.accept("::"):
        component += "::" + reader.expect("name", "the rest of the name").text
    names = [reader.expect("name", "the name of the instance")]
    while reader.accept(","):
        names.append(reader.expect("name", "the name of another instance"))
    node = reader.expect("name", "a node").text if reader.accept_word("on") else None
    for name in names:
        if name.text in layout.instances:
            reader.note("duplicate-name", f"there are two instances {name.text}", name.span)
        layout.instances[name.text] = Instance(name.text, component, node, name.span)


def end(reader: Reader) -> End:
    """`OWNER.PORT`, or the output of a correlation."""
    owner = reader.expect("name", "an instance or a correlation")
    port = reader.expect("name", "the name of a port").text if reader.accept(".") else None
    return End(owner.text, port, reader.span_from(owner))
