"""Parts of the cases of the completion family: events, machines, and results normalised for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.algebra.completion.expression import Expression, Program, Push, children
from tocsin.algebra.completion.fields import Field, Fields
from tocsin.algebra.completion.machine import Machine, Transition, check
from tocsin.algebra.completion.output import Constant, Emit
from tocsin.algebra.predicate import Filter
from tocsin.errors import CaseError, PatternError, PatternErrors, TocsinError
from tocsin.languages.language import Language

Nested = Sequence[tuple[object, object]]


def event_of(written: object) -> Fields:
    """An event: a letter is its type, a mapping its fields; the fields of a nested mapping get dotted names.

    >>> event_of("a"), event_of({"type": "DATA", "data": {"altitude": 480}})
    ({'type': 'a'}, {'type': 'DATA', 'data.altitude': 480, 'altitude': 480})
    """
    if not isinstance(written, Mapping):
        return {"type": str(written)}
    fields: dict[str, Field] = {}
    for name, value in written.items():
        if isinstance(value, Mapping):
            inner = event_of(value)
            fields.update({f"{name}.{key}": own for key, own in inner.items()})
            fields.update({key: own for key, own in inner.items() if name == "data" and key not in written})
        else:
            fields[str(name)] = value
    return fields


def machine_of(own: Language, written: Mapping[str, Any] | str) -> Machine:
    """A machine, from a text or from a mapping with the parts of Definition 3."""
    if isinstance(written, str):
        found: Machine = own.part("machine")(written)
        return found
    transitions = [
        _transition(own, part, place, written) for place, part in enumerate(written["transitions"])
    ]
    machine = Machine(
        "M",
        tuple(written["states"]),
        frozenset(written["initial"]),
        tuple(transitions),
        tuple((first, second) for first, second in written.get("order") or ()),
        written.get("success"),
        written.get("failure"),
    )
    errors = check(machine)
    if errors:
        raise PatternErrors(errors)
    return machine


def _transition(
    own: Language, written: Mapping[str, Any], place: int, whole: Mapping[str, Any]
) -> Transition:
    output, clear = written.get("output"), written["clear"]
    return Transition(
        written["id"],
        _enable(written["enable"]),
        None if written.get("input") is None else _input(own, str(written["input"])),
        frozenset(whole["states"] if clear == "all" else clear),
        frozenset(written["target"]),
        () if output is None else (Emit(Constant(output), place=place),),
    )


def _enable(written: Sequence[str] | Sequence[Sequence[str]]) -> tuple[frozenset[str], ...]:
    """Sets of states; as in the paper, a single one can be written without outer braces."""
    if written and all(isinstance(part, str) for part in written):
        return (frozenset(map(str, written)),)
    return tuple(frozenset(alternatives) for alternatives in written)


def _input(own: Language, text: str) -> Filter | None:
    """A predicate, parsed inside a machine file, the only text in which one stands alone."""
    read: Machine = own.part("machine")(
        f"machine M {{ states q; initial q; trans t: {{q}} {text} clear {{}} goto {{}}; }}"
    )
    return read.transitions[0].input


def is_machine(text: str) -> bool:
    """Whether a text is a machine file, not an expression."""
    return text.split(maxsplit=1)[:1] == ["machine"]


def expression_of(own: Language, text: str) -> Expression:
    """The only expression of a text."""
    program: Program = own.read(text)
    if len(program.subscriptions) != 1:
        raise CaseError("bad-case", "the text has several subscriptions", hint="a case is about one")
    return program.expression


def refusal(expected: object, error: TocsinError | None) -> object:
    """The value to compare with an expected error: whether there was one or, if codes are expected, its codes."""
    codes = _codes(error)
    if isinstance(expected, str):
        return expected if expected in codes else codes
    return codes if isinstance(expected, list) else bool(codes)


def _codes(error: TocsinError | None) -> list[str]:
    if isinstance(error, PatternErrors):
        return [one.code for one in error.errors]
    return [] if error is None else [error.code]


def warnings(expected: object, found: Sequence[PatternError]) -> object:
    """The value to compare with expected warnings: whether there are any or, if codes are expected, their codes."""
    return refusal(expected, PatternErrors(found) if found else None)


def nested_tokens(expression: Expression) -> list[tuple[object, object]]:
    """The inner and outer pushes that must come in that order; only of tokens that are pushed once."""
    pairs: list[tuple[object, object]] = []
    pushed: list[object] = []

    def visit(node: Expression, outer: tuple[object, ...]) -> None:
        if isinstance(node, Push) and isinstance(node.output, Constant):
            pushed.append(node.output.value)
            pairs.extend((node.output.value, token) for token in outer)
            outer = (*outer, node.output.value)
        for child in children(node):
            visit(child, outer)

    visit(expression, ())
    return [pair for pair in pairs if all(pushed.count(token) == 1 for token in pair)]


def normal(key: str, value: Any, nested: Nested = ()) -> object:
    """A result normalised for comparison: unordered parts are sorted."""
    match key:
        case "outputs":
            return {
                "all": sorted(([at, out] for at, out in value), key=repr),
                "in order": _ordered(value, nested),
            }
        case "interest":
            return [sorted(map(str, letters)) for letters in value]
        case "initial_state_after_closure":
            return sorted(value)
        case "influence":
            return {str(output): sorted(map(str, letters)) for output, letters in value.items()}
        case "steps":
            return [
                {**step, "fired": [sorted(names) for names in step["fired"]], "state": sorted(step["state"])}
                for step in value
            ]
        case _:
            return value


def _ordered(outputs: Sequence[Sequence[object]], nested: Nested) -> list[list[list[object]]]:
    """For each pair of nested pushes only their outputs, in order of occurrence."""
    return [[[at, out] for at, out in outputs if out in pair] for pair in nested]
