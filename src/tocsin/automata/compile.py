"""From detectors to programs: the arrays that the runtime reads, and the questions that must be asked of each event.

Every question about a single event (`BitTest`) is asked once, before the events travel; the answers are bits. Only
comparisons with variables are left to the kernel, as rows of code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np

from tocsin.algebra.pattern import EventSpec, pattern_variables
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or, RoleAttribute, Unify, Variable
from tocsin.algebra.predicate import attributes, comparisons, variables
from tocsin.algebra.subscription import Subscription
from tocsin.automata.automaton import Automaton, Move, build
from tocsin.automata.plan import Detector, Graph, composite_detector, plan
from tocsin.automata.remove_empty import Place
from tocsin.errors import LimitError
from tocsin.runtime import program as rt
from tocsin.values import Relation

MAX_STATES = 10_000
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
class Compiled:
    """A plan for the runtime, and what it needs to be told of each event."""

    plan: rt.Plan
    tests: tuple[tuple[int, BitTest], ...]  # bit -> question, for primitive events
    attributes: frozenset[str]  # attributes that questions, variables and conditions name
    automata: tuple[Automaton, ...]
    graph: Graph


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


def compile(subscriptions: Iterable[Subscription]) -> Compiled:
    """One plan for all subscriptions; equal detectors are compiled once."""
    subscriptions = tuple(subscriptions)
    graph = plan(subscriptions)
    automata = [build(detector.pattern) for detector in graph.detectors]
    bits = _Bits()
    drafts = [_Writer(detector, automaton, bits) for detector, automaton in zip(graph.detectors, automata, strict=True)]
    words = max(1, -(-bits.count // 64))
    detectors = tuple(draft.finish(words) for draft in drafts)
    tests = tuple(rt.CompositeTest(bit, d, f, t) for (d, f, t), bit in bits.composite.items())
    outputs = tuple(
        rt.Output(subscription.name, number, condition(subscription.where), fingerprint(graph, number, subscription))
        for subscription, number in graph.outputs
    )
    named = {a for s in subscriptions for c in comparisons(s.where) for a in _where_attributes(c)}
    primitive = {test: bit for test, bit in bits.primitive.items()}
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
        return f"{detector.pattern!r}|{detector.reading!r}|{[f'#{i}' for i in detector.inputs]}({inside})"

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

    def __init__(self, detector: Detector, automaton: Automaton, bits: _Bits) -> None:
        if len(automaton.states) > MAX_STATES:
            raise LimitError(
                "too-many-states",
                f"the pattern needs {len(automaton.states):,} states; the limit is {MAX_STATES:,}",
                hint="split it into named composites",
            )
        self.detector, self.automaton, self.bits = detector, automaton, bits
        self.variables = tuple(sorted(pattern_variables(detector.pattern)))
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
        for what, count in (("timers", len(automaton.timers)), ("strong links", len(self.links)), ("start states", len(automaton.starts))):
            if count > 64:
                raise LimitError("too-many-" + what.replace(" ", "-"), f"the pattern has {count} {what}; the limit is 64")

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
        names = sorted({timer.name for timer in self.automaton.timers})
        spec_list: list[int] = []
        accept_at, domain_at = [], []
        for _, accept, other, _ in tests:
            accept_at.append(len(spec_list))
            spec_list += accept
            domain_at.append(len(spec_list))
            spec_list += other
        program = rt.Program(
            family=rt.TOKENS,
            restart_always=self.detector.reading.restart == "always",
            variables=len(self.variables),
            links=len(self.links),
            starts=np.array(self.automaton.starts, np.int32),
            state_moves=_offsets(len(state.moves) for state in states),
            state_all_strong=np.array([state.all_strong for state in states], np.bool_),
            state_has_code=has_code,
            state_domain=domain,
            state_timers=_masks(state.running for state in states),
            move_test=np.array(self.move_tests, np.int32),
            move_strong=np.array([move.strong for move in moves], np.bool_),
            move_enters=_masks((self.links[link] for link in move.enters if link in self.links) for move in moves),
            move_check=np.array(self.checks, np.int32),
            move_emits=np.array([move.emits for move in moves], np.bool_),
            move_steps=_offsets(len(move.steps) for move in moves),
            step_state=np.array([step.state for step in steps], np.int32),
            step_arms=_masks(step.arms for step in steps),
            step_timers=_masks(states[step.state].running for step in steps),
            step_links=_masks(
                (self.links[link] for link in states[step.state].behind if link in self.links) for step in steps
            ),
            test_negated=np.array([test[0] for test in tests], np.bool_),
            test_timers=np.array([test[3] for test in tests], np.uint64),
            test_accept=np.array([accept_at, domain_at], np.int32).T.copy(),
            test_domain=np.array([domain_at, [*accept_at[1:], len(spec_list)]], np.int32).T.copy(),
            spec_list=np.array(spec_list, np.int32),
            spec_bit=np.array(self.spec_bits, np.int32),
            spec_code=np.array(self.spec_code, np.int32),
            code=np.array(self.code, np.int32).reshape(-1, 4),
            timer_after=np.array([-1 if t.after is None else t.after for t in self.automaton.timers], np.int64),
            timer_at=np.array([t.at or 0 for t in self.automaton.timers], np.int64),
            timer_rank=np.array([names.index(t.name) for t in self.automaton.timers], np.int32),
        )
        roles = tuple(spec.name for spec in self.specs)
        timers = tuple(timer.name for timer in self.automaton.timers)
        return rt.Detector(program, self.detector.inputs, roles, timers, self.variables)


def _mask(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in set(numbers))


def _masks(sets: Iterable[Iterable[int]]) -> rt.Array:
    return np.array([_mask(numbers) for numbers in sets], np.uint64)


def _offsets(counts: Iterable[int]) -> rt.Array:
    return np.concatenate([[0], np.cumsum(list(counts))]).astype(np.int32)
