"""Patterns simplified before they are built: laws that change the cost of a pattern and never its matches.

Each law has a file. A law gets one operator whose operands are already simplified, and a function that numbers patterns
so that equal ones have equal numbers, which is cheaper than comparing them.
"""

from __future__ import annotations

from collections.abc import Callable

from tocsin.algebra.tokens.pattern import Atom, Optional, Pattern, Sequence, Timed, Within, children, rebuilt
from tocsin.algebra.tokens.rewrite.adjacent_stars import adjacent_stars
from tocsin.algebra.tokens.rewrite.equal_alternatives import equal_alternatives
from tocsin.algebra.tokens.rewrite.nested_alternatives import nested_alternatives
from tocsin.algebra.tokens.rewrite.nested_limits import nested_limits
from tocsin.algebra.tokens.rewrite.star_of_star import star_of_star

LAWS: tuple[Callable[[Pattern, Callable[[Pattern], int]], Pattern], ...] = (
    nested_alternatives,
    equal_alternatives,
    star_of_star,
    adjacent_stars,
    nested_limits,
)


def simplified(pattern: Pattern) -> Pattern:
    """An equivalent pattern that costs no more.

    >>> from tocsin.algebra.tokens.pattern import AnyOf, EventSpec, Repeat
    >>> a = Atom((EventSpec("A"),))
    >>> simplified(Repeat(Repeat(AnyOf((a, a))))) == Repeat(a)
    True
    """
    return _simplified(pattern, _Numbers().of)


def _simplified(pattern: Pattern, number: Callable[[Pattern], int]) -> Pattern:
    pattern = rebuilt(pattern, lambda child: _simplified(child, number))
    for law in LAWS:
        pattern = law(pattern, number)
    return pattern


class _Numbers:
    """Numbers for patterns, equal for equal ones; each is visited once, and its operands by their numbers."""

    def __init__(self) -> None:
        self._shapes: dict[object, int] = {}
        self._known: dict[int, tuple[Pattern, int]] = {}  # by identity; holding the pattern keeps that valid

    def of(self, pattern: Pattern) -> int:
        if id(pattern) not in self._known:
            self._known[id(pattern)] = pattern, self._number(pattern)
        return self._known[id(pattern)][1]

    def _number(self, pattern: Pattern) -> int:
        shape: object = pattern
        if not isinstance(pattern, Atom):
            own: object = pattern.order if isinstance(pattern, Sequence) else None
            own = pattern.limit if isinstance(pattern, Within) else own
            own = pattern.most if isinstance(pattern, Optional) else own
            timer = pattern.timer if isinstance(pattern, Timed) else None
            shape = (type(pattern), own, timer, *(self.of(child) for child in children(pattern)))
        return self._shapes.setdefault(shape, len(self._shapes))
