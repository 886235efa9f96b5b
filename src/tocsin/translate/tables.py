"""Tables 17 to 21 of paper 004: how each operator is said in each group. One row is one rule.

As printed, except where Part C.5 corrects a slip (12 to 15, 29): groups without timeframes have none on their side, Table 17's
sequence and simultaneity are read with infinity first, the simultaneity of TCE is transferring for want of a negation, and
the post-filter of its negation has its overbar. A selection has a row for each number, from the first occurrence on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice

from tocsin.algebra.pairs.expression import Composition, Expression, walk
from tocsin.algebra.pairs.groups import Group, Operator, Traits, operator_of
from tocsin.algebra.pairs.operators import (
    conjunction,
    disjunction,
    framed,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.translate.kinds import Condition, Kind, Lost
from tocsin.translate.rules import I, Rule, T, X, Y

INF = float("inf")
EXACTLY = "the rule asks for exactly so many occurrences, not for the one with that number (C.5.12)"
RECURRING = "it misses a pair if one of the two has occurred before or recurs (C.5.15)"
AT_ONCE = "it misses events that occur at the same time (C.5.29)"
EQUAL, MORE, FEWER, PASSED_ON = Kind.EQUIVALENT, Kind.POSITIVE, Kind.NEGATIVE, Kind.TRANSFERRING
BEFORE, SAME = Condition.BEFORE, Condition.SAME_TIME
WINDOW, ORDER, AT_ONE_TIME = Lost.TIMEFRAME, Lost.ORDER, Lost.SIMULTANEITY
MOST = 50  # the highest number that a selection is written out for


def together_but_not_apart(within: float | None = None) -> Expression:
    """Both, and neither before the other: a simultaneity without that operator."""
    return conjunction(
        conjunction(X, Y), conjunction(negation(sequence(X, Y)), negation(sequence(Y, X))), within=within
    )


CE = (
    Rule("Table 17", 1, conjunction(X, Y, within=INF), conjunction(X, Y), EQUAL),
    Rule("Table 17", 2, conjunction(X, Y, within=T), conjunction(X, Y), MORE, lost=(WINDOW,)),
    Rule("Table 17", 3, disjunction(X, Y, within=INF), disjunction(X, Y), EQUAL),
    Rule("Table 17", 4, disjunction(X, Y, within=T), disjunction(X, Y), MORE, lost=(WINDOW,)),
    Rule("Table 17", 5, sequence(X, Y, within=INF), conjunction(X, Y), PASSED_ON, BEFORE, lost=(ORDER,)),
    Rule("Table 17", 6, sequence(X, Y, within=T), conjunction(X, Y), MORE, lost=(WINDOW, ORDER)),
    Rule("Table 17", 7, negation(X, INF), negation(X), EQUAL),
    Rule("Table 17", 8, negation(X, T), negation(X), FEWER, lost=(WINDOW,)),
    Rule(
        "Table 17", 9, simultaneity(X, Y, within=INF), conjunction(X, Y), PASSED_ON, SAME, lost=(AT_ONE_TIME,)
    ),
    Rule("Table 17", 10, simultaneity(X, Y, within=T), conjunction(X, Y), MORE, lost=(AT_ONE_TIME,)),
)
SCE = (
    Rule("Table 18", 1, conjunction(X, Y, within=INF), conjunction(X, Y), EQUAL),
    Rule("Table 18", 2, conjunction(X, Y, within=T), conjunction(X, Y), MORE, lost=(WINDOW,)),
    Rule("Table 18", 3, disjunction(X, Y, within=INF), disjunction(X, Y), EQUAL),
    Rule("Table 18", 4, disjunction(X, Y, within=T), disjunction(X, Y), MORE, lost=(WINDOW,)),
    Rule("Table 18", 5, sequence(X, Y, within=INF), sequence(X, Y), EQUAL),
    Rule("Table 18", 6, sequence(X, Y, within=T), sequence(X, Y), MORE, lost=(WINDOW,)),
    Rule("Table 18", 7, negation(X, INF), negation(X), EQUAL),
    Rule("Table 18", 8, negation(X, T), negation(X), FEWER, lost=(WINDOW,)),
    Rule("Table 18", 9, simultaneity(X, Y, within=INF), together_but_not_apart(), EQUAL, claimed=RECURRING),
    Rule("Table 18", 10, simultaneity(X, Y, within=T), together_but_not_apart(), MORE, claimed=RECURRING),
)
TCE = (
    Rule("Table 19", 1, conjunction(X, Y, within=T), conjunction(X, Y, within=T), EQUAL),
    Rule("Table 19", 2, disjunction(X, Y, within=T), disjunction(X, Y, within=T), EQUAL),
    Rule("Table 19", 3, sequence(X, Y, within=T), sequence(X, Y, within=T), EQUAL),
    Rule(
        "Table 19",
        4,
        negation(X, T),
        framed(X, T),
        PASSED_ON,
        post_filter=negation(X, T),
        lost=(Lost.ABSENCE,),
    ),
    Rule(
        "Table 19",
        5,
        simultaneity(X, Y, within=T),
        conjunction(X, Y, within=T),
        PASSED_ON,
        SAME,
        lost=(AT_ONE_TIME,),
    ),
    Rule(
        "Table 19",
        6,
        selection(X, I),
        framed(X, T),
        PASSED_ON,
        post_filter=selection(X, I),
        lost=(Lost.NUMBER,),
    ),
)
OTCE = (
    Rule("Table 20", 1, conjunction(X, Y, within=T), conjunction(X, Y, within=T), EQUAL),
    Rule("Table 20", 2, disjunction(X, Y, within=T), disjunction(X, Y, within=T), EQUAL),
    Rule("Table 20", 3, sequence(X, Y, within=T), sequence(X, Y, within=T), EQUAL),
    Rule("Table 20", 4, negation(X, T), negation(X, T), EQUAL),
    Rule("Table 20", 5, simultaneity(X, Y, within=T), together_but_not_apart(T), EQUAL, claimed=RECURRING),
)
STCE = (
    Rule("Table 21", 1, conjunction(X, Y, within=T), conjunction(X, Y, within=T), EQUAL),
    Rule("Table 21", 2, disjunction(X, Y, within=T), disjunction(X, Y, within=T), EQUAL),
    Rule("Table 21", 3, sequence(X, Y, within=T), sequence(X, Y, within=T), EQUAL),
    Rule("Table 21", 4, negation(X, T), negation(X, T), EQUAL),
    Rule("Table 21", 5, simultaneity(X, Y, within=T), simultaneity(X, Y, within=T), EQUAL),
)
# Any two services, whatever their groups.
BOTH_ORDERS = disjunction(sequence(X, Y, within=T), sequence(Y, X, within=T), within=T)
MEDIATED = (Rule("Fig. 15", 1, conjunction(X, Y, within=T), BOTH_ORDERS, EQUAL, claimed=AT_ONCE),)
# Operators that a language has although its group lacks them, as READY has a selection, or that has no group at all.
_BINARY: tuple[Callable[..., Composition], ...] = (conjunction, disjunction, sequence, simultaneity)
OWN_FRAMED = (
    *(
        Rule("Section 5.2", n, op(X, Y, within=T), op(X, Y, within=T), EQUAL)
        for n, op in enumerate(_BINARY, 1)
    ),
    Rule("Section 5.2", 5, negation(X, T), negation(X, T), EQUAL),
    Rule("Section 5.2", 6, selection(X, I), selection(X, I), EQUAL),
)
OWN_FRAMELESS = (
    *(Rule("Section 5.2", n, op(X, Y, within=INF), op(X, Y), EQUAL) for n, op in enumerate(_BINARY, 7)),
    *(
        Rule("Section 5.2", n, op(X, Y, within=T), op(X, Y), MORE, lost=(WINDOW,))
        for n, op in enumerate(_BINARY, 11)
    ),
    Rule("Section 5.2", 15, negation(X, INF), negation(X), EQUAL),
    Rule("Section 5.2", 16, negation(X, T), negation(X), FEWER, lost=(WINDOW,)),
    Rule("Section 5.2", 17, selection(X, I), selection(X, I), EQUAL),
)
TABLES = {Group.CE: CE, Group.SCE: SCE, Group.TCE: TCE, Group.OTCE: OTCE, Group.STCE: STCE}
# Table 20 prints the first without a timeframe around the whole, Table 21 with it (C.5.12).
_WHOLE_FRAMED = {Group.OTCE: (False, True), Group.STCE: (True, True)}


def selections(group: Group) -> Iterator[Rule]:
    """The rows of the selections of a group, from the first occurrence on; the paper goes on in the same way."""
    if group is Group.TCE:
        return
    table, first = TABLES[group][0].table, len(TABLES[group]) + 1
    inner = T if group.timeframes else None
    occurred: Expression = X  # so many times
    for number in count(1):
        whole = inner if group.timeframes and _WHOLE_FRAMED[group][min(number, 2) - 1] else None
        so_far = framed(X, T) if number == 1 and group.timeframes else occurred
        target = conjunction(so_far, negation(conjunction(occurred, X), inner), within=whole)
        yield Rule(table, first + number - 1, selection(X, number), target, EQUAL, claimed=EXACTLY)
        occurred = conjunction(occurred, X, within=inner)


@cache
def rows(group: Group) -> tuple[Rule, ...]:
    """The rules of a group."""
    return (*TABLES[group], *islice(selections(group), MOST))


@cache
def rules_of(traits: Traits) -> tuple[Rule, ...]:
    """The rules that a language can follow, the preferred ones first."""
    own = OWN_FRAMED if traits.timeframe else OWN_FRAMELESS
    of_group = rows(traits.group) if traits.group else ()
    covered = traits.group.operators if traits.group else frozenset()
    beyond = [rule for rule in own if rule.operator in traits.operators - covered]
    return tuple(rule for rule in (*beyond, *of_group, *MEDIATED) if uses(rule.target) <= traits.operators)


def uses(expression: Expression) -> frozenset[Operator]:
    """The operators that an expression is written with."""
    return frozenset(operator for part in walk(expression) if (operator := operator_of(part)) is not None)
