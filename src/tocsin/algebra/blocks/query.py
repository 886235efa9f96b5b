"""Queries over XML events: blocks of element patterns, how they are composed in time, and what is constructed.

| paper (002) and semantics          | here                                   |
|------------------------------------|----------------------------------------|
| element pattern, block             | `Pattern`, `Block`                     |
| block variable                     | `Block.name`                           |
| event tree, temporal operators     | `temporal.Composition`              |
| context                            | `Where.context`                        |
| CONSTRUCT, Skolem function         | `Template`, `Template.identity`        |

`semantics` defines what a query finds, `languages` have its syntax.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal as OneOf
from typing import get_args

from tocsin.algebra.blocks.conditions import Predicate
from tocsin.algebra.blocks.paths import Tag, TagVariable
from tocsin.algebra.blocks.temporal import Composition
from tocsin.errors import InputError, Span, did_you_mean

Context = OneOf["recent", "recent_consume", "recent_per_key", "chronicle", "continuous", "cumulative"]
CONTEXTS: tuple[Context, ...] = get_args(Context)


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False)


# --- patterns ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable:
    """A use of a variable, or where it is bound."""

    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Text:
    """A text: in a pattern a text child that must be there, in a template a text that is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: in a pattern one that must have a value or is bound, in a template one that is written."""

    name: str
    value: Text | Variable


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable that is bound to the element of a pattern, or to its content."""

    what: OneOf["element", "content"]
    variable: Variable


@dataclass(frozen=True, slots=True)
class Pattern:
    """An element with what must be in it; the order of its parts does not matter."""

    tag: Tag
    attributes: tuple[Attribute, ...] = ()
    parts: tuple[Pattern | Text | Variable, ...] = ()
    bound: tuple[Bound, ...] = ()
    span: Span | None = _span()


# --- where patterns are looked for ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stream:
    """The events of a stream, by its name."""

    name: str
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """What a function constructs."""

    function: str
    arguments: tuple[Source, ...] = ()
    span: Span | None = _span()


Source = Stream | Variable | Call


@dataclass(frozen=True, slots=True)
class Block:
    """A pattern and its source. One whose source is a stream takes events, and has a name; others look into what is bound.

    `named` says whether the name was written: others are called `_1`, `_2`, by their place among the blocks.
    """

    pattern: Pattern
    source: Source
    name: str = ""
    named: bool = False
    span: Span | None = _span()


# --- queries ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """A Skolem function of variables: elements with equal values are one element."""

    function: str
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """An element to construct; its tag is a name or the value of a variable."""

    tag: str | Variable
    identity: Identity | None = None
    attributes: tuple[Attribute, ...] = ()
    parts: tuple[Template | Text | Variable | Where, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Where:
    """Patterns, predicates, how the blocks are composed, and what is constructed for each row.

    `composition` is None if the text says nothing of it: then all blocks must match.
    """

    blocks: tuple[Block, ...]
    predicates: tuple[Predicate, ...] = ()
    composition: Composition | None = None
    context: Context | None = None
    ordered_by: tuple[Variable, ...] = ()
    construct: Template | Variable = field(default_factory=lambda: Template("result"))
    nested: tuple[Where, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function; `type` is a document type, which is kept and not checked."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A named query over its arguments."""

    name: str
    parameters: tuple[Parameter, ...]
    body: Where
    type: str | None = None
    span: Span | None = _span()


@dataclass(frozen=True, slots=True)
class Interpretation:
    """How a query is read.

    Args:
        root_only: whether a pattern begins at the root of a document, or anywhere in it.
    """

    root_only: bool = False

    @classmethod
    def of(cls, options: Mapping[str, object]) -> Interpretation:
        """The interpretation that is given by a mapping of names to values.

        >>> Interpretation.of({"root_only": "true"})
        Interpretation(root_only=True)
        """
        known = [one.name for one in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(
                    "unknown-option", f"there is no option {name!r}", hint=did_you_mean(name, known)
                )
        given = options.get("root_only", False)
        values = {True: True, False: False, "true": True, "false": False}
        if not isinstance(given, bool | str) or given not in values:
            message = f"the option root_only cannot be {given!r}"
            raise InputError("bad-option", message, hint="write true or false")
        return cls(values[given])


@dataclass(frozen=True, slots=True)
class Query:
    """A subscription: functions, and a query over streams of XML events."""

    where: Where
    functions: tuple[Function, ...] = ()
    interpretation: Interpretation = Interpretation()
    span: Span | None = _span()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that take events, in the order of the text."""
        return event_blocks(self.where)


def event_blocks(where: Where) -> tuple[Block, ...]:
    """The blocks of a query that take events, in the order of the text."""
    return tuple(block for block in where.blocks if block.name)


def stream_of(source: Source) -> Stream | None:
    """The stream that a source takes its events from; None if it takes none."""
    match source:
        case Stream():
            return source
        case Variable():
            return None
        case Call(_, arguments):
            return next((found for one in arguments if (found := stream_of(one)) is not None), None)


def variables(pattern: Pattern) -> Iterator[Variable]:
    """Every place in a pattern that binds a variable."""
    if isinstance(pattern.tag, TagVariable):
        yield Variable(pattern.tag.variable, pattern.span)
    for attribute in pattern.attributes:
        if isinstance(attribute.value, Variable):
            yield attribute.value
    for part in pattern.parts:
        if isinstance(part, Variable):
            yield part
        elif isinstance(part, Pattern):
            yield from variables(part)
    for bound in pattern.bound:
        yield bound.variable
