"""From subscriptions to programs: one plan for all of them, and the predicates to evaluate on each event.

Every predicate on a single event (`BitTest`) is evaluated once, before the shuffle; the results are bits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass

from tocsin.algebra.predicate import RoleAttribute, attributes, operands
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import Compiled, condition
from tocsin.automata.tokens.automaton import Automaton, build
from tocsin.automata.tokens.fragment import Spent
from tocsin.automata.tokens.plan import Graph, plan
from tocsin.automata.tokens.write_program import Bits, Writer
from tocsin.runtime import program as rt


@dataclass(frozen=True, slots=True)
class CompiledTokens(Compiled):
    """A plan of the token family, with the detectors and automata it was written from."""

    automata: tuple[Automaton, ...]
    graph: Graph


def compile(
    subscriptions: Iterable[Subscription], *, points: bool = False, groups: Iterable[int] | None = None
) -> CompiledTokens:
    """One plan for all subscriptions; equal detectors are compiled once.

    Args:
        points: whether primitive events have no length, which makes strong order cheaper to follow.
        groups: one for each subscription; different groups share no detectors, not even equal ones.
    """
    subscriptions = tuple(subscriptions)
    graph = plan(subscriptions, groups)
    automata = _built(graph)
    bits = Bits()
    drafts = [
        Writer(detector, automaton, bits, points)
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
    named = {o.name for s in subscriptions for o in operands(s.where) if isinstance(o, RoleAttribute)}
    primitive = bits.primitive
    asked = {name for test in primitive for name in attributes(test.filter)}
    return CompiledTokens(
        rt.Plan(rt.VERSION, words, tuple(bits.columns), detectors, tests, outputs),
        tuple((bit, test) for test, bit in primitive.items()),
        frozenset(named | asked | set(bits.columns)),
        tuple(automata),
        graph,
    )


def _built(graph: Graph) -> list[Automaton]:
    """The automata of all detectors. What one subscription needs, and those before it do not, has one allowance."""
    found: dict[int, Automaton] = {}
    for (_, number), named in zip(graph.outputs, graph.names, strict=True):
        spent = Spent()
        for own in _needed(graph, [number, *named], found):
            found[own] = build(graph.detectors[own].pattern, spent)
    return [found[number] for number in range(len(graph.detectors))]


def _needed(graph: Graph, waiting: list[int], known: Container[int]) -> list[int]:
    """These detectors and those that they read, directly or not; each once, without those that are known."""
    needed: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one not in needed and one not in known:
            needed.add(one)
            waiting += graph.detectors[one].inputs
    return sorted(needed)


def fingerprint(graph: Graph, number: int, subscription: Subscription) -> str:
    """The fingerprint from which match ids are derived: of a subscription's meaning, not its name or spelling."""

    def meaning(k: int) -> str:
        detector = graph.detectors[k]
        inside = ",".join(meaning(i) for i in detector.inputs)
        chosen = str(detector.selection)  # empty for the paper's own selection
        return f"{detector.pattern!r}|{detector.interpretation!r}|{[f'#{i}' for i in detector.inputs]}({inside}){chosen}"

    text = f"{_renumbered(meaning(number))}|{subscription.where!r}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _renumbered(text: str) -> str:
    """Detectors numbered in the order they are named, so that other subscriptions of the job make no difference."""
    seen: dict[str, str] = {}
    return re.sub(r"#\d+", lambda m: seen.setdefault(m[0], f"#{len(seen)}"), text)
