"""Translating texts: a profile in one language becomes profiles in another, through the algebra.

A language says what it offers (`offers`). What its notation cannot write after all is tried with less: without timeframes, and
then with an operator less, down to its primitive events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tocsin.algebra.pairs.expression import INFINITE
from tocsin.algebra.pairs.groups import Traits, group_of
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.profile import Profile
from tocsin.errors import InputError, PatternError, PatternErrors
from tocsin.events import format_duration
from tocsin.languages.language import Language
from tocsin.languages.registry import language as language_named
from tocsin.translate.derive import Wish, derive, unchanged
from tocsin.translate.kinds import Kind
from tocsin.translate.offers import offers
from tocsin.translate.translation import Translation
from tocsin.translate.writing import Writer, manners

_TIMEFRAME = re.compile(r"(?<=\))_(\d+)(?![\w.])")


@dataclass(frozen=True, slots=True)
class Translated:
    """A translated text: `profiles` are the texts to install at the provider, in the target language.

    `meta` is what the profile means in the event algebra, through which it is translated.
    """

    target: Language
    profiles: tuple[str, ...]
    meta: str
    translation: Translation

    @property
    def kind(self) -> Kind:
        """How the notifications relate to those of the original."""
        return self.translation.kind

    @property
    def post_filter(self) -> str:
        """The post-filter, with its timeframes as durations; empty if there is none."""
        return in_words(self.translation.post_filter)

    @property
    def text(self) -> str:
        """The only profile; an `InputError` if there are several."""
        if len(self.profiles) != 1:
            raise InputError(
                "several-profiles", f"there are {len(self.profiles)} profiles", hint="take `profiles`"
            )
        return self.profiles[0]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        found = self.translation
        return {
            "language": self.target.name,
            "profiles": list(self.profiles),
            "kind": found.kind.value,
            "claimed": found.claimed,
            "post_filter": self.post_filter or None,
            "lost": [
                {"what": loss.what.value, "of": in_words(show(loss.of)), "recovered": loss.recovered}
                for loss in found.losses
            ],
            "rules": [
                {
                    "rule": used.rule,
                    "of": in_words(show(used.of)),
                    "kind": used.kind.value,
                    "claimed": used.claimed or None,
                }
                for used in found.rules
            ],
            "meta": self.meta,
        }

    def __str__(self) -> str:
        found = self.translation
        kind = f"{found.kind.value}, as the paper claims" if found.claimed else found.kind.value
        lines = [*self.profiles, f"  kind: {kind}"]
        lines += [f"  post-filter: {self.post_filter}"] if found.filters else []
        lines += [f"  lost: {in_words(str(loss))}" for loss in found.losses]
        lines += [f"  rule: {in_words(str(used))}" for used in found.rules]
        return "\n".join(lines)


def in_words(text: str) -> str:
    """An expression with its timeframes, which are microseconds, as durations.

    >>> in_words("(a ; !(b)_1500000)_60000000")
    '(a ; !(b)_1500ms)_1min'
    """
    return _TIMEFRAME.sub(lambda found: f"_{format_duration(int(found[1]))}", text)


def translate(
    text: str,
    source: str | Language,
    target: str | Language,
    *,
    exact: bool = False,
    parameters: bool = True,
    timeframe: int | None = None,
    options: Mapping[str, object] | object | None = None,
) -> Translated:
    """A profile in another language of the event algebra; raises `PatternError` if an operator is in the way.

    Args:
        exact: the subscriber gets exactly what it asked for; what the target cannot say is left to a post-filter.
        parameters: whether duplicates and consumption count. Otherwise only operators and timeframes do.
        timeframe: for rules that need one where the source has none; infinite if it is not given.
        options: those of the source language.
    """
    read_in, written_in = language_named(source), language_named(target)
    profile = _profile(read_in, text, options)
    wish = Wish(offers(written_in), exact, parameters, timeframe=INFINITE if timeframe is None else timeframe)
    if read_in == written_in:
        same = unchanged(profile.expression)
        return Translated(written_in, (written_in.text_of(profile),), in_words(show(same.source)), same)
    return _translated(profile, written_in, wish)


def best_first(found: Iterable[Translated]) -> list[Translated]:
    """Translations of one profile for several providers, the one that loses least first.

    Exact kinds come before others, then what loses less, needs less of a post-filter, and is more expressive (section 7.1).
    """

    def loss(one: Translated) -> tuple[bool, bool, int, bool, int]:
        translation = one.translation
        lost = sum(not each.recovered for each in translation.losses)
        group = offers(one.target).group
        return not one.kind.exact, translation.claimed, lost, translation.filters, -(group or 0)

    return sorted(found, key=loss)


def _profile(own: Language, text: str, options: object) -> Profile:
    offers(own)
    found = own.read(text, options)
    if not isinstance(found, Profile):
        raise InputError(
            "not-translated", f"{own.title} has no profiles", hint="use a language of the event algebra"
        )
    return found


def _translated(profile: Profile, target: Language, wish: Wish) -> Translated:
    """The best translation, with the most of what the target offers that its notation can write."""
    refused: PatternError | None = None
    writers = [Writer(target, manner) for manner in manners(target, profile.expression)]
    for traits in _less_and_less(wish.traits):
        found: list[Translated] = []
        for writer in writers:
            try:
                found.append(
                    _written(profile, writer, replace(wish, traits=traits, written=writer.evaluations))
                )
            except PatternErrors as problem:
                refused = refused or problem.errors[0]
            except PatternError as problem:
                refused = refused or problem
        if found:  # what is detected at the provider comes before what is kept back
            return min(best_first(found), key=lambda one: not one.translation.passes_on)
    assert refused is not None
    raise _with_the_nearest(refused, profile, target, wish)


def _with_the_nearest(refused: PatternError, profile: Profile, target: Language, wish: Wish) -> PatternError:
    """The error with the nearest thing that can be said, in the target language."""
    hint = refused.hint
    if not wish.exact:
        try:
            found = _translated(profile, target, replace(wish, exact=True))
        except PatternError:
            pass  # there is nothing nearer than what the refusal says
        else:
            texts = " and ".join(repr(text) for text in found.profiles)
            hint = f"the nearest is {texts} with the post-filter {found.post_filter}: ask for an exact translation"
    return PatternError(
        "no-rule", in_words(refused.message), refused.span, None if hint is None else in_words(hint)
    )


def _written(profile: Profile, writer: Writer, wish: Wish) -> Translated:
    """The translation in one manner of writing. Actions and notifications stay with the subscriber."""
    found = derive(profile.expression, wish)
    texts = tuple(
        writer.text(Profile(profile.name if number == 0 else f"{profile.name}_{number + 1}", one.installed))
        for number, one in enumerate(found.profiles)
    )
    return Translated(writer.own, texts, in_words(show(found.source)), found)


def _less_and_less(traits: Traits) -> Iterator[Traits]:
    """The traits, then those without timeframes, then one operator after the other left out."""
    yield traits
    if traits.timeframe:
        traits = replace(traits, timeframe=False, group=group_of(traits.operators, False))
        yield traits
    operators = sorted(traits.operators)
    for number in range(1, len(operators) + 1):
        left = frozenset(operators[number:])
        yield replace(traits, operators=left, group=group_of(left, False))
