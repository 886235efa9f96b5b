"""Writes the arrays of one program: a row for each operator, after the rows that it reads. See `runtime.operators`.

The rows are the stages of `algebra.pairs.online.arrange`, and they forget what those forget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np

from tocsin.algebra.pairs.clock import clock, reach
from tocsin.algebra.pairs.expression import (
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
    with_timeframes,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.online.forgetting import (
    Forgetting,
    forgetting_alone,
    forgetting_of,
    length_of,
)
from tocsin.algebra.pairs.parameters import (
    FIRST,
    LAST,
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
from tocsin.algebra.pairs.semantics import guards_of
from tocsin.runtime import operators as rt

TIMERS = ("after", "at", "every", "tick")
_OPERATORS = {
    Disjunction: rt.DISJUNCTION,
    Conjunction: rt.CONJUNCTION,
    Ordered: rt.SEQUENCE,
    Simultaneity: rt.SIMULTANEITY,
}
_CONSUMES = {
    Consumption.KEEP: rt.KEEP,
    Consumption.DELETE: rt.DELETE,
    Consumption.REAPPLY: rt.REAPPLY,
    Consumption.OWN: rt.OWN,
}
_GATHERS = {
    Gather.CUMULATIVE: rt.CUMULATIVE,
    Gather.RESTRICTED: rt.RESTRICTED,
    Gather.COMBINATIONS: rt.COMBINATIONS,
    Gather.COMBINATIONS_MINIMUM: rt.COMBINATIONS_MINIMUM,
}
_ONE_INSTANCE, _NUMBERED, _DELETION = 1, 2, 3  # how many numbers an entry has
_COMMON = (_ONE_INSTANCE, _DELETION, _NUMBERED, _DELETION)  # OUT, OUT_DELETED, WAITING, DELETED


@dataclass
class Writer:
    """The rows so far. `bit` gives the bit of a class of events, `roles` the numbers of their names."""

    bit: Callable[[Primitive], int]
    roles: dict[str, int]
    nodes: list[dict[int, int]] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    modes: list[tuple[int, ...]] = field(default_factory=list)
    widths: list[int] = field(default_factory=lambda: [_NUMBERED])  # of the clock
    primitives: dict[int, Primitive] = field(default_factory=dict)
    span: tuple[int, int] = (-1, -1)  # the interval in which events count, if there is one

    def write(
        self, expression: Expression, *, reacts: bool, tick: int, words: int, any_bit: int
    ) -> rt.Operators:
        """The program of an expression.

        Args:
            reacts: an instance is wanted only when a negation becomes true, as for an action.
            tick: the bit of events that are the ticks of the clock, or -1.
            any_bit: the bit of all events, or -1 if the others do not matter.
        """
        framed = with_timeframes(expression)
        self._expression(framed, outermost=True)
        if reacts:
            self._react(framed, len(self.nodes) - 1)
        table = np.full((len(self.nodes), rt.NODE_COLUMNS), -1, np.int64)
        for number, columns in enumerate(self.nodes):
            for column, value in columns.items():
                table[number, column] = value
        bits = tuple(self.bit(self.primitives[n]) if n in self.primitives else -1 for n in range(len(table)))
        domain = np.zeros((1, words), np.uint64)
        for bit in {*bits, tick, any_bit} - {-1}:
            domain[0, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        return rt.Operators(
            domain,
            bits,
            table,
            np.array(self.children, np.int64),
            np.array(self.modes, np.int64).reshape(-1, rt.MODE_COLUMNS + 1),
            np.array(self.widths, np.int64),
            self._clock(framed) if tick < 0 else np.empty((0, 2), np.int64),
            tick,
            reach(expression, tick < 0),
        )

    def _clock(self, framed: Expression) -> np.ndarray:
        first = {primitive: node for node, primitive in reversed(self.primitives.items())}
        rows = [(first[primitive], delay) for primitive, delay in clock(framed)]
        return np.array(rows, np.int64).reshape(-1, 2)

    def _node(
        self,
        kind: int,
        children: Iterable[int],
        lists: Sequence[int] = (),
        columns: dict[int, int] | None = None,
    ) -> int:
        read = list(children)
        start = len(self.children)
        self.children += read
        own = {rt.KIND: kind, rt.CHILD: start, rt.CHILD_STOP: start + len(read), rt.LIST: len(self.widths)}
        flags = (
            rt.UNIQUE,
            rt.IN_ORDER,
            rt.LAST_ONLY,
            rt.PLAIN,
            rt.BACKWARDS,
            rt.APART,
            rt.ALONE,
            rt.EDGE,
            rt.CONTINUOUS,
        )
        self.nodes.append({**dict.fromkeys(flags, 0), **own, **(columns or {})})
        self.widths += [*_COMMON, *lists]
        return len(self.nodes) - 1

    def _timer(self, name: str) -> int:
        return -1 - TIMERS.index(name)

    def _expression(self, expression: Expression, outermost: bool = False) -> int:
        match expression:
            case Primitive(name):
                since, until = self.span
                columns = {rt.ROLE: self.roles[name], rt.SINCE: since, rt.UNTIL: until}
                number = self._node(rt.EVENTS, (), (), columns)
                self.primitives[number] = expression
                return number
            case At(time):
                return self._node(rt.MOMENTS, (), [_ONE_INSTANCE], {rt.AT: time, rt.ROLE: self._timer("at")})
            case After(body, delay):
                columns = {rt.DELAY: delay, rt.ROLE: self._timer("after")}
                return self._node(rt.MOMENTS, [self._expression(body)], [_ONE_INSTANCE], columns)
            case Every(period, since, until):
                read = [self._expression(part) for part in ((since,) if until is None else (since, until))]
                columns = {rt.DELAY: period, rt.ROLE: self._timer("every")}
                return self._node(rt.PERIODS, read, [_DELETION, _ONE_INSTANCE], columns)
            case Negation(body, timeframe):
                length = timeframe if isinstance(timeframe, int) else -1
                columns = {rt.LENGTH: length, rt.ROLE: self._timer("tick")}
                return self._node(rt.ABSENCE, [self._expression(body)], [_ONE_INSTANCE, _NUMBERED], columns)
            case Selection(body, pick):
                return self._node(rt.NUMBERED, [self._expression(body)], [_ONE_INSTANCE], _bounds(pick))
            case Framed(body):
                return self._expression(body, outermost)
            case Disjunction() | Conjunction() | Ordered() | Simultaneity():
                return self._composition(expression, outermost)
            case During(body, since, until):
                around = self.span
                end = until if around[1] < 0 else min(until, around[1])
                self.span = max(since, around[0]), end
                number = self._expression(body, outermost)
                self.span = around
                return number
            case Several() | Chain() | Each():
                # `compile.pairs` has refused it, with a hint.
                raise TypeError(f"{type(expression).__name__} has no program")
            case _:
                assert_never(expression)

    def _composition(self, expression: Composition, outermost: bool) -> int:
        looks = len(self.nodes)
        asked = guards_of(expression)
        guards = [self._guard(guard) for guard in asked]
        how = expression.how
        modes = how.modes if isinstance(how, Detection) else (Mode(),) * len(expression.operands)
        active = [(o, mode) for o, mode in zip(expression.operands, modes, strict=True) if o not in asked]
        operands = tuple(operand for operand, _ in active)
        if guards and len(operands) == 1:
            body = self._expression(operands[0])
        elif isinstance(how, Detection):
            body = self._per_terminator(expression, how, active, outermost, looks)
        else:
            body = self._by_views(expression, how, operands)
        if not guards:
            return body
        columns = {rt.AT: looks, rt.ALONE: int(len(operands) == 1)}
        return self._node(rt.ASKED, [*guards, body], [_ONE_INSTANCE], columns)

    def _guard(self, expression: Expression) -> int:
        match expression:
            case Negation(body):
                return self._node(rt.NEVER_SO_FAR, [self._expression(body)])
            case Framed(body):
                return self._guard(body)
            case Disjunction(operands) | Conjunction(operands):
                kind = rt.SOME_OF if isinstance(expression, Disjunction) else rt.ALL_OF
                return self._node(kind, [self._guard(operand) for operand in operands])
            case _:
                raise TypeError(f"{expression} is not a negation without an end")

    def _without(self, expression: Composition) -> int:
        if not isinstance(expression, Ordered) or expression.without is None:
            return -1
        return self._expression(expression.without)

    def _by_views(self, expression: Composition, how: Views, operands: tuple[Expression, ...]) -> int:
        if isinstance(expression, Disjunction):
            read = [self._expression(operand) for operand in operands]
            return self._node(rt.ONE_OF, read, [_ONE_INSTANCE, _DELETION], _bounds(how.first))
        views = Views() if isinstance(expression, Simultaneity) else how
        columns = {
            rt.WITHOUT: self._without(expression),
            rt.LENGTH: _or_none(length_of(expression)),
            rt.OPERATOR: _OPERATORS[type(expression)],
            rt.UNIQUE: int(views.pairing is Pairing.UNIQUE),
            rt.IN_ORDER: int(isinstance(expression, Ordered)),
            rt.SECOND_LOW: _bounds(views.second)[rt.LOW],
            rt.SECOND_HIGH: _bounds(views.second)[rt.HIGH],
            **_bounds(views.first),
        }
        lists = [_DELETION, _ONE_INSTANCE, _DELETION, _NUMBERED]
        if operands[0] == operands[1]:
            return self._node(rt.PAIRS_OF_ONE, [self._expression(operands[0])], lists, columns)
        return self._node(rt.PAIRS_OF_VIEWS, [self._expression(o) for o in operands], lists, columns)

    def _per_terminator(
        self,
        expression: Composition,
        how: Detection,
        active: Sequence[tuple[Expression, Mode]],
        outermost: bool,
        looks: int,
    ) -> int:
        if isinstance(expression, Disjunction):
            read = [self._alone(operand, mode) for operand, mode in active]
            return self._node(rt.EACH_ONE, read, [_ONE_INSTANCE, _DELETION])
        operands, modes = tuple(o for o, _ in active), tuple(mode for _, mode in active)
        columns = {
            rt.WITHOUT: self._without(expression),
            rt.LENGTH: _or_none(length_of(expression)),
            rt.OPERATOR: _OPERATORS[type(expression)],
            rt.LAST_ONLY: int(isinstance(expression, Ordered)),
            rt.BACKWARDS: int(how.traversal is Traversal.RIGHT_TO_LEFT),
            rt.APART: int(how.concurrency is Concurrency.NON_OVERLAPPING),
            rt.CONTINUOUS: int(how.coupling is Coupling.CONTINUOUS),
            rt.LOOKS: looks,
        }
        forgetting = forgetting_of(expression, how, operands, modes, outermost)
        return self._terminators(active, columns, forgetting)

    def _alone(self, operand: Expression, mode: Mode) -> int:
        columns = {rt.OPERATOR: rt.DISJUNCTION, rt.LAST_ONLY: 1, rt.ALONE: 1}
        return self._terminators([(operand, mode)], columns, forgetting_alone(mode))

    def _terminators(
        self, active: Sequence[tuple[Expression, Mode]], columns: dict[int, int], forgetting: Forgetting
    ) -> int:
        read = [self._expression(operand) for operand, _ in active]
        classes: dict[Expression, int] = {}
        columns |= {
            rt.MODE: len(self.modes),
            rt.KEEPS: _or_none(forgetting.length),
            rt.PLAIN: int(forgetting.plain),
            rt.REACH: _or_none(forgetting.reach),
        }
        for operand, mode in active:
            self.modes.append((*_mode(mode), classes.setdefault(operand, len(classes))))
        lists = [
            _DELETION,
            _DELETION,
            _NUMBERED,
            _NUMBERED,
            *[_ONE_INSTANCE] * (rt.PER_OPERAND * len(read)),
        ]
        return self._node(rt.TERMINATORS, read, lists, columns)

    def _react(self, expression: Expression, node: int) -> None:
        """Let the negations that are the profile itself deliver only when they become true. Part C.5.16."""
        match expression:
            case Negation():
                self.nodes[node][rt.EDGE] = 1
            case Framed(body):
                self._react(body, node)
            case Disjunction(operands, how=Views()):
                own = self.nodes[node]
                for operand, child in zip(
                    operands, self.children[own[rt.CHILD] : own[rt.CHILD_STOP]], strict=True
                ):
                    self._react(operand, child)
            case _:
                pass


def _bounds(pick: Pick) -> dict[int, int]:
    return {rt.LOW: _or_none(pick.low), rt.HIGH: _or_none(pick.high)}


def _or_none(number: int | None) -> int:
    return -1 if number is None else number


def _mode(mode: Mode) -> tuple[int, ...]:
    selection = mode.selection
    if isinstance(selection, Pick):
        kind = rt.FIRST if selection == FIRST else rt.LAST if selection == LAST else rt.PICK
        low, high = _or_none(selection.low), _or_none(selection.high)
    else:
        kind, low, high = _GATHERS[selection], -1, -1
    return kind, low, high, _CONSUMES[mode.consumption], mode.delimiter.least, _or_none(mode.delimiter.most)
