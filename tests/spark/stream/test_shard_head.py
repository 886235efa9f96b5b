"""The head, the outlines and the rules of a shard come back from a checkpoint as they were, or are refused with a reason."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import tocsin
from tocsin.automata.tokens.compile import compile
from tocsin.errors import InputError
from tocsin.events.pace import Mark, Pace, PaceSettings
from tocsin.runtime.encoding import encode
from tocsin.runtime.stream.buckets import Entry, Head
from tocsin.runtime.stream.carry_over import outline
from tocsin.runtime.stream.rule_book import Book, Decision, Rule, book_bytes, read_book
from tocsin.spark.stream import shard_head
from tocsin.spark.stream.shard_head import (
    Home,
    ShardHead,
    head_bytes,
    outline_bytes,
    read_head,
    read_outlines,
)
from tocsin.spark.stream.stream_plan import pace_group

PACES = [
    PaceSettings("probabilistic", 5, ("door", "lamp"), 0.9, 60, None),
    PaceSettings("within-delay", 7, idle_after=3),
]
MARKS = [Mark("door", 3, 90, (10, 50)), Mark("lamp", 1, 40)]


def head() -> ShardHead:
    paces = [Pace(settings) for settings in PACES]
    for pace in paces:
        pace.hear(MARKS, 1_000)
    entries = {3: Entry(None, 10, 2, 5, 1, None), 1: Entry(8, 99, 1, 0, 0, -4)}
    return ShardHead(Home(1, 2), (b"s" * 16, b"p" * 16), [Head(7, 2, entries), Head(-(1 << 62))], paces)


BOOK = Book(
    (Rule("a", "[A]"),),
    (Rule("a", "[A]"), Rule("b", "[B]", "pretty", (("restart", "never"),), "any", "first 2", 4)),
    4,
    17,
    (Decision(17, "add", "b", 3, "now"), Decision(18, "add", "c", 3, None, "bad-change", "no", "do")),
)
GROUP = pace_group(
    compile([tocsin.parse("[A];[B(v > 1)]"), tocsin.parse("[C] || [D]")]), [0, 1], at_once=True
)
KEPT: list[tuple[bytes, Callable[[bytes], Any]]] = [
    (head_bytes(head()), read_head),
    (outline_bytes([GROUP]), read_outlines),
    (book_bytes(BOOK), read_book),
]


def test_what_is_written_comes_back() -> None:
    found, wanted = read_head(head_bytes(head())), head()
    assert found[:3] == wanted[:3]
    assert [pace.plain() for pace in found.paces] == [pace.plain() for pace in wanted.paces]
    assert read_outlines(outline_bytes([GROUP])) == [outline(GROUP)]
    assert read_book(book_bytes(BOOK)) == BOOK


def test_a_pace_goes_on_as_if_it_had_never_been_written() -> None:
    later = [Mark("lamp", 2, 300, (100, 200)), Mark("door", 1, 250)]
    read, kept = read_head(head_bytes(head())).paces, head().paces
    for one, other in zip(read, kept, strict=True):
        assert one.hear(later, 2_000) == other.hear(later, 2_000)
        assert (one.left_out, one.reached) == (other.left_out, other.reached)


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_damage_is_noticed_wherever_it_is(number: int) -> None:
    data, read = KEPT[number]
    for at in range(0, len(data), 3):
        flipped = bytes([*data[:at], data[at] ^ 0x10, *data[at + 1 :]])
        for broken in (flipped, data[:at]):
            with pytest.raises(InputError) as raised:
                read(broken)
            assert raised.value.code in ("checkpoint-damaged", "checkpoint-version")


def test_fields_that_are_missing_are_damage_and_are_named() -> None:
    short = encode(((0, 1), (b"", b"")), kind="head", version=shard_head.VERSION)
    with pytest.raises(InputError, match="the head of a shard: this checkpoint cannot be read") as raised:
        read_head(short)
    assert raised.value.code == "checkpoint-damaged"


def test_older_checkpoints_are_refused_by_their_version_and_never_unpickled() -> None:
    old = pickle.dumps((2, "anything"), protocol=5)
    for data in (old, encode((), kind="head", version=shard_head.VERSION - 1)):
        with pytest.raises(InputError) as raised:
            read_head(data)
        assert raised.value.code == "checkpoint-version"
        assert "new checkpoint folder" in (raised.value.hint or "")
