"""Random queries over random XML events: the event tree and the index against the definitions."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tocsin.algebra.blocks.conditions import Comparison, Value
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.algebra.blocks.paths import Name
from tocsin.algebra.blocks.query import (
    CONTEXTS,
    Block,
    Pattern,
    Query,
    Stream,
    Template,
    Text,
    Variable,
    Where,
)
from tocsin.algebra.blocks.semantics import answer
from tocsin.algebra.blocks.temporal import Absent, Both, Composition, Of, OneOfTwo, Related, Relation
from tocsin.automata.blocks.online import answer_online
from tocsin.events import Interval
from tocsin.languages import registry
from tocsin.runtime.xml_tree import Element, numbered

CASES = 50  # traces that one query meets
_RELATIONS: tuple[Relation, ...] = ("BEFORE", "BEFORE", "AFTER", "CONCURRENT", "DURING")


def differences(seed: int) -> list[str]:
    """How index and tree differ from the definitions on a random query."""
    random = Random(f"blocks {seed}")
    query = _query(random)
    wrong = []
    for number in range(CASES):
        events = _events(random)
        expected, got = answer(query, events), answer_online(query, events)
        if expected != got:
            text = registry.show(query)
            wrong.append(f"seed {seed}, trace {number}: {text}\n  expected {expected}\n  got {got}")
    return wrong


def _query(random: Random) -> Query:
    blocks = []
    for number in range(random.randint(1, 3)):
        value = Text("1") if random.random() < 0.2 else Variable("k")
        inner = (Pattern(Name("k"), (), (value,)), Pattern(Name("v"), (), (Variable(f"v{number}"),)))
        pattern = Pattern(Name(random.choice("abc")), (), inner[: random.randint(1, 2)])
        blocks.append(Block(pattern, Stream("S"), f"B{number}", True))
    names = [block.name for block in blocks]
    bound = {f"v{n}" for n, block in enumerate(blocks) if len(block.pattern.parts) == 2}
    predicates = ()
    if len(bound) > 1 and random.random() < 0.3:
        one, other = sorted(bound)[:2]
        predicates = (Comparison("<=", Value(one), Value(other)),)
    composition = _composition(random, names, 2)
    result = Template("r", None, (), tuple(Variable(name) for name in sorted(bound)))
    where = Where(tuple(blocks), predicates, composition, random.choice(CONTEXTS), (), result)
    return Query(where)


def _composition(random: Random, names: list[str], depth: int) -> Composition:
    if not depth or random.random() < 0.2:
        return Of(random.choice(names))
    left, right = _composition(random, names, depth - 1), _composition(random, names, depth - 1)
    match random.randrange(8):
        case 0:
            return Both(left, right)
        case 1:
            return OneOfTwo(left, right)
        case 2:
            return Absent(_composition(random, names, 1), left, right)
        case _:
            within = random.choice([None, None, 0, 1_000_000, 3_000_000, 10_000_000])
            return Related(random.choice(_RELATIONS), left, right, within)


def _events(random: Random) -> list[XmlEvent]:
    found, end = [], 0
    for number in range(1, random.randint(2, 8) + 1):
        end += random.choice([0, 1, 1, 2]) * 1_000_000
        start = end - random.choice([0, 0, 0, 1, 2]) * 1_000_000
        parts = (Element("k", (), (random.choice("12"),)), Element("v", (), (random.choice("123"),)))
        document = numbered((Element(random.choice("abc"), (), parts),))
        found.append(XmlEvent(number, "S", Interval(start, end), document))
    if random.random() < 0.2:
        # Arrivals in another order than that of their ends.
        times = [one.time for one in found]
        random.shuffle(times)
        found = [replace(one, time=time) for one, time in zip(found, times, strict=True)]
    return found
