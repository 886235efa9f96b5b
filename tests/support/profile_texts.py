"""Random profiles of a described language: its operators applied to each other, with random numbers and conditions."""

from __future__ import annotations

from random import Random
from typing import Any

from tocsin.algebra.pairs.expression import Expression, Primitive
from tocsin.algebra.pairs.profile import Action, Notify, Profile
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or
from tocsin.languages.profiles.description import description
from tocsin.languages.profiles.grammar import Grammar
from tocsin.languages.profiles.notation import Notation
from tocsin.languages.profiles.syntax import Item, Rule
from tocsin.values import Relation

SECOND = 1_000_000
NAMES = ("a", "b", "c", "Door open", "then", "A", "IN", "sw", "x1")
VALUES: tuple[Any, ...] = (1, -2.5, "it's", "", True, False, 10**12, "100%_*?")


def notation(name: str) -> Notation:
    """The notation of a language, by its name."""
    return Notation(description(name))


def random_options(own: Notation, random: Random) -> dict[str, str]:
    """Some options of a language."""
    found = {}
    for option in own.own.options:
        if random.random() < 0.5:
            words = {
                "duration": ["5s", "3min"],
                "time": ["0", "2024-01-31T19:00:00"],
                "name": ["flow", "made"],
                "pick": ["first", "last", "all", "2", "2..3"],
            }
            text = random.choice(words.get(option.kind, list(option.values)))
            if text != option.default:
                found[option.name] = option.canonical(text)
    return found


def random_filter(random: Random, depth: int = 2, likes: bool = True) -> Filter:
    """A condition on one event."""
    attribute = Attribute(random.choice(("temp", "room", "x y", "not", "AND", "true")))
    kind = random.randrange(8 if depth else 4)
    if kind == 3 and likes:
        return Like(attribute, random.choice(("a%", "%b%", "%c", "d", r"1\%%", "x_%")))
    if kind < 4:
        return Compare(attribute, random.choice(list(Relation)), Literal(random.choice(VALUES)))
    part = random_filter(random, depth - 1, likes)
    if kind == 4:
        return Not(part)
    if kind == 5:
        return Not(IsNull(attribute))
    parts = (part, *(random_filter(random, depth - 1, likes) for _ in range(random.choice((1, 1, 2)))))
    return And(parts) if kind == 6 else Or(parts)


def random_event(random: Random, plain: bool) -> Primitive:
    """An event; a plain one has a plain name and no condition."""
    if plain:
        return Primitive(random.choice("abc"))
    filter = random_filter(random) if random.random() < 0.4 else None
    return Primitive(random.choice(NAMES), filter)


def random_expression(grammar: Grammar, random: Random, depth: int, plain: bool = False) -> Expression:
    """An expression that the operators of a language make."""
    if depth <= 0 or not grammar.rules or random.random() < 0.15:
        return random_event(random, plain)
    return _apply(random.choice(grammar.rules), grammar, random, depth, plain)


def _apply(rule: Rule, grammar: Grammar, random: Random, depth: int, plain: bool) -> Expression:
    bound: dict[str, Any] = {}
    for item in rule.items:
        if item.is_hole:
            bound |= _value(item, grammar, random, depth - 1, plain)
    if {"n", "m"} <= bound.keys():  # from n to m
        bound["n"], bound["m"] = sorted((bound["n"], bound["m"]))
    if rule.row:
        bound["all"] = tuple(bound.values())
    found: Expression = rule.template.value({**grammar.names, **bound})
    return found


def _value(item: Item, grammar: Grammar, random: Random, depth: int, plain: bool) -> dict[str, Any]:
    name = item.text
    match item.kind:
        case "count":
            return {name: random.randint(1, 3)}
        case "duration":
            return {name: random.randint(1, 5) * SECOND}
        case "time":
            return {name: random.randint(3, 20) * SECOND}
        case "frame":
            return {name: random.choice((2 * SECOND, 90 * SECOND, grammar.names["inf"]))}
        case "label":
            return {name: "v"}
        case "interval":
            since = random.randint(0, 8) * SECOND
            return {"since": since, "until": since + random.randint(0, 9) * SECOND}
        case "list":
            some = random.randint(2, 3)
            return {name: tuple(random_expression(grammar, random, depth, plain) for _ in range(some))}
        case "event":
            return {name: random_event(random, plain)}
        case "sequence":
            rule = next(rule for rule in grammar.rules if rule.name == "sequence")
            return {name: _apply(rule, grammar, random, depth, plain)}
        case _:
            return {name: random_expression(grammar, random, depth, plain)}


def random_profile(own: Notation, random: Random, depth: int = 3, plain: bool = False) -> Profile:
    """A profile that a language can say, apart from what the check refuses."""
    chosen = random_options(own, random)
    grammar = own.grammar(chosen)
    notify, actions = Notify(), ()
    if own.filters:
        event = Primitive(str(grammar.names["event"]), random_filter(random))
        return Profile("pattern", event, parameters=chosen)
    expression = random_expression(grammar, random, depth, plain)
    wholes = own.wholes()
    if wholes:
        template = random.choice(wholes)[1]
        expression = template.value({**grammar.names, "a": expression})
    if own.own.more.get("absorb") and random.random() < 0.2:
        notify = Notify(every=random.choice((2, 30)) * SECOND + 1)
    if own.own.more.get("actions") and random.random() < 0.3:
        actions = (Action("liftUp", ("J1", "3")), Action("AND"))
    return Profile("pattern", expression, actions, notify, chosen)


def common_text(own: Notation, operator: str) -> str | None:
    """The text `a OPERATOR b` of a language; None if it has no such operator."""
    grammar = own.grammar({})
    rule = next((rule for rule in grammar.rules if rule.name == operator), None)
    if rule is None or len([item for item in rule.items if item.is_hole]) != 2:
        return None
    operands = iter("ab")
    text = " ".join(next(operands) if item.is_hole else item.text for item in rule.items)
    return f"({text})" if grammar.only_in_parentheses else text
