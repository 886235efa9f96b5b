"""What `tocsin check` says of ECL: of subscriptions, and of machines written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin.algebra.completion.expression import Expression, Reading
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.semantics import Status
from tocsin.analysis import (
    Answer,
    Budget,
    Compared,
    Examined,
    compare,
    contained,
    endless,
    equal,
    examine,
    overlapping_guards,
    show_trace,
    subjects,
    worth_a_warning,
)
from tocsin.automata.machine import construct, execute
from tocsin.cli.texts import located
from tocsin.errors import LimitError, PatternError, Span
from tocsin.languages.ecl import parse, parse_machine, show_output
from tocsin.languages.ecl.words import SYMBOLS
from tocsin.languages.lexis import Reader


@dataclass(frozen=True, slots=True)
class Asked:
    """What questions are asked about: a subscription, an expression without a name, a machine."""

    what: str
    name: str
    one: Expression | Machine
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class EclFile:
    """A file that could be read."""

    file: str
    asked: tuple[Asked, ...]
    reading: Reading


def read_ecl(text: str, file: str, stem: str, reading: Reading) -> EclFile:
    """A text of subscriptions, or a machine; an expression without a name is called like its file."""
    with located(file):
        if _is_machine(text):
            machine = parse_machine(text)
            _refuse_endless(machine)
            return EclFile(file, (Asked("machine", machine.name, machine),), reading)
        program = parse(text, reading=reading)
    return EclFile(
        file,
        tuple(
            Asked("expression", stem, s.expression, s.span)
            if s.name is None
            else Asked("subscription", s.name, s.expression, s.span)
            for s in program.subscriptions
        ),
        reading,
    )


def _is_machine(text: str) -> bool:
    reader = Reader(text, SYMBOLS)
    return reader.at_word("machine") and reader.ahead().kind == "name"


def _refuse_endless(machine: Machine) -> None:
    try:
        witness = endless(machine).witness
    except LimitError:
        return  # not known; the questions about it will be refused for the same reason
    if witness is not None:
        message = f"after {show_trace(witness)} {machine.name} moves for ever without an event"
        raise PatternError(
            "endless-internal-steps", message, hint="let one of its transitions wait for an event"
        )


@dataclass(frozen=True, slots=True)
class CheckedEcl:
    """The answers about a file. Only those that could be determinised are `comparable`."""

    given: EclFile
    examined: tuple[Examined, ...]
    comparable: tuple[Asked, ...]
    compared: Compared
    warnings: tuple[PatternError, ...]


def check_ecl(given: EclFile) -> CheckedEcl:
    """Ask everything about each subscription, and how they stand to each other, with one budget for all."""
    budget = Budget()
    warnings, examined, comparable = list[PatternError](), list[Examined](), list[Asked]()
    for asked in given.asked:
        warnings += _overlaps(asked, budget)
        found = examine(asked.one, given.reading, budget)
        warnings += _warnings(asked, found)
        examined.append(found)
        comparable += [asked] if found.live is not None else []
    compared = compare([asked.one for asked in comparable], given.reading, budget)
    return CheckedEcl(given, tuple(examined), tuple(comparable), compared, tuple(warnings))


def _overlaps(asked: Asked, budget: Budget) -> list[PatternError]:
    if isinstance(asked.one, Machine):
        return []
    try:
        return overlapping_guards(asked.one, budget)
    except LimitError as error:
        message = f"the guards of {asked.what} {asked.name} were not all compared: {error.message}"
        return [PatternError("not-analysed", message, asked.span)]


def _warnings(asked: Asked, found: Examined) -> Iterator[PatternError]:
    name = f"{asked.what} {asked.name}"
    if found.vacuous is not None and found.trivial is not None and found.live is not None:
        yield from worth_a_warning(name, asked.span, found.vacuous, found.trivial, found.live)
    if found.refused is not None:
        yield PatternError("not-analysed", f"not all is known of {name}: {found.refused}", asked.span)


# --- one question about two -------------------------------------------------------------------------


def ask_equal(left: Asked, right: Asked, reading: Reading) -> tuple[Answer, str]:
    """Whether two do the same, and the answer in words."""
    one, other = subjects(left.one, right.one, reading=reading)
    answer = equal(one, other)
    if answer.witness is None:
        return answer, f"{left.name} and {right.name} do the same"
    does = ", ".join(f"{asked.name} {_does(asked, answer.witness, reading)}" for asked in (left, right))
    return answer, f"{left.name} and {right.name} differ after {show_trace(answer.witness)}: {does}"


def ask_contains(left: Asked, right: Asked, reading: Reading) -> tuple[Answer, str]:
    """Whether the first accepts all that the second accepts, and the answer in words."""
    inside, outside = subjects(right.one, left.one, reading=reading)
    answer = contained(inside, outside)
    if answer.witness is None:
        return answer, f"{left.name} accepts all that {right.name} accepts"
    return answer, f"{right.name} accepts {show_trace(answer.witness)}, {left.name} does not"


def _does(asked: Asked, trace: tuple[Fields, ...], reading: Reading) -> str:
    """What the last event of a trace brings."""
    machine = asked.one if isinstance(asked.one, Machine) else construct(asked.one, reading)
    prepared = execute.prepare(machine)
    configuration, outputs = execute.start(prepared), list[str]()
    for event in trace:
        configuration, emits = execute.feed(prepared, configuration, event)
        outputs = [show_output(emit.output) for emit in emits]
    pushes = f"pushes {' '.join(outputs)}" if outputs else "pushes nothing"
    status = execute.status(prepared, configuration)
    return pushes if status is Status.RUNNING else f"{pushes} and has ended in {status}"
