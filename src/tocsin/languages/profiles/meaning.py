"""The functions in which a description says what an operator means: the nodes of the event algebra, with holes for operands.

| function | gives |
|---|---|
| `conjunction`, `disjunction`, `sequence`, `simultaneity` | the operator, with `within`, `without`, `tolerance` and its modes |
| `negation(a, t)`, `selection(a, n)`, `after(a, t)`, `every(t, a, b)`, `at(t)` | as in `tocsin.algebra.pairs.operators` |
| `several(n, …)`, `chain(…)`, `during(a, s, e)`, `each(a, by)` | likewise |
| `timed(a, t)` | the operator a with this timeframe; anything else in a frame |
| `counted(a, n, m)` | n times a or more, and not more than m |
| `mode(which, consumption, least)` | the mode of one operand |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

from tocsin.algebra.pairs.expression import (
    INFINITE,
    After,
    At,
    Chain,
    Composition,
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
    Unbounded,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.operators import choice, conjunction
from tocsin.algebra.pairs.parameters import Consumption, Delimiter, Detection, Evaluation, Gather, Mode, Pick
from tocsin.errors import InputError, PatternError
from tocsin.languages.profiles.template import Hole

WORDS: dict[str, Any] = {
    **{word: word for word in ("first", "last", "all", "keep", "delete", "delete_reapply", "own", "unique")},
    **{word.value: word.value for word in Gather},
    **{word: word for word in ("nonoverlapping", "overlapping", "continuous", "noncontinuous")},
    "inf": INFINITE,
    "none": None,
}
_COMPOSITION = get_args(Composition)


@dataclass(frozen=True, slots=True)
class Timed:
    """A pattern for an operator with a timeframe, or for something else in a frame."""

    body: Any
    timeframe: Any


def opened(value: Any) -> tuple[Any, ...]:
    """An expression, and as `Timed` if it has a timeframe that can be written behind it."""
    if isinstance(value, _COMPOSITION) and value.timeframe is not None:
        return value, Timed(replace(value, timeframe=None), value.timeframe)
    if isinstance(value, Framed):
        body = value.body
        bare = isinstance(body, _COMPOSITION) and body.timeframe is None
        return (value,) if bare else (value, Timed(body, value.timeframe))
    return (value,)


def _timed(body: Any, timeframe: Any) -> Any:
    if isinstance(body, Hole):
        return Timed(body, timeframe)
    if isinstance(body, _COMPOSITION) and body.timeframe is None:
        return replace(body, timeframe=timeframe)
    return Framed(body, timeframe)


def _how(count: int, given: dict[str, Any]) -> Evaluation:
    return conjunction(*["a"] * count, **given).how


def _composition(kind: Any) -> Any:
    def made(*operands: Any, within: Any = None, **given: Any) -> Any:
        own = {name: given.pop(name) for name in ("without", "tolerance") if name in given}
        return kind(operands, within, _how(len(operands), given), **own)

    return made


def _several(count: Any, *operands: Any, within: Any = None, **given: Any) -> Several:
    how = _how(len(operands), given)
    if not isinstance(how, Detection):
        raise InputError("bad-description", "several operands are detected per terminator")
    return Several(operands, count, within, how)


def _chain(*operands: Any, by: str | None = None) -> Chain:
    for one in operands:
        if isinstance(one, get_args(Expression)) and not isinstance(one, Primitive):
            message = "a chain is of primitive events"
            raise PatternError("not-primitive", message, one.span, "write A . B . C, without parentheses")
    return Chain(operands, by)


def _selection(body: Any, low: Any, high: Any = None) -> Selection:
    if isinstance(low, str | Pick):
        pick = choice(low)
        return Selection(body, pick if isinstance(pick, Pick) else Pick())
    return Selection(body, Pick(low, low if high is None else high))


def _counted(body: Any, low: Any, high: Any) -> Conjunction:
    if isinstance(low, int) and low > high:
        raise PatternError("bad-choice", f"from {low} to {high} is nothing", body.span, "the smaller first")
    often, once_more = Selection(body, Pick(low, low)), Selection(body, Pick(high + 1, high + 1))
    return Conjunction((often, Negation(once_more, INFINITE)), None, _how(2, {"duplicates": "first"}))


def _mode(which: Any, consumption: str = "keep", least: Any = 1) -> Mode:
    return Mode(choice(which), Consumption(consumption), Delimiter(least, least))


FUNCTIONS = {
    "conjunction": _composition(Conjunction),
    "disjunction": _composition(Disjunction),
    "sequence": _composition(Ordered),
    "simultaneity": _composition(Simultaneity),
    "several": _several,
    "chain": _chain,
    "negation": lambda body, timeframe=None: Negation(body, timeframe),
    "selection": _selection,
    "after": After,
    "every": lambda period, since, until=None: Every(period, since, until),
    "at": At,
    "during": During,
    "each": Each,
    "timed": _timed,
    "counted": _counted,
    "mode": _mode,
}


def fits(kind: str, value: Any) -> bool:
    """Whether a value can stand in a hole of a kind."""
    match kind:
        case "" | "primary" | "list":
            return isinstance(value, get_args(Expression))
        case "event":
            return isinstance(value, Primitive)
        case "sequence":
            return isinstance(value, Ordered)
        case "frame":
            return isinstance(value, Unbounded) or _is_number(value, 0)
        case "count":
            return _is_number(value, 1)
        case "duration":
            return _is_number(value, 0)
        case "time":
            return _is_number(value, None)
        case _:
            return isinstance(value, str)


def _is_number(value: Any, least: int | None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)
