"""From profiles to one plan: a program each, and the predicates to evaluate on every event."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from tocsin.algebra.pairs.clock import sees_all
from tocsin.algebra.pairs.expression import Expression, Primitive, primitives
from tocsin.algebra.predicate import attributes
from tocsin.automata.detection_plan import BitTest, Compiled
from tocsin.automata.pairs.write_operators import TIMERS, Writer
from tocsin.runtime import program as rt


@dataclass(frozen=True, slots=True)
class Wanted:
    """An expression to detect under a name.

    `tick` is the type of the events that are the ticks of the clock; without one the events themselves make it tick.
    `reacts`: a negation is reported when it becomes true.
    """

    name: str
    expression: Expression
    tick: str | None = None
    reacts: bool = False


def compile_profiles(wanted: Iterable[Wanted], groups: Iterable[int] | None = None) -> Compiled:
    """One plan for all expressions; equal ones are detected once, unless they are of different groups."""
    listed = list(wanted)
    own = [0] * len(listed) if groups is None else list(groups)
    keys = [(one.expression, one.tick, one.reacts, group) for one, group in zip(listed, own, strict=True)]
    distinct = list(dict.fromkeys(keys))
    bits: dict[BitTest, int] = {}

    def bit(primitive: Primitive) -> int:
        return bits.setdefault(BitTest(primitive.name, primitive.filter), len(bits))

    ticks, others = [], []
    for expression, tick, _, _ in distinct:
        for primitive in primitives(expression):
            bit(primitive)
        ticks.append(-1 if tick is None else bit(Primitive(tick)))
        others.append(bits.setdefault(BitTest(None, None), len(bits)) if sees_all(expression) else -1)
    words = max(1, -(-len(bits) // 64))
    detectors = []
    for (expression, _, reacts, _), clock, other in zip(distinct, ticks, others, strict=True):
        roles = tuple(sorted({primitive.name for primitive in primitives(expression)}))
        writer = Writer(bit, {name: number for number, name in enumerate(roles)})
        program = writer.write(expression, reacts=reacts, tick=clock, words=words, any_bit=other)
        detectors.append(rt.Detector(program, (), roles, TIMERS, ()))
    numbers = {one: number for number, one in enumerate(distinct)}
    outputs = tuple(
        rt.Output(one.name, (numbers[key],), (), _fingerprint(one))
        for one, key in zip(listed, keys, strict=True)
    )
    return Compiled(
        rt.Plan(rt.VERSION, words, (), tuple(detectors), (), outputs),
        tuple((number, test) for test, number in bits.items()),
        frozenset(name for test in bits for name in attributes(test.filter)),
    )


def _fingerprint(wanted: Wanted) -> str:
    text = repr((wanted.expression, wanted.tick, wanted.reacts))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
