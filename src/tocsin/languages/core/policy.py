"""Parses the policies of a subscription: `with matches = leftmost, take = first 3, detection = guaranteed`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from tocsin.algebra.tokens.selection import Selection, Take, Wanted
from tocsin.algebra.tokens.subscription import Detection, Mode
from tocsin.errors import InputError, PatternErrors, did_you_mean
from tocsin.languages.core.words import SYMBOLS
from tocsin.languages.lexis import Failure, Reader, Token

POLICIES = ("matches", "take", "detection", "distribution")
DISTRIBUTIONS = ("minimum-latency", "minimum-bandwidth", "minimum-load", "maximum-reliability")  # Table 1


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies after `with`; None for those that are not given."""

    matches: str | None = None
    take: str | None = None
    detection: Detection | None = None
    distribution: str | None = None

    def selection(self, otherwise: Selection) -> Selection:
        """The selection; `otherwise` applies where the text does not say."""
        return Selection.of(self.matches or otherwise.matches, self.take or otherwise.taken)


def policies(reader: Reader) -> Policies:
    """The policies of a text, each at most once.

    >>> from tocsin.languages.core.words import SYMBOLS
    >>> policies(Reader("take = first 3, detection = probabilistic(0.95)", SYMBOLS)).take
    'first 3'
    """
    said: dict[str, str | Detection | None] = {}
    while True:
        word = reader.expect("name", " or ".join(POLICIES))
        if word.text not in POLICIES:
            hint = did_you_mean(word.text, POLICIES)
            reader.note("unknown-policy", f"there is no policy {word.text!r}", word.span, hint)
            raise Failure
        if word.text in said:
            reader.note("duplicate-name", f"{word.text} is given twice", word.span, "keep one of them")
        reader.expect("=", "'='")
        said[word.text] = _value(reader, word.text)
        if not reader.accept(","):
            return Policies(**said)  # type: ignore[arg-type]  # each under its own name


def read_detection(text: str) -> Detection:
    """Parse a detection policy on its own, as written in patterns.

    >>> read_detection("probabilistic(0.95)")
    Detection(mode='probabilistic', threshold=0.95)
    """
    reader = Reader(f"detection = {text}", SYMBOLS)
    detection = None
    try:
        detection = policies(reader).detection
        if not reader.at("end"):
            reader.fail("the end of the policy")
    except Failure:
        pass
    if reader.errors or detection is None:
        raise PatternErrors(reader.errors)
    return detection


def _value(reader: Reader, policy: str) -> str | Detection | None:
    start = reader.here
    match policy:
        case "matches":
            own = reader.expect("name", _either(get_args(Wanted))).text
            return _selected(reader, start, own, matches=own)
        case "take":
            return _taken(reader, start)
        case "detection":
            return _detection(reader, _policy_name(reader), start)
        case _:
            return _distribution(reader, _policy_name(reader), start)


def _either(words: tuple[str, ...]) -> str:
    return ", ".join(words[:-1]) + f" or {words[-1]}"


def _taken(reader: Reader, start: Token) -> str | None:
    own = reader.expect("name", "all, first and a number, last or count").text
    if own not in get_args(Take):
        hint = did_you_mean(own, get_args(Take))
        reader.note("bad-selection", f"take cannot be {own!r}", start.span, hint)
        reader.accept("number")
        return None
    if own == "first":
        number = reader.expect("number", "how many", "write first 3")
        own = f"first {number.value}"
    return _selected(reader, start, own, take=own)


def _selected(reader: Reader, start: Token, own: str, **asked: str) -> str | None:
    """The words of a selection; an invalid one is recorded as a mistake, and parsing continues."""
    try:
        Selection.of(**asked)
    except InputError as problem:
        reader.note("bad-selection", problem.message, reader.span_from(start), problem.hint)
        return None
    return own


def _policy_name(reader: Reader) -> str:
    words = [reader.expect("name", "the name of a policy").text]
    while reader.accept("-"):
        words.append(reader.expect("name", "the rest of the name").text)
    return "-".join(words)


def _distribution(reader: Reader, own: str, start: Token) -> str | None:
    if own not in DISTRIBUTIONS:
        message = f"there is no distribution policy {own!r}"
        reader.note("unknown-policy", message, reader.span_from(start), did_you_mean(own, DISTRIBUTIONS))
        return None
    return own


def _detection(reader: Reader, mode: str, start: Token) -> Detection:
    modes = get_args(Mode)
    if mode not in modes:
        message = f"there is no detection policy {mode!r}"
        reader.note("unknown-policy", message, reader.span_from(start), did_you_mean(mode, modes))
        raise Failure
    if mode != "probabilistic":
        return Detection(mode)  # type: ignore[arg-type]  # checked above
    reader.expect("(", "'(' and a threshold", "write probabilistic(0.95)")
    number = reader.expect("number", "a threshold between 0 and 1")
    reader.expect(")", "')'")
    if not 0 < float(number.value) <= 1:
        hint = "write probabilistic(0.95)"
        reader.note("bad-threshold", "a probability lies above 0 and not above 1", number.span, hint)
    return Detection("probabilistic", float(number.value))
