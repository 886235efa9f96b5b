"""The block index: which blocks of many subscriptions match a document, without a look at all of them.

Paper: 002, section 4.1, Fig. 7 and Algorithm 1. A hash table has the chains that may begin at an element of a name. Each
element of a document is looked up once; every chain that begins there is compared, first its names, then how its nodes
lie above each other, then texts and predicates. Where a chain requires a text at a place, it is looked up by that text,
too: so blocks that differ in a constant are not compared one after the other. Equal blocks are one chain, whatever
subscriptions they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from tocsin.algebra.blocks.conditions import Predicate
from tocsin.algebra.blocks.matching import Found
from tocsin.algebra.blocks.query import Pattern
from tocsin.automata.blocks.chain import ByName, Chain, chain_of, found_by, texts_at
from tocsin.automata.blocks.matcher import Family
from tocsin.runtime.xml_tree import Content, Element

Chains = dict[int, Chain]  # by their numbers
Place = tuple[tuple[str, ...], str | None]


@dataclass(slots=True)
class Work:
    """What matching has cost: the paper bounds it by S + m·n − 1.

    Args:
        elements: of the documents, each looked up once (S).
        chains: that were compared with a document (m).
        comparisons: of their nodes (at most n for a chain).
        texts: looked up in place of chains.
        longest: the length of the longest chain that was compared (n).
        matched: chains that matched.
    """

    elements: int = 0
    chains: int = 0
    comparisons: int = 0
    texts: int = 0
    longest: int = 0
    matched: int = 0

    @property
    def bound(self) -> int:
        """The bound of the paper for what was counted."""
        return self.elements + max(0, self.chains * self.longest - 1)

    @property
    def steps(self) -> int:
        """Lookups of elements, and comparisons."""
        return self.elements + self.comparisons


@dataclass(slots=True)
class _Head:
    """The chains that may begin at elements of a name: by what they require, and those that require nothing."""

    plain: Chains = field(default_factory=dict)
    by_text: dict[Place, dict[str, Chains]] = field(default_factory=dict)


@dataclass(slots=True)
class _Table:
    """The chains of one stream."""

    chains: dict[Hashable, Chain] = field(default_factory=dict)  # by what equal blocks have in common
    heads: dict[str, _Head] = field(default_factory=dict)
    anywhere: Chains = field(default_factory=dict)


class BlockIndex:
    """The blocks of all subscriptions, by stream; blocks come and go while documents are matched.

    >>> from tocsin.algebra.blocks.paths import Name
    >>> index = BlockIndex()
    >>> index.add("b1", "orders", Pattern(Name("order")))
    >>> list(index.match("orders", (Element("order", (), (), 0),)))
    ['b1']
    """

    def __init__(self) -> None:
        self.work = Work()
        self._number = 0
        self._tables: dict[str, _Table] = {}
        self._places: dict[Hashable, tuple[str, Hashable]] = {}
        self._computed: dict[str, dict[Hashable, Callable[[Content], list[Found]]]] = {}

    def __len__(self) -> int:
        """The number of different blocks."""
        return sum(len(table.chains) for table in self._tables.values())

    def add(
        self,
        name: Hashable,
        stream: str,
        pattern: Pattern,
        predicates: tuple[Predicate, ...] = (),
        *,
        root_only: bool = False,
    ) -> None:
        """Add a block under a name of its own."""
        if name in self._places:
            self.remove(name)
        key = pattern, predicates, root_only
        table = self._tables.setdefault(stream, _Table())
        chain = table.chains.get(key)
        if chain is None:
            self._number += 1
            chain = table.chains[key] = chain_of(pattern, predicates, root_only, self._number)
            for chains in _homes(table, chain):
                chains[chain.number] = chain
        chain.users[name] = None
        self._places[name] = stream, key

    def add_computed(self, name: Hashable, stream: str, match: Callable[[Content], list[Found]]) -> None:
        """Add a block that looks at what a function makes of a document: there is nothing to look up."""
        self._computed.setdefault(stream, {})[name] = match

    def remove(self, name: Hashable) -> None:
        """Remove a block."""
        for computed in self._computed.values():
            computed.pop(name, None)
        if name not in self._places:
            return
        stream, key = self._places.pop(name)
        table = self._tables[stream]
        chain = table.chains[key]
        del chain.users[name]
        if not chain.users:
            del table.chains[key]
            for chains in _homes(table, chain):
                del chains[chain.number]

    def takes(self, stream: str) -> bool:
        """Whether any block takes events from a stream."""
        table = self._tables.get(stream)
        return bool(table and table.chains) or bool(self._computed.get(stream))

    def match(self, stream: str, document: Content) -> dict[Hashable, list[Found]]:
        """The blocks that match a document, each with the ways in which it does."""
        found: dict[Hashable, list[Found]] = {}
        table = self._tables.get(stream)
        if table is not None and table.chains:
            by_name = _sorted_by_name(document)
            self.work.elements += sum(map(len, by_name.values()))
            family = Family()
            for chain in self._candidates(table, by_name):
                ways = self._compared(chain, document, by_name, family)
                if ways:
                    self.work.matched += 1
                    found |= dict.fromkeys(chain.users, ways)
        for name, match in self._computed.get(stream, {}).items():
            if ways := match(document):
                found[name] = ways
        return found

    def _candidates(self, table: _Table, by_name: ByName) -> Iterator[Chain]:
        """The chains that may begin somewhere in a document, each once."""
        tried: set[int] = set()
        for name, elements in by_name.items():
            if (head := table.heads.get(name)) is not None:
                for chains in (head.plain, *self._by_text(head, elements)):
                    for number, chain in chains.items():
                        if number not in tried:
                            tried.add(number)
                            yield chain
        yield from table.anywhere.values()

    def _by_text(self, head: _Head, elements: list[Element]) -> Iterator[Chains]:
        for (path, attribute), by_text in head.by_text.items():
            for element in elements:
                for text in texts_at(element, path, attribute):
                    self.work.texts += 1
                    if (chains := by_text.get(text)) is not None:
                        yield chains

    def _compared(self, chain: Chain, document: Content, by_name: ByName, family: Family) -> list[Found]:
        """The ways in which a chain matches; its head has been found in the table, the other nodes are compared."""
        work = self.work
        work.chains += 1
        work.longest = max(work.longest, chain.length)
        for number, name in enumerate(chain.names):
            if name not in by_name:
                work.comparisons += number
                return []
        work.comparisons += chain.length - 1
        return found_by(chain, document, by_name, family)


def _homes(table: _Table, chain: Chain) -> Iterator[Chains]:
    """Where a chain is kept."""
    if chain.heads is None:
        yield table.anywhere
        return
    for name in chain.heads:
        head = table.heads.setdefault(name, _Head())
        if chain.required is None:
            yield head.plain
        else:
            path, attribute, text = chain.required
            yield head.by_text.setdefault((path, attribute), {}).setdefault(text, {})


def _sorted_by_name(document: Content) -> dict[str, list[Element]]:
    """The elements of a document by name, in its order."""
    found: dict[str, list[Element]] = {}
    waiting: list[Element | str] = list(reversed(document))
    while waiting:
        node = waiting.pop()
        if isinstance(node, Element):
            if node.name in found:
                found[node.name].append(node)
            else:
                found[node.name] = [node]
            content = node.content
            if len(content) > 1 or (content and not isinstance(content[0], str)):
                waiting.extend(reversed(content))
    return found
