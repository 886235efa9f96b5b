"""Parses the pretty language. The grammar is in the README beside this file, the meaning in `phrases`.

After a mistake, parsing resumes at the next word that makes sense, so that one run reports every mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeGuard

from tocsin.algebra.tokens.bounds import MAX_DEPTH, MAX_LENGTH
from tocsin.algebra.tokens.check import UNREADABLE, check
from tocsin.algebra.tokens.extent import depth
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Order,
    Pattern,
    Sequence,
    atoms,
    specs,
)
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Interpretation, Subscription
from tocsin.errors import PatternError, PatternErrors, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.lexis import Reader, Token, duration
from tocsin.languages.phrases import (
    MAX_NAMES,
    READING,
    at_least,
    finished,
    linked,
    not_after,
    not_followed_by,
    plain_events,
    repeated,
    sized,
    within,
    without,
)
from tocsin.languages.pretty.names import event_name
from tocsin.languages.quoted_conditions import quoted_filter

LINKS = ("followed", "then", "before")
JOINS = ("and", "or", "not", "within")
# Signs and words of other languages, in small letters, and what they are here.
ELSEWHERE = {
    **dict.fromkeys(("->", "=>", ">", ";", ","), "`followed by`, or `then` if the two may overlap"),
    **dict.fromkeys(("&", "&&", "||"), "`and`"),
    "|": "`or`",
    **dict.fromkeys(("unless", "except"), "`without`"),
    "after": '"A" followed by "B" for a B after an A',
}
SYMBOLS = ("->", "=>", "&&", "||", *"()>;,&|")
WORDS = (*LINKS, *JOINS, "by", "immediately", "repeated", "times", "to", "at", "without", "where")


@dataclass
class _Text:
    """The text being parsed, the meaning of its quoted names, and how much may still be repeated."""

    reader: Reader
    names: Mapping[str, str]
    catalog: Catalog | None
    room: int = MAX_NAMES


def parse(
    text: str,
    catalog: Catalog | None = None,
    *,
    names: Mapping[str, str] | None = None,
    interpretation: Interpretation | None = None,
    selection: Selection | None = None,
    name: str = "pattern",
) -> Subscription:
    """Parse a sentence to a subscription; raises `PatternErrors` with all mistakes.

    >>> names = {"Event A": "A", "Event B": "B"}
    >>> parse('"Event A" followed by "Event B" within "1h"', names=names).pattern.limit
    3600000000

    Args:
        names: the meaning of quoted names; one without spaces that is not in this table refers to itself.
        selection: which matches are wanted; a sentence cannot express it.
    """
    reader = Reader(text, SYMBOLS, MAX_LENGTH)
    pattern = _whole(_Text(reader, names or {}, catalog))
    taken = {*(catalog.names if catalog else ()), *(names or {}).values()}
    subscription = Subscription(
        finished(pattern, taken),
        interpretation=interpretation or READING,
        selection=selection or Selection(),
        name=name,
    )
    errors = reader.errors + _once(check(subscription, catalog))
    if errors:
        raise PatternErrors(errors)
    return subscription


def _once(errors: list[PatternError]) -> list[PatternError]:
    """Each mistake once: the body of a repetition is in the text only once."""
    return list({(error.code, error.span): error for error in errors}.values())


def _whole(text: _Text) -> Pattern:
    reader = text.reader
    parts = [_sentence(text)]
    while not reader.at("end"):
        hint = f"this {reader.here.text!r} closes nothing" if reader.at(")") else None
        if reader.at_word("within"):
            hint = "`within` comes last, and once; put the rest in parentheses"
        elif reader.at_word(*LINKS, "repeated", "without", "where"):
            hint = 'put what `within` limits in parentheses: ("A" followed by "B" within "5 min") followed by "C"'
        reader.unexpected("the end of the sentence", hint)
        if reader.accept_word("within"):
            reader.accept("string")
        while not reader.at("end", "string", "("):
            reader.advance()
        if not reader.at("end"):
            parts.append(_sentence(text))
    return parts[0] if len(parts) == 1 else _unread(*parts)


def _unread(*parts: Pattern) -> Pattern:
    """A placeholder for something wrong whose parts could be parsed, so that the parts are still checked."""
    read = [inner for part in parts for inner in (part.parts[:-1] if _is_unread(part) else (part,))]
    return Sequence((*read, UNREADABLE), Order.WEAK)


def _is_unread(part: Pattern) -> TypeGuard[Sequence]:
    return isinstance(part, Sequence) and part.parts[-1] == UNREADABLE


def _phrase(text: _Text, start: Token, meaning: Callable[[], Pattern], *parts: Pattern) -> Pattern:
    """The meaning of a phrase about some parts; a mistake is recorded."""
    # Parts that could not be parsed are not reported again.
    if any(_is_unread(part) or not all(atom.accept for atom in atoms(part)) for part in parts):
        return _unread(*parts)
    span = text.reader.span_from(start)
    try:
        return sized(replace(meaning(), span=span))
    except PatternError as error:
        text.reader.note(error.code, error.message, error.span or span, error.hint)
        return _unread(*parts)


def _bounded(text: _Text, pattern: Pattern) -> Pattern:
    """The pattern, unless it is nested too deeply to be processed."""
    if depth(pattern) > MAX_DEPTH:
        text.reader.note("too-deep", f"more than {MAX_DEPTH} parts inside one another", pattern.span)
        raise PatternErrors(text.reader.errors)
    return pattern


def _sentence(text: _Text) -> Pattern:
    reader, start = text.reader, text.reader.here
    with reader.nested():
        pattern, is_fact = _all(text)
        if reader.at_word("not"):
            return _not_followed_by(text, start, pattern, is_fact)
        if not reader.accept_word("within"):
            return pattern
        after = _duration(reader)
        return _bounded(text, _phrase(text, start, lambda: within(pattern, after), pattern))


def _not_followed_by(text: _Text, start: Token, first: Pattern, is_fact: bool) -> Pattern:
    reader, sign = text.reader, text.reader.advance()
    if not is_fact:
        hint = "put what stands before `not followed by` in parentheses"
        reader.note("syntax", "`not followed by` comes after one event or ( … )", sign.span, hint)
    for word in ("followed", "by"):
        if not reader.accept_word(word):
            reader.unexpected("'followed by' after 'not'")
    second = _fact(text)
    if not reader.accept_word("within"):
        hint = 'say for how long: … not followed by … within "5min"'
        reader.unexpected("'within' and a duration", hint)
        return _unread(first, second)
    after = _duration(reader)
    return _phrase(text, start, lambda: not_followed_by(first, second, after), first, second)


def _duration(reader: Reader) -> int:
    if token := reader.accept("string"):
        return duration(str(token.value), token.span, reader.errors)
    if token := reader.accept("duration"):
        return int(token.value)
    if reader.at("number") and reader.ahead().kind == "name" and reader.ahead().text not in WORDS:
        start, unit = reader.advance(), reader.advance()
        return duration(f"{start.text} {unit.text}", reader.span_from(start), reader.errors)
    reader.unexpected("a duration", 'write within "5 min"')
    reader.accept("number")
    return 0


def _all(text: _Text) -> tuple[Pattern, bool]:
    """Sides joined by `and`, and whether there is only one event or parenthesis."""
    reader, start = text.reader, text.reader.here
    pattern, is_fact = _any(text)
    while reader.accept_word("and"):
        right, _ = _any(text)
        pattern, is_fact = AllOf(pattern, right, reader.span_from(start)), False
    return _bounded(text, pattern), is_fact


def _any(text: _Text) -> tuple[Pattern, bool]:
    reader, start = text.reader, text.reader.here
    pattern, is_fact = _chain(text)
    options = [pattern]
    while reader.accept_word("or"):
        options.append(_chain(text)[0])
    return (
        (pattern, is_fact) if len(options) == 1 else (AnyOf(tuple(options), reader.span_from(start)), False)
    )


def _chain(text: _Text) -> tuple[Pattern, bool]:
    """Events one after the other. All links bind alike, to the left; `before` sees its neighbours only."""
    reader, start = text.reader, text.reader.here
    facts, links = [_fact(text)], []
    while link := _link(reader):
        links.append(link)
        facts.append(_fact(text))
    for number, link in enumerate(links):
        if link == "before":
            left, right = facts[number : number + 2]
            facts[number] = _phrase(text, start, partial(not_after, left, right), left, right)
    pattern = facts[0]
    for link, right in zip(links, facts[1:], strict=True):
        order = Order.STRONG if link == "followed by" else Order.WEAK
        pattern = replace(linked(pattern, right, order), span=reader.span_from(start))
    return pattern, not links


def _link(reader: Reader) -> str | None:
    """Take the words between two events; None if the chain ends here."""
    if reader.accept_word("followed"):
        if not reader.accept_word("by"):
            reader.unexpected("'by' after 'followed'")
        return "followed by"
    if reader.accept_word("then"):
        reader.accept_word("immediately")
        return "then"
    if reader.accept_word("before"):
        return "before"
    if reader.at("end", ")") or reader.at_word(*JOINS):
        return None
    reader.unexpected("a word such as 'followed by', 'then', 'or', 'and', 'within'", _link_hint(reader))
    # Continue as if it were a link, unless no event follows.
    while not reader.at("end", ")", "string", "(") and not reader.at_word(*JOINS, *LINKS):
        reader.advance()
    return "followed by" if reader.at("string", "(") else _link(reader)


def _link_hint(reader: Reader) -> str:
    """What to write where two events should be joined, also for signs and words of other languages."""
    written = reader.here.text.lower()
    if reader.at_word("repeated"):
        return "`repeated … times` comes right after the event, before `without`"
    if known := ELSEWHERE.get(written):
        return f"write {known}"
    return did_you_mean(written, WORDS, "words stand outside the quotes")


def _fact(text: _Text) -> Pattern:
    reader, start = text.reader, text.reader.here
    pattern = _operand(text)
    if reader.accept_word("repeated"):
        pattern = _repeated(text, start, pattern)
    while reader.accept_word("without"):
        other = _operand(text)
        pattern = _phrase(text, start, partial(_without, pattern, other), pattern, other)
    return pattern


def _without(pattern: Pattern, other: Pattern) -> Pattern:
    return without(pattern, plain_events(other, "`without`"))


def _operand(text: _Text) -> Pattern:
    reader = text.reader
    if reader.at("string"):
        return _event(text)
    if reader.at("("):
        return _group(text)
    unquoted = reader.at("name") and not reader.at_word(*WORDS)
    hint = f'names stand in quotes: "{reader.here.text}"' if unquoted else None
    reader.unexpected("an event in quotes or '('", hint)
    if unquoted or reader.at("number", "duration", "time"):
        reader.advance()
    return UNREADABLE


def _event(text: _Text) -> Pattern:
    reader, quoted = text.reader, text.reader.advance()
    name = event_name(quoted, reader, text.names, text.catalog)
    filter, readable = None, True
    if reader.accept_word("where"):
        if condition := reader.accept("string"):
            filter = quoted_filter(reader, condition)
            readable = filter is not None
        else:
            reader.unexpected("a condition in quotes", 'write "Temp" where "temp < 15"')
            readable = False
    span = reader.span_from(quoted)
    if name is None or not readable:
        return UNREADABLE
    return Atom((EventSpec(name, filter, span),), span=span)


def _group(text: _Text) -> Pattern:
    reader, index = text.reader, text.reader.index
    reader.advance()
    pattern = _sentence(text)
    if not reader.accept(")"):
        reader.unexpected("')' or a word such as 'followed by'")
        reader.leave(index)
    return pattern


def _repeated(text: _Text, start: Token, pattern: Pattern) -> Pattern:
    reader, how = text.reader, "write repeated 3 times, repeated 2 to 5 times or repeated at least 2 times"
    at = ""
    if reader.accept_word("at"):
        if reader.at_word("least", "most"):
            at = reader.advance().text
        else:
            reader.unexpected("'least' or 'most' after 'at'", how)
    times = _count(reader, how)
    most = _count(reader, how) if not at and reader.accept_word("to") else None
    if not (reader.accept_word("times") or reader.accept_word("time")):
        reader.unexpected("'times'", how)
    text.room -= max(times, most or 0) * sum(1 for _ in specs(pattern))
    if text.room < 0:
        message = "written out, the repetitions are too large"
        reader.note(
            "too-large", message, reader.span_from(start), f"at most {MAX_NAMES:,} event names in all"
        )
        return pattern
    if at == "least":
        return _phrase(text, start, lambda: at_least(pattern, times), pattern)
    if at == "most":
        return _phrase(text, start, lambda: repeated(pattern, 0, times), pattern)
    return _phrase(text, start, lambda: repeated(pattern, times, most), pattern)


def _count(reader: Reader, how: str) -> int:
    times = 1
    if not reader.at("number"):
        reader.unexpected("how many times", how)
    elif isinstance(reader.here.value, int):
        times = reader.here.value
    else:
        reader.note("bad-count", f"{reader.here.text} times cannot be counted", reader.here.span, how)
    reader.accept("number")
    return times
