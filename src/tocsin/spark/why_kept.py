"""The partial matches that a stream keeps, from its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tocsin.algebra.tokens.pattern import EventSpec, specs
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import BitTest, Compiled
from tocsin.compile.family import KnownEvents, NamedText
from tocsin.compile.plan_texts import plan_texts
from tocsin.errors import InputError
from tocsin.explain.tokens.wording import printers_of
from tocsin.languages.language import Language
from tocsin.runtime import program as rt
from tocsin.runtime.kernels.protocol import PartialMatch
from tocsin.runtime.kernels.registry import kernel_named
from tocsin.runtime.state import State
from tocsin.runtime.stream.shard import recall
from tocsin.spark.stream.inspect import read_memories
from tocsin.why_not import Answer, Attempt, Happened, WhyNot
from tocsin.why_not.account import Taken, in_order


def is_checkpoint(events: object) -> bool:
    """Whether a path is the checkpoint of a stream."""
    return isinstance(events, str | Path) and Path(events).expanduser().joinpath("state").is_dir()


def why_kept(
    spark: SparkSession,
    checkpoint: str | Path,
    text: NamedText,
    key: Mapping[str, Any] | None,
    values: list[Any],
) -> WhyNot:
    """The partial matches of a pattern that wait in the state of a stream for one key.

    Args:
        values: the values of the key, in the order of its columns.
    """
    planned = [plan_texts([text], KnownEvents(points=points)) for points in (True, False)]
    compiled = [one.compiled for one in planned]
    written = _written(planned[0].subscriptions)
    attempts: list[Attempt] = []
    waiting: list[Happened] = []
    known = False
    for shard in read_memories(spark, checkpoint):
        for (group, _), data in shard.memories.items():
            own = _numbers(compiled[0], shard.outlines[group].detectors)
            if own is None:
                continue
            known = True
            state, undecided = recall(data)
            waiting += _undecided(undecided, values)
            at = _key_number(state, values)
            if at is not None:
                attempts += _attempts(compiled, own, state, at, text, written)
    if not known:
        hint = "give the pattern as the stream has it: its text, its language and its options"
        raise InputError("unknown-subscription", f"the stream of {checkpoint} has no such pattern", hint=hint)
    notes = [f"{len(waiting):,} of its events wait, because earlier ones may still arrive"] if waiting else []
    until = max((one.event.end for a in attempts for one in a.taken), default=0)
    shown = text.given if isinstance(text.given, str) else text.language.text_of(text.given)
    answer = Answer(in_order(attempts), ("what the pattern begins with",), tuple(notes))
    return WhyNot(shown.strip(), text.language.name, key or {}, tuple(waiting), until, answer)


def _numbers(compiled: Compiled, known: Mapping[str, tuple[int, ...]]) -> list[tuple[int, int]] | None:
    """The detectors of the pattern with their numbers in the stream; None if the stream does not have it."""
    plan = compiled.plan
    found: list[tuple[int, int]] = []
    for number, output in enumerate(plan.outputs):
        there = next((d for name, d in known.items() if name.partition("@")[0] == output.fingerprint), None)
        if there is None:
            return None
        found += zip(rt.closure(plan, number), there, strict=True)
    return found


def _key_number(state: State, values: list[Any]) -> int | None:
    for number in range(state.keys.size):
        if [str(one) for one in state.keys.value(number)] == [str(one) for one in values] or not values:
            return number
    return None


def _written(subscriptions: Sequence[Subscription]) -> dict[str, EventSpec]:
    """Return the text that the patterns have for an event, by its name, where it is always the same."""
    found: dict[str, set[EventSpec]] = {}
    for one in subscriptions:
        for pattern in (*(definition.pattern for definition in one.definitions), one.pattern):
            for spec in specs(pattern):
                found.setdefault(spec.name, set()).add(spec)
    return {name: next(iter(own)) for name, own in found.items() if len(own) == 1}


def _attempts(
    compiled: list[Compiled],
    own: list[tuple[int, int]],
    state: State,
    key: int,
    text: NamedText,
    written: Mapping[str, EventSpec],
) -> Iterator[Attempt]:
    for mine, there in own:
        memory = state.detectors[there]
        for one in compiled:
            detector = one.plan.detectors[mine]
            try:
                found = kernel_named(memory.kind).partial(detector, memory.content)
                shown = [
                    _attempt(one, detector, part, state, text, written)
                    for part in found or ()
                    if part.key == key
                ]
            except IndexError:
                continue  # written by a program for events with, or without, a length
            yield from shown
            break


def _attempt(
    compiled: Compiled,
    detector: rt.Detector,
    part: PartialMatch,
    state: State,
    text: NamedText,
    written: Mapping[str, EventSpec],
) -> Attempt:
    taken = tuple(
        Taken(detector.roles[role] if role >= 0 else "event", _event(state, ref, start, end))
        for ref, role, start, end in part.events
    )
    due = {detector.timer_names[number]: moment for number, moment in part.timers}
    waits = _waits(compiled, detector, part.state, text.language, written) if part.state >= 0 else ()
    return Attempt(text.name or "pattern", taken, waits, "waiting", None, None, "", due)


def _waits(
    compiled: Compiled,
    detector: rt.Detector,
    state: int,
    own: Language,
    written: Mapping[str, EventSpec],
) -> tuple[str, ...]:
    """Describe what a state of a program waits for."""
    program = detector.program
    assert isinstance(program, rt.Program)
    printers = printers_of(own)
    tests = {bit: test for bit, test in compiled.tests if isinstance(test, BitTest)}
    found: dict[str, None] = {}
    for move in range(program.states[state, rt.STATE_FIRST], program.states[state, rt.STATE_STOP]):
        test = program.tests[program.moves[move, rt.MOVE_TEST]]
        for place in range(test[rt.TEST_TAKEN], test[rt.TEST_TAKEN_STOP]):
            spec = program.specs[program.spec_list[place]]
            known = tests.get(int(spec[rt.SPEC_BIT]))
            name = detector.roles[spec[rt.SPEC_ROLE]]
            if name in written:
                shown = printers.spec(written[name])
            else:
                shown = name if known is None else printers.spec(EventSpec(name, known.filter))
            found[shown] = None
        for number, name in enumerate(detector.timer_names):
            if int(test[rt.TEST_TIMERS]) >> number & 1:
                found[name] = None
    return tuple(found)


def _event(state: State, ref: int, start: int, end: int) -> Happened:
    if ref == -1:
        return Happened("timer", start, end)
    if ref < -1 or state.events is None:
        return Happened("composite", start, end)
    row = state.events.slice(ref, 1).to_pylist()[0]
    attributes = row.get("attributes") or {}
    return Happened(str(row.get("type")), start, end, row.get("id"), attributes)


def _undecided(events: Any, values: list[Any]) -> Iterator[Happened]:
    """The events of a key that are not decided yet."""
    for row in [] if events is None else events.to_pylist():
        own = [row.get(f"key{number}") for number in range(len(values))]
        if [str(one) for one in own] == [str(one) for one in values]:
            start = row.get("start", row["end"])
            yield Happened(
                str(row.get("type")), start, row["end"], row.get("id"), row.get("attributes") or {}
            )


def subscription_text(own: Language, pattern: Any, options: Any, selection: Any) -> NamedText:
    """The pattern as it is compiled."""
    name = pattern.name if isinstance(pattern, Subscription) else "" if own.sends else "pattern"
    return NamedText(own, name, pattern, options, selection)
