"""Machines as text: parsed, and written so that `parse_machine(show_machine(m)) == m`.

>>> text = '''machine A {
...   states q1 q2;
...   initial q1;
...   trans t1: {q1} a clear {q1} goto {q2} out x;
... }'''
>>> print(show_machine(parse_machine(text)))
machine A {
  states q1 q2;
  initial q1;
  trans t1: {q1} a clear {q1} goto {q2} out x;
}

The grammar is in the README beside this file.

Paper: 000, Definition 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from tocsin.algebra.completion.expression import (
    MAX_LENGTH,
    Handwritten,
    Interpretation,
    Program,
    Subscription,
)
from tocsin.algebra.completion.machine import Machine, Transition, above
from tocsin.algebra.completion.output import Emit
from tocsin.algebra.predicate import Filter
from tocsin.errors import PatternError, PatternErrors, did_you_mean
from tocsin.languages.ecl.expression import Scope, predicate, skip
from tocsin.languages.ecl.printer import show_filter, show_output
from tocsin.languages.ecl.terms import output
from tocsin.languages.ecl.words import MACHINE_RESERVED, SYMBOLS
from tocsin.languages.lexis import Failure, Reader, Token

_STATEMENTS = ("states", "initial", "success", "failure", "trans", "order")


def show_machine(machine: Machine) -> str:
    """The text of a machine."""
    lines = [f"states {' '.join(machine.states)};", f"initial {' '.join(_sorted(machine.initial, machine))};"]
    lines += [f"success {machine.success};"] if machine.success is not None else []
    lines += [f"failure {machine.failure};"] if machine.failure is not None else []
    lines += [_show_transition(transition, machine) for transition in machine.transitions]
    lines += [f"order {first} < {second};" for first, second in machine.order]
    return "\n".join([f"machine {machine.name} {{", *("  " + line for line in lines), "}"])


def _show_transition(transition: Transition, machine: Machine) -> str:
    def states(some: frozenset[str]) -> str:
        return "{" + ", ".join(_sorted(some, machine)) + "}"

    enable = " & ".join(states(alternatives) for alternatives in transition.enable)
    input = "eps" if transition.input is None else show_filter(transition.input, MACHINE_RESERVED)
    clear = "all" if transition.clear == frozenset(machine.states) else states(transition.clear)
    outputs = ", ".join(show_output(e.output) + (f" to {e.to}" if e.to else "") for e in transition.outputs)
    out = f" out {outputs}" if outputs else ""
    return f"trans {transition.name}: {enable} {input} clear {clear} goto {states(transition.target)}{out};"


def _sorted(some: frozenset[str], machine: Machine) -> list[str]:
    return [state for state in machine.states if state in some]


def is_machine(text: str) -> bool:
    """Whether a text is a machine written by hand, not a program.

    >>> is_machine("machine M { states q; initial q; }"), is_machine("repeat {machine}")
    (True, False)
    """
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    return reader.at_word("machine") and reader.ahead().kind == "name"


def parse_subscription(text: str, interpretation: Interpretation) -> Program:
    """Parse a machine to a program with one subscription, which has the name of the machine."""
    machine = parse_machine(text)
    for emit in (emit for transition in machine.transitions for emit in transition.outputs):
        if emit.to:
            message = f"the machine sends to {emit.to}, and a subscription sends to nobody else"
            raise PatternErrors(
                [PatternError("foreign-output", message, emit.output.span, f"leave out 'to {emit.to}'")]
            )
    return Program((Subscription(machine.name, Handwritten(machine)),), interpretation=interpretation)


def parse_machine(text: str) -> Machine:
    """Parse a text to a machine; raises `PatternErrors` with all mistakes."""
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    machine = Machine("", (), frozenset(), ())
    with suppress(Failure):
        machine = _Machine(reader).machine()
    if not reader.errors:
        try:
            above(machine)
        except PatternError as error:
            reader.errors.append(error)
    if reader.errors:
        raise PatternErrors(reader.errors)
    return machine


class _Machine:
    """A machine parsed so far; names are checked at the end, when all are known."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.scope = Scope(reserved=MACHINE_RESERVED)
        self.states: list[Token] = []
        self.initial: list[Token] = []
        self.final: dict[str, Token] = {}
        self.transitions: list[Transition] = []
        self.names: list[Token] = []
        self.order: list[tuple[Token, Token]] = []
        self.used: list[Token] = []
        self.clears_all: set[int] = set()

    def machine(self) -> Machine:
        reader = self.reader
        if not reader.accept_word("machine"):
            reader.fail("'machine'", "write machine NAME { states …; initial …; trans …; }")
        name = reader.expect("name", "the name of the machine").text
        reader.expect("{", "'{'")
        while not reader.at("}", "end"):
            try:
                self._statement()
            except Failure:
                skip(reader, (";", "}"))
                reader.accept(";")
        reader.expect("}", "'}' at the end of the machine")
        if not reader.at("end"):
            reader.fail("the end of the text", "a file holds one machine")
        self._check()
        states = tuple(token.text for token in self.states)
        every = frozenset(states)
        transitions = [
            replace(t, clear=every) if i in self.clears_all else t for i, t in enumerate(self.transitions)
        ]
        return Machine(
            name,
            states,
            frozenset(token.text for token in self.initial),
            tuple(transitions),
            tuple((first.text, second.text) for first, second in self.order),
            *(self.final[word].text if word in self.final else None for word in ("success", "failure")),
        )

    def _statement(self) -> None:
        reader = self.reader
        word = reader.expect("name", "states, initial, trans or order")
        match word.text:
            case "states":
                self.states += self._names("the name of a state")
            case "initial":
                self.initial += self._names("the name of a state")
            case "success" | "failure":
                self.final[word.text] = reader.expect("name", "the name of a state")
            case "trans":
                self._transition()
            case "order":
                self._order()
            case _:
                hint = did_you_mean(word.text, _STATEMENTS)
                reader.note("unknown-statement", f"there is no statement {word.text!r}", word.span, hint)
                raise Failure
        reader.expect(";", "';'")

    def _names(self, wanted: str) -> list[Token]:
        found = [self.reader.expect("name", wanted)]
        while self.reader.accept(",") or self.reader.at("name"):
            found.append(self.reader.expect("name", wanted))
        return found

    def _set(self) -> frozenset[str]:
        self.reader.expect("{", "'{' and a set of states", "write {q1, q2}")
        found = [] if self.reader.at("}") else self._names("the name of a state")
        self.reader.expect("}", "'}' or ','")
        self.used += found
        return frozenset(token.text for token in found)

    def _transition(self) -> None:
        reader = self.reader
        name = reader.expect("name", "the name of the transition")
        reader.expect(":", "':'")
        enable = [self._set()]
        while reader.accept("&"):
            enable.append(self._set())
        input: Filter | None = None
        if not reader.accept_word("eps"):
            input = predicate(reader, self.scope, "an input")
        clear = frozenset[str]()
        if reader.accept_word("clear"):
            if reader.accept_word("all"):
                self.clears_all.add(len(self.transitions))
            else:
                clear = self._set()
        if not reader.accept_word("goto"):
            reader.fail("'goto'", "write trans t1: {q1} a clear {q1} goto {q2};")
        target = self._set()
        outputs = self._outputs() if reader.accept_word("out") else ()
        self.names.append(name)
        self.transitions.append(
            Transition(name.text, tuple(enable), input, clear, target, outputs, reader.span_from(name))
        )

    def _outputs(self) -> tuple[Emit, ...]:
        place = len(self.transitions)
        found: list[Emit] = []
        while not found or self.reader.accept(","):
            pushed = output(self.reader)
            to = self.reader.expect("name", "a subscription").text if self.reader.accept_word("to") else ""
            found.append(Emit(pushed, to, place))
        return tuple(found)

    def _order(self) -> None:
        while True:
            first = self.reader.expect("name", "the name of a transition")
            self.reader.expect("<", "'<'", "t1 < t2 means that t1 goes first")
            while True:
                second = self.reader.expect("name", "the name of a transition")
                self.order.append((first, second))
                if not self.reader.accept("<"):
                    break
                first = second
            if not self.reader.accept(","):
                return

    def _check(self) -> None:
        used = [*self.initial, *self.final.values(), *self.used]
        self._known("state", self.states, used)
        self._known("transition", self.names, [token for pair in self.order for token in pair])

    def _known(self, what: str, given: Sequence[Token], used: Sequence[Token]) -> None:
        names: set[str] = set()
        for token in given:
            if token.text in names:
                self.reader.note(f"duplicate-{what}", f"the {what} {token.text!r} is there twice", token.span)
            names.add(token.text)
        for token in used:
            if token.text not in names:
                hint = did_you_mean(token.text, names)
                self.reader.note(f"unknown-{what}", f"there is no {what} {token.text!r}", token.span, hint)
