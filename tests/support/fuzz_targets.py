"""What the fuzzer tries: each target makes a text or bytes from a random number, and tries one.

`try_one` returns normally if the text is accepted or refused as it should be, and raises otherwise.
"""

from __future__ import annotations

import json
import re
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

from support import fuzz_pipelines, fuzz_texts
from tocsin.cases.files import read_cases
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.errors import InputError, PatternErrors, PipelineErrors, TocsinError
from tocsin.languages.registry import language
from tocsin.runtime import encoding
from tocsin.runtime.stream.rule_book import (
    Book,
    Decision,
    Rule,
    book_bytes,
    file_change,
    read_book,
    read_change,
)

KNOWN = KnownEvents(points=True)


class WrongError(Exception):
    """Something that no text may bring about."""


class Target(NamedTuple):
    """One thing to try: how inputs are made, and what is done with one."""

    make: Callable[[Random], bytes]
    try_one: Callable[[bytes], None]


def refused(problem: TocsinError, place: bool) -> None:
    """Check that an error has what an error must have."""
    found = problem.errors if isinstance(problem, PatternErrors | PipelineErrors) else (problem,)
    for one in found:
        if not one.code or not one.message:
            raise WrongError(f"an error without code or message: {one!r}")
        str(one)
        if place and one.span is None:
            raise WrongError(f"an error without a place: {one.code}: {one.message}") from problem


# Patterns, in every language


def pattern_bytes(name: str, random: Random) -> bytes:
    return fuzz_texts.made(name, random).encode("utf-8", "surrogatepass")


def try_pattern(name: str, data: bytes) -> None:
    """Parse, print, parse what was printed, and compile."""
    own = language(name)
    text = data.decode("utf-8", "surrogatepass")
    try:
        value = own.read(text)
    except TocsinError as problem:
        refused(problem, place=True)
        return
    try:
        shown = own.text_of(value)
    except TocsinError as problem:
        refused(problem, place=False)
    else:
        again = own.read(shown)
        if again != value:
            raise WrongError(f"printed and read again it is another pattern: {shown[:500]!r}")
    try:
        plan_texts(named_texts(text, own), KNOWN)
    except TocsinError as problem:
        refused(problem, place=False)


# Files


def pipeline_bytes(random: Random) -> bytes:
    return fuzz_pipelines.made(random).encode("utf-8", "surrogatepass")


@cache
def folder() -> Path:
    """A folder with what the pipelines name; it goes with the process."""
    made = tempfile.TemporaryDirectory(prefix="tocsin-fuzz-")
    _kept.append(made)
    fuzz_pipelines.lay_out(Path(made.name))
    return Path(made.name)


_kept: list[Any] = []


def try_pipeline(data: bytes) -> None:
    from tocsin.spark.pipeline import read_pipeline

    path = folder() / "pipeline.toml"
    path.write_bytes(data)
    try:
        read_pipeline(path)
    except TocsinError as problem:
        refused(problem, place=False)


def case_bytes(random: Random) -> bytes:
    file = random.choice(sorted(fuzz_texts.CONFORMANCE.rglob("*.yaml")))
    lines = re.split(r"(?m)^(?=- )", file.read_text(encoding="utf-8"))
    base, other = "".join(random.choices(lines, k=2)), random.choice(lines)
    return fuzz_texts.mutated(base, other, random).encode("utf-8", "surrogatepass")


def try_cases(data: bytes) -> None:
    path = folder() / "cases.yaml"
    path.write_bytes(data)
    try:
        read_cases(path)
    except TocsinError as problem:
        refused(problem, place=False)


_RULE_OPTIONS: dict[str, tuple[Any, ...]] = {
    "language": ("", "core", "klingon", 7),
    "matches": ("any", "each", "next", "all", 3, None),
    "take": ("all", "first 1", "last", "count", "all of it", {}),
    "options": ({}, {"restart": "always"}, {"names": "A=B"}, [], {"a": [1]}),
    "description": ("smoke", "\0", 1),
    "severity": ("high", []),
    "tags": (["fire"], [1], "fire"),
    "quiet": (3600, 0, -1, True, 1e308, "an hour"),
    "more": (1,),
}


def rule_bytes(random: Random) -> bytes:
    """A change of the rules: the row that a file of a rules folder becomes, or one of a table of rules."""
    name = random.choice(fuzz_texts.all_names())
    change: dict[str, Any] = {
        "action": "add",
        "name": "Fire",
        "text": fuzz_texts.made(name, random),
        "language": name,
    }
    if random.random() < 0.2:
        change["action"] = random.choice(("replace", "remove", "", 1))
    if random.random() < 0.1:
        change["name"] = random.choice(("", "a/b", "..", "x" * 300, "ﬁ", None, 1))
    for key in random.sample(sorted(_RULE_OPTIONS), random.choice((0, 0, 0, 0, 0, 1, 2))):
        change[key] = random.choice(_RULE_OPTIONS[key])
    if random.random() < 0.3:
        row = {**change, "number": random.choice((*[1] * 20, 0, 2**63, -1, None, "1", 1.5))}
        return json.dumps(row).encode()
    content = json.dumps(change, ensure_ascii=False)
    if random.random() < 0.15:
        content = fuzz_texts.mutated(content, content, random)
    file = random.choice((*["0001.json"] * 20, "x.json", "9" * 30 + ".json", "1\n.json"))
    return file_change(file, content.encode("utf-8", "surrogatepass")).encode()


@cache
def _query(name: str) -> Any:
    """A query that takes rules, of events with a few columns."""
    from pyspark.sql import types as T

    from tocsin.spark.query import EventColumns
    from tocsin.spark.rules.compile_rules import RuleSettings
    from tocsin.spark.stream.stream_options import StreamOptions

    kinds = {"x": T.DoubleType(), "n": T.LongType(), "room": T.StringType(), "at": T.TimestampType()}
    own = {"type": T.StringType(), "time": T.LongType(), **kinds}
    schema = T.StructType([T.StructField(column, type) for column, type in own.items()])
    columns = EventColumns("type", "Event", ("time", "time"), "us", (), None, None)
    return RuleSettings(schema, columns, tuple(own), StreamOptions(0), name)


def try_rule(data: bytes) -> None:
    """Read a change and compile its rule, as a stream does."""
    from tocsin.spark.rules.compile_rules import compile_rules

    try:
        change = read_change(data.decode("utf-8", "surrogatepass"))
        if change.rule is not None:
            compile_rules(_query(change.rule.language or "core"), [change.rule])
    except TocsinError as problem:
        refused(problem, place=False)


# Checkpoints

BOOK = Book(
    (Rule("Fire", "[Smoke];[Heat]", "core", (("a", "b"),)),),
    (Rule("Fire", "[Smoke];[Heat]"), Rule("Ice", "[Cold]", since=3)),
    4,
    17,
    (
        Decision(17, "add", "Ice", 3, "2026-01-01T00:00:00Z"),
        Decision(18, "add", "X", 4, None, "bad", "no", "hint"),
    ),
)


def checkpoint_bytes(random: Random) -> bytes:
    """A book of rules with some bytes changed; sometimes with a checksum that says that nothing was."""
    data = bytearray(book_bytes(BOOK))
    for _ in range(random.choice((0, 1, 1, 1, 2, 8))):
        at = random.randrange(len(data))
        match random.randrange(4):
            case 0:
                data[at] ^= 1 << random.randrange(8)
            case 1:
                data[at:at] = random.randbytes(random.randrange(1, 20))
            case 2:
                del data[at : at + random.randrange(1, 20)]
            case _:
                data[at : at + 4] = random.choice(
                    (b"\xff\xff\xff\xff", b"\x00" * 4, b"\x80\x04\x95\x00", b"\xdd\xff\xff\xff")
                )
        data = data or bytearray(b"x")
    if random.random() < 0.5:
        forge(data)
    return bytes(data)


def forge(data: bytearray) -> None:
    """Make the checksum right, as somebody would who wants to be believed."""
    head, check = encoding._HEADER.size, encoding._CHECKSUM.size
    if len(data) > head + check:
        right = zlib.crc32(bytes(data[head + check :]), zlib.crc32(bytes(data[:head])))
        data[head : head + check] = encoding._CHECKSUM.pack(right)


def try_checkpoint(data: bytes) -> None:
    """Bytes are read as what was written, or refused by name; only a forged checksum may make them something else."""
    whole = book_bytes(BOOK)
    honest = bytearray(data)
    forge(honest)
    try:
        from tocsin.spark.stream.damage import reading

        with reading("the book of rules"):
            book = read_book(data)
    except InputError as problem:
        if problem.code not in ("checkpoint-damaged", "checkpoint-version"):
            raise WrongError(f"another error: {problem.code}") from problem
        return
    if bytes(honest) != data and book != BOOK:
        raise WrongError("it was read as something else, though its checksum is wrong")
    if data == whole and book != BOOK:
        raise WrongError("it is whole, and was read as something else")


def ledger_bytes(random: Random) -> bytes:
    text = bytearray(_page().encode())
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(text))
        match random.randrange(3):
            case 0:
                text[at] ^= 1 << random.randrange(8)
            case 1:
                del text[at : at + random.randrange(1, 30)]
            case _:
                text[at:at] = random.choice((b"null", b"[", b"{}", b"1e999", b"\xff", b'"x":', b"0" * 5000))
    return bytes(text)


@cache
def _page() -> str:
    from tocsin.spark.observe.counters import Counters
    from tocsin.spark.pipeline.stream.checkpoint_files import sealed
    from tocsin.spark.pipeline.stream.ledger import Numbers, Page

    numbers = Numbers({"doors": Counters(5, 3, 1, 1, 0)}, {"bad-json": 1}, {"Fire": 2}, {"/out/Fire": 2})
    page = Page(3, "2026-01-01T00:00:00Z", 0.5, None, numbers, {"keys": 4}, 4, numbers + numbers)
    return sealed({"format": 2, **asdict(page)})


class _File:
    """A storage with one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, _: str) -> str:
        return self._data.decode("utf-8", "replace")


def try_ledger(data: bytes) -> None:
    from tocsin.spark.pipeline.stream.ledger import _page as read_page

    try:
        page = read_page(cast(Any, _File(data)), "ledger/3.json")
    except InputError as problem:
        if (
            problem.code not in ("checkpoint-damaged", "checkpoint-version")
            or "ledger/3.json" not in problem.message
        ):
            raise WrongError(f"{problem.code}: {problem.message}") from problem
        return
    if page != read_page(cast(Any, _File(_page().encode())), "ledger/3.json"):
        raise WrongError("a damaged page was read as something else")


def targets() -> Mapping[str, Target]:
    """Every target that reads texts or bytes, by name."""
    patterns = {
        name: Target(partial(pattern_bytes, name), partial(try_pattern, name))
        for name in fuzz_texts.all_names()
    }
    return patterns | {
        "pipeline": Target(pipeline_bytes, try_pipeline),
        "cases": Target(case_bytes, try_cases),
        "rules": Target(rule_bytes, try_rule),
        "checkpoint": Target(checkpoint_bytes, try_checkpoint),
        "ledger": Target(ledger_bytes, try_ledger),
    }
