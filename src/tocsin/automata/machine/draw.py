"""Draw a machine as SVG, in the manner of the paper's figures: states round, transitions square.

A transition whose enabling condition is conjunctive is shaded. A state with a double ring is final. What a
transition clears is in its tooltip, and written under it where that is more than what enables it.

Paper: 000, Figs. 1, 3 to 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.algebra.completion.output import Output
from tocsin.algebra.predicate import Filter

_COLUMN, _ROW, _MARGIN, _RADIUS, _SIDE = 120, 70, 50, 18, 36
_STYLE = (
    "text{font:11px sans-serif;text-anchor:middle}"
    ".s,.t{fill:#fff;stroke:#333}.i{stroke-width:3}.c{fill:#ccc}"
    ".e{fill:none;stroke:#666;marker-end:url(#a)}.n{fill:#666;font-size:9px}"
)
_ARROW = (
    '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 8 4 0 8z" fill="#666"/></marker>'
)

# A place on the page: of a state, or of a transition.
_Node = tuple[str, str]


def draw(machine: Machine, show_filter: Callable[[Filter], str], show_output: Callable[[Output], str]) -> str:
    """The machine as the text of an SVG picture; how predicates and outputs are shown is up to the caller.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> from tocsin.automata.machine.construct import construct
    >>> draw(construct(Predicate(TRUE)), repr, repr).count("<circle")
    5
    """
    places = _places(machine)
    width = max((x for x, _ in places.values()), default=0) + _MARGIN
    height = max((y for _, y in places.values()), default=0) + _MARGIN
    edges = [_edge(places[a], places[b]) for t in machine.transitions for a, b in _edges(t)]
    states = [_state(machine, name, *places["state", name]) for name in machine.states]
    transitions = [
        _transition(t, _label(t, show_filter, show_output), *places["transition", t.name])
        for t in machine.transitions
    ]
    body = "".join([*edges, *states, *transitions])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}">'
        f"<title>{escape(machine.name)}</title><style>{_STYLE}</style><defs>{_ARROW}</defs>{body}</svg>"
    )


def _edges(transition: Transition) -> list[tuple[_Node, _Node]]:
    here = ("transition", transition.name)
    waits = sorted(frozenset[str]().union(*transition.enable))
    return [
        *((("state", name), here) for name in waits),
        *((here, ("state", name)) for name in sorted(transition.target)),
    ]


def _places(machine: Machine) -> dict[_Node, tuple[int, int]]:
    """Where everything stands: columns by distance from the initial states, rows by what leads there."""
    leads: dict[_Node, list[_Node]] = {}
    came: dict[_Node, list[_Node]] = {}
    for transition in machine.transitions:
        for a, b in _edges(transition):
            leads.setdefault(a, []).append(b)
            came.setdefault(b, []).append(a)
    column = {("state", name): 0 for name in machine.states if name in machine.initial}
    queue = list(column)
    for node in queue:
        for after in leads.get(node, ()):
            if after not in column:
                column[after] = column[node] + 1
                queue.append(after)
    last = max(column.values(), default=0) + 1
    everything = [("state", name) for name in machine.states]
    everything += [("transition", t.name) for t in machine.transitions]
    columns: dict[int, list[_Node]] = {}
    for node in everything:
        columns.setdefault(column.get(node, last), []).append(node)
    places: dict[_Node, tuple[int, int]] = {}
    for number in sorted(columns):
        rows = sorted(columns[number], key=lambda node: _height(came.get(node, []), places))
        for row, node in enumerate(rows):
            places[node] = (_MARGIN + number * _COLUMN, _MARGIN + row * _ROW)
    return places


def _height(before: list[_Node], places: Mapping[_Node, tuple[int, int]]) -> float:
    rows = [places[node][1] for node in before if node in places]
    return sum(rows) / len(rows) if rows else 0


def _label(
    transition: Transition, show_filter: Callable[[Filter], str], show_output: Callable[[Output], str]
) -> str:
    input = "ε" if transition.input is None else show_filter(transition.input)
    outputs = ", ".join(show_output(emit.output) for emit in transition.outputs)
    return f"{input} / {outputs}" if outputs else input


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    (x1, y1), (x2, y2) = start, end
    bend = (x2 - x1) // 2 if x2 > x1 else _COLUMN // 2
    towards = -_RADIUS if x2 > x1 else _RADIUS
    return f'<path class="e" d="M{x1} {y1} C{x1 + bend} {y1} {x2 + 2 * towards} {y2} {x2 + towards} {y2}"/>'


def _state(machine: Machine, name: str, x: int, y: int) -> str:
    kind = "s i" if name in machine.initial else "s"
    final = name in (machine.success, machine.failure)
    ring = f'<circle class="s" cx="{x}" cy="{y}" r="{_RADIUS + 3}"/>' if final else ""
    return (
        f'{ring}<circle class="{kind}" cx="{x}" cy="{y}" r="{_RADIUS}"/>'
        f'<text x="{x}" y="{y + 4}">{escape(name)}</text>'
    )


def _transition(transition: Transition, label: str, x: int, y: int) -> str:
    kind = "t c" if len(transition.enable) > 1 else "t"
    clears = ", ".join(sorted(transition.clear)) or "nothing"
    more = transition.clear - frozenset[str]().union(*transition.enable)
    note = f'<text class="n" x="{x}" y="{y + 30}">clears {len(transition.clear)}</text>' if more else ""
    return (
        f"<g><title>{escape(transition.name)}: clears {escape(clears)}</title>"
        f'<rect class="{kind}" x="{x - _RADIUS}" y="{y - _RADIUS}" width="{_SIDE}" height="{_SIDE}"/>'
        f'<text x="{x}" y="{y + 4}">{escape(transition.name)}</text>'
        f'<text x="{x}" y="{y - _RADIUS - 4}">{escape(label)}</text>{note}</g>'
    )
