"""A state as bytes: read again, or refused with a reason."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from tocsin.automata.execute import Session
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.languages.core import parse
from tocsin.runtime import encoding, state
from tocsin.runtime.stream import shard

SECOND = 1_000_000
PATTERNS = ("[A(x = $v)];[B(x = $v)]", "[A][B]", "[A][B] with matches = any, take = count")


def waiting() -> state.State:
    """What is remembered of three subscriptions that have seen an A of each of two keys."""
    session = Session([parse(pattern) for pattern in PATTERNS])
    events = [
        Event(n, frozenset({"A"}), Interval(n * SECOND, n * SECOND), {"x": x}, key=key)
        for n, (x, key) in enumerate([(1.5, "p"), ("é", "q")])
    ]
    session.feed(events, 2 * SECOND)
    return session.state


@pytest.mark.slow  # kernels are compiled
def test_a_state_is_read_again_and_written_the_same() -> None:
    data = state.to_bytes(waiting())
    again = state.from_bytes(data)
    assert state.to_bytes(again) == data
    assert [one.kind for one in again.detectors] == ["single", "groups", "counting"]
    assert set(again.values) == {1.5, "é"}
    assert again.keys.size == 2
    assert again.partial_matches == 6
    assert isinstance(again.events, pa.Table)
    assert again.events.num_rows == 2


@pytest.mark.slow
def test_the_layout_is_the_one_that_is_written_down() -> None:
    plain = encoding.decode(state.to_bytes(waiting()), kind="state", version=state.VERSION)
    assert set(plain) == {"keys", "values", "events", "composites", "detectors"}
    size, columns = plain["keys"]
    assert (size, len(columns), plain["composites"]) == (2, 1, ())
    single, groups, counting = (set(fields) for _, fields in plain["detectors"])
    assert single == {"rows", "nodes", "alive", "held"}
    assert groups == {"keys", "roots", "begun", "nodes", "known", "fed"}
    assert counting == {"keys", "offsets", "times", "waiting", "begun", "known", "fed"}


@pytest.mark.slow
def test_another_version_is_refused_and_says_what_to_do() -> None:
    older = encoding.encode(state.to_plain(waiting()), kind="state", version=state.VERSION - 1)
    with pytest.raises(
        InputError, match=r"checkpoint-version: this state was written by version 6(.|\n)*hint: go on with"
    ):
        state.from_bytes(older)


@pytest.mark.parametrize("read", [state.from_bytes, shard.recall])
def test_a_pickle_of_an_older_build_is_not_opened(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="checkpoint-version"):
        read(pickle.dumps((5, "state"), protocol=5))


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        {},
        {"keys": 1, "values": (), "events": None, "composites": (), "detectors": ()},
        {"keys": (0, ()), "values": (), "events": None, "composites": ((1,),), "detectors": ()},
        {"keys": (0, ()), "values": (), "events": None, "composites": (), "detectors": (("pairs", {}),)},
        {"keys": (0, ()), "values": (), "events": None, "composites": (), "detectors": (("groups", {}),)},
        {"keys": (0, ()), "values": (), "events": None, "composites": (), "detectors": (("groups", 1),)},
    ],
)
def test_plain_values_that_are_no_state_are_refused(wrong: object) -> None:
    data = encoding.encode(wrong, kind="state", version=state.VERSION)
    with pytest.raises(InputError, match="checkpoint-damaged"):
        state.from_bytes(data)
