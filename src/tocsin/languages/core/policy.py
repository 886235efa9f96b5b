"""Reads the policies of a subscription: `with detection = guaranteed, distribution = minimum-load`."""

from __future__ import annotations

from typing import get_args

from tocsin.algebra.subscription import Detection, Mode
from tocsin.errors import did_you_mean
from tocsin.languages.lexis import Failure, Reader, Token

POLICIES = ("detection", "distribution")


def policies(reader: Reader) -> tuple[Detection | None, str | None]:
    """The detection policy and the name of the distribution policy; each at most once.

    >>> from tocsin.languages.core.words import SYMBOLS
    >>> policies(Reader("detection = probabilistic(0.95)", SYMBOLS))
    (Detection(mode='probabilistic', threshold=0.95), None)
    """
    detection, distribution = None, None
    seen: set[str] = set()
    while True:
        word = reader.expect("name", " or ".join(POLICIES))
        if word.text not in POLICIES:
            hint = did_you_mean(word.text, POLICIES)
            reader.note("unknown-policy", f"there is no policy {word.text!r}", word.span, hint)
            raise Failure
        if word.text in seen:
            reader.note("duplicate-name", f"{word.text} is given twice", word.span, "keep one of them")
        seen.add(word.text)
        reader.expect("=", "'='")
        start = reader.here
        own = _policy_name(reader)
        if word.text == "distribution":
            distribution = own
        else:
            detection = _detection(reader, own, start)
        if not reader.accept(","):
            return detection, distribution


def _policy_name(reader: Reader) -> str:
    words = [reader.expect("name", "the name of a policy").text]
    while reader.accept("-"):
        words.append(reader.expect("name", "the rest of the name").text)
    return "-".join(words)


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
