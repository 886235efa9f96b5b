"""Can a machine written by hand run forever without an event?"""

from __future__ import annotations

from tocsin.algebra.completion.expression import Handwritten, Program, walk
from tocsin.algebra.completion.machine import Machine
from tocsin.analysis.answer import Answer, shortest, show_trace
from tocsin.analysis.subject import MAX_CELLS
from tocsin.automata.completion.alphabet import alphabet_of
from tocsin.automata.completion.simulate import accepted, enabled, prepare, react, start
from tocsin.errors import LimitError, PatternError

_ENDLESS = -1


def endless(machine: Machine, limit: int = MAX_CELLS) -> Answer:
    """Whether some trace leads to endless internal steps; the witness is the shortest such trace (C.1.22).

    >>> from tocsin.algebra.completion.machine import Transition
    >>> again = Transition("t", (frozenset({"q"}),), None, frozenset(), frozenset({"q"}))
    >>> endless(Machine("m", ("q",), frozenset({"q"}), (again,)))
    Answer(holds=True, witness=())
    """
    prepared = prepare(machine)
    alphabet = alphabet_of(prepared.asked.filters)
    wanted = [accepted(prepared, symbol) for symbol in alphabet.symbols]
    steps = 0

    def step(configuration: int, symbol: int) -> int:
        nonlocal steps
        steps += 1
        if steps > limit:
            raise LimitError("machine-too-large", f"{machine.name} has more than {limit:,} steps to look at")
        if configuration == _ENDLESS:
            return _ENDLESS
        try:
            return react(prepared, configuration, enabled(prepared, configuration) & wanted[symbol])[0]
        except PatternError:
            return _ENDLESS

    try:
        first = start(prepared)
    except PatternError:
        return Answer(True, ())
    word = shortest(first, step, range(len(wanted)), lambda configuration: configuration == _ENDLESS)
    return Answer(False) if word is None else Answer(True, tuple(alphabet.symbols[symbol] for symbol in word))


def refuse_endless(program: Program) -> None:
    """Refuse a program with a machine that can move for ever without an event."""
    for machine in (
        node.machine
        for one in program.subscriptions
        for node in walk(one.expression)
        if isinstance(node, Handwritten)
    ):
        try:
            witness = endless(machine).witness
        except LimitError:
            continue  # not known; what is asked about it will be refused for the same reason
        if witness is not None:
            message = f"after {show_trace(witness)} {machine.name} moves for ever without an event"
            hint = "let one of its transitions wait for an event"
            raise PatternError("endless-internal-steps", message, hint=hint)
