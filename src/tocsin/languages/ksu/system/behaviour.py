"""Parses the behaviour of components, the `.cps` files: their modes, what they do in them, and what their outputs depend on.

```
component Navigator {
  modes idle, waiting;
  in idle: do push request goto waiting;
  in waiting: on answer do goto idle;
  fix depends on answer;
}
```

A statement without `in` is about every mode, one without `on` is something that the component does by itself.

Paper: 001, section 6; the notation is ours.
"""

from __future__ import annotations

from tocsin.algebra.system.model import Behaviour, Transition
from tocsin.errors import PatternErrors
from tocsin.languages.ksu.words import SYMBOLS, skip_to, type_name
from tocsin.languages.lexis import Failure, Reader


def parse_behaviours(text: str) -> dict[str, Behaviour]:
    """The behaviours of a text by component; raises `PatternErrors` with all mistakes.

    >>> found = parse_behaviours("component A { modes on, off; in on: on stop do push gone goto off; }")
    >>> found["A"].transitions[0].modes, found["A"].transitions[0].goto
    (('on',), 'off')
    """
    reader, found = Reader(text, SYMBOLS), dict[str, Behaviour]()
    while not reader.at("end"):
        try:
            behaviour = _component(reader)
        except Failure:
            reader.advance()
            skip_to(reader, "component")
            continue
        if behaviour.component in found:
            message = f"the behaviour of {behaviour.component} is there twice"
            reader.note("duplicate-name", message, behaviour.span)
        found[behaviour.component] = behaviour
    if reader.errors:
        raise PatternErrors(reader.errors)
    return found


def _component(reader: Reader) -> Behaviour:
    if not reader.accept_word("component"):
        reader.fail("'component'", "write component NAME { … }")
    name, span = type_name(reader, "the name of a component")
    reader.expect("{", "'{'")
    modes: tuple[str, ...] = ("running",)
    if reader.accept_word("modes"):
        modes = _names(reader, "a mode")
        reader.expect(";", "';' after the modes")
    transitions: list[Transition] = []
    depends: list[tuple[str, tuple[str, ...]]] = []
    while not reader.at("}", "end"):
        try:
            if reader.at_word("in", "on", "do"):
                transitions.append(_transition(reader, modes))
            else:
                depends.append(_dependency(reader))
            reader.expect(";", "';'")
        except Failure:
            skip_to(reader, ";", "}")
            reader.accept(";")
    reader.expect("}", "'}'")
    return Behaviour(name, modes, tuple(transitions), tuple(depends), span)


def _transition(reader: Reader, modes: tuple[str, ...]) -> Transition:
    start = reader.here
    own = modes
    if reader.accept_word("in"):
        own = _names(reader, "a mode")
        reader.expect(":", "':' after the modes")
    on = reader.expect("name", "the port of an event").text if reader.accept_word("on") else None
    if not reader.accept_word("do"):
        reader.fail("'do'", "write do push PORT, do goto MODE, or both")
    pushes = _names(reader, "a port that sends") if reader.accept_word("push") else ()
    goto = reader.expect("name", "a mode").text if reader.accept_word("goto") else None
    if not pushes and goto is None:
        reader.fail("'push' or 'goto'")
    return Transition(own, on, pushes, goto, reader.span_from(start))


def _dependency(reader: Reader) -> tuple[str, tuple[str, ...]]:
    output = reader.expect("name", "in, on, do, or a port").text
    if not (reader.accept_word("depends") and reader.accept_word("on")):
        reader.fail("'depends on'", f"write {output} depends on PORT;")
    if reader.accept_word("nothing"):
        return output, ()
    return output, _names(reader, "a port that consumes, or nothing")


def _names(reader: Reader, wanted: str) -> tuple[str, ...]:
    found = [reader.expect("name", wanted).text]
    while reader.accept(","):
        found.append(reader.expect("name", wanted).text)
    return tuple(found)
