"""A machine as a C file that needs nothing but the standard library (C99)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import assert_never

from tocsin.algebra.completion.output import Constant, Emit, FieldOf, Forward, Make
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or, Unify
from tocsin.automata.completion.codegen.c_runtime import BODY, HEAD, PROGRAM
from tocsin.automata.completion.codegen.flat import Flat
from tocsin.errors import LimitError
from tocsin.values import Relation

_RELATIONS = {
    Relation.EQ: "==",
    Relation.NE: "!=",
    Relation.LT: "<",
    Relation.LE: "<=",
    Relation.GT: ">",
    Relation.GE: ">=",
}
_WIDTH = 110
_LEAST, _MOST = -(2**63), 2**63 - 1


def c_text(flat: Flat, title: str) -> str:
    """The text of the file; refuses a constant that C has no number for (`LimitError`)."""
    widths = [len(e.output.fields) + 1 for _, e in flat.emits if isinstance(e.output, Make)]
    parts = [
        HEAD.replace("@TITLE@", _comment(title)).replace("@STATES@", str(max(1, flat.states))),
        _counts(flat, max([1, *widths])),
        _numbers("START", flat.start),
        "/* By transition: the predicate it waits for, or -1; the sets of states of which each needs an active one; the\n"
        "   states it clears and sets; and the transitions that come directly before it. */",
        _numbers("TAKES", flat.takes),
        _numbers("SETS_OF", accumulate([0, *map(len, flat.enable)])),
        _lists("STATES_OF", "ENABLE", [some for sets in flat.enable for some in sets]),
        _lists("CLEAR_OF", "CLEAR", flat.clear),
        _lists("TARGET_OF", "TARGET", flat.target),
        _lists("BEFORE_OF", "BEFORE", flat.before),
        "/* By output: the transition that brings it. */",
        _numbers("BRINGS", [number for number, _ in flat.emits]),
        BODY,
        _ask(flat.predicates),
        _send(flat.emits),
        PROGRAM,
    ]
    return "\n".join(parts)


def _counts(flat: Flat, widest: int) -> str:
    counted = {
        "TRANSITIONS": len(flat.takes),
        "PREDICATES": len(flat.predicates),
        "OUTPUTS": len(flat.emits),
        "SUCCESS": flat.success,
        "FAILURE": flat.failure,
        "FIELDS": widest,
        "STARTING": len(flat.start),
    }
    return "enum { " + ", ".join(f"{name} = {number}" for name, number in counted.items()) + " };"


def _numbers(name: str, numbers: Iterable[int]) -> str:
    """An array; C has none without a member."""
    words = [str(number) for number in numbers] or ["0"]
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > _WIDTH:
            lines.append(line)
            line = "   "
        line += f" {word},"
    return f"static const int32_t {name}[] = {{\n" + "\n".join([*lines, line]) + "\n};"


def _lists(places: str, members: str, lists: Iterable[Sequence[int]]) -> str:
    """Lists one after the other, and where each begins and the last one ends."""
    starts, together = [0], list[int]()
    for one in lists:
        together += one
        starts.append(len(together))
    return f"{_numbers(places, starts)}\n{_numbers(members, together)}"


def _ask(predicates: Sequence[Filter]) -> str:
    lines = [f"    satisfied[{number}] = {_asked(filter)};" for number, filter in enumerate(predicates)]
    head = (
        "static void ask(const tocsin_event *event, uint8_t *satisfied)\n{\n"
        "    int sign = 0;\n    (void)event, (void)satisfied, (void)sign;"
    )
    return "\n".join([head, *lines, "}\n"])


def _asked(filter: Filter) -> str:
    """A predicate as a C expression."""
    match filter:
        case Compare(Attribute(name), relation, Literal(constant)):
            return _compared(name, relation, _value(constant))
        case Compare(Attribute(name), relation, Attribute(other)):
            return _compared(name, relation, f"find(event, {_quoted(other)})")
        case And(parts):
            return f"({' && '.join(map(_asked, parts))})" if parts else "1"
        case Or(parts):
            return f"({' || '.join(map(_asked, parts))})" if parts else "0"
        case Not(part):
            return f"!{_asked(part)}"
        case Compare() | IsNull() | Like() | Unify():
            raise TypeError(f"{filter} compares with other events; it cannot be asked of one")
        case _:
            assert_never(filter)


def _compared(name: str, relation: Relation, value: str) -> str:
    if relation is Relation.NE:
        return f"differs(event, {_quoted(name)}, {value})"
    return f"(comparable(event, {_quoted(name)}, {value}, &sign) && sign {_RELATIONS[relation]} 0)"


def _send(emits: Sequence[tuple[int, Emit]]) -> str:
    lines = [line for number, (_, emit) in enumerate(emits) for line in _case(number, emit)]
    head = """\
static void send(int32_t number, const tocsin_event *event, tocsin_sink sink, void *context)
{
    tocsin_field made[FIELDS];
    tocsin_output output;
    memset(&output, 0, sizeof output);
    (void)event;
    (void)made;
    switch (number) {"""
    return "\n".join([head, *lines, "    }\n    sink(context, &output);\n}\n"])


def _case(number: int, emit: Emit) -> list[str]:
    match emit.output:
        case Constant(value):
            body = ["output.what = TOCSIN_CONSTANT;", f"output.constant = {_value(value)};"]
        case Forward():
            body = ["output.what = TOCSIN_EVENT;", "output.event = *event;"]
        case Make(type, fields):
            body = ["output.what = TOCSIN_EVENT;", *_set(0, "type", _value(type))]
            for place, (name, source) in enumerate(fields, 1):
                taken = f"find(event, {_quoted(source.name)})" if isinstance(source, FieldOf) else None
                body += _set(place, name, taken or _value(source.value))  # type: ignore[union-attr]  # a Literal
            body += ["output.event.fields = made;", f"output.event.count = {len(fields) + 1};"]
        case _:
            assert_never(emit.output)
    return [
        f"    case {number}:",
        f"        output.to = {_quoted(emit.to)};",
        *("        " + line for line in body),
        "        break;",
    ]


def _set(place: int, name: str, value: str) -> list[str]:
    return [f"made[{place}].name = {_quoted(name)};", f"made[{place}].value = {value};"]


def _value(value: int | float | str | bool) -> str:
    """A constant as a call that makes its value."""
    match value:
        case bool():
            return f"tocsin_truth({int(value)})"
        case int():
            if not _LEAST <= value <= _MOST:
                message = f"no C can be written, because {value} does not fit into 64 bits"
                raise LimitError("number-too-large", message)
            # The least number has no literal of its own.
            return f"tocsin_whole({value})" if value > _LEAST else f"tocsin_whole({value + 1} - 1)"
        case float():
            shown = {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(str(value), repr(value))
            return f"tocsin_fraction({shown})"
        case str():
            return f"tocsin_text({_quoted(value)}, {len(value.encode('utf-8', 'surrogatepass'))})"
        case _:
            assert_never(value)


def _quoted(text: str) -> str:
    """A text as a C literal: letters and digits as they are, all other bytes as octal numbers."""
    found = (chr(byte) if _plain(byte) else f"\\{byte:03o}" for byte in text.encode("utf-8", "surrogatepass"))
    return '"' + "".join(found) + '"'


def _plain(byte: int) -> bool:
    return 32 <= byte < 127 and chr(byte) not in '"\\?'


def _comment(text: str) -> str:
    """A text that ends no comment."""
    return text.encode("unicode_escape").decode().replace("*/", "* /").replace("/*", "/ *")
