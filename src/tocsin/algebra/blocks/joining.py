"""What a query makes of events that its blocks have matched: the blocks are joined, and each row constructs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tocsin.algebra.blocks.check import functions_of, inputs
from tocsin.algebra.blocks.conditions import Predicate, Row, holds, number_of, text_of, variables_of
from tocsin.algebra.blocks.construct import Builder
from tocsin.algebra.blocks.matching import (
    MAX_FOUND,
    Found,
    found_in,
    found_with,
    joined,
    pairs,
    too_many_results,
)
from tocsin.algebra.blocks.query import (
    Block,
    Call,
    Query,
    Source,
    Stream,
    Variable,
    Where,
    event_blocks,
    stream_of,
    variables,
)
from tocsin.runtime.xml_tree import Content, numbered

Documents = Mapping[str, Content]  # the stored events of a stream, one after the other


def own_predicates(where: Where, block: Block) -> tuple[Predicate, ...]:
    """The predicates that decide whether a block matches: those whose variables it all binds."""
    bound = {one.name for one in variables(block.pattern)}
    return tuple(predicate for predicate in where.predicates if variables_of(predicate) <= bound)


class Evaluation:
    """How a query looks at documents."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.blocks = {block.name: block for block in query.blocks}
        self._own = {block.name: own_predicates(query.where, block) for block in query.blocks}
        own = {predicate for parts in self._own.values() for predicate in parts}
        self._across = tuple(predicate for predicate in query.where.predicates if predicate not in own)
        self._functions = functions_of(query)
        self._root_only = query.interpretation.root_only

    def match(self, block: str, document: Content) -> list[Found]:
        """The ways in which a block matches an event of its stream."""
        own = self.blocks[block]
        stream = stream_of(own.source)
        assert stream is not None
        content = self._content(own.source, {}, {stream.name: document})
        return found_with(own.pattern, content, self._own[block], root_only=self._root_only)

    def own_predicates(self, block: str) -> tuple[Predicate, ...]:
        """The predicates that belong to a block."""
        return self._own[block]

    def results(self, found: Mapping[str, Sequence[Found]], documents: Documents) -> list[Content]:
        """What is constructed when blocks have matched: `found` has the ways of those that take part."""
        where = self.query.where
        rows: list[Row] = [{}]
        for block in event_blocks(where):
            if block.name in found:
                rows = _extended(rows, [one.values for one in found[block.name]])
        rows = self._completed(where, rows, self._across, documents)
        return self._constructed(where, rows, documents) if rows else []

    def keys(self, found: Mapping[str, Sequence[Found]], names: Sequence[str]) -> list[tuple[Content, ...]]:
        """The values that variables have in the rows of matched blocks; empty where a block is absent."""
        rows: list[Row] = [{}]
        for ways in found.values():
            rows = _extended(rows, [one.values for one in ways])
        return [tuple(row.get(name, ()) for name in names) for row in rows]

    def _constructed(self, where: Where, rows: Sequence[Row], documents: Documents) -> list[Content]:
        return Builder(lambda inner, row: self._rows(inner, row, documents)).construct(where, rows)

    def _rows(self, where: Where, row: Row, documents: Documents) -> list[Row]:
        """The rows of a query that takes no events, for a row of the query around it."""
        return self._completed(where, [row], where.predicates, documents)

    def _completed(
        self, where: Where, rows: list[Row], predicates: Sequence[Predicate], documents: Documents
    ) -> list[Row]:
        """The rows with the patterns that look into what is bound, where the predicates hold, in order."""
        if any(not block.name for block in where.blocks):
            rows = self._looked_into(where, rows, documents)
        rows = [row for row in rows if all(holds(predicate, row) for predicate in predicates)]
        if where.ordered_by:
            rows.sort(key=lambda row: [_order(row.get(one.name, ())) for one in where.ordered_by])
        return rows

    def _looked_into(self, where: Where, rows: list[Row], documents: Documents) -> list[Row]:
        """The rows with what patterns find in bound values, each after those that bind what it looks into."""
        waiting = [block for block in where.blocks if not block.name]
        unknown = {one.name for block in waiting for one in variables(block.pattern)}
        unknown -= {one.name for block in where.blocks if block.name for one in variables(block.pattern)}
        unknown = unknown.difference(*rows)
        while waiting:
            ready = next(one for one in waiting if not inputs(one.source) & unknown)
            waiting.remove(ready)
            unknown -= {one.name for one in variables(ready.pattern)}
            rows = [extended for row in rows for extended in self._inside(ready, row, documents)]
            if len(rows) > MAX_FOUND:
                raise too_many_results()
        return rows

    def _inside(self, block: Block, row: Row, documents: Documents) -> list[Row]:
        content = self._content(block.source, row, documents)
        ways = found_in(block.pattern, content, root_only=self._root_only)
        return _extended([row], [one.values for one in ways])

    def _content(self, source: Source, row: Row, documents: Documents) -> Content:
        match source:
            case Stream(name):
                return documents.get(name, ())
            case Variable(name):
                return row.get(name, ())
            case Call(name, arguments):
                function = self._functions[name]
                given = (self._content(one, row, documents) for one in arguments)
                inner = {p.name: value for p, value in zip(function.parameters, given, strict=True)}
                rows = self._rows(function.body, inner, {})
                results = self._constructed(function.body, rows, {})
                return numbered(tuple(node for result in results for node in result))


def _extended(rows: Sequence[Row], more: Sequence[Row]) -> list[Row]:
    """Every row with every further one that it joins."""
    found = [together for two in pairs(rows, more) if (together := joined(two)) is not None]
    if len(found) > MAX_FOUND:
        raise too_many_results()
    return list(found)


def _order(value: Content) -> tuple[object, ...]:
    """The place of a value in an order: numbers first, then texts."""
    text = text_of(value)
    number = number_of(text)
    return (1, text) if number is None else (0, number)
