"""Prolog terms, as far as the queries of the transformer need them: atoms, integers, variables, lists and compounds.

>>> show_term(read_term("transformation([event-algebra, [negation,[e1,4],10]], X)"))
'transformation([event-algebra,[negation,[e1,4],10]],X)'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin.errors import PatternError, Span

_TOKEN = re.compile(
    r"\s*(?:(?P<int>-?\d+)|(?P<var>[A-Z_]\w*)|(?P<atom>[a-z]\w*(?:-[a-z]\w*)*)|(?P<sign>[\[\](),]))"
)
_PROMPT = re.compile(r"\s*(\?-)?")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Compound:
    """A functor with arguments."""

    functor: str
    arguments: tuple[Term, ...]


Term = str | int | Variable | Compound | tuple["Term", ...]  # an atom, an integer, …, a list
Bindings = dict[Variable, Term]


def read_term(text: str) -> Term:
    """The term of a text, with or without a prompt before it and a full stop after it; raises `PatternError`."""
    reader = _Reader(text)
    term = reader.term()
    rest = text[reader.place :].strip()
    if rest not in ("", "."):
        reader.fail("the query goes on after its end", "write one query")
    return term


def show_term(term: Term) -> str:
    """The text of a term."""
    match term:
        case Variable(name):
            return name
        case Compound(functor, arguments):
            return f"{functor}({','.join(map(show_term, arguments))})"
        case tuple():
            return f"[{','.join(map(show_term, term))}]"
        case _:
            return str(term)


def unify(one: Term, other: Term, bindings: Bindings) -> Bindings | None:
    """What the variables of two terms stand for, so that they are equal; None if they cannot be.

    >>> unify(read_term("[a, X]"), read_term("[Y, 3]"), {})
    {Variable(name='Y'): 'a', Variable(name='X'): 3}
    """
    one, other = _known(one, bindings), _known(other, bindings)
    if one == other:
        return bindings
    match one, other:
        case Variable(), _:
            return {**bindings, one: other}
        case _, Variable():
            return {**bindings, other: one}
        case (tuple(), tuple()) if len(one) == len(other):
            return _unify_all(one, other, bindings)
        case (Compound(), Compound()) if one.functor == other.functor and len(one.arguments) == len(
            other.arguments
        ):
            return _unify_all(one.arguments, other.arguments, bindings)
        case _:
            return None


def substituted(term: Term, bindings: Bindings) -> Term:
    """The term with what its variables stand for."""
    term = _known(term, bindings)
    match term:
        case tuple():
            return tuple(substituted(part, bindings) for part in term)
        case Compound(functor, arguments):
            return Compound(functor, tuple(substituted(part, bindings) for part in arguments))
        case _:
            return term


def variables(term: Term) -> Iterator[Variable]:
    """The variables of a term, each as often as it stands there."""
    match term:
        case Variable():
            yield term
        case tuple():
            for part in term:
                yield from variables(part)
        case Compound(_, arguments):
            yield from variables(arguments)
        case _:
            return


def _known(term: Term, bindings: Bindings) -> Term:
    while isinstance(term, Variable) and term in bindings:
        term = bindings[term]
    return term


def _unify_all(ones: tuple[Term, ...], others: tuple[Term, ...], bindings: Bindings) -> Bindings | None:
    for one, other in zip(ones, others, strict=True):
        found = unify(one, other, bindings)
        if found is None:
            return None
        bindings = found
    return bindings


class _Reader:
    """Reads one term; each `_` is a variable of its own."""

    def __init__(self, text: str) -> None:
        self.text = text
        prompt = _PROMPT.match(text)
        self.place = prompt.end() if prompt else 0
        self.depth = self.unnamed = 0

    def fail(self, message: str, hint: str) -> None:
        start = self.place + len(self.text[self.place :]) - len(self.text[self.place :].lstrip())
        raise PatternError("syntax", message, Span(self.text, start, start + 1), hint)

    def next(self) -> tuple[str, str]:
        token = _TOKEN.match(self.text, self.place)
        if token is None or token.lastgroup is None:
            self.fail("this is no term", "write an atom, an integer, a variable, or a list such as [e1,3]")
            raise AssertionError
        self.place = token.end()
        return token.lastgroup, token[token.lastgroup]

    def peek(self) -> str:
        rest = self.text[self.place :].lstrip()
        return rest[:1]

    def term(self) -> Term:
        start = self.place
        kind, word = self.next()
        self.depth += 1
        if self.depth > 100:
            self.fail("there are more than 100 brackets inside each other", "write a smaller term")
        found: Term
        match kind:
            case "int":
                found = int(word)
            case "var":
                self.unnamed += word == "_"
                found = Variable(f"_{self.unnamed}" if word == "_" else word)
            case "atom" if self.peek() == "(":
                self.next()
                found = Compound(word, self.items(")"))
            case "atom":
                found = word
            case _ if word == "[":
                found = self.items("]")
            case _:
                self.place = start
                self.fail(
                    f"{word!r} does not start a term", "write an atom, an integer, a variable or a list"
                )
                raise AssertionError
        self.depth -= 1
        return found

    def items(self, end: str) -> tuple[Term, ...]:
        if self.peek() == end:
            self.next()
            return ()
        found = [self.term()]
        while True:
            if self.peek() not in (",", end):
                self.fail(f"a comma or {end!r} is missing here", "put commas between the parts of a list")
            if self.next()[1] == end:
                return tuple(found)
            found.append(self.term())
