"""Writes queries; `parse(show(query)) == query`."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.blocks.conditions import (
    Arithmetic,
    Comparison,
    Constant,
    Every,
    Expression,
    Opposite,
    Predicate,
    Some,
    Value,
)
from tocsin.algebra.blocks.paths import AnyName, Chain, Either, Name, Path, Repeated, TagVariable
from tocsin.algebra.blocks.query import (
    Attribute,
    Block,
    Call,
    Function,
    Pattern,
    Query,
    Source,
    Stream,
    Template,
    Text,
    Variable,
    Where,
)
from tocsin.algebra.blocks.temporal import Absent, Both, Composition, Of, OneOfTwo, Related
from tocsin.events import format_duration
from tocsin.languages.exml_ql.words import PLAIN, RESERVED, quoted


def show(query: Query) -> str:
    """The text of a query."""
    return "\n".join([*map(_function, query.functions), _where(query.where)])


def _function(function: Function) -> str:
    parameters = ", ".join(f"${p.name}{_type(p.type)}" for p in function.parameters)
    return f"FUNCTION {function.name}({parameters}){_type(function.type)} {_where(function.body)} END"


def _type(type: str | None) -> str:
    return "" if type is None else f": {quoted(type)}"


def _where(where: Where) -> str:
    conditions = [*map(_block, where.blocks), *(show_predicate(one) for one in where.predicates)]
    if where.composition is not None:
        context = f" CONTEXT {where.context.upper()}" if where.context else ""
        conditions.append(f"EVENT {show_composition(where.composition)}{context}")
    order = " ORDERED-BY " + ", ".join(f"${one.name}" for one in where.ordered_by) if where.ordered_by else ""
    nested = "".join(f" {{ {_where(inner)} }}" for inner in where.nested)
    return f"WHERE {', '.join(conditions)}{order} CONSTRUCT {_constructed(where.construct)}{nested}"


def _block(block: Block) -> str:
    name = f"BLOCK ${block.name}: " if block.named else ""
    return f"{name}{show_pattern(block.pattern)} IN {_source(block.source)}"


def _source(source: Source) -> str:
    match source:
        case Stream(name):
            return quoted(name)
        case Variable(name):
            return f"${name}"
        case Call(function, arguments):
            return f"{function}({', '.join(map(_source, arguments))})"
        case _:
            assert_never(source)


# --- patterns and templates -------------------------------------------------------------------------


def show_pattern(pattern: Pattern) -> str:
    """An element pattern."""
    tag = f"${pattern.tag.variable}" if isinstance(pattern.tag, TagVariable) else show_path(pattern.tag)
    start = "".join([tag, *map(_attribute, pattern.attributes)])
    bound = "".join(f" {one.what.upper()}_AS ${one.variable.name}" for one in pattern.bound)
    return f"<{start}>{_content(pattern.parts)}</>{bound}"


def show_path(path: Path) -> str:
    """A regular path of names."""
    match path:
        case Name(name):
            return name
        case AnyName():
            return "$"
        case Chain(parts):
            return ".".join(_inner(part, Chain | Either) for part in parts)
        case Either(parts):
            return "|".join(_inner(part, Either) for part in parts)
        case Repeated(part, times):
            return _inner(part, Chain | Either | Repeated) + times
        case _:
            assert_never(path)


def _inner(path: Path, in_brackets: object) -> str:
    return f"({show_path(path)})" if isinstance(path, in_brackets) else show_path(path)  # type: ignore[arg-type]


def _constructed(part: Template | Variable) -> str:
    return f"${part.name}" if isinstance(part, Variable) else _template(part)


def _template(template: Template) -> str:
    tag = template.tag if isinstance(template.tag, str) else f"${template.tag.name}"
    identity = ""
    if template.identity is not None:
        variables = ", ".join(f"${one.name}" for one in template.identity.variables)
        identity = f" ID={template.identity.function}({variables})"
    start = "".join([tag, identity, *map(_attribute, template.attributes)])
    return f"<{start}>{_content(template.parts)}</>"


def _attribute(attribute: Attribute) -> str:
    value = attribute.value
    return f" {attribute.name}={quoted(value.text) if isinstance(value, Text) else f'${value.name}'}"


def _content(parts: tuple[Pattern | Template | Text | Variable | Where, ...]) -> str:
    shown = []
    for number, part in enumerate(parts):
        match part:
            case Text(text):
                # A text without quotes would go on into the next one.
                last = number + 1 == len(parts) or not isinstance(parts[number + 1], Text | Where)
                shown.append(text if last and _is_plain(text) else quoted(text))
            case Variable(name):
                shown.append(f"${name}")
            case Pattern():
                shown.append(show_pattern(part))
            case Template():
                shown.append(_template(part))
            case Where():
                shown.append(_where(part))
            case _:
                assert_never(part)
    return f" {' '.join(shown)} " if shown else ""


def _is_plain(text: str) -> bool:
    return PLAIN.fullmatch(text) is not None and RESERVED.isdisjoint(text.split())


# --- predicates and composition ---------------------------------------------------------------------


def show_predicate(predicate: Predicate) -> str:
    """A predicate, in brackets only where they are needed."""
    match predicate:
        case Comparison(relation, left, right):
            return f"{_expression(left)} {relation} {_expression(right)}"
        case Every(parts):
            return " AND ".join(_bracketed(part, Every | Some) for part in parts)
        case Some(parts):
            return " OR ".join(_bracketed(part, Some) for part in parts)
        case Opposite(part):
            return f"NOT {_bracketed(part, Every | Some)}"
        case _:
            assert_never(predicate)


def _bracketed(part: Predicate, in_brackets: object) -> str:
    shown = show_predicate(part)
    return f"({shown})" if isinstance(part, in_brackets) else shown  # type: ignore[arg-type]


def _expression(expression: Expression) -> str:
    match expression:
        case Value(variable):
            return f"${variable}"
        case Constant(text, written_quoted):
            return quoted(text) if written_quoted else text
        case Arithmetic(sign, left, right):
            return f"{_operand(left, sign, False)} {sign} {_operand(right, sign, True)}"
        case _:
            assert_never(expression)


def _operand(part: Expression, sign: str, right: bool) -> str:
    shown = _expression(part)
    if not isinstance(part, Arithmetic):
        return shown
    weaker = part.sign in "+-" and sign in "*/"
    return f"({shown})" if weaker or (right and (part.sign in "+-" or sign in "*/")) else shown


def show_composition(composition: Composition) -> str:
    """The event tree in words."""
    match composition:
        case Of(block):
            return f"${block}"
        case OneOfTwo(left, right):
            return f"{_grouped(left, OneOfTwo)} OR {_grouped(right)}"
        case Both(left, right):
            return f"{_grouped(left, Both)} AND {_grouped(right)}"
        case Related(relation, left, right, within):
            limit = "" if within is None else f" WITHIN {format_duration(within)}"
            return f"{_grouped(left, Related)} {relation} {_grouped(right)}{limit}"
        case Absent(absent, first, last):
            return f"NOT {_grouped(absent)} BETWEEN {_grouped(first)} AND {_grouped(last)}"
        case _:
            assert_never(composition)


def _grouped(part: Composition, plain: type = Of) -> str:
    shown = show_composition(part)
    return shown if isinstance(part, Of | plain) else f"({shown})"
