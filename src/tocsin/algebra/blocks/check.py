"""What is wrong with a query although it can be read: names that nothing declares, and sources that nothing fills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from tocsin.algebra.blocks.conditions import values
from tocsin.algebra.blocks.query import (
    Block,
    Call,
    Function,
    Query,
    Source,
    Stream,
    Template,
    Variable,
    Where,
    event_blocks,
    stream_of,
    variables,
)
from tocsin.algebra.blocks.temporal import leaves
from tocsin.errors import PatternError, Span, did_you_mean


def check(query: Query) -> list[PatternError]:
    """Every mistake in a query."""
    checker = _Checker()
    for function in query.functions:
        checker.function(function)
    blocks = event_blocks(query.where)
    if not blocks:
        message = "no pattern takes events"
        checker.note("no-events", message, query.where.span, 'say where they come from: <a></> IN "name"')
    checker.streams = {stream.name for block in blocks if (stream := stream_of(block.source)) is not None}
    checker.names(query.where, blocks)
    checker.where(query.where, frozenset())
    return checker.errors


@dataclass
class _Checker:
    errors: list[PatternError] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    streams: Set[str] | None = None  # None inside a function, which sees no stream

    def note(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        self.errors.append(PatternError(code, message, span, hint))

    def function(self, function: Function) -> None:
        """A function sees its parameters and the functions before it."""
        if function.name in self.functions:
            self.note("duplicate-name", f"there are two functions {function.name!r}", function.span)
        for name, times in Counter(one.name for one in function.parameters).items():
            if times > 1:
                self.note("duplicate-name", f"{function.name!r} has two parameters ${name}", function.span)
        for block in function.body.blocks:
            if block.named:
                message = "a function has no blocks of its own: it takes no events"
                self.note("misplaced-block", message, block.span, "leave out BLOCK")
        if function.body.composition is not None:
            self.note("misplaced-event", "a function takes no events to compose", function.body.span)
        self.where(function.body, frozenset(one.name for one in function.parameters))
        self.functions[function.name] = function

    def names(self, where: Where, blocks: Iterable[Block]) -> None:
        """Names of blocks are declared once, are no variables, and are those that the composition mentions."""
        declared = [block.name for block in blocks]
        bound = {variable.name for variable in _every_variable(where)}
        known: set[str] = set()
        for block in blocks:
            if block.name in known:
                self.note("duplicate-name", f"there are two blocks ${block.name}", block.span)
            elif block.name in bound:
                hint = "give the block another name"
                self.note("duplicate-name", f"${block.name} is a block and a variable", block.span, hint)
            known.add(block.name)
        for leaf in () if where.composition is None else leaves(where.composition):
            if leaf.block not in known:
                known_names = did_you_mean(leaf.block, declared).replace("'", "")
                self.note("unknown-block", f"there is no block ${leaf.block}", leaf.span, known_names)

    def where(self, where: Where, outer: frozenset[str]) -> None:
        """A query whose patterns, predicates and templates see the variables of the queries around it."""
        bound = outer | {one.name for block in where.blocks for one in variables(block.pattern)}
        for block in where.blocks:
            self.source(block.source, bound)
        self.circles(where.blocks, outer, bound)
        for predicate in where.predicates:
            for value in values(predicate):
                self.use(value.variable, value.span, bound)
        for variable in where.ordered_by:
            self.use(variable.name, variable.span, bound)
        self.template(where.construct, bound)
        for nested in where.nested:
            self.inner(nested, bound)

    def inner(self, where: Where, outer: frozenset[str]) -> None:
        for block in where.blocks:
            if block.named:
                self.note("misplaced-block", "a nested query has no blocks", block.span, "leave out BLOCK")
        if where.composition is not None:
            self.note("misplaced-event", "only the outermost query composes events", where.span)
        self.where(where, outer)

    def source(self, source: Source, bound: frozenset[str]) -> None:
        match source:
            case Variable(name, span):
                self.use(name, span, bound)
            case Stream(name, span):
                if self.streams is None:
                    hint = "take it as a parameter"
                    self.note("unknown-stream", "a function sees its parameters only", span, hint)
                elif name not in self.streams:
                    hint = did_you_mean(name, self.streams)
                    self.note("unknown-stream", f"no block takes events from {name!r}", span, hint)
            case Call(name, arguments, span):
                self.call(name, arguments, span)
                for argument in arguments:
                    self.source(argument, bound)

    def call(self, name: str, arguments: tuple[Source, ...], span: Span | None) -> None:
        function = self.functions.get(name)
        if function is None:
            hint = did_you_mean(name, self.functions, "a function is declared before it is used")
            self.note("unknown-function", f"there is no function {name!r}", span, hint)
        elif len(arguments) != len(function.parameters):
            message = f"{name!r} takes {len(function.parameters)} arguments, not {len(arguments)}"
            self.note("wrong-arguments", message, span)
        if sum(stream_of(one) is not None for one in arguments) > 1:
            message = f"{name!r} cannot take events of several streams"
            self.note("wrong-arguments", message, span, "join the streams with one pattern for each")
        elif any(stream_of(one) is not None for one in arguments) and any(map(inputs, arguments)):
            message = f"{name!r} cannot take events together with variables"
            self.note(
                "wrong-arguments",
                message,
                span,
                "join them in a predicate, or in a variable of both patterns",
            )

    def circles(self, blocks: Iterable[Block], outer: frozenset[str], bound: frozenset[str]) -> None:
        """Patterns that look into each other's variables find nothing to begin with."""
        known, waiting = set(outer), list(blocks)
        while ready := [block for block in waiting if inputs(block.source) <= known]:
            known |= {one.name for block in ready for one in variables(block.pattern)}
            waiting = [block for block in waiting if block not in ready]
        if waiting and inputs(waiting[0].source) <= bound:
            message = "the patterns that fill this source need it themselves"
            self.note("circular-source", message, waiting[0].source.span)

    def template(self, part: Template | Variable, bound: frozenset[str]) -> None:
        if isinstance(part, Variable):
            self.use(part.name, part.span, bound)
            return
        used = [part.tag] if isinstance(part.tag, Variable) else []
        used += [] if part.identity is None else part.identity.variables
        used += [one.value for one in part.attributes if isinstance(one.value, Variable)]
        for variable in used:
            self.use(variable.name, variable.span, bound)
        for name, times in Counter(one.name for one in part.attributes).items():
            if times > 1:
                self.note("duplicate-name", f"this element has two attributes {name}", part.span)
        for inner in part.parts:
            if isinstance(inner, Where):
                self.inner(inner, bound)
            elif isinstance(inner, Template | Variable):
                self.template(inner, bound)

    def use(self, name: str, span: Span | None, bound: frozenset[str]) -> None:
        if name not in bound:
            hint = did_you_mean(name, bound).replace("'", "") or "bind it in a pattern, as in <a>$x</>"
            self.note("unbound-variable", f"no pattern binds ${name}", span, hint)


def inputs(source: Source) -> frozenset[str]:
    """The variables that a source needs."""
    match source:
        case Stream():
            return frozenset()
        case Variable(name):
            return frozenset({name})
        case Call(_, arguments):
            return frozenset().union(*map(inputs, arguments))


def _every_variable(where: Where) -> Iterator[Variable]:
    for block in where.blocks:
        yield from variables(block.pattern)
    for nested in (*where.nested, *_inside(where.construct)):
        yield from _every_variable(nested)


def _inside(part: Template | Variable) -> Iterator[Where]:
    if isinstance(part, Template):
        for inner in part.parts:
            if isinstance(inner, Where):
                yield inner
            elif isinstance(inner, Template):
                yield from _inside(inner)


def functions_of(query: Query) -> Mapping[str, Function]:
    """The functions of a query by name."""
    return {function.name: function for function in query.functions}
