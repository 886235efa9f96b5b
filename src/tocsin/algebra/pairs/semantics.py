"""The meaning of a profile: the definitions, in simple, slow Python. Everything faster must agree with it.

`instances` gives the occurrences of an expression in an observation, each with its occurrence time:

| operator      | occurs at                       | definition                                                     |
|---------------|---------------------------------|----------------------------------------------------------------|
| disjunction   | the time of the one that occurs | an instance of one of the operands                             |
| conjunction   | the later of the two            | `|t(e2) - t(e1)| <= T`                                         |
| sequence      | its last operand                | `0 < t(e2) - t(e1) <= T` (Part C.5.6)                          |
| simultaneity  | the later of the two            | `|t(e2) - t(e1)| <= tolerance` (Part C.5.15)                   |
| negation      | the end of its timeframe        | a tick t with no instance in the closed [t-T, t] (Part C.5.16) |
| selection     | the instance it selects         | the i-th instance of the whole trace (Part C.5.12)             |

Under a conjunction or sequence a negation with an infinite timeframe has no instances of its own: it says whether its body
has not occurred so far, at the moment the rest occurs (Part C.5.16).

Paper: 004, sections 4.2 and 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from tocsin.algebra.pairs.composition import Operands, in_order, put_together, task_of_several
from tocsin.algebra.pairs.expression import (
    INFINITE,
    After,
    At,
    Chain,
    Composition,
    Conjunction,
    Disjunction,
    During,
    Each,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Several,
    Simultaneity,
    primitives,
    with_timeframes,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.observation import Instance, Observation, Place, compose, tick_instances
from tocsin.algebra.pairs.parameters import Coupling, Detection, Mode, Views
from tocsin.algebra.pairs.terminator import Found, detect
from tocsin.algebra.pairs.views import one_of
from tocsin.algebra.predicate import evaluate
from tocsin.events import Event
from tocsin.values import Relation, compare, identity


def instances(expression: Expression, observation: Observation) -> tuple[Instance, ...]:
    """The instances of an expression, in order.

    >>> from tocsin.events import Event, Interval
    >>> trace = [Event(id, frozenset({id[0]}), Interval(t, t)) for id, t in (("a.1", 1), ("a.2", 2), ("b.1", 3))]
    >>> [i.ids for i in instances(Ordered((Primitive("a"), Primitive("b")), 1), Observation.of(trace))]
    [['a.2', 'b.1']]
    """
    return find(with_timeframes(expression), observation).instances


def true_at(expression: Expression, observation: Observation) -> tuple[int, ...]:
    """The times at which an expression has an instance; for a negation every tick at which it is true."""
    return tuple(sorted({instance.time for instance in instances(expression, observation)}))


def reactions(expression: Expression, observation: Observation) -> tuple[Instance, ...]:
    """The instances that an action is run for: while a negation stays true, only the first tick counts. Part C.5.16."""
    return _becoming(with_timeframes(expression), observation)


def matches_class(primitive: Primitive, event: Event) -> bool:
    """Whether an event belongs to the class of a primitive event: p ≺ e."""
    if primitive.name not in event.types:
        return False
    return primitive.filter is None or evaluate(primitive.filter, event.attributes, {}) is True


def find(expression: Expression, observation: Observation) -> Found:
    """The instances of an expression whose negations have their timeframes, and what was deleted to get them."""
    match expression:
        case Primitive():
            return Found(tuple(_events(expression, observation)))
        case At(time):
            here = Instance(time, time, ((time, 2, 0),), f"at.{time}")
            return Found((here,) if time <= observation.end else ())
        case After(body, delay):
            inner = find(body, observation)
            later = [_later(i, i.time + delay, "after", observation) for i in inner.instances]
            return Found(in_order(i for i in later if i is not None), inner.deletions)
        case Every():
            return _periodic(expression, observation)
        case Negation():
            return Found(tuple(_true_ticks(expression, observation)))
        case Selection(body, pick):
            inner = find(body, observation)
            return Found(pick.of(inner.instances), inner.deletions)
        case Framed(body):
            return find(body, observation)
        case Disjunction() | Conjunction() | Ordered() | Simultaneity():
            return _composition(expression, observation)
        case Several(operands):
            return detect(task_of_several(expression, tuple(find(o, observation) for o in operands)))
        case Chain():
            return Found(tuple(_chain(expression, observation)))
        case During(body, since, until):
            everything = (place for place, _ in observation.placed())
            return find(body, observation.part(everything, since, until))
        case Each(body):
            groups = [find(body, part) for part in _groups(expression, observation)]
            deletions = tuple(deletion for group in groups for deletion in group.deletions)
            return Found(in_order(i for group in groups for i in group.instances), deletions)
        case _:
            assert_never(expression)


# --- primitive events, time events, negation ----------------------------------------------------------


def _events(primitive: Primitive, observation: Observation) -> list[Instance]:
    return [
        Instance(place[0], place[0], (place,), event.id, event=event)
        for place, event in observation.placed()
        if matches_class(primitive, event)
    ]


def _later(
    source: Instance, time: int, name: str, observation: Observation, number: int = 1
) -> Instance | None:
    """A time event that an instance caused, together with it; None if observation ends before."""
    if time > observation.end:
        return None
    return compose((source, Instance(time, time, ((time, 2, number),), f"{name}.{number}")), time)


def _periodic(expression: Every, observation: Observation) -> Found:
    """The time events of a period; one at the time of the event that stops it does not come."""
    period, since = expression.period, find(expression.since, observation)
    until = Found(()) if expression.until is None else find(expression.until, observation)
    found: list[Instance] = []
    for source in since.instances:
        stop = next((i.time for i in until.instances if i.order > source.order), observation.end + 1)
        for number in range(1, (min(stop - 1, observation.end) - source.time) // period + 1):
            event = _later(source, source.time + number * period, "every", observation, number)
            if event is not None:
                found.append(event)
    return Found(in_order(found), (*since.deletions, *until.deletions))


def _true_ticks(negation: Negation, observation: Observation) -> list[Instance]:
    """The ticks at which a negation is true. Paper: 004, section 4.2, negative event."""
    times = [instance.time for instance in find(negation.body, observation).instances]
    return [tick for tick in tick_instances(observation) if not _occurred(times, negation, tick.time)]


def _occurred(times: Sequence[int], negation: Negation, now: int) -> bool:
    length = negation.timeframe
    return any(time <= now and (not isinstance(length, int) or now - length <= time) for time in times)


def _becoming(expression: Expression, observation: Observation) -> tuple[Instance, ...]:
    """The instances without those ticks at which a negation was true at the tick before as well."""
    match expression:
        case Negation():
            true = _true_ticks(expression, observation)
            numbers = {tick.places[0][2] for tick in true}
            return tuple(tick for tick in true if tick.places[0][2] - 1 not in numbers)
        case Framed(body):
            return _becoming(body, observation)
        case Disjunction(operands, how=Views() as how):
            return in_order(one_of([_becoming(operand, observation) for operand in operands], how))
        case _:
            return find(expression, observation).instances


# --- operators ------------------------------------------------------------------------------------------


def _composition(expression: Composition, observation: Observation) -> Found:
    guards = guards_of(expression)
    count = len(expression.operands)
    modes = expression.how.modes if isinstance(expression.how, Detection) else (Mode(),) * count
    active = [(o, mode) for o, mode in zip(expression.operands, modes, strict=True) if o not in guards]
    found = tuple(find(operand, observation) for operand, _ in active)
    if guards and len(active) == 1:
        composed = Found(tuple(compose((i,), i.time) for i in found[0].instances), found[0].deletions)
    else:
        operands = Operands(
            tuple(operand for operand, _ in active),
            tuple(mode for _, mode in active),
            found,
            _absent(expression, observation),
            _foreign(expression, observation),
        )
        composed = put_together(expression, operands)
    kept = [i for i in composed.instances if all(_holds(guard, i.time, observation) for guard in guards)]
    return Found(tuple(kept), composed.deletions)


def _absent(expression: Composition, observation: Observation) -> tuple[int, ...]:
    """The times of what may not lie between the operands."""
    if not isinstance(expression, Ordered) or expression.without is None:
        return ()
    return tuple(instance.time for instance in find(expression.without, observation).instances)


def _foreign(expression: Composition, observation: Observation) -> tuple[Place, ...]:
    """The places of the events that no primitive event of the expression looks at, where they matter."""
    if isinstance(expression.how, Views) or expression.how.coupling is Coupling.NON_CONTINUOUS:
        return ()
    relevant = {i.last for primitive in primitives(expression) for i in _events(primitive, observation)}
    return tuple(place for place, _ in observation.placed() if place not in relevant)


def _chain(expression: Chain, observation: Observation) -> Iterator[Instance]:
    """The matches of a chain: each event in turn either goes on with the match that is begun, or is passed over."""
    begun: tuple[Instance, ...] = ()
    for place, event in observation.placed():
        if goes_on(expression, begun, event):
            begun = (*begun, Instance(place[0], place[0], (place,), event.id, event=event))
            if len(begun) == len(expression.operands):
                yield compose(begun, place[0])
                begun = ()


def goes_on(chain: Chain, begun: Sequence[Instance], event: Event) -> bool:
    """Whether an event is the next one of a chain. An event without the attribute counts by its time alone."""
    if not matches_class(chain.operands[len(begun)], event):
        return False
    if not begun or begun[-1].event is None:
        return not begun
    if event.interval.end <= begun[-1].time:
        return False
    if chain.by is None:
        return True
    one, other = begun[-1].event.attributes.get(chain.by), event.attributes.get(chain.by)
    return one is None or other is None or compare(other, Relation.GT, one) is True


def _groups(expression: Each, observation: Observation) -> Iterator[Observation]:
    """The part of the observation that belongs to each value of the attribute."""
    groups: dict[object, list[Place]] = {}
    for place, event in observation.placed():
        if looks_at(expression, event):
            groups.setdefault(group_of(expression, event), []).append(place)
    for places in groups.values():
        yield observation.part(places, places[0][0], observation.end)


def looks_at(expression: Expression, event: Event) -> bool:
    """Whether an event belongs to a primitive event of the expression."""
    return any(matches_class(primitive, event) for primitive in primitives(expression))


def group_of(expression: Each, event: Event) -> object:
    """What events of one group have in common; those without the attribute are a group too."""
    return identity(event.attributes.get(expression.by))


# --- negations that are tested, not awaited ------------------------------------------------------------


def guards_of(expression: Composition) -> list[Expression]:
    """The operands that only say whether something has not occurred so far."""
    if not isinstance(expression, Conjunction | Ordered):
        return []
    guards = [operand for operand in expression.operands if _is_guard(operand)]
    return guards if len(guards) < len(expression.operands) else []


def _is_guard(expression: Expression) -> bool:
    match expression:
        case Negation(_, timeframe):
            return timeframe is INFINITE
        case Framed(body):
            return _is_guard(body)
        case Conjunction(operands) | Disjunction(operands):
            return all(_is_guard(operand) for operand in operands)
        case _:
            return False


def _holds(guard: Expression, now: int, observation: Observation) -> bool:
    match guard:
        case Negation(body):
            return not _occurred([i.time for i in find(body, observation).instances], guard, now)
        case Framed(body):
            return _holds(body, now, observation)
        case Disjunction(operands):
            return any(_holds(operand, now, observation) for operand in operands)
        case Conjunction(operands):
            return all(_holds(operand, now, observation) for operand in operands)
        case _:
            raise TypeError(f"{guard} is not a negation without an end")
