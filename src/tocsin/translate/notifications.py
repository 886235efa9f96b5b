"""Translating notifications back: what the provider reports becomes what the subscriber asked for.

A notification is an instance of what was installed. The rule of each operator says which of its parts stand for the operands;
they are put together as the source has them. A condition that does not hold drops the notification.

Paper: 004, section 5.1, notification transformation.
"""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.pairs.composition import occurs_at
from tocsin.algebra.pairs.expression import (
    Conjunction,
    Disjunction,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Simultaneity,
    primitives,
    with_timeframes,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.observation import Instance, compose
from tocsin.algebra.pairs.semantics import guards_of, matches_class
from tocsin.translate.translation import Step

Stands = tuple[Primitive, Instance]  # a variable of a rule, and the instance of its source


def returned(step: Step, notification: Instance) -> Instance | None:
    """The instance of the source that a notification stands for; None if the post-filter drops it.

    It is None as well if the notification is of something else, as one operand of a disjunction is not the other.
    """
    return _returned(step, with_timeframes(step.target), notification)


def _returned(step: Step, installed: Expression, notification: Instance) -> Instance | None:
    """The same, of a step inside what is installed: its negations have the timeframes around them."""
    if step.rule is None or step.source == step.target:
        return notification if _can_be_of(step.source, notification) else None
    operands = dict(step.operands)
    found = _parts(step.rule.target, installed, notification, operands)
    if found is None:
        return None
    return _as_source(step, found, notification)


def _can_be_of(source: Expression, notification: Instance) -> bool:
    """Whether everything in a notification is something that an expression looks at."""
    if isinstance(source, Primitive) and notification.parts:
        return False
    known = primitives(source)
    events = [leaf.event for leaf in notification.leaves()]
    return all(event is None or any(matches_class(one, event) for one in known) for event in events)


def _parts(
    template: Expression, installed: Expression, notification: Instance, operands: dict[Primitive, Step]
) -> tuple[Stands, ...] | None:
    """What stands for the variables of a template, in its order; None if the notification is not of it."""
    match template, installed:
        case (Primitive(), _):
            instance = _returned(operands[template], installed, notification)
            return None if instance is None else ((template, instance),)
        case (Negation(), _):
            return ()  # an absence takes part in nothing
        case (Framed(body) | Selection(body), Framed(inside) | Selection(inside)):
            return _parts(body, inside, notification, operands)
        case (Framed(body), _):
            return _parts(body, installed, notification, operands)
        case (Disjunction(), Disjunction()):
            each = zip(template.operands, installed.operands, strict=True)
            found = (_parts(part, inside, notification, operands) for part, inside in each)
            return next((one for one in found if one is not None), None)
        case ((Conjunction() | Ordered() | Simultaneity()), (Conjunction() | Ordered() | Simultaneity())):
            found_parts: list[Stands] = []
            active = list(_active(template, installed))
            if len(active) != len(notification.parts):
                return None
            for (part, inside), instance in zip(active, notification.parts, strict=True):
                below = _parts(part, inside, instance, operands)
                if below is None:
                    return None
                found_parts += below
            return tuple(found_parts)
        case _:
            return None


def _active(
    template: Conjunction | Ordered | Simultaneity, installed: Conjunction | Ordered | Simultaneity
) -> Iterator[tuple[Expression, Expression]]:
    """The operands that have a part in an instance: those that only say that something has not occurred have none."""
    guards = guards_of(installed)
    for part, inside in zip(template.operands, installed.operands, strict=True):
        if inside not in guards:
            yield part, inside


def _as_source(step: Step, found: tuple[Stands, ...], notification: Instance) -> Instance | None:
    """The instance of the source from what stands for its operands."""
    source = step.source
    match source:
        case Negation():
            return notification
        case Selection() | Disjunction():
            return found[-1][1]
        case Conjunction() | Ordered() | Simultaneity():
            condition = None if step.rule is None else step.rule.condition
            by_variable = dict(reversed(found))
            operands = [by_variable[variable] for variable, _ in step.operands if variable in by_variable]
            times = [instance.time for instance in operands]
            if condition is not None and not condition.holds(times[0], times[-1]):
                return None
            return compose(operands, occurs_at(type(source), *times))
        case _:
            return None
