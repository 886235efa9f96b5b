"""`tocsin explain --language ecl`: an expression as a tree, as a machine, and what is left of that to run."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import assert_never

from tocsin.algebra.completion.expression import (
    Accumulate,
    DoUnless,
    Expression,
    Fail,
    Loop,
    Modes,
    Named,
    Parallel,
    Persist,
    Predicate,
    Push,
    Reading,
    Repeat,
    Select,
    SelectStar,
    Sequential,
    children,
)
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.correlation.modes import simulate
from tocsin.analysis import findings
from tocsin.automata.machine import (
    compile_machine,
    compose,
    construct,
    determinise,
    draw,
    execute,
    minimise,
    simplify,
)
from tocsin.automata.machine.codegen import generate
from tocsin.automata.machine.compile import MAX_ARCS, PASSES
from tocsin.automata.machine.passes.quench import quench, quench_always
from tocsin.cli.texts import columns, section, tree, write_text
from tocsin.errors import LimitError, PatternError
from tocsin.languages.ecl import parse, show_filter, show_machine, show_output, show_program
from tocsin.languages.ksu import show as show_library

# A machine with more transitions is not printed: nobody would read it.
MAX_PRINTED = 200
_AFTER = ("without what is never reached", "without idle steps", "with equal parts merged")


def explain_ecl(text: str, chosen: Mapping[str, object], options: argparse.Namespace) -> None:
    """Print everything about a text of ECL."""
    program = parse(text, reading=Reading.of(chosen))
    section("text", show_program(program))
    machines = {s.name or "M": construct(s.expression, program.reading) for s in program.subscriptions}
    for subscription, (name, machine) in zip(program.subscriptions, machines.items(), strict=True):
        of = "" if subscription.name is None else f" of {name}"
        section(f"tree{of}", _tree(subscription.expression))
        simple = simplify(machine)
        section(f"machine{of}", _machine(simple))
        section(f"sizes{of}", columns(_sizes(machine)))
        section(f"events that matter{of}", columns(_matter(simple)))
        if isinstance(subscription.expression, Modes):
            section(f"correlation{of}", _correlation(subscription.expression, program.reading, name))
    section("warnings", "\n\n".join(map(str, findings(program))) or "none")
    whole = machines["M"] if list(machines) == ["M"] else compose(machines)
    if options.svg is not None:
        write_text(options.svg, draw(simplify(whole), show_filter, show_output))
        section("picture", str(options.svg))
    if options.code is not None:
        write_text(
            options.code, generate(compile_machine(whole), "Subscriptions of ECL: " + ", ".join(machines))
        )
        section("code", str(options.code))


def _machine(machine: Machine) -> str:
    if len(machine.transitions) > MAX_PRINTED:
        return f"{len(machine.transitions):,} transitions, too many to show"
    return show_machine(machine)


def _sizes(machine: Machine) -> Iterator[tuple[str, str]]:
    """How large the machine is after each pass, and its table."""
    yield "as built", _size(machine)
    if sum(len(t.clear) + len(t.target) for t in machine.transitions) > MAX_ARCS:
        yield "made small", f"refused: more than {MAX_ARCS:,} arcs"
    else:
        for one, words in zip(PASSES, _AFTER, strict=True):
            machine = one(machine)
            yield words, _size(machine)
    try:
        full = determinise(machine)
    except LimitError as error:
        yield "determinised", f"refused: {error.message}; it is run as it is"
        return
    yield "determinised", _table(full.configurations, len(full.alphabet.symbols))
    small = minimise(full)
    yield "minimised", _table(*small.table.next.shape)


def _size(machine: Machine) -> str:
    return f"{len(machine.states)} states, {len(machine.transitions)} transitions"


def _table(configurations: int, kinds: int) -> str:
    return f"{configurations} configurations × {kinds} kinds of events"


def _matter(machine: Machine) -> Iterator[tuple[str, str]]:
    """Quenching: what an event must satisfy so that it cannot be dropped."""
    prepared = execute.prepare(machine)
    yield "at the start", show_filter(quench(prepared, execute.start(prepared)))
    yield "at any time", show_filter(quench_always(prepared))


def _correlation(modes: Modes, reading: Reading, name: str) -> str:
    """The same in the language of KSU, which knows no modes but switches labels."""
    try:
        return show_library(Library((simulate(modes, reading, name),)))
    except PatternError as error:
        return f"none: {error.message}"


def _tree(expression: Expression) -> str:
    return tree(_head(expression), map(_tree, children(expression)))


def _head(expression: Expression) -> str:
    """An operator in words."""
    match expression:
        case Predicate(filter):
            return show_filter(filter)
        case Accumulate():
            return "accumulate: all of"
        case Select():
            return "select: one of"
        case SelectStar():
            return "select*: whichever completes first, either way"
        case Sequential():
            return "sequential: one after the other"
        case DoUnless():
            return "do the first, unless the second succeeds"
        case Fail():
            return "fail: the other way round"
        case Push(output):
            return f"push {show_output(output)} on the success of"
        case Parallel():
            return "parallel: each by itself"
        case Modes(modes):
            return "modes: " + ", ".join(show_filter(mode.guard) for mode in modes)
        case Repeat(_, times):
            return f"repeat{_rounds(times)}: again, whatever the outcome"
        case Persist(_, times):
            return f"persist{_rounds(times)}: again until it succeeds"
        case Loop(_, times):
            return f"loop{_rounds(times)}: again until it fails"
        case Named(name):
            return f"{name}:"
        case _:
            assert_never(expression)


def _rounds(times: int | None) -> str:
    return "" if times is None else f", at most {times} times"
