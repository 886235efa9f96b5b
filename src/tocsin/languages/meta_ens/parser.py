"""Reads profiles: definitions, an expression, and the actions that it causes. The grammar is in the README beside this file."""

from __future__ import annotations

from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import Expression, Primitive
from tocsin.algebra.pairs.profile import Action, Profile
from tocsin.algebra.predicate import Filter
from tocsin.errors import PatternErrors
from tocsin.languages.language import Context
from tocsin.languages.lexis import CLOSING, Failure, Reader
from tocsin.languages.meta_ens.attribute_filter import condition
from tocsin.languages.meta_ens.infix_prefix import expression, starts_operator
from tocsin.languages.meta_ens.scope import Scope, duration, name
from tocsin.languages.meta_ens.units import Units
from tocsin.languages.meta_ens.words import SYMBOLS

_BROKEN = Primitive("")


def read(text: str, options: Units, context: Context) -> Profile:
    """Parse a text to a profile, with the signature of `Language.parse`."""
    return parse(text, options, context)


def parse(text: str, options: Units = Units(), context: Context = Context()) -> Profile:
    """Parse a text to a profile; raises `PatternErrors` with all mistakes.

    >>> from tocsin.algebra.pairs.notation import show
    >>> show(parse("(Door ; !(Temp(temp >= 15))_5min)_5min : heat(room)").expression)
    '(Door ; !(Temp(temp>=15))_300000000)_300000000'
    """
    reader = Reader(text, SYMBOLS)
    profile = _profile(reader, Scope(options.unit), context.name)
    if not reader.errors:
        # What is read may become a part of something else, whose timeframe its negations take: `compile` looks at that.
        found = check(profile.expression, context.catalog)
        reader.errors += [error for error in found if error.code != "timeframe-missing"]
    if reader.errors:
        raise PatternErrors(reader.errors)
    return profile


def parse_filter(text: str) -> Filter:
    """Parse a condition on the attributes of one event."""
    reader = Reader(text, SYMBOLS)
    try:
        found = condition(reader)
        if not reader.at("end"):
            reader.fail("AND, OR or the end of the condition")
    except Failure:
        raise PatternErrors(reader.errors) from None
    if reader.errors:
        raise PatternErrors(reader.errors)
    return found


def _profile(reader: Reader, scope: Scope, called: str) -> Profile:
    start = reader.here
    found: Expression = _BROKEN
    actions: tuple[Action, ...] = ()
    try:
        defined = False
        while reader.at("name") and reader.ahead().kind == ":=":
            found, defined = _definition(reader, scope, found)
            if not reader.accept(","):
                break
        if not defined or not reader.at("end", ":"):
            found = expression(reader, scope)
        if reader.accept(":"):
            actions = _actions(reader)
        if not reader.at("end"):
            hint = f"this {reader.here.text!r} closes nothing" if reader.at(*CLOSING.values()) else None
            reader.fail("the end of the profile", hint or "operators stand in parentheses: (e1 ; e2)_5")
        if isinstance(found, Primitive) and not found.name:
            reader.fail("a profile", "the last of the definitions is the profile")
    except Failure:
        pass
    return Profile(called, found, actions, span=reader.span_from(start))


def _definition(reader: Reader, scope: Scope, before: Expression) -> tuple[Expression, bool]:
    """`E5 := ;(E1, E2)` or `t := 30 sec`; returns the last expression defined so far, and whether it is a profile."""
    token = name(reader, "a name")
    reader.expect(":=", "':='")
    known = {**scope.expressions, **scope.numbers}
    if token.text in known:
        reader.note("duplicate-name", f"{token.text!r} is defined twice", token.span)
    if reader.at("number", "duration"):
        written = reader.here
        length = duration(reader, scope)
        whole = written.value if written.kind == "number" and isinstance(written.value, int) else length
        scope.numbers[token.text] = length, whole
        return before, False
    if not starts_operator(reader) and not reader.at("name", "!", "("):
        reader.fail("an expression or a number", "write E5 := ;(E1, E2), or t := 30 sec")
    found = scope.expressions[token.text] = expression(reader, scope)
    return found, True


def _actions(reader: Reader) -> tuple[Action, ...]:
    """`change(L1) AND close(W2)`"""
    found = [_action(reader)]
    while reader.accept_word("AND"):
        found.append(_action(reader))
    return tuple(found)


def _action(reader: Reader) -> Action:
    token = reader.expect("name", "an action", "write : change(L1)")
    arguments: list[str] = []
    if reader.accept("("):
        while not reader.accept(")"):
            if arguments:
                reader.expect(",", "',' or ')'")
            if not reader.at("name", "number", "string", "duration"):
                reader.fail("an argument", "a name, a number or a text in quotes")
            arguments.append(
                str(reader.advance().value if reader.last.kind != "duration" else reader.last.text)
            )
    return Action(str(token.value), tuple(arguments))
