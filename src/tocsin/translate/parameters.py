"""Translating the parameters of an operator: which duplicates take part, and what a match uses up.

Table 22 says which settings go into which others, over trace views. A setting that consumes (detection per terminator) goes
there through section 5.3: keep is all pairs, delete is unique pairs, and so is Samos's delete and reapply with first. That
is exact for keep with all duplicates, and otherwise the paper's claim (Part C.5.1).

Paper: 004, section 5.3. Its arrows are read as Part C.5.17 says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tocsin.algebra.pairs.expression import Composition, Disjunction, Simultaneity
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.groups import Duplicates, Traits
from tocsin.algebra.pairs.parameters import (
    ALL,
    FIRST,
    LAST,
    ONE,
    Consumption,
    Detection,
    Evaluation,
    Mode,
    Pairing,
    Pick,
    Views,
)
from tocsin.translate.kinds import Kind, Lost

Setting = tuple[Duplicates, Pairing]  # a row or column of Table 22
SETTINGS: tuple[Setting, ...] = tuple((d, p) for d in Duplicates for p in (Pairing.ALL, Pairing.UNIQUE))
# One line for each row, one character for each column up to the diagonal: `=` equivalent, `<` the row goes into the column,
# `>` the column goes into the row, both positive, and `.` neither.
PRINTED = ("=", "<=", "..=", "..<=", ">>>>=", "....<=", ">>..<.=", ".>..<<<=")
# All matches of the column are matches of the row, but the table has a dash (C.5.17).
ADDED = frozenset(
    ((Duplicates.ALL, Pairing.UNIQUE), (duplicates, Pairing.UNIQUE))
    for duplicates in (Duplicates.FIRST, Duplicates.LAST)
)
_PAPER = (Consumption.KEEP, Consumption.DELETE, Consumption.REAPPLY)
EVERYTHING: Setting = (Duplicates.ALL, Pairing.ALL)
UNIQUE_BY_CLAIM = "unique pairs of trace views are not what consuming leaves over (C.5.1)"


def printed(row: Setting, column: Setting) -> str:
    """The sign of Table 22 in a row and a column of it: one of `=<>.`.

    >>> printed((Duplicates.FIRST, Pairing.UNIQUE), (Duplicates.FIRST, Pairing.ALL))
    '<'
    """
    one, other = SETTINGS.index(row), SETTINGS.index(column)
    if one >= other:
        return PRINTED[one][other]
    return {"<": ">", ">": "<"}.get(PRINTED[other][one], PRINTED[other][one])


def transferred(source: Setting, target: Setting) -> Kind | None:
    """What becomes of matches with one setting under another; None if neither has all matches of the other."""
    sign = printed(source, target)
    if sign == "=":
        return Kind.EQUIVALENT
    if sign == "<" or (target, source) in ADDED:
        return Kind.POSITIVE
    return Kind.NEGATIVE if sign == ">" or (source, target) in ADDED else None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The evaluation of an operator at the target, and how its matches relate to those of the source; None: not at all."""

    how: Evaluation
    kind: Kind | None
    rule: str = ""
    claimed: str = ""
    lost: tuple[Lost, ...] = ()


def setting_of(how: Evaluation) -> Setting | None:
    """The row of Table 22 that an evaluation is in; None if it has none, as with two different choices.

    >>> setting_of(Views(FIRST, FIRST, Pairing.UNIQUE))
    (<Duplicates.FIRST: 'first'>, <Pairing.UNIQUE: 'unique'>)
    """
    if isinstance(how, Views):
        pick = how.first if how.first == how.second and not how.equal else None
        return None if pick is None else (_duplicates(pick), how.pairing)
    mode = _only_mode(how)
    if mode is None or not isinstance(mode.selection, Pick):
        return None
    pairing = Pairing.ALL if mode.consumption is Consumption.KEEP else Pairing.UNIQUE
    return _duplicates(mode.selection), pairing


def choose(
    expression: Composition, traits: Traits, alone: bool = True, written: Iterable[Evaluation] | None = None
) -> Chosen:
    """The evaluation of an operator in a language, so that least is lost.

    Args:
        alone: nothing outside the operator can take what it deletes, so a disjunction has the same matches whatever that is.
        written: the evaluations that its notation can write; otherwise they are taken from the traits.
    """
    how = _normal(expression)
    either = alone and isinstance(expression, Disjunction)
    candidates = _offered(how, len(expression.operands), traits) if written is None else written
    offered = [_relate(expression, how, candidate, either, alone) for candidate in candidates]
    if not offered:
        return Chosen(how, None)
    order = (Kind.EQUIVALENT, Kind.POSITIVE, Kind.NEGATIVE, None)
    return min(offered, key=lambda one: (order.index(one.kind), bool(one.claimed)))


def _duplicates(pick: Pick) -> Duplicates:
    known = {FIRST: Duplicates.FIRST, LAST: Duplicates.LAST, ALL: Duplicates.ALL}
    return known.get(pick, Duplicates.ITH)


def _only_mode(how: Detection) -> Mode | None:
    """The mode of all operands, if they have one and nothing else is out of the ordinary."""
    (mode, *others) = dict.fromkeys(how.modes)
    plain = how == replace(Detection(how.modes), traversal=how.traversal)
    return mode if not others and plain and mode.delimiter == ONE else None


def _normal(expression: Composition) -> Evaluation:
    """The evaluation without parameters that have no effect on the operator."""
    how = expression.how
    if isinstance(expression, Disjunction) and isinstance(how, Views):
        return Views(how.first, how.first, equal=how.equal)
    return Views() if isinstance(expression, Simultaneity) and isinstance(how, Views) else how


def _offered(how: Evaluation, operands: int, traits: Traits) -> Iterator[Evaluation]:
    """The evaluations that a language has. One whose description says nothing has none to choose from (C.5.27)."""
    if traits.consumption is None and traits.duplicates is None:
        yield Views()
        return
    consumption = traits.consumption or frozenset({Consumption.KEEP})
    duplicates = traits.duplicates or frozenset({Duplicates.ALL})
    if {Consumption.KEEP, Consumption.DELETE, Consumption.REAPPLY} <= consumption and duplicates == frozenset(
        Duplicates
    ):
        yield how
        return
    picks = {
        Duplicates.FIRST: FIRST,
        Duplicates.LAST: LAST,
        Duplicates.ALL: ALL,
        Duplicates.ITH: _number(how),
    }
    for duplicate in sorted(duplicates):
        for mode in sorted(consumption):
            yield Detection((Mode(picks[duplicate], mode),) * operands)


def _number(how: Evaluation) -> Pick:
    """The choice of an evaluation if it counts, otherwise the first."""
    pick = how.first if isinstance(how, Views) else how.modes[0].selection
    return pick if isinstance(pick, Pick) and pick not in (LAST, ALL) else FIRST


def _relate(
    expression: Composition, how: Evaluation, candidate: Evaluation, either: bool, alone: bool
) -> Chosen:
    """How the matches under a candidate relate to those that are wanted."""
    ends = isinstance(expression, Ordered)
    wanted, offered = (_comparable(one, ends, alone) for one in (how, candidate))
    if wanted == offered or (either and _takes_all(how) and _takes_all(candidate)):
        return Chosen(candidate, Kind.EQUIVALENT)
    one, other = setting_of(wanted), setting_of(offered)
    lost = _lost(wanted, offered)
    if one is None or other is None:
        everything = other == EVERYTHING and isinstance(how, Views)
        kind = Kind.POSITIVE if everything else None
        return Chosen(candidate, kind, "Table 22" if everything else "", lost=lost)
    kind = transferred(one, other)
    exact = EVERYTHING in (one, other) or (isinstance(how, Views) and isinstance(candidate, Views))
    words = f"Table 22, {_words(one)} into {_words(other)}" if kind is not None else ""
    return Chosen(candidate, kind, words, "" if exact else UNIQUE_BY_CLAIM, lost)


def _comparable(how: Evaluation, ends: bool, alone: bool) -> Evaluation:
    """An evaluation without what makes no difference.

    The last operand of a sequence is the one that ends a match, whatever it would choose (`ends`); and what is deleted for one
    operator alone is the same as what is deleted, if it is alone.
    """
    if isinstance(how, Views):
        return how
    modes = how.modes
    plain = all(isinstance(mode.selection, Pick) and mode.delimiter == ONE for mode in modes)
    if ends and plain:
        modes = (*modes[:-1], replace(modes[-1], selection=modes[0].selection))
    if alone:
        modes = tuple(
            mode if mode.consumption in _PAPER else replace(mode, consumption=Consumption.REAPPLY)
            for mode in modes
        )
    return replace(how, modes=modes)


def _words(setting: Setting) -> str:
    return f"({setting[0].value}, {setting[1].value})"


def _takes_all(how: Evaluation) -> bool:
    """Whether a disjunction evaluated like this has every instance of its operands."""
    if isinstance(how, Views):
        return how.first == ALL
    return all(isinstance(mode.selection, Pick) and mode.delimiter == ONE for mode in how.modes)


def _lost(how: Evaluation, candidate: Evaluation) -> tuple[Lost, ...]:
    """Which of the two parameters the candidate does not keep."""
    one, other = setting_of(how), setting_of(candidate)
    if one is None or other is None:
        return (Lost.DUPLICATES, Lost.CONSUMPTION)
    consumption = one[1] != other[1] or _consumed(how) != _consumed(candidate)
    return (
        *((Lost.DUPLICATES,) if one[0] != other[0] else ()),
        *((Lost.CONSUMPTION,) if consumption else ()),
    )


def _consumed(how: Evaluation) -> Consumption | Pairing:
    if isinstance(how, Views):
        return Consumption.KEEP if how.pairing is Pairing.ALL else how.pairing
    return how.modes[0].consumption
