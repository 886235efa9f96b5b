"""Writes the arrays of one program, and collects the predicates on single events that it needs (`Bits`).

Only comparisons with variables are left to the kernel, as rows of code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import Any, assert_never

import numpy as np

from tocsin.algebra.predicate import And, Compare, Filter, IsNull, Like, Not, Or, Unify, Variable, variables
from tocsin.algebra.tokens.bounds import MAX_OF_A_KIND
from tocsin.algebra.tokens.domain import Domain, domain_of
from tocsin.algebra.tokens.pattern import EventSpec, pattern_variables
from tocsin.algebra.tokens.selection import COUNT, END
from tocsin.automata.detection_plan import BitTest, condition
from tocsin.automata.tokens.automaton import Automaton, Move
from tocsin.automata.tokens.plan import Detector, composite_detector
from tocsin.errors import LimitError
from tocsin.runtime import program as rt
from tocsin.values import Relation

_LEAVES_OUT = {"any": rt.ANYTHING, "adjacent": rt.NOTHING}
_RELATIONS = {
    Relation.EQ: rt.EQ,
    Relation.NE: rt.NE,
    Relation.LT: rt.LT,
    Relation.LE: rt.LE,
    Relation.GT: rt.GT,
    Relation.GE: rt.GE,
}


@dataclass
class Bits:
    """The bits, compared columns and predicates on composites of the whole plan."""

    primitive: dict[BitTest, int] = field(default_factory=dict)
    composite: dict[tuple[int, Any, bool], int] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def bit(self, type: str | None, detector: int | None, filter: Filter | None, truth: bool = True) -> int:
        """The bit for a predicate on a primitive event, or on a composite of a detector."""
        if detector is None:
            known: dict[Any, int] = self.primitive
            predicate: Any = BitTest(type, filter, truth)
        else:
            known, predicate = self.composite, (detector, condition(filter), truth)
        if predicate not in known:
            known[predicate] = self.count
            self.count += 1
        return known[predicate]

    def column(self, name: str) -> int:
        return self.columns.setdefault(name, len(self.columns))


def split(filter: Filter | None) -> tuple[Filter | None, tuple[Filter, ...]]:
    """The part of a filter that depends on the event alone, and the conjuncts that need variables."""
    if filter is None:
        return None, ()
    parts = filter.parts if isinstance(filter, And) else (filter,)
    alone = tuple(part for part in parts if not variables(part))
    rest = tuple(part for part in parts if variables(part))
    return (None if not alone else alone[0] if len(alone) == 1 else And(alone)), rest


class Writer:
    """Writes the arrays of one program."""

    def __init__(self, detector: Detector, automaton: Automaton, bits: Bits, points: bool) -> None:
        self.detector, self.automaton, self.bits, self.points = detector, automaton, bits, points
        self.variables = tuple(sorted(pattern_variables(detector.pattern)))
        # No event at all may lie between adjacent events, so every event matters.
        self.any_event = bits.bit(None, None, None) if detector.selection.matches == "adjacent" else None
        self.specs: dict[EventSpec, int] = {}
        self.spec_bits: list[int] = []
        self.code: list[tuple[int, int, int, int]] = []
        self.spec_code = [0]
        self.tests: dict[Domain, int] = {}  # every domain of an atom at its place, and its number
        self.moves = [move for state in automaton.states for move in state.moves]
        places = {move.place.node: move.place for move in self.moves}
        tests = {
            node: self._test(domain_of(place.atom, place.context.timers)) for node, place in places.items()
        }
        self.move_tests = [tests[move.place.node] for move in self.moves]
        checks = [self._check(move) for move in self.moves]
        self.links = {link: n for n, link in enumerate(sorted({c for c in checks if c is not None}))}
        self.checks = [-1 if check is None else self.links[check] for check in checks]
        if len(self.links) > MAX_OF_A_KIND:
            number = sorted(self.links)[MAX_OF_A_KIND]
            span = next(
                m.place.atom.span for m, link in zip(self.moves, checks, strict=True) if link == number
            )
            message = f"events must be compared with the ends of more than {MAX_OF_A_KIND} parts before them"
            raise LimitError("too-many-strong-links", message, span, "name a part of it as a composite")

    def _check(self, move: Move) -> int | None:
        """The strong link whose end an event must follow. The innermost one is the latest; a link that the move itself
        enters is checked by the move being strong."""
        behind = move.place.context.behind
        if not behind or move.enters or self.detector.interpretation.strong_scope == "first-symbol":
            return None
        return behind[-1]

    def _test(self, domain: Domain) -> int:
        for spec in (*domain.excepted, *domain.relevant):
            self._spec(spec)
        return self.tests.setdefault(domain, len(self.tests))

    def _spec(self, spec: EventSpec) -> int:
        if spec in self.specs:
            return self.specs[spec]
        detector = composite_detector(spec.name)
        alone, rest = split(spec.filter)
        self.spec_bits.append(self.bits.bit(spec.name, detector, alone))
        for number, part in enumerate(rest):
            self._write(part, detector, binds=True)
            if number:
                self.code.append((rt.AND, 0, 0, 0))
        self.spec_code.append(len(self.code))
        self.specs[spec] = len(self.specs)
        return self.specs[spec]

    def _write(self, filter: Filter, detector: int | None, *, binds: bool) -> None:
        """Write code that leaves the truth of a filter on the stack."""
        if not variables(filter):
            true = self.bits.bit(None, detector, filter)
            false = self.bits.bit(None, detector, filter, truth=False)
            self.code.append((rt.LEAF, true, false, 0))
            return
        match filter:
            case And(parts) | Or(parts):
                for number, part in enumerate(parts):
                    self._write(part, detector, binds=binds and isinstance(filter, And))
                    if number:
                        self.code.append((rt.AND if isinstance(filter, And) else rt.OR, 0, 0, 0))
            case Not(part):
                self._write(part, detector, binds=False)
                self.code.append((rt.NOT, 0, 0, 0))
            case Unify(name):
                self.code.append((rt.UNIFY, self.bits.column(name), self.variables.index(name), 0))
            case Compare(left, relation, Variable(name)):
                column, variable = self.bits.column(left.name), self.variables.index(name)
                if binds and relation is Relation.EQ:
                    self.code.append((rt.BIND, column, variable, 0))
                else:
                    self.code.append((rt.COMPARE, _RELATIONS[relation], column, variable))
            case Compare() | IsNull() | Like():
                raise TypeError(f"{filter} has no variable")
            case _:
                assert_never(filter)

    def _link_mask(self, links: Iterable[int]) -> int:
        return _mask(self.links[link] for link in links if link in self.links)

    def finish(self, words: int) -> rt.Detector:
        """The detector with its program, now that the number of bits is known."""
        automaton, selection = self.automaton, self.detector.selection
        counts = selection.take == "count"
        roles = tuple(sorted({spec.name for spec in self.specs}))
        tests, spec_list = self._tests()
        relevant = self._relevant()
        program = rt.Program(
            restart_always=self.detector.interpretation.restart == "always",
            points=self.points,
            leaves_out=_LEAVES_OUT.get(selection.matches, rt.UNUSABLE),
            variables=len(self.variables),
            links=len(self.links),
            starts=_table(automaton.starts),
            states=self._states(relevant),
            domain=_words((bits for bits, _ in relevant), words),
            moves=self._moves(),
            steps=self._steps(),
            tests=tests,
            spec_list=spec_list,
            specs=self._specs(roles),
            code=_table(self.code, 4),
            timers=self._timers(),
            closes=self._closes(),
        )
        return rt.Detector(
            program,
            self.detector.inputs,
            (END,) if counts else roles,
            tuple(timer.name for timer in automaton.timers),
            (COUNT,) if counts else self.variables,
            choice=rt.Choice(selection.matches, selection.take, selection.limit),
            parts=self.detector.parts,
        )

    def _relevant(self) -> list[tuple[int, bool]]:
        """For each state the bits of its domain, as a whole number, and whether variables decide what is in it."""
        of_test = []
        for domain in self.tests:
            specs = [self.specs[spec] for spec in domain.relevant]
            coded = any(self.spec_code[spec] < self.spec_code[spec + 1] for spec in specs)
            of_test.append((reduce(or_, (1 << self.spec_bits[spec] for spec in specs), 0), coded))
        test = iter(self.move_tests)
        every = 0 if self.any_event is None else 1 << self.any_event
        found = []
        for state in self.automaton.states:
            own = [of_test[next(test)] for _ in state.moves]
            found.append((reduce(or_, (bits for bits, _ in own), every), any(coded for _, coded in own)))
        return found

    def _states(self, relevant: list[tuple[int, bool]]) -> rt.Array:
        states = self.automaton.states
        move_at = _offsets(len(state.moves) for state in states)
        return _table(
            (
                (move_at[n], move_at[n + 1], state.all_strong, relevant[n][1], _mask(state.running))
                for n, state in enumerate(states)
            ),
            5,
        )

    def _moves(self) -> rt.Array:
        step_at = _offsets(len(move.steps) for move in self.moves)
        return _table(
            (
                (
                    self.move_tests[n],
                    move.strong,
                    self._link_mask(move.enters),
                    self.checks[n],
                    move.emits,
                    step_at[n],
                    step_at[n + 1],
                )
                for n, move in enumerate(self.moves)
            ),
            7,
        )

    def _steps(self) -> rt.Array:
        arriving = [(_mask(state.running), self._link_mask(state.behind)) for state in self.automaton.states]
        steps = (step for move in self.moves for step in move.steps)
        return _table(((step.state, _mask(step.arms), *arriving[step.state]) for step in steps), 4)

    def _tests(self) -> tuple[rt.Array, rt.Array]:
        """The domains of atoms: their specs side by side, exceptions first, then what is taken, then the others."""
        rows, spec_list = [], list[int]()
        for domain in self.tests:
            first = len(spec_list)
            taken = first + len(domain.excepted)
            others = taken + len(domain.taken)
            spec_list += [self.specs[s] for s in (*domain.excepted, *domain.taken, *domain.others)]
            rows.append((first, _mask(domain.timers), taken, others, taken, len(spec_list)))
        return _table(rows, 6), _table(spec_list)

    def _specs(self, roles: tuple[str, ...]) -> rt.Array:
        role = {name: number for number, name in enumerate(roles)}
        return _table(
            (
                (bit, self.spec_code[n], self.spec_code[n + 1], role[spec.name])
                for n, (spec, bit) in enumerate(zip(self.specs, self.spec_bits, strict=True))
            ),
            4,
        )

    def _timers(self) -> rt.Array:
        timers, limits = self.automaton.timers, self.automaton.limits
        names = [timer.name for timer in timers]
        by_name = sorted(set(names))
        rows = []
        for number, timer in enumerate(timers):
            is_limit = number in limits
            # Limits run out after all other timers of the same moment, because that moment still belongs to them.
            rank = by_name.index(timer.name) + len(by_name) * is_limit
            after = -1 if timer.after is None else timer.after
            # Copies of a part have timers of their own; which of them ran out makes no difference to a match.
            rows.append((after, timer.at or 0, rank, is_limit, names.index(timer.name)))
        return _table(rows, 5)

    def _closes(self) -> rt.Array:
        states, timers = len(self.automaton.states), len(self.automaton.timers)
        table = np.full((states if self.automaton.limits else 0, timers), -1, np.int64)
        for (state, limit), left in self.automaton.closes.items():
            table[state, limit] = left
        return table


def _mask(numbers: Iterable[int]) -> int:
    """A set of numbers below 64 as the bits of a signed integer."""
    bits = sum(1 << number for number in set(numbers))
    return bits - (1 << 64) if bits >> 63 else bits


def _words(numbers: Iterable[int], words: int) -> rt.Array:
    """Whole numbers as rows of words of 64 bits, the lowest first."""
    rows = b"".join(number.to_bytes(8 * words, "little") for number in numbers)
    return np.frombuffer(rows, "<u8").astype(np.uint64).reshape(-1, words)


def _table(rows: Iterable[Any], width: int | None = None) -> rt.Array:
    table = np.array(list(rows), np.int64)
    return table if width is None else table.reshape(-1, width)


def _offsets(counts: Iterable[int]) -> list[int]:
    return [0, *accumulate(counts)]
