"""The answers of `tocsin check` about ECL: in words for people, and as data for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tocsin.algebra.completion.fields import Fields
from tocsin.analysis import Answer, Examined, Influence, Need, Relation, show_briefly, show_trace
from tocsin.cli.check_ecl import Asked, CheckedEcl
from tocsin.cli.texts import columns
from tocsin.languages.ecl import show_output

# How many lines about influence are shown of one subscription; --json has all.
SHOWN = 20
_LIVE = "every trace can go on to one that is accepted"


def show_ecl(checked: CheckedEcl) -> Iterator[tuple[str, str]]:
    """The answers, as headings and texts."""
    pairs = list(zip(checked.given.asked, checked.examined, strict=True))
    for asked, found in pairs:
        yield f"{asked.what} {asked.name}", columns(_answers(found))
    if len(pairs) > 1:
        lines = [_relation(relation, checked.comparable) for relation in checked.compared.relations]
        if checked.compared.left_out:
            lines.append(f"{checked.compared.left_out:,} pairs not compared: {checked.compared.refused}")
        lines += [f"{asked.name} not compared" for asked, found in pairs if found.live is None]
        yield "compared", "\n".join(lines) or "none is contained in another"


def _answers(found: Examined) -> Iterator[tuple[str, str]]:
    if found.trivial is not None:
        yield "trivial", _said(found.trivial, "every event is accepted by itself", "{} is not accepted")
    if found.vacuous is not None:
        yield "vacuous", _said(found.vacuous, "no trace is accepted", "{} is accepted")
    if found.live is not None:
        yield "live", _said(found.live, _LIVE, "after {} nothing can be accepted any more")
    if found.influence is not None:
        yield from _influences(found.influence)
    if found.need is not None:
        yield "state", _state(found.need)
    if found.refused is not None:
        yield "refused", found.refused


def _said(answer: Answer, if_it_holds: str, otherwise: str) -> str:
    if answer.witness is None:
        return f"yes: {if_it_holds}"
    return "no: " + otherwise.format(show_trace(answer.witness))


def _influences(found: tuple[Influence, ...]) -> Iterator[tuple[str, str]]:
    heading = "influence"
    for one in found[:SHOWN]:
        event = show_briefly(one.event)
        marked = [*map(show_briefly, one.before), f"[{event}]", *map(show_briefly, one.after)]
        yield heading, f"{event} on {show_output(one.output)}, as in {' '.join(marked)}"
        heading = ""
    if not found:
        yield heading, "none: nothing is ever pushed"
    elif len(found) > SHOWN:
        yield heading, f"… {len(found) - SHOWN} more; --json shows all"


def _state(need: Need) -> str:
    bits = "1 bit" if need.bits == 1 else f"{need.bits} bits"
    size = f"{need.states} states and {need.transitions} transitions"
    if need.configurations is None or need.witness is None:
        return f"{bits}, one a state: {size}, run as they are, because {need.refused}"
    counted = f"{bits}: {need.configurations} configurations, {need.minimal} of them different"
    when = f"after {show_trace(need.witness)}" if need.witness else "at the start"
    return f"{counted}; {size}, at most {need.peak} active states, as {when}"


def _relation(relation: Relation, asked: tuple[Asked, ...]) -> str:
    left, right = asked[relation.left].name, asked[relation.right].name
    trace = show_trace(relation.witness or ())
    match relation.kind:
        case "equal":
            return f"{left} and {right} do the same"
        case "same-traces":
            return f"{left} and {right} accept the same traces; they differ after {trace}"
        case "contained":
            return f"{left} is contained in {right}, which also accepts {trace}"


# --- as data ----------------------------------------------------------------------------------------


def ecl_data(checked: CheckedEcl) -> dict[str, Any]:
    """The answers, as JSON has them."""
    names = [asked.name for asked in checked.comparable]
    return {
        "examined": [
            {"name": asked.name, "what": asked.what, **_examined_data(found)}
            for asked, found in zip(checked.given.asked, checked.examined, strict=True)
        ],
        "relations": [
            {
                "kind": relation.kind,
                "left": names[relation.left],
                "right": names[relation.right],
                "witness": trace_data(relation.witness),
            }
            for relation in checked.compared.relations
        ],
        "not_compared": {"pairs": checked.compared.left_out, "reason": checked.compared.refused},
    }


def _examined_data(found: Examined) -> dict[str, Any]:
    return {
        "trivial": answer_data(found.trivial),
        "vacuous": answer_data(found.vacuous),
        "live": answer_data(found.live),
        "influence": None
        if found.influence is None
        else [
            {
                "event": _event_data(one.event),
                "output": show_output(one.output),
                "before": trace_data(one.before),
                "after": trace_data(one.after),
            }
            for one in found.influence
        ],
        "state": None if found.need is None else _need_data(found.need),
        "refused": found.refused,
    }


def _need_data(need: Need) -> dict[str, Any]:
    return {
        "states": need.states,
        "transitions": need.transitions,
        "configurations": need.configurations,
        "minimal": need.minimal,
        "bits": need.bits,
        "peak": need.peak,
        "witness": trace_data(need.witness),
        "refused": need.refused,
    }


def answer_data(answer: Answer | None) -> dict[str, Any] | None:
    """An answer as JSON has it."""
    return None if answer is None else {"holds": answer.holds, "witness": trace_data(answer.witness)}


def trace_data(trace: Sequence[Fields] | None) -> list[dict[str, Any]] | None:
    """A trace as JSON has it."""
    return None if trace is None else [_event_data(event) for event in trace]


def _event_data(event: Fields) -> dict[str, Any]:
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in event.items()}
