"""Many subscriptions over random documents of several structures: the set-up of Table 1 of paper 002.

Each subscription has two blocks, one operator and one element to construct. Structures and subscriptions depend on their
numbers only, so a larger workload contains the smaller ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tocsin.algebra.blocks.conditions import Comparison, Constant, Value
from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.paths import Name
from tocsin.algebra.blocks.query import Block, Pattern, Query, Stream, Template, Text, Variable, Where
from tocsin.algebra.blocks.temporal import Of, Related
from tocsin.automata.blocks.index import BlockIndex
from tocsin.runtime.xml_tree import Content, Element, numbered

STREAM = "events"


@dataclass(frozen=True, slots=True)
class Workload:
    """Random documents of some structures.

    Args:
        structures: kinds of documents, which share no names.
        events: documents.
        fields: elements of a document besides its root, each with a text.
        topics: the values of the field that blocks compare, each with a text of its own; with 0 it is a number below 1,000,
            which each block compares with a bound of its own.
        keys: the values of the field that joins two blocks.
    """

    structures: int = 10
    events: int = 200
    fields: int = 20
    topics: int = 0
    keys: int = 5

    def documents(self) -> Iterator[Content]:
        """The documents, in turn of random structures."""
        for number in range(self.events):
            random = Random(f"document {number}")
            structure = random.randrange(self.structures)
            about = f"topic{random.randrange(self.topics)}" if self.topics else str(random.randrange(1000))
            texts = [about, f"key{random.randrange(self.keys)}"]
            texts += [f"some text {random.randrange(10**12)}" for _ in range(self.fields - len(texts))]
            parts = tuple(Element(_field(structure, n), (), (text,)) for n, text in enumerate(texts))
            yield numbered((Element(_root(structure), (), parts),))

    def query(self, number: int) -> Query:
        """A subscription: an event of one structure and topic before one of the next, with the same key."""
        first = number % self.structures
        patterns = [self._pattern((first + n) % self.structures, number, f"{n}") for n in range(2)]
        blocks = tuple(Block(pattern, Stream(STREAM), f"B{n}", True) for n, pattern in enumerate(patterns))
        bounds = () if self.topics else tuple(self._bound(number, n) for n in range(2))
        parts = (Variable("key"), Template("by", parts=(Variable("value0"),)))
        result = Template(f"result{number}", None, (), parts)
        return Query(Where(blocks, bounds, Related("BEFORE", Of("B0"), Of("B1")), construct=result))

    def _pattern(self, structure: int, number: int, block: str) -> Pattern:
        topic = number // self.structures % max(1, self.topics)
        about = Text(f"topic{topic}") if self.topics else Variable(f"about{block}")
        fields = (about, Variable("key"), Variable(f"value{block}"))
        parts = tuple(Pattern(Name(_field(structure, n)), (), (part,)) for n, part in enumerate(fields))
        return Pattern(Name(_root(structure)), (), parts)

    def _bound(self, number: int, block: int) -> Comparison:
        bound = Constant(f"{number * 37 % 1000}.{number}", quoted=False)
        return Comparison("<", Value(f"about{block}"), bound)


def _root(structure: int) -> str:
    return f"event{structure}"


def _field(structure: int, number: int) -> str:
    return f"part{structure}-{number}"


def comparisons(workload: Workload, subscriptions: int) -> int:
    """The comparisons of nodes that the index makes to match every document with the blocks of subscriptions."""
    index = BlockIndex()
    for number in range(subscriptions):
        evaluation = Evaluation(workload.query(number))
        for name, block in evaluation.blocks.items():
            index.add((number, name), STREAM, block.pattern, evaluation.own_predicates(name))
    for document in workload.documents():
        index.match(STREAM, document)
    return index.work.comparisons
