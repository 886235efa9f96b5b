"""Profiles from texts and back: `read` and `show` of every language that a description gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tocsin.algebra.pairs.check import check
from tocsin.algebra.pairs.expression import Expression, Primitive
from tocsin.algebra.pairs.profile import Action, Notify, Profile
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, attributes
from tocsin.errors import InputError, PatternError, PatternErrors, did_you_mean
from tocsin.languages.language import Context
from tocsin.languages.lexis import Failure, Reader
from tocsin.languages.profiles import meaning
from tocsin.languages.profiles.grammar import Grammar
from tocsin.languages.profiles.notation import Events, Notation, printer_of
from tocsin.languages.profiles.parser import Parser, quoted
from tocsin.languages.profiles.syntax import LEVELS
from tocsin.languages.profiles.template import Hole, Template, matched
from tocsin.values import Relation

LABELS = "labels"  # the key of the parameters under which names are kept that mean nothing to the algebra


def read(notation: Notation, text: str, options: Any, context: Context) -> Profile:
    """The profile of a text; raises `PatternErrors`."""
    reader = Reader(text, notation.symbols)
    try:
        chosen = _header(notation, reader, options)
        profile = _profile(notation, reader, chosen, context.name)
        if not reader.at("end"):
            wanted = "an operator or the end" if notation.own.composes else "the end of the text"
            Events(notation, notation.grammar(chosen)).unexpected(reader, wanted)
    except Failure:
        raise PatternErrors(reader.errors) from None
    if not reader.errors:
        reader.errors += check(profile.expression, context.catalog)
    if reader.errors:
        raise PatternErrors(reader.errors)
    return profile


def _profile(notation: Notation, reader: Reader, chosen: Mapping[str, str], name: str) -> Profile:
    grammar = notation.grammar(chosen)
    start = reader.here
    parser = Parser(reader, grammar, Events(notation, grammar))
    expression: Expression
    if notation.filters:
        filter = notation.conditions.read(reader)
        try:
            expression, notify = _filtered(notation, filter, grammar), Notify()
        except PatternError as error:
            reader.note(error.code, error.message, error.span, error.hint)
            raise Failure from None
        expression = replace(expression, span=reader.span_from(start))
    else:
        template = _template(notation, reader)
        expression = parser.expression()
        expression, notify = _absorbed(notation, expression)
        if template is not None:
            expression = template.value({**grammar.names, "a": expression})
    actions = _actions(notation, reader, parser)
    if any(parser.labels):
        chosen = {**chosen, LABELS: ",".join(parser.labels)}
    return Profile(name, expression, actions, notify, dict(chosen), reader.span_from(start))


def _template(notation: Notation, reader: Reader) -> Template | None:
    """What a whole profile means, by the word before it."""
    wholes = notation.wholes()
    for word, template in wholes:
        if word and reader.accept_word(word):
            return template
    return next((template for word, template in wholes if not word), None)


# --- options at the start of a text ---------------------------------------------------------------------


def _header(notation: Notation, reader: Reader, options: Any) -> dict[str, str]:
    """The options of a text that are not left at their defaults: its own before those of the caller."""
    known = {option.name: option for option in notation.own.options}
    chosen: dict[str, str] = {name: getattr(options, name) for name in known}
    if reader.at("[") and reader.ahead().kind == "name" and reader.ahead(2).kind == "=":
        reader.advance()
        while True:
            name = reader.expect("name", "the name of an option")
            reader.expect("=", "'='")
            start = reader.here
            while not reader.at(",", "]", "end"):
                reader.advance()
            span = start.span if reader.here is start else reader.span_from(start)
            if name.text not in known:
                hint = did_you_mean(name.text, known, f"{notation.own.title} has none" if not known else "")
                reader.note("unknown-option", f"there is no option {name.text!r}", name.span, hint)
            else:
                try:
                    chosen[name.text] = known[name.text].canonical(reader.text[span.start : span.end])
                except InputError as problem:
                    reader.note(problem.code, problem.message, span, problem.hint)
            if not reader.accept(","):
                break
        reader.expect("]", "']'")
    if reader.errors:
        raise Failure
    return {name: text for name, text in chosen.items() if text != known[name].default}


def _header_text(notation: Notation, parameters: Mapping[str, str]) -> str:
    known = {option.name: option for option in notation.own.options}
    for name in parameters:
        if name not in known and name != LABELS:
            message = f"{notation.own.title} has no option {name!r}"
            raise PatternError("not-expressible", message, None, "show it in the language it was written in")
    given = [f"{name}={known[name].canonical(text)}" for name, text in parameters.items() if name in known]
    return f"[{', '.join(given)}] " if given else ""


# --- filter languages, actions, and absorbed repetitions ---------------------------------------------------


def _filtered(notation: Notation, filter: Filter, grammar: Grammar) -> Primitive:
    """The event that a condition describes; one comparison of it may name the event type."""
    named = notation.own.more.get("conditions", {}).get("type")
    parts = filter.parts if isinstance(filter, And) else (filter,)
    for number, part in enumerate(parts):
        match part:
            case Compare(Attribute(name), Relation.EQ, Literal(str(type))) if name == named:
                rest = (*parts[:number], *parts[number + 1 :])
                if any(named in attributes(one) for one in rest):
                    break
                return Primitive(type, rest[0] if len(rest) == 1 else And(rest) if rest else None)
    if named is not None and named in attributes(filter):
        hint = f"compare it once, joined to the rest with {_and(notation)}"
        raise PatternError("bad-type", f"{named} names the type of the event", filter.span, hint)
    return Primitive(grammar.names["event"], filter)


def _and(notation: Notation) -> str:
    return next(rule.items[1].text for rule in notation.conditions.grammar.rules if rule.name == "and")


def _filter_text(notation: Notation, expression: Expression, grammar: Grammar) -> str:
    if not isinstance(expression, Primitive):
        message = f"{notation.own.title} selects single events"
        raise PatternError("not-expressible", message, expression.span, "another language may compose them")
    named = notation.own.more.get("conditions", {}).get("type")
    parts: tuple[Filter, ...] = () if expression.filter is None else (expression.filter,)
    if expression.name != grammar.names["event"] or not parts:
        if named is None:
            message = f"{notation.own.title} cannot name the event {expression.name!r}"
            raise PatternError("not-expressible", message, expression.span, "give the option event")
        parts = (Compare(Attribute(named), Relation.EQ, Literal(expression.name)), *_flat(expression.filter))
    return notation.conditions.text(parts[0] if len(parts) == 1 else And(parts))


def _flat(filter: Filter | None) -> tuple[Filter, ...]:
    return () if filter is None else filter.parts if isinstance(filter, And) else (filter,)


def _actions(notation: Notation, reader: Reader, parser: Parser) -> tuple[Action, ...]:
    """`: liftUp(J1) AND ring`, where the language has actions."""
    if not notation.own.more.get("actions") or not reader.accept(":"):
        return ()
    found = []
    while True:
        name = str(reader.expect("name", "the name of an action").value)
        arguments: list[str] = []
        if reader.accept("("):
            while not reader.at(")"):
                if not reader.at("name", "number", "string"):
                    parser.fail("an argument, such as a name")
                token = reader.advance()
                arguments.append(str(token.value) if token.kind == "name" else token.text)
                if not reader.accept(","):
                    break
            reader.expect(")", "')'")
        found.append(Action(name, tuple(arguments)))
        if not reader.accept_word("AND"):
            return tuple(found)


def _action_text(notation: Notation, action: Action) -> str:
    if not notation.own.more.get("actions"):
        raise PatternError("not-expressible", f"{notation.own.title} has no actions", None)
    name = quoted(action.name, frozenset({"AND"}))
    return name + (f"({', '.join(map(_argument, action.arguments))})" if action.arguments else "")


def _argument(text: str) -> str:
    return text if text[:1] in "'\"" or text[:1].isdigit() else quoted(text, frozenset())


def _absorb(notation: Notation) -> Any:
    text = notation.own.more.get("absorb")
    if text is None:
        return None
    holes = {"a": Hole("a"), "t": Hole("t", "duration")}
    return Template(str(text), meaning.FUNCTIONS).value({**meaning.WORDS, **holes})


def _absorbed(notation: Notation, expression: Expression) -> tuple[Expression, Notify]:
    """A pattern that means: react once, and then not again for a while. Part C.5.25."""
    pattern = _absorb(notation)
    bound = None if pattern is None else matched(pattern, expression, meaning.fits)
    return (expression, Notify()) if bound is None else (bound["a"], Notify(every=bound["t"] + 1))


# --- back to text -------------------------------------------------------------------------------------------


def show(notation: Notation, profile: Profile) -> str:
    """The text of a profile; raises `PatternError` if the language cannot express it."""
    chosen = {name: text for name, text in profile.parameters.items() if name != LABELS}
    header = _header_text(notation, profile.parameters)
    grammar = notation.grammar(chosen)
    expression, notify = profile.expression, profile.notify
    if notify.every and notation.own.more.get("absorb"):
        names = {**meaning.WORDS, "a": expression, "t": notify.every - 1}
        expression, notify = (
            Template(str(notation.own.more["absorb"]), meaning.FUNCTIONS).value(names),
            Notify(),
        )
    if notify != Notify():
        message = f"{notation.own.title} cannot say how often or how to notify"
        raise PatternError("not-expressible", message, profile.span)
    labels = profile.parameters.get(LABELS, "")
    body = _body(notation, expression, grammar, labels.split(",") if labels else [])
    actions = " AND ".join(_action_text(notation, action) for action in profile.actions)
    return header + body + (f" : {actions}" if actions else "")


def _body(notation: Notation, expression: Expression, grammar: Grammar, labels: list[str]) -> str:
    if notation.filters:
        return _filter_text(notation, expression, grammar)
    printer = printer_of(notation, grammar, labels)
    level = LEVELS["prefix"] if grammar.only_in_parentheses else 0
    wholes = notation.wholes()
    for word, template in wholes:
        pattern = template.value({**grammar.names, "a": Hole("a")})
        bound = None if isinstance(pattern, Hole) else matched(pattern, expression, meaning.fits)
        if bound is not None:
            return f"{word} {printer.text(bound['a'])}".strip()
    for word, template in wholes:
        if word and template.text == "a":
            return f"{word} {printer.text(expression)}"
    if wholes:
        raise PatternError("not-expressible", f"{notation.own.title} cannot say this", expression.span)
    return printer.text(expression, level)
