"""From rows to XML: the elements of a template, filled with the values of each row.

An element with an identity, which is a Skolem function of values, is made once inside its parent: what later rows
construct for the same values is added to it, unless it is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tocsin.algebra.blocks.conditions import Row, text_of
from tocsin.algebra.blocks.matching import key_of
from tocsin.algebra.blocks.query import Template, Text, Variable, Where
from tocsin.errors import InputError, LimitError
from tocsin.runtime.xml_tree import Content, Element, is_element_name, plain_text, writable, written

MAX_SIZE = 4_000_000  # characters and elements that one detection constructs: what a document may have
_Made: TypeAlias = "_Growing | Content"


class _Growing:
    """An element that is being made, or the list of all results, which has no name."""

    def __init__(self, name: str = "", attributes: tuple[tuple[str, str], ...] = ()) -> None:
        self.name = name
        self.attributes = dict(attributes)
        self.parts: list[_Made] = []
        self.identified: dict[tuple[str, ...], _Growing] = {}
        self.again: set[str] | None = None  # what is there already, once a second row adds to it

    def add(self, part: _Made) -> None:
        if self.again is not None:
            text = written(_finished(part))
            if text in self.again:
                return
            self.again.add(text)
        self.parts.append(part)

    def reopen(self) -> None:
        """From now on, leave out what is there already."""
        if self.again is None:
            self.again = {written(_finished(part)) for part in self.parts}


class Builder:
    """What one detection constructs. `rows_of` gives the rows of a nested query for a row of the query around it."""

    def __init__(self, rows_of: Callable[[Where, Row], Sequence[Row]]) -> None:
        self._rows_of = rows_of
        self._results = _Growing()
        self._room = MAX_SIZE

    def construct(self, where: Where, rows: Sequence[Row]) -> list[Content]:
        """The results for rows, in their order."""
        self._query(where, rows, self._results)
        return [_finished(part) for part in self._results.parts]

    def _query(self, where: Where, rows: Sequence[Row], parent: _Growing) -> None:
        for row in rows:
            if isinstance(where.construct, Variable):
                self._value(where.construct, row, parent)
            else:
                self._template(where.construct, row, parent)
            for nested in where.nested:
                self._query(nested, self._rows_of(nested, row), parent)

    def _template(self, template: Template, row: Row, parent: _Growing) -> None:
        name = self._name(template, row)
        attributes = tuple((one.name, _attribute(one.value, row)) for one in template.attributes)
        self._take(1 + sum(len(value) for _, value in attributes))
        element = self._element(template, row, name, parent)
        element.attributes |= dict(attributes)
        for part in template.parts:
            match part:
                case Text(text):
                    element.add((writable(text),))
                case Variable():
                    self._value(part, row, element)
                case Template():
                    self._template(part, row, element)
                case Where():
                    self._query(part, self._rows_of(part, row), element)
        if template.identity is None:
            parent.add(element)

    def _element(self, template: Template, row: Row, name: str, parent: _Growing) -> _Growing:
        """A new element; or the one with the same identity, to which this row adds."""
        if template.identity is None:
            return _Growing(name)
        values = (key_of(row.get(one.name, ())) for one in template.identity.variables)
        key = (name, template.identity.function, *values)
        known = parent.identified.get(key)
        if known is None:
            known = parent.identified[key] = _Growing(name)
            parent.parts.append(known)
        else:
            known.reopen()
        return known

    def _name(self, template: Template, row: Row) -> str:
        if isinstance(template.tag, str):
            return template.tag
        name = text_of(row.get(template.tag.name, ()))
        if not is_element_name(name):
            message = f"the value of ${template.tag.name} is {name[:40]!r}, which is no name of an element"
            raise InputError("bad-name", message, template.tag.span, "bind it to a tag, as in <$t></>")
        return name

    def _value(self, variable: Variable, row: Row, parent: _Growing) -> None:
        value = row.get(variable.name, ())
        self._take(_size(value))
        parent.add(value)

    def _take(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            message = f"one detection constructs more than {MAX_SIZE:,} characters and elements"
            raise LimitError("too-many-results", message, hint="bind smaller parts of the events")


def _attribute(value: Text | Variable, row: Row) -> str:
    return writable(value.text) if isinstance(value, Text) else text_of(row.get(value.name, ()))


def _size(content: Content) -> int:
    return sum(len(node) if isinstance(node, str) else _weight(node) for node in content)


def _weight(element: Element) -> int:
    return 1 + sum(len(value) for _, value in element.attributes) + _size(element.content)


def _finished(part: _Made) -> Content:
    if not isinstance(part, _Growing):
        return part
    content = tuple(node for inner in part.parts for node in _finished(inner))
    return (Element(part.name, tuple(part.attributes.items()), content),)


def is_event(content: Content) -> bool:
    """Whether what was constructed is one element, and so can be an event in turn."""
    return (
        sum(isinstance(node, Element) for node in content) == 1
        and not plain_text(tuple(node for node in content if isinstance(node, str))).strip()
    )
