"""From an expression to what says it in another language: one rule for each operator, from the inside out.

An operator is *installed* at the provider if a rule says how, and *kept back* otherwise: then its operands are installed, and
the subscriber's side detects it in their notifications (section 5.1, auxiliary profiles and post-filters). It is kept back

- if its rule says so, as that of a negation in TCE;
- if an operand is kept back, or it deletes what the others of an operator that is kept back could take;
- if nothing can be said of the whole: more of one part and less of another, or more of a part where the operator chooses
  among duplicates, counts, or looks at occurrences of an absence.

With `exact` it is kept back as well where a rule has more or fewer matches, or is only claimed to have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from tocsin.algebra.pairs.expression import (
    INFINITE,
    After,
    At,
    Composition,
    Conjunction,
    Disjunction,
    Every,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Timeframe,
    parts,
    walk,
    with_timeframes,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.groups import Traits, operator_of
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.parameters import Consumption, Coupling, Detection, Evaluation, Mode, Views
from tocsin.algebra.pairs.semantics import guards_of
from tocsin.errors import PatternError
from tocsin.translate.kinds import Kind, Loss, Lost, together
from tocsin.translate.parameters import Chosen, choose
from tocsin.translate.rules import Binding, Rule, bind, fill
from tocsin.translate.tables import rules_of
from tocsin.translate.translation import Auxiliary, Step, Translation, Used

KEPT_BACK = "Section 5.1, auxiliary profiles and a post-filter"


@dataclass(frozen=True, slots=True)
class Wish:
    """How to translate.

    Args:
        traits: what the target language offers.
        exact: the subscriber wants exactly what it asked for; otherwise the rules of the paper decide.
        parameters: whether duplicates and consumption count; otherwise only operators and timeframes do, as in section 5.2.
        written: the evaluations of an operator that the language's notation can write; by its traits if this is not given.
        timeframe: what rules use that need a timeframe where the source has none, as those of selections.
        alone: nothing outside the expression can take what it deletes.
        beside: it is an operand of something that is kept back, which shares its history.
        whole: what is around it looks at the events in it one by one, so only primitive events are installed.
        asked: it is not awaited, but asked for when the rest occurs, so its absences are kept back.
    """

    traits: Traits
    exact: bool = False
    parameters: bool = True
    written: Callable[[Composition], Iterable[Evaluation]] | None = None
    timeframe: Timeframe = INFINITE
    alone: bool = True
    beside: bool = False
    whole: bool = False
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """A translated expression: what the post-filter detects, and the profiles whose notifications that names."""

    kind: Kind
    detects: Expression
    profiles: tuple[Auxiliary, ...]
    losses: tuple[Loss, ...] = ()
    rules: tuple[Used, ...] = ()

    @property
    def installed(self) -> Step | None:
        """The step of the only profile, if the expression is detected at the provider; None if it is kept back."""
        only = self.profiles[0] if len(self.profiles) == 1 else None
        return only.step if only is not None and self.detects == Primitive(only.name) else None


def derive(expression: Expression, wish: Wish) -> Translation:
    """The translation of an expression; raises `PatternError` if an operator is in the way.

    >>> from tocsin.algebra.pairs.operators import sequence
    >>> found = derive(sequence("a", "b"), Wish(Traits.of("conjunction", "disjunction", "negation")))
    >>> show(found.target), found.kind.value, found.post_filter
    ('(a, b)', 'transferring', 't(N(a)) < t(N(b))')
    """
    source = with_timeframes(expression)
    part = _part(source, wish)
    if not part.profiles:
        hint = "put it together with an event, or ask the clock of the subscriber"
        raise PatternError("no-rule", f"{show(source)} has no event to be notified of", expression.span, hint)
    return Translation(source, part.kind, part.profiles, part.detects, part.losses, part.rules)


def unchanged(expression: Expression) -> Translation:
    """The translation of an expression into its own language."""
    source = with_timeframes(expression)
    part = _installed(Step(source, source))
    return Translation(source, Kind.EQUIVALENT, part.profiles, part.detects)


def _part(expression: Expression, wish: Wish) -> Part:
    if isinstance(expression, Primitive):
        return _installed(Step(expression, expression))
    if isinstance(expression, Framed):
        return _part(expression.body, wish)  # its timeframe is that of the negations in it already
    if isinstance(expression, At) and wish.exact:
        return Part(
            Kind.TRANSFERRING, expression, ()
        )  # the clock of the subscriber knows it without a notification
    kept = wish.whole or wish.asked or (wish.beside and _consumes(expression))
    found = None if kept else _by_rule(expression, wish)
    return _kept_back(expression, replace(wish, exact=True)) if found is None else found


def _installed(step: Step, expression: Expression | None = None) -> Part:
    profile = Auxiliary(step, step.target if expression is None else expression)
    return Part(Kind.EQUIVALENT, Primitive(profile.name), (profile,))


# --- by a rule --------------------------------------------------------------------------------------------


def _by_rule(expression: Expression, wish: Wish) -> Part | None:
    """The expression by the first rule that fits; None if it is to be kept back."""
    rules = _fitting(expression, wish)
    chosen = [_parameters(expression, rule, wish) for rule, _ in rules]
    if not wish.exact:
        if not rules:
            raise _in_the_way(expression, wish, f"no rule says {_called(expression)} there")
        if all(one.kind is None for one in chosen):
            raise _in_the_way(
                expression, wish, "its duplicates and consumption go into none of the language's"
            )
    for (rule, binding), how in zip(rules, chosen, strict=True):
        if how.kind is None or (wish.exact and not _is_exact(rule, how)):
            continue
        found = _applied(expression, rule, binding, how, wish)
        if found is not None:
            return found
    return None


def _is_exact(rule: Rule, chosen: Chosen) -> bool:
    """Whether the subscriber gets exactly what it asked for, beyond any claim."""
    return rule.kind.exact and chosen.kind is Kind.EQUIVALENT and not rule.claimed and not chosen.claimed


def _fitting(expression: Expression, wish: Wish) -> list[tuple[Rule, Binding]]:
    """The rules for an expression with what their variables stand for."""
    found = ((rule, bind(rule.source, expression)) for rule in rules_of(wish.traits))
    fitting = [(rule, binding) for rule, binding in found if binding is not None]
    return [
        (rule, binding if binding.framed else replace(binding, timeframe=wish.timeframe))
        for rule, binding in fitting
    ]


def _parameters(expression: Expression, rule: Rule, wish: Wish) -> Chosen:
    """The evaluation of the operator that the rule puts in its place."""
    if not isinstance(expression, Composition):
        return Chosen(Views(), Kind.EQUIVALENT)
    written = None
    if wish.written is not None and isinstance(rule.target, Composition):
        written = wish.written(type(rule.target)(expression.operands, expression.timeframe, expression.how))
    found = choose(expression, wish.traits, wish.alone, written)
    if wish.parameters:
        return found
    aside = "duplicates and consumption are left aside"
    return (
        replace(found, kind=Kind.EQUIVALENT, rule="Section 5.2, operators", claimed=aside)
        if found.lost
        else found
    )


def _applied(expression: Expression, rule: Rule, binding: Binding, chosen: Chosen, wish: Wish) -> Part | None:
    """The expression by one rule; None if what the rule says cannot be said of these operands."""
    if rule.post_filter is not None:
        return _filtered(expression, rule, binding, wish)
    variables = tuple(binding.operands.items())
    below = [_part(operand, replace(wish, alone=False)) for _, operand in variables]
    steps = [part.installed for part in below]
    kind = _kind(expression, rule, chosen, below)
    if kind is None or any(step is None for step in steps):
        return None
    operands = tuple((variable, step) for (variable, _), step in zip(variables, steps, strict=True) if step)
    filled = replace(binding, operands={variable: step.target for variable, step in operands}, how=chosen.how)
    step = Step(expression, fill(rule.target, filled, _inner(chosen.how)), rule, operands)
    used = Used(rule.name, expression, rule.kind, rule.claimed)
    losses = [Loss(lost, expression, rule.kind.exact) for lost in rule.lost]
    parameters: list[Used] = []
    if chosen.rule and chosen.kind is not None:
        parameters = [Used(chosen.rule, expression, chosen.kind, chosen.claimed)]
        losses += [Loss(lost, expression, False) for lost in chosen.lost if chosen.kind is not None]
    return replace(
        _installed(step),
        kind=kind,
        losses=(*losses, *(loss for part in below for loss in part.losses)),
        rules=(used, *parameters, *(rule for part in below for rule in part.rules)),
    )


def _inner(how: Evaluation) -> Evaluation:
    """The evaluation of the further operators that a rule needs: that of the outer one, if it has two operands."""
    return how if isinstance(how, Views) or len(how.modes) == 2 else Views()


def _kind(expression: Expression, rule: Rule, chosen: Chosen, below: Sequence[Part]) -> Kind | None:
    """The kind of an operator over translated operands; None if nothing can be said."""
    own = [rule.kind] if chosen.kind is None else [rule.kind, chosen.kind]
    kinds = [part.kind for part in below]
    if isinstance(expression, Negation):
        if Kind.TRANSFERRING in kinds:  # the negation would be of more than its body
            return None
        return together([*own, *(kind.negated for kind in kinds)])
    if _chooses(expression) and {rule.kind, *kinds} != {Kind.EQUIVALENT}:
        return None
    if not _as_it_is(rule) and {*kinds} != {Kind.EQUIVALENT}:
        return None
    if isinstance(expression, Conjunction | Ordered) and any(_fewer_absences(part) for part in below):
        return None  # one of an absence's own occurs at a tick, one without an end is asked for
    deletes = any(_consumes(step.source) for part in below if (step := part.installed) is not None)
    differ = any(used.claimed or used.kind is not Kind.EQUIVALENT for part in below for used in part.rules)
    if deletes and differ:
        return None  # what an operand deletes is gone for the others, so it must go on deleting the same
    return together([*own, *kinds])


def _fewer_absences(part: Part) -> bool:
    return part.kind is Kind.NEGATIVE and any(
        isinstance(one, Negation) for profile in part.profiles for one in walk(profile.step.source)
    )


def _as_it_is(rule: Rule) -> bool:
    """Whether the target of a rule is one operator over its variables, so that more of one is more of the whole."""
    return all(isinstance(part, Primitive) for part in parts(rule.target))


def _chooses(expression: Expression) -> bool:
    """Whether an operator chooses among instances, so that one more or fewer changes which others it takes."""
    if isinstance(expression, Selection):
        return True
    how = getattr(expression, "how", None)
    if isinstance(how, Detection):
        return how != Detection((Mode(),) * len(how.modes))
    return isinstance(how, Views) and how != Views()


def _consumes(expression: Expression) -> bool:
    """Whether something in an expression deletes instances that others could take."""
    modes = (
        mode
        for part in walk(expression)
        if isinstance(how := getattr(part, "how", None), Detection)
        for mode in how.modes
    )
    return any(mode.consumption in (Consumption.DELETE, Consumption.REAPPLY) for mode in modes)


# --- kept back --------------------------------------------------------------------------------------------


def _filtered(expression: Expression, rule: Rule, binding: Binding, wish: Wish) -> Part:
    """An operator whose rule is a post-filter: its operand is installed."""
    ((variable, operand),) = binding.operands.items()
    below = _part(operand, replace(wish, exact=True, alone=False))
    used = Used(rule.name, expression, rule.kind, rule.claimed)
    around = replace(binding, operands={variable: below.detects})
    detects = fill(rule.post_filter, around) if rule.post_filter is not None else below.detects
    profiles = below.profiles
    if below.installed is not None:
        framed = fill(rule.target, replace(binding, operands={variable: below.installed.target}))
        profiles = (Auxiliary(below.installed, framed),)
    losses = tuple(Loss(lost, expression, True) for lost in rule.lost)
    return Part(Kind.TRANSFERRING, detects, profiles, (*losses, *below.losses), (used, *below.rules))


def _kept_back(expression: Expression, wish: Wish) -> Part:
    """An operator that the subscriber's side detects in the notifications of its operands."""
    how = getattr(expression, "how", None)
    if isinstance(how, Detection) and how.coupling is Coupling.CONTINUOUS:
        raise PatternError(
            "no-rule",
            f"{show(expression)} is ended by events that are irrelevant to it, and those are not sent",
            expression.span,
            "leave the coupling out, or ask a service that has it",
        )
    inside = replace(
        wish,
        alone=False,
        beside=wish.beside or len(parts(expression)) > 1,
        whole=wish.whole or not (operator_of(expression) or isinstance(expression, After | Every)),
    )
    if isinstance(expression, Conjunction | Disjunction) and wish.asked:
        asked = set(parts(expression))
    else:
        asked = set(guards_of(expression)) if isinstance(expression, Composition) else set()
    below = {
        part: _part(part, replace(inside, asked=part in asked)) for part in dict.fromkeys(parts(expression))
    }
    profiles = tuple(dict.fromkeys(profile for part in below.values() for profile in part.profiles))
    losses = [
        Loss(Lost.COMPOSITION, expression, True),
        *(loss for part in below.values() for loss in part.losses),
    ]
    used = Used(KEPT_BACK, expression, Kind.TRANSFERRING)
    return Part(
        Kind.TRANSFERRING,
        _with_parts(expression, {part: one.detects for part, one in below.items()}),
        profiles,
        tuple(losses),
        (used, *(rule for part in below.values() for rule in part.rules)),
    )


def _with_parts(expression: Expression, detected: Mapping[Expression, Expression]) -> Expression:
    """The expression over the notifications of its operands."""
    written = {one.name: getattr(expression, one.name) for one in fields(expression)}
    operands: dict[str, object] = {}
    for name, value in written.items():
        if isinstance(value, tuple) and value and all(one in detected for one in value):
            operands[name] = tuple(detected[one] for one in value)
        elif isinstance(value, Expression) and value in detected:
            operands[name] = detected[value]
    found: Expression = replace(expression, **operands)  # type: ignore[arg-type]  # of any node, by its fields
    return found


# --- errors -----------------------------------------------------------------------------------------------


def _called(expression: Expression) -> str:
    operator = operator_of(expression)
    return "a time event" if operator is None else f"a {operator.value}"


def _in_the_way(expression: Expression, wish: Wish, why: str) -> PatternError:
    """The error that names the operator in the way, and the nearest thing that can be said."""
    if operator_of(expression) is not None and not wish.traits.composes:
        why = "the language has primitive events only"
    nearest = ", ".join(show(one) for one in dict.fromkeys(_primitives(expression)))
    hint = f"the nearest is {nearest} with a post-filter for {show(expression)}: ask for an exact translation"
    return PatternError("no-rule", f"{show(expression)} is in the way: {why}", expression.span, hint)


def _primitives(expression: Expression) -> Iterator[Primitive]:
    return (part for part in walk(expression) if isinstance(part, Primitive))
