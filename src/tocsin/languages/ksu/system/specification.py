"""Parses specifications of systems.

```
spec Alive: never deadlock;
spec Answered: navigator in waiting leads to navigator in idle;
spec Switchable: always possible Modal.m2 off;
spec Quiet: always (idle | pilot in flying & !gps.fix under way);
```

`&` binds more tightly than `|`. `idle`: no event is under way. The forms are those of `algebra.system.specification`.
"""

from __future__ import annotations

from tocsin.algebra.system.specification import (
    Both,
    Condition,
    Either,
    Form,
    InMode,
    IsOff,
    NotSo,
    Specification,
    UnderWay,
)
from tocsin.languages.lexis import Reader, Token


def specification(reader: Reader, start: Token) -> Specification:
    """`NAME : form`, after the word that begins it."""
    name = reader.expect("name", "the name of the specification").text
    reader.expect(":", "':'", f"write spec {name}: never deadlock;")
    first = reader.here
    form, condition, then = _demand(reader)
    span = reader.span_from(first)
    written = " ".join(span.text[span.start : span.end].split())
    return Specification(name, form, condition, then, written, reader.span_from(start))


def _demand(reader: Reader) -> tuple[Form, Condition | None, Condition | None]:
    if reader.at_word("never") and reader.ahead().text == "deadlock":
        reader.advance()
        reader.advance()
        return "never deadlock", None, None
    forms: dict[str, Form] = {"always": "always", "never": "never", "possible": "possible"}
    if reader.at_word(*forms):
        form = forms[reader.advance().text]
        if form == "always" and reader.accept_word("possible"):
            form = "always possible"
        return form, _condition(reader), None
    first = _condition(reader)
    if not (reader.accept_word("leads") and reader.accept_word("to")):
        reader.fail("'leads to'", "a specification begins with always, never or possible, or is P leads to Q")
    return "leads to", first, _condition(reader)


def _condition(reader: Reader) -> Condition:
    with reader.nested():
        found = _both(reader)
        while reader.accept("|"):
            found = Either(found, _both(reader))
        return found


def _both(reader: Reader) -> Condition:
    found = _single(reader)
    while reader.accept("&"):
        found = Both(found, _single(reader))
    return found


def _single(reader: Reader) -> Condition:
    start = reader.here
    if reader.accept("!"):
        with reader.nested():
            return NotSo(_single(reader))
    if reader.accept("("):
        found = _condition(reader)
        reader.expect(")", "')'")
        return found
    if reader.accept_word("idle"):
        return NotSo(UnderWay(None, None, start.span))
    owner = reader.expect("name", "idle, or the name of an instance or a correlation").text
    port = reader.expect("name", "a port or a label").text if reader.accept(".") else None
    if port is None and reader.accept_word("in"):
        mode = reader.expect("name", "a mode").text
        return InMode(owner, mode, reader.span_from(start))
    if port is not None and reader.accept_word("off"):
        return IsOff(owner, port, reader.span_from(start))
    if reader.accept_word("under") and reader.accept_word("way"):
        return UnderWay(owner, port, reader.span_from(start))
    reader.fail("'in' and a mode, 'off' after a label, or 'under way'")
