"""Profiles written in Python: one function per operator, with the parameters by name.

>>> from tocsin.algebra.pairs.notation import show
>>> show(sequence("a", negation("b", 5), within=10, consumption="delete", duplicates="first"))
'(a ; !(b)_5)_10{z=first,w=first,consume=delete}'

An operator is evaluated over trace views, with `first`, `second` and `pairs`; or per terminator if `consumption`, `duplicates`,
`modes` or another mode is given. Parameters of both at once are refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypedDict, TypeVar, Unpack

from tocsin.algebra.pairs.expression import (
    INFINITE,
    After,
    At,
    Chain,
    Conjunction,
    Disjunction,
    During,
    Each,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Several,
    Simultaneity,
    Timeframe,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Evaluation,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
    nth,
)
from tocsin.algebra.predicate import Filter
from tocsin.errors import InputError

Written = Expression | str
Choice = Pick | Gather | str | int
_PICKS: dict[str, Pick] = {"first": FIRST, "last": LAST, "all": ALL}
_OF_VIEWS = frozenset({"first", "second", "pairs", "equal"})


class Parameters(TypedDict, total=False):
    """The parameters of an operator; the first four choose trace views, the others detection per terminator."""

    first: Choice
    second: Choice
    pairs: Pairing | str
    equal: bool
    duplicates: Choice
    consumption: Consumption | str
    modes: tuple[Mode, ...]
    traversal: Traversal | str
    coupling: Coupling | str
    concurrency: Concurrency | str


def event(name: str, where: Filter | None = None) -> Primitive:
    """An event of a type that satisfies a filter."""
    return Primitive(name, where)


def at(time: int) -> At:
    """The time event of one moment."""
    return At(time)


def after(body: Written, delay: int) -> After:
    """A time event a while after each instance of the body."""
    return After(_read(body), delay)


def every(period: int, since: Written, until: Written | None = None) -> Every:
    """A time event each period, from an instance of one expression to one of another."""
    return Every(period, _read(since), None if until is None else _read(until))


def disjunction(*operands: Written, within: float | None = None, **given: Unpack[Parameters]) -> Disjunction:
    """One of the operands."""
    return Disjunction(_all(operands), _frame(within), _how(len(operands), given))


def conjunction(*operands: Written, within: float | None = None, **given: Unpack[Parameters]) -> Conjunction:
    """All operands, in any order."""
    return Conjunction(_all(operands), _frame(within), _how(len(operands), given))


def sequence(
    *operands: Written,
    within: float | None = None,
    without: Written | None = None,
    **given: Unpack[Parameters],
) -> Ordered:
    """One operand after the other, perhaps without something in between."""
    absent = None if without is None else _read(without)
    return Ordered(_all(operands), _frame(within), _how(len(operands), given), absent)


def simultaneity(
    *operands: Written, within: float | None = None, tolerance: int = 0, **given: Unpack[Parameters]
) -> Simultaneity:
    """All operands at the same time."""
    return Simultaneity(_all(operands), _frame(within), _how(len(operands), given), tolerance)


def negation(body: Written, within: float | None = None) -> Negation:
    """Nothing of the body for a while."""
    return Negation(_read(body), _frame(within))


def selection(body: Written, which: Choice, to: int | None = None) -> Selection:
    """The i-th instance of the body, or the n-th to the m-th.

    >>> selection("a", 2, 4).pick
    Pick(low=2, high=4)
    """
    pick = choice(which) if to is None or not isinstance(which, int) else Pick(which, to)
    if to is not None and not isinstance(which, int):
        raise InputError(
            "bad-choice", f"a selection from {which!r} to {to} is not known", hint="give two numbers"
        )
    if isinstance(pick, Gather):
        raise InputError(
            "bad-choice", f"a selection cannot be {pick.value}", hint="a number, first, last or all"
        )
    return Selection(_read(body), pick)


def framed(body: Written, within: float) -> Framed:
    """The body with a timeframe for the negations in it."""
    timeframe = _frame(within)
    return Framed(_read(body), INFINITE if timeframe is None else timeframe)


def several(
    count: int, *operands: Written, within: float | None = None, **given: Unpack[Parameters]
) -> Several:
    """So many of the operands, in any order."""
    how = _detection(len(operands), given)
    return Several(_all(operands), count, _frame(within), how)


def chain(*operands: Primitive | str, by: str | None = None) -> Chain:
    """One event after the other, each the first that comes, in time and by an attribute."""
    return Chain(tuple(Primitive(one) if isinstance(one, str) else one for one in operands), by)


def during(body: Written, since: int, until: int) -> During:
    """The body over what is observed in an interval."""
    return During(_read(body), since, until)


def each(body: Written, by: str) -> Each:
    """The body over the events of each value of an attribute."""
    return Each(_read(body), by)


def choice(which: Choice) -> Pick | Gather:
    """The selection that a word or a number means.

    >>> choice("last"), choice(3), choice("cumulative").value
    (Pick(low=None, high=None), Pick(low=3, high=3), 'cumulative')
    """
    if isinstance(which, Pick | Gather):
        return which
    if isinstance(which, int):
        return nth(which)
    if which in _PICKS:
        return _PICKS[which]
    return _word(Gather, which, "duplicates", tuple(_PICKS))


def _read(written: Written) -> Expression:
    return Primitive(written) if isinstance(written, str) else written


def _all(operands: tuple[Written, ...]) -> tuple[Expression, ...]:
    return tuple(_read(operand) for operand in operands)


def _frame(within: float | None) -> Timeframe | None:
    if within is None or isinstance(within, int):
        return within
    if within == float("inf"):
        return INFINITE
    raise InputError("bad-timeframe", f"a timeframe is a whole number or inf, not {within!r}")


def _how(count: int, given: Parameters) -> Evaluation:
    views, detection = _OF_VIEWS & set(given), set(given) - _OF_VIEWS
    if views and detection:
        raise InputError(
            "two-evaluations",
            f"{sorted(views)[0]} chooses trace views and {sorted(detection)[0]} detection per terminator",
            hint="give parameters of one of the two",
        )
    if detection:
        return _detection(count, given)
    pairing = _word(Pairing, given.get("pairs", Pairing.ALL), "pairs")
    return Views(_pick(given, "first"), _pick(given, "second"), pairing, given.get("equal", False))


def _pick(given: Parameters, name: str) -> Pick:
    chosen = choice(given.get(name, ALL))  # type: ignore[arg-type]  # of a TypedDict by a name that varies
    if isinstance(chosen, Gather):
        raise InputError(
            "bad-choice",
            f"{name} cannot be {chosen.value} over trace views",
            hint="give it as `duplicates`, which is per terminator",
        )
    return chosen


def _detection(count: int, given: Parameters) -> Detection:
    modes = given.get("modes")
    if modes is None:
        consumption = _word(Consumption, given.get("consumption", Consumption.KEEP), "consumption")
        modes = (Mode(choice(given.get("duplicates", ALL)), consumption),) * count
    elif "duplicates" in given or "consumption" in given:
        raise InputError(
            "two-evaluations",
            "the modes say what is selected and consumed already",
            hint="leave `duplicates` and `consumption` out",
        )
    return Detection(
        modes,
        _word(Traversal, given.get("traversal", Traversal.LEFT_TO_RIGHT), "traversal"),
        _word(Coupling, given.get("coupling", Coupling.NON_CONTINUOUS), "coupling"),
        _word(Concurrency, given.get("concurrency", Concurrency.OVERLAPPING), "concurrency"),
    )


_W = TypeVar("_W", bound=StrEnum)


def _word(words: type[_W], word: str, what: str, more: tuple[str, ...] = ()) -> _W:
    try:
        return words(word)
    except ValueError:
        known = (*more, *(each.value for each in words))
        raise InputError(
            "bad-choice", f"{what} cannot be {word!r}", hint="one of " + ", ".join(known)
        ) from None
