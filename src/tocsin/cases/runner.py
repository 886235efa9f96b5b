"""Runs test cases on engines and reports the outcome of each; a failure shows expected and got side by side."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from tocsin.cases.failure_account import explained
from tocsin.cases.files import WrittenCase
from tocsin.cases.model import Asked, Handler, Skip
from tocsin.errors import InputError, TocsinError
from tocsin.languages.registry import language_and_part

_LIKE_ANOTHER = re.compile(r"[-+\d.eE]*|true|false|nothing")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one case on one engine. `why` is the reason for a skip, or an error."""

    written: WrittenCase
    engine: str
    status: Literal["passed", "failed", "skipped"]
    why: str = ""
    expected: object = None
    got: object = None


def run_cases(
    cases: Iterable[WrittenCase], engines: Sequence[str], *, skip_unknown: bool = False
) -> Iterator[Outcome]:
    """Run every case on one engine after the other; requests to Spark come last, for all cases at once.

    A case of an unknown kind fails, unless such cases are to be skipped.
    """
    cases = list(cases)
    for engine in engines:
        asked: list[tuple[WrittenCase, Asked]] = []
        for written in cases:
            done = prepared(written, engine, skip_unknown=skip_unknown)
            if isinstance(done, Outcome):
                yield done
            else:
                asked.append((written, done))
        if asked:
            # Imported here, because it loads Spark.
            from tocsin.cases.queries import answers

            for number, answer in answers([one.request for _, one in asked], engine):
                written, one = asked[number]
                yield answered(written, engine, one, answer)


class _Unknown(Exception):  # noqa: N818  (it never leaves this module)
    """Raised for an unknown kind of case."""


def _handler(language: str, kind: str) -> Handler:
    try:
        own, _ = language_and_part(language)
    except InputError as problem:
        if problem.code != "unknown-language":
            raise
        raise _Unknown(f"the language {language!r} is not known") from None
    kinds: Mapping[str, Handler] = own.on("cases")
    if kind not in kinds:
        raise _Unknown(f"the kind {kind!r} of the language {language!r} is not known")
    return kinds[kind]


def prepared(written: WrittenCase, engine: str, *, skip_unknown: bool = False) -> Outcome | Asked:
    """The outcome of a case, or its request to Spark."""
    if written.problem:
        return Outcome(written, engine, "failed", written.problem)
    try:
        handler = _handler(str(written.case["language"]), str(written.case["kind"]))
        done = handler(written.case, engine)
    except _Unknown as reason:
        return Outcome(written, engine, "skipped" if skip_unknown else "failed", str(reason))
    except Exception as error:  # noqa: BLE001  (one bad case must not stop the others)
        return _without_answer(written, engine, error)
    return done if isinstance(done, Asked) else _compared(written, engine, *done)


def answered(written: WrittenCase, engine: str, asked: Asked, answer: object) -> Outcome:
    """The outcome of a case that ran on Spark; the result may be an error."""
    try:
        if isinstance(answer, TocsinError):
            return _compared(written, engine, *asked.refused(answer))
        if isinstance(answer, Exception):
            raise answer
        return _compared(written, engine, *asked.compared(answer))
    except Exception as error:  # noqa: BLE001  (as above)
        return _without_answer(written, engine, error)


def _compared(written: WrittenCase, engine: str, expected: object, got: object) -> Outcome:
    return Outcome(written, engine, "passed" if same(expected, got) else "failed", "", expected, got)


def _without_answer(written: WrittenCase, engine: str, error: Exception) -> Outcome:
    if isinstance(error, Skip):
        return Outcome(written, engine, "skipped", str(error))
    return Outcome(written, engine, "failed", _told(error))


def _told(error: Exception) -> str:
    if isinstance(error, TocsinError):
        return str(error)
    if "pyspark" in sys.modules:
        # Imported here, because it loads Spark.
        from tocsin.spark.session.failures import explain_failure, is_from_spark

        if is_from_spark(error):
            return explain_failure(error)
    return f"{type(error).__name__}: {error}"


def same(expected: object, got: object) -> bool:
    """Whether two values are equal, and of one kind all the way down: `1` is not `true`.

    >>> same([1, {"a": 2.0}], [1, {"a": 2}]), same({"strong": 1}, {"strong": True}), same([1], ["1"])
    (True, False, False)
    """
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return expected.keys() == got.keys() and all(same(expected[key], got[key]) for key in expected)
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return len(expected) == len(got) and all(map(same, expected, got))
    return isinstance(expected, bool) == isinstance(got, bool) and expected == got


def described(outcome: Outcome) -> str:
    """A failure in words: where the case is, what it is about, and the actual result."""
    case = outcome.written.case
    lines = [f"FAILED {case['id']} ({case['kind']}, {outcome.engine}) {outcome.written.place}"]
    if case.get("expression"):
        lines += [f"    {line}" for line in str(case["expression"]).splitlines()]
    if outcome.why:
        return "\n".join([*lines, *(f"  {line}" for line in outcome.why.splitlines())])
    lines += side_by_side(outcome.expected, outcome.got)
    return "\n".join([*lines, *(f"  {line}".rstrip() for line in explained(case))])


def side_by_side(expected: object, got: object) -> list[str]:
    """Two values as two columns; lines that differ are marked.

    >>> print("\\n".join(side_by_side([1, 2], [1, 3])))
        expected  got
        1         1
      ≠ 2         3
    """
    left, right = _lines(expected), _lines(got)
    rows: list[tuple[str, str]] = []
    for _, i, j, k, m in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        rows += zip_longest(left[i:j], right[k:m], fillvalue="-")
    width = max(len(line) for line in ["expected", *(row[0] for row in rows)])
    marked = [(" " if a == b else "≠", a, b) for a, b in rows]
    return [f"  {mark} {a:<{width}}  {b}" for mark, a, b in [(" ", "expected", "got"), *marked]]


def _lines(value: object) -> list[str]:
    """A value as lines: one for each entry of the outermost list or mapping."""
    if isinstance(value, Mapping):
        return [line for key, part in value.items() for line in _entry(str(key), part)]
    if isinstance(value, list) and value:
        return [_inline(part) for part in value]
    return ["nothing"] if value == [] else [_inline(value)]


def _entry(key: str, value: object) -> list[str]:
    nested = isinstance(value, list) and any(isinstance(part, list) for part in value)
    lines = _lines(value) if nested else _inline(value).splitlines() or [""]
    return [f"{key}: {lines[0]}", *(f"{' ' * len(key)}  {line}" for line in lines[1:])]


def _inline(value: object) -> str:
    if isinstance(value, Mapping):
        return "  ".join(f"{key} {_inline(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_inline(part) for part in value) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "nothing"}[value]
    # In quotes only where it would be ambiguous otherwise.
    plain = isinstance(value, Decimal) or (isinstance(value, str) and not _LIKE_ANOTHER.fullmatch(value))
    return str(value) if plain else repr(value)


def reasons(outcomes: Iterable[Outcome]) -> list[str]:
    """Why cases were skipped, most frequent first."""
    counted = Counter(outcome.why for outcome in outcomes if outcome.status == "skipped")
    return [f"{count} skipped: {why}" for why, count in counted.most_common()]


def summary(outcomes: Iterable[Outcome]) -> str:
    """The last line of a run.

    >>> summary([])
    '0 passed, 0 failed, 0 skipped'
    """
    counted = Counter(outcome.status for outcome in outcomes)
    return f"{counted['passed']} passed, {counted['failed']} failed, {counted['skipped']} skipped"
