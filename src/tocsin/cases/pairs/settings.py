"""The parameters of a case, put into its expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tocsin.algebra.pairs.expression import (
    After,
    Composition,
    Every,
    Expression,
    Framed,
    Negation,
    Selection,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.operators import choice
from tocsin.algebra.pairs.parameters import (
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
from tocsin.cases.model import only_keys
from tocsin.errors import CaseError

# What Unland and Zimmer call the consumption modes. Paper: 004, section 2.
CALLED = {
    "shared": Consumption.KEEP,
    "exclusive parameter": Consumption.REAPPLY,
    "exclusive": Consumption.DELETE,
}
VIEWS = ("zmin", "zmax", "wmin", "wmax", "z", "w", "Pxy")
MODES = ("traversal", "coupling", "concurrency", "consumption")
_PAIRS = {"x=y": Pairing.UNIQUE, "x<=y": Pairing.ALL}
_TRAVERSAL = {"left-to-right": Traversal.LEFT_TO_RIGHT, "right-to-left": Traversal.RIGHT_TO_LEFT}


def with_views(expression: Expression, params: Mapping[str, Any]) -> Expression:
    """The expression with trace views at its outermost operator."""
    if not any(name in params for name in VIEWS):
        return expression
    if not isinstance(expression, Composition):
        raise CaseError("bad-case", "z, w and Pxy are for an operator with operands")
    pairing = _one_of(params.get("Pxy", "x<=y"), _PAIRS, "Pxy")
    return replace(expression, how=Views(_pick(params, "z"), _pick(params, "w"), pairing))


def _pick(params: Mapping[str, Any], name: str) -> Pick:
    if name not in params:
        return Pick(params.get(f"{name}min", 1), params.get(f"{name}max"))
    found = choice(params[name])
    if not isinstance(found, Pick):
        raise CaseError("bad-case", f"{name} cannot be {params[name]!r} over trace views")
    return found


def with_detection(expression: Expression, selection: str, consumption: str) -> Expression:
    """The expression with one selection and one consumption mode at its outermost operator."""
    if not isinstance(expression, Composition):
        raise CaseError("bad-case", "selection and consumption are for an operator with operands")
    known = {mode.value.replace("_", " & "): mode for mode in Consumption}
    mode = Mode(choice(selection), _one_of(consumption, known, "consumption"))
    return replace(expression, how=Detection((mode,) * len(expression.operands)))


def with_modes(expression: Expression, params: Mapping[str, Any]) -> Expression:
    """The expression with the modes of Unland and Zimmer at every operator that is detected per terminator."""
    only_keys(params, MODES, "params")
    given: dict[str, Any] = {}
    if "traversal" in params:
        given["traversal"] = _one_of(params["traversal"], _TRAVERSAL, "traversal")
    for name, kind in (("coupling", Coupling), ("concurrency", Concurrency)):
        if name in params:
            given[name] = _one_of(str(params[name]).replace("-", ""), {one.value: one for one in kind}, name)
    consumption = _one_of(params["consumption"], CALLED, "consumption") if "consumption" in params else None
    return _with_modes(expression, given, consumption)


def _with_modes(
    expression: Expression, given: Mapping[str, Any], consumption: Consumption | None
) -> Expression:
    """The expression with these modes, here and everywhere inside."""

    def inside(part: Expression) -> Expression:
        return _with_modes(part, given, consumption)

    if isinstance(expression, After | Negation | Selection | Framed):
        return replace(expression, body=inside(expression.body))
    if isinstance(expression, Every):
        until = None if expression.until is None else inside(expression.until)
        return replace(expression, since=inside(expression.since), until=until)
    if not isinstance(expression, Composition):
        return expression
    whole: Expression = replace(expression, operands=tuple(map(inside, expression.operands)))
    how = expression.how
    if isinstance(how, Detection) and isinstance(whole, Composition):
        modes = how.modes
        if consumption is not None:
            modes = tuple(replace(mode, consumption=consumption) for mode in modes)
        whole = replace(whole, how=replace(how, modes=modes, **given))
    if isinstance(whole, Ordered) and whole.without is not None:
        whole = replace(whole, without=inside(whole.without))
    return whole


def _one_of(value: Any, known: Mapping[str, Any], what: str) -> Any:
    if value not in known:
        raise CaseError("bad-case", f"{what} cannot be {value!r}", hint="one of " + ", ".join(known))
    return known[value]
