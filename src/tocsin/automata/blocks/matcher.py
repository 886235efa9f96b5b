"""A pattern of names only, prepared for documents whose elements have been sorted: the fast way to what `found_at` defines.

Most patterns have a plain name in every tag. Then a part of a pattern is looked up among the children of an element by
name, a part that binds nothing is only tested, and values are compared only where a variable occurs twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tocsin.algebra.blocks.matching import MAX_FOUND, Found, combined, has_text, joined, too_many_results
from tocsin.algebra.blocks.paths import Name
from tocsin.algebra.blocks.query import Pattern, Text, Variable, variables
from tocsin.runtime.xml_tree import Content, Element

_NOTHING = (Found((), {}),)


class Family:
    """The children of the elements of one document by name, each sorted when it is asked for."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, dict[str, list[Element]]] = {}

    def of(self, element: Element) -> Mapping[str, list[Element]]:
        """The children of an element by name."""
        found = self._known.get(element.at)
        if found is None:
            found = self._known[element.at] = {}
            for node in element.content:
                if not isinstance(node, str):
                    found.setdefault(node.name, []).append(node)
        return found


@dataclass(frozen=True, slots=True)
class Matcher:
    """A pattern, taken apart.

    `repeats` says whether a variable occurs twice in it, `binds` whether one occurs at all.
    """

    name: str
    required: tuple[tuple[str, str], ...]  # attributes and their values
    attributes: tuple[tuple[str, str], ...]  # attributes and the variables that they bind
    texts: tuple[str, ...]
    bound: tuple[
        tuple[str, bool], ...
    ]  # variables, and whether they are bound to the element or to its content
    parts: tuple[Matcher, ...]
    binds: bool
    repeats: bool

    def ways(self, element: Element, family: Family) -> Sequence[Found]:
        """The ways in which the pattern matches at an element of its name."""
        if (self.required or self.attributes or self.texts) and not self._required_are_there(element):
            return ()
        inner: list[Sequence[Found]] = []
        if self.parts:
            children = family.of(element)
            for part in self.parts:
                ways = part.below(children.get(part.name, ()), family)
                if not ways:
                    return ()
                if part.binds:
                    inner.append(ways)
        values = self._values(element)
        if values is None:
            return ()
        if not inner and not values:
            return _NOTHING
        own = Found((element.at,) * len(values), dict(values))
        return combined(own, inner)

    def below(self, elements: Sequence[Element], family: Family) -> Sequence[Found]:
        """The ways in which the pattern matches at several elements; one is enough if it binds nothing."""
        if len(elements) == 1:
            return self.ways(elements[0], family)
        found: list[Found] = []
        for element in elements:
            found += self.ways(element, family)
            if found and not self.binds:
                break
            if len(found) > MAX_FOUND:
                raise too_many_results()
        return found

    def _required_are_there(self, element: Element) -> bool:
        if self.required or self.attributes:
            there = dict(element.attributes)
            if any(there.get(name) != value for name, value in self.required):
                return False
            if any(name not in there for name, _ in self.attributes):
                return False
        return all(has_text(element, text) for text in self.texts) if self.texts else True

    def _values(self, element: Element) -> list[tuple[str, Content]] | None:
        """What is bound to the element itself, once for each occurrence; None if a variable would have two values."""
        if not self.attributes and not self.bound:
            return []
        there = dict(element.attributes) if self.attributes else {}
        values: list[tuple[str, Content]] = [
            (variable, (there[attribute],)) for attribute, variable in self.attributes
        ]
        values += [(name, (element,) if itself else element.content) for name, itself in self.bound]
        if self.repeats and joined({name: value} for name, value in values) is None:
            return None
        return values


def matcher_of(pattern: Pattern) -> Matcher | None:
    """A pattern, taken apart; None if a tag of it is not a plain name.

    >>> matcher = matcher_of(Pattern(Name("a"), (), (Pattern(Name("b"), (), (Variable("x"),)),)))
    >>> tree = Element("a", (), (Element("b", (), ("1",), 1), Element("b", (), ("2",), 2)), 0)
    >>> [found.values for found in matcher.ways(tree, Family())]
    [{'x': ('1',)}, {'x': ('2',)}]
    """
    if not isinstance(pattern.tag, Name):
        return None
    parts = []
    for part in pattern.parts:
        if isinstance(part, Pattern):
            inner = matcher_of(part)
            if inner is None:
                return None
            parts.append(inner)
    times = Counter(variable.name for variable in variables(pattern))
    written = [(one.name, one.value) for one in pattern.attributes]
    return Matcher(
        pattern.tag.name,
        tuple((name, value.text) for name, value in written if isinstance(value, Text)),
        tuple((name, value.name) for name, value in written if isinstance(value, Variable)),
        tuple(part.text for part in pattern.parts if isinstance(part, Text)),
        (
            *((part.name, False) for part in pattern.parts if isinstance(part, Variable)),
            *((one.variable.name, one.what == "element") for one in pattern.bound),
        ),
        tuple(parts),
        bool(times),
        any(number > 1 for number in times.values()),
    )
