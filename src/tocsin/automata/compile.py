"""From detectors to programs: the arrays that the runtime reads, and the questions that must be asked of each event.

Every question about a single event (`BitTest`) is asked once, before the events travel; the answers are bits. Only
comparisons with variables are left to the kernel, as rows of code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, assert_never

import numpy as np

from tocsin.algebra.pattern import EventSpec, pattern_variables
from tocsin.algebra.predicate import (
    And,
    Attribute,
    Compare,
    Filter,
    Literal,
    Not,
    Or,
    RoleAttribute,
    Unify,
    Variable,
    attributes,
    comparisons,
    variables,
)
from tocsin.algebra.selection import COUNT, END
from tocsin.algebra.subscription import Subscription
from tocsin.automata.automaton import Automaton, Move, build
from tocsin.automata.plan import Detector, Graph, composite_detector, plan
from tocsin.automata.remove_empty import Place
from tocsin.errors import LimitError
from tocsin.runtime import program as rt
from tocsin.values import Relation

MAX_STATES = 10_000
_LEAVES_OUT = {"any": rt.ANYTHING, "adjacent": rt.NOTHING}
_RELATIONS = {
    Relation.EQ: rt.EQ,
    Relation.NE: rt.NE,
    Relation.LT: rt.LT,
    Relation.LE: rt.LE,
    Relation.GT: rt.GT,
    Relation.GE: rt.GE,
}


@dataclass(frozen=True, slots=True)
class BitTest:
    """A question about one event: is it of this type, and is the filter true (or, for `truth=False`, false)?"""

    type: str | None
    filter: Filter | None
    truth: bool = True


@dataclass(frozen=True, slots=True)
class FieldTest:
    """A question about one event in the completion family: true or false, and its type is a field like others."""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Compiled:
    """A plan for the runtime, and what it needs to be told of each event."""

    plan: rt.Plan
    tests: tuple[tuple[int, BitTest | FieldTest], ...]  # bit -> question, for primitive events
    attributes: frozenset[str]  # attributes that questions, variables, conditions and outputs name
    automata: tuple[Automaton, ...] = ()
    graph: Graph = field(default_factory=Graph)


@dataclass
class _Bits:
    """Bits, compared columns and composite questions of the whole plan."""

    primitive: dict[BitTest, int] = field(default_factory=dict)
    composite: dict[tuple[int, Any, bool], int] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def bit(self, type: str | None, detector: int | None, filter: Filter | None, truth: bool = True) -> int:
        """The bit for a question about a primitive event, or about a composite of a detector."""
        if detector is None:
            known: dict[Any, int] = self.primitive
            question: Any = BitTest(type, filter, truth)
        else:
            known, question = self.composite, (detector, condition(filter), truth)
        if question not in known:
            known[question] = self.count
            self.count += 1
        return known[question]

    def column(self, name: str) -> int:
        return self.columns.setdefault(name, len(self.columns))


def compile(
    subscriptions: Iterable[Subscription], *, points: bool = False, groups: Iterable[int] | None = None
) -> Compiled:
    """One plan for all subscriptions; equal detectors are compiled once.

    Args:
        points: whether primitive events have no length, which makes strong order cheaper to follow.
        groups: of each subscription; those of different groups have no detectors in common, even if they are equal.
    """
    subscriptions = tuple(subscriptions)
    graph = plan(subscriptions, groups)
    automata = [build(detector.pattern) for detector in graph.detectors]
    bits = _Bits()
    drafts = [
        _Writer(detector, automaton, bits, points)
        for detector, automaton in zip(graph.detectors, automata, strict=True)
    ]
    words = max(1, -(-bits.count // 64))
    detectors = tuple(draft.finish(words) for draft in drafts)
    tests = tuple(rt.CompositeTest(bit, d, f, t) for (d, f, t), bit in bits.composite.items())
    outputs = tuple(
        rt.Output(
            subscription.name,
            (number,),
            condition(subscription.where),
            fingerprint(graph, number, subscription),
        )
        for subscription, number in graph.outputs
    )
    named = {a for s in subscriptions for c in comparisons(s.where) for a in _where_attributes(c)}
    primitive = bits.primitive
    asked = {name for test in primitive for name in attributes(test.filter)}
    return Compiled(
        rt.Plan(rt.VERSION, words, tuple(bits.columns), detectors, tests, outputs),
        tuple((bit, test) for test, bit in primitive.items()),
        frozenset(named | asked | set(bits.columns)),
        tuple(automata),
        graph,
    )


def fingerprint(graph: Graph, number: int, subscription: Subscription) -> str:
    """What the ids of a subscription's matches are derived from: its meaning, not its name or its spelling."""

    def meaning(k: int) -> str:
        detector = graph.detectors[k]
        inside = ",".join(meaning(i) for i in detector.inputs)
        chosen = str(detector.selection)  # nothing for what the paper says
        return f"{detector.pattern!r}|{detector.reading!r}|{[f'#{i}' for i in detector.inputs]}({inside}){chosen}"

    text = f"{_renumbered(meaning(number))}|{subscription.where!r}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _renumbered(text: str) -> str:
    """Detectors numbered in the order they are named, so that other subscriptions of the job make no difference."""
    import re

    seen: dict[str, str] = {}
    return re.sub(r"#\d+", lambda m: seen.setdefault(m[0], f"#{len(seen)}"), text)


def _where_attributes(comparison: Compare) -> Iterable[str]:
    return (side.name for side in (comparison.left, comparison.right) if isinstance(side, RoleAttribute))


def condition(filter: Filter | None) -> tuple[Any, ...]:
    """A filter without variables as nested tuples, for the runtime's `conditions`."""
    match filter:
        case None:
            return ()
        case And(parts):
            return ("and", *(condition(part) for part in parts))
        case Or(parts):
            return ("or", *(condition(part) for part in parts))
        case Not(part):
            return ("not", condition(part))
        case Compare(left, relation, right):
            return ("compare", str(relation), _operand(left), _operand(right))
        case Unify():
            raise TypeError("unification is code, not a condition")
        case _:
            assert_never(filter)


def _operand(operand: Attribute | RoleAttribute | Literal | Variable) -> tuple[Any, ...]:
    match operand:
        case Attribute(name):
            return ("attribute", name)
        case RoleAttribute(role, name):
            return ("role", role, name)
        case Literal(value):
            return ("literal", value)
        case Variable(name):
            raise TypeError(f"${name} cannot stand in a condition on a single event")
        case _:
            assert_never(operand)


def split(filter: Filter | None) -> tuple[Filter | None, tuple[Filter, ...]]:
    """The part of a filter that looks at the event alone, and the conjuncts that need variables."""
    if filter is None:
        return None, ()
    parts = filter.parts if isinstance(filter, And) else (filter,)
    alone = tuple(part for part in parts if not variables(part))
    rest = tuple(part for part in parts if variables(part))
    return (None if not alone else alone[0] if len(alone) == 1 else And(alone)), rest


class _Writer:
    """Writes the arrays of one program."""

    def __init__(self, detector: Detector, automaton: Automaton, bits: _Bits, points: bool) -> None:
        if len(automaton.states) > MAX_STATES:
            raise LimitError(
                "too-many-states",
                f"the pattern needs {len(automaton.states):,} states; the limit is {MAX_STATES:,}",
                hint="split it into named composites",
            )
        self.detector, self.automaton, self.bits, self.points = detector, automaton, bits, points
        self.variables = tuple(sorted(pattern_variables(detector.pattern)))
        # Between neighbours lies no event at all, so every event matters.
        self.any_event = bits.bit(None, None, None) if detector.selection.matches == "adjacent" else None
        self.specs: dict[EventSpec, int] = {}
        self.spec_bits: list[int] = []
        self.code: list[tuple[int, int, int, int]] = []
        self.spec_code = [0]
        self.tests: dict[tuple[Any, ...], int] = {}
        self.moves = [move for state in automaton.states for move in state.moves]
        self.move_tests = [self._test(move.place) for move in self.moves]
        checks = [self._check(move) for move in self.moves]
        self.links = {link: n for n, link in enumerate(sorted({c for c in checks if c is not None}))}
        self.checks = [-1 if check is None else self.links[check] for check in checks]
        for what, count in (
            ("timers", len(automaton.timers)),
            ("strong links", len(self.links)),
            ("start states", len(automaton.starts)),
        ):
            if count > 64:
                raise LimitError(
                    "too-many-" + what.replace(" ", "-"), f"the pattern has {count} {what}; the limit is 64"
                )

    def _check(self, move: Move) -> int | None:
        """The strong link whose end an event must follow. The innermost one is the latest; a link that the move itself
        enters is checked by the move being strong."""
        behind = move.place.context.behind
        if not behind or move.enters or self.detector.reading.strong_scope == "first-symbol":
            return None
        return behind[-1]

    def _test(self, place: Place) -> int:
        atom, timers = place.atom, place.context.timers
        accept = tuple(self._spec(spec) for spec in atom.accept if spec.name not in timers)
        domain = tuple(self._spec(spec) for spec in atom.domain if spec.name not in timers)
        heard = {timers[spec.name] for spec in atom.accept if spec.name in timers}
        if atom.negated:
            heard = {timers[spec.name] for spec in atom.domain if spec.name in timers} - heard
        return self.tests.setdefault((atom.negated, accept, domain, _mask(heard)), len(self.tests))

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
        """Code that leaves the truth of a filter on the stack."""
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
            case Compare():
                raise TypeError(f"{filter} has no variable")
            case _:
                assert_never(filter)

    def _link_mask(self, links: Iterable[int]) -> int:
        return _mask(self.links[link] for link in links if link in self.links)

    def finish(self, words: int) -> rt.Detector:
        """The program, now that the number of bits is known."""
        states, moves = self.automaton.states, self.moves
        steps = [step for move in moves for step in move.steps]
        tests = list(self.tests)
        domain = np.zeros((len(states), words), np.uint64)
        has_code = np.zeros(len(states), np.bool_)
        at = 0
        for number, state in enumerate(states):
            for _ in state.moves:
                _, accept, other, _ = tests[self.move_tests[at]]
                for spec in accept + other:
                    bit = self.spec_bits[spec]
                    domain[number, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
                    has_code[number] |= self.spec_code[spec] < self.spec_code[spec + 1]
                at += 1
        if self.any_event is not None:
            domain[:, self.any_event >> 6] |= np.uint64(1) << np.uint64(self.any_event & 63)
        names = sorted({timer.name for timer in self.automaton.timers})
        roles = tuple(sorted({spec.name for spec in self.specs}))
        spec_list: list[int] = []
        test_rows = []
        for negated, accept, other, heard in tests:
            middle, stop = len(spec_list) + len(accept), len(spec_list) + len(accept) + len(other)
            test_rows.append((negated, heard, len(spec_list), middle, middle, stop))
            spec_list += (*accept, *other)
        move_at, step_at = _offsets(len(s.moves) for s in states), _offsets(len(m.steps) for m in moves)
        program = rt.Program(
            restart_always=self.detector.reading.restart == "always",
            points=self.points,
            leaves_out=_LEAVES_OUT.get(self.detector.selection.matches, rt.UNUSABLE),
            variables=len(self.variables),
            links=len(self.links),
            starts=_table(self.automaton.starts),
            states=_table(
                (
                    (move_at[n], move_at[n + 1], state.all_strong, has_code[n], _mask(state.running))
                    for n, state in enumerate(states)
                ),
                5,
            ),
            domain=domain,
            moves=_table(
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
                    for n, move in enumerate(moves)
                ),
                7,
            ),
            steps=_table(
                (
                    (
                        step.state,
                        _mask(step.arms),
                        _mask(states[step.state].running),
                        self._link_mask(states[step.state].behind),
                    )
                    for step in steps
                ),
                4,
            ),
            tests=_table(test_rows, 6),
            spec_list=_table(spec_list),
            specs=_table(
                (
                    (bit, self.spec_code[n], self.spec_code[n + 1], roles.index(spec.name))
                    for n, (spec, bit) in enumerate(zip(self.specs, self.spec_bits, strict=True))
                ),
                4,
            ),
            code=_table(self.code, 4),
            timers=_table(
                (
                    (-1 if t.after is None else t.after, t.at or 0, names.index(t.name))
                    for t in self.automaton.timers
                ),
                3,
            ),
        )
        timers = tuple(timer.name for timer in self.automaton.timers)
        selection = self.detector.selection
        counts = selection.take == "count"
        return rt.Detector(
            program,
            self.detector.inputs,
            (END,) if counts else roles,
            timers,
            (COUNT,) if counts else self.variables,
            choice=rt.Choice(selection.matches, selection.take, selection.limit),
        )


def _mask(numbers: Iterable[int]) -> int:
    """A set of numbers below 64 as the bits of a signed integer."""
    bits = sum(1 << number for number in set(numbers))
    return bits - (1 << 64) if bits >> 63 else bits


def _table(rows: Iterable[Any], width: int | None = None) -> rt.Array:
    table = np.array(list(rows), np.int64)
    return table if width is None else table.reshape(-1, width)


def _offsets(counts: Iterable[int]) -> list[int]:
    return [0, *accumulate(counts)]
