"""A translation as a value: what is installed at the provider, and what the subscriber's side does with the notifications."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin.algebra.pairs.expression import Expression, Primitive
from tocsin.algebra.pairs.notation import show
from tocsin.translate.kinds import Kind, Loss
from tocsin.translate.rules import Rule


@dataclass(frozen=True, slots=True)
class Step:
    """An expression and what stands for it at the provider: by a rule from the steps of its operands, or as it is.

    `operands` are those that the variables of the rule stand for.
    """

    source: Expression
    target: Expression
    rule: Rule | None = None
    operands: tuple[tuple[Primitive, Step], ...] = ()

    def walk(self) -> Iterator[Step]:
        """The step and those of its operands."""
        yield self
        for _, operand in self.operands:
            yield from operand.walk()

    @property
    def filters(self) -> bool:
        """Whether notifications must be looked at before they can be passed on."""
        return any(step.rule is not None and step.rule.condition is not None for step in self.walk())


@dataclass(frozen=True, slots=True)
class Auxiliary:
    """A profile that is installed at the provider, and the name of its notifications: N(e) in the paper."""

    step: Step
    installed: Expression

    @property
    def name(self) -> str:
        """What the post-filter calls its notifications."""
        return notification_name(self.step.source)


def notification_name(source: Expression) -> str:
    """The name of the notifications of an expression."""
    return f"N({show(source)})"


@dataclass(frozen=True, slots=True)
class Used:
    """A rule that a translation applies. `kind` is that of the rule; `claimed` why the paper's kind is not always true."""

    rule: str
    of: Expression
    kind: Kind
    claimed: str = ""

    def __str__(self) -> str:
        text = f"{self.rule}: {show(self.of)} is {self.kind.value}"
        return f"{text} by the paper's claim; {self.claimed}" if self.claimed else text


@dataclass(frozen=True, slots=True)
class Translation:
    """What is installed at a provider for a profile, and how its notifications become those of the profile.

    Args:
        source: the profile's expression, every negation with its timeframe.
        profiles: what is installed, in textual order.
        detects: what the post-filter detects in the notifications; the name of the only profile's if they are passed on.
        losses: what the provider does not look at.
        rules: those that were used, outermost first.
    """

    source: Expression
    kind: Kind
    profiles: tuple[Auxiliary, ...]
    detects: Expression
    losses: tuple[Loss, ...] = ()
    rules: tuple[Used, ...] = ()

    @property
    def target(self) -> Expression | None:
        """The expression that is installed; None if there are several."""
        return self.profiles[0].installed if len(self.profiles) == 1 else None

    @property
    def claimed(self) -> bool:
        """Whether the kind rests on a claim of the paper that is not true of every trace."""
        return any(used.claimed for used in self.rules)

    @property
    def passes_on(self) -> bool:
        """Whether each notification of the only profile is one of the source, if its condition holds."""
        return self.detects == Primitive(self.profiles[0].name)

    @property
    def filters(self) -> bool:
        """Whether there is a post-filter."""
        return not self.passes_on or any(profile.step.filters for profile in self.profiles)

    @property
    def post_filter(self) -> str:
        """The post-filter in words of the paper; empty if there is none."""
        conditions = [] if self.passes_on else [show(self.detects)]
        for profile in self.profiles:
            for step in profile.step.walk():
                if step.rule is not None and step.rule.condition is not None:
                    first, second = (notification_name(operand.source) for _, operand in step.operands)
                    conditions.append(f"t({first}) {step.rule.condition.value} t({second})")
        return ", ".join(conditions)
