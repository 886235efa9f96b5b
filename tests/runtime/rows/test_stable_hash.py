"""Names of matches: the same everywhere, and different for whatever is different."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tocsin.runtime.rows.stable_hash import hash_members, hash_rows, hash_values, match_ids

NO_NAMES = pa.array([], pa.string())
NO_TIMERS = np.empty(0, np.int64)
PINNED = [
    "3f94a879a86bbf3456bc7ee51916d28e",
    "5fcd5518d70bea6a1b22650bc3570aef",
    "a283c568c4672fd711c3d4d2ae2cca56",
]
PINNED_TEXTS = [
    "3c6ef372fe94f82a3c6ef372fe94f82a",
    "bd9eced2aaba92e0ae7a727980c217db",
    "c3f682b0ebbaa02af11c3c9068054cce",
]


def lanes_of(ids: pa.Array) -> np.ndarray:  # type: ignore[type-arg]
    return hash_members(ids, None, NO_TIMERS, NO_NAMES, NO_TIMERS)


def ids_of(
    events: list[list[int]], keys: list[int] | None = None, prefixes: tuple[str, ...] = ("p",)
) -> list[str]:
    count = len(events)
    offsets = np.cumsum([0, *map(len, events)])
    members = lanes_of(pa.array([id for own in events for id in own], pa.int64()))
    key = np.arange(count) if keys else np.zeros(count, np.int64)
    lanes = hash_rows([pa.array(keys)] if keys else [], max(1, count if keys else 1))
    return match_ids(  # type: ignore[no-any-return]
        list(prefixes), np.zeros(count, np.int64), lanes, key, offsets, members
    ).to_pylist()


def test_these_ids_never_change() -> None:
    """Sinks drop matches they have; a release that changed ids would write everything twice."""
    assert ids_of([[1, 2, 3], [], [-1]]) == PINNED
    texts = lanes_of(pa.array(["", "p", "more than eight bytes"]))
    assert [f"{a:016x}{b:016x}" for a, b in texts.tolist()] == PINNED_TEXTS


def test_order_number_and_key_of_events_count() -> None:
    found = ids_of([[1, 2], [2, 1], [1, 2, 0], [12], [1], [], [0]])
    assert len(set(found)) == len(found)
    assert ids_of([[1, 2]], [7]) != ids_of([[1, 2]], [8])
    assert ids_of([[1, 2]], prefixes=("p",)) != ids_of([[1, 2]], prefixes=("q",))


def test_ids_do_not_depend_on_their_neighbours() -> None:
    whole = ids_of([[1, 2], [3], [4, 5, 6]], [1, 2, 3])
    assert whole == [ids_of([own], [key])[0] for own, key in (([1, 2], 1), ([3], 2), ([4, 5, 6], 3))]


def test_values_of_different_kinds_differ_and_widths_do_not() -> None:
    kinds = [
        pa.array([1], pa.int64()),
        pa.array(["1"]),
        pa.array([True]),
        pa.array([1.0]),
        pa.array([None], pa.int64()),
    ]
    assert len({tuple(hash_values(one)[0].tolist()) for one in kinds}) == len(kinds)
    for narrow in (pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint64()):
        assert hash_values(pa.array([1], narrow)).tolist() == hash_values(kinds[0]).tolist()
    assert hash_values(pa.array([1.0], pa.float32())).tolist() == hash_values(kinds[3]).tolist()


def test_a_slice_and_a_dictionary_hash_as_the_values_they_hold() -> None:
    texts = pa.array(["a", "bb", None, "a longer text", ""])
    whole = hash_values(texts).tolist()
    assert hash_values(texts[1:4]).tolist() == whole[1:4]
    assert hash_values(texts.dictionary_encode()).tolist() == whole
    numbers = pa.array([5, None, 7], pa.int32())
    assert hash_values(numbers[1:]).tolist() == hash_values(numbers).tolist()[1:]


def test_copies_and_timers_are_told_apart() -> None:
    ids = pa.array([5, 5, None, None, None], pa.int64())
    names = pa.array(["T1", "T1", "T2"])
    lanes = hash_members(
        ids, np.array([0, 1, 0, 0, 0]), np.array([2, 3, 4]), names, np.array([10, 11, 10], np.int64)
    )
    assert len({tuple(own) for own in lanes.tolist()}) == 5
    assert lanes[0].tolist() == lanes_of(pa.array([5])).tolist()[0]


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "texts"])
def test_every_bit_of_an_id_depends_on_the_events(text: bool) -> None:
    """Neighbouring ids differ in about half of their 128 bits, in each lane, and in every place about half the time."""
    count = 4000
    values = pa.array(range(count), pa.int64())
    members = lanes_of(values.cast(pa.string()) if text else values)
    found = match_ids(
        ["p"],
        np.zeros(count, np.int64),
        hash_rows([], 1),
        np.zeros(count, np.int64),
        np.arange(count + 1),
        members,
    )
    bits = np.array([[int(digit) for digit in f"{int(id, 16):0128b}"] for id in found.to_pylist()])
    changes = bits[1:] != bits[:-1]
    assert abs(changes.mean() - 0.5) < 0.01
    assert abs(changes.mean(axis=0) - 0.5).max() < 0.05
    assert abs(np.corrcoef(bits[:, :64].T, bits[:, 64:].T)[:64, 64:]).max() < 0.1
    assert len(set(found.to_pylist())) == count
