"""Keys by number: as they come, known ones first, and kinds apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tocsin.runtime.rows.keys import NO_KEYS, Keys, key_codes, numbered


def shown(keys: Keys) -> list[tuple[object, ...]]:
    return [keys.value(number) for number in range(keys.size)]


def test_keys_are_numbered_as_they_come() -> None:
    columns = [pa.array(["b", "a", "b", "a"]), pa.array([2, 1, 2, None])]
    codes, keys = numbered(NO_KEYS, columns)
    assert codes.tolist() == [0, 1, 0, 2]
    assert shown(keys) == [("b", 2), ("a", 1), ("a", None)]
    numbers, count = key_codes(columns)
    assert (numbers.tolist(), count) == ([0, 1, 0, 2], 3)


@given(
    st.sampled_from([0, 5, -3, 2**40, 2**62, -(2**62), 2**63]),
    st.lists(st.integers(0, 12), min_size=1, max_size=30),
    st.booleans(),
)
def test_whole_numbers_are_numbered_whether_they_lie_near_or_far(
    least: int, own: list[int], far: bool
) -> None:
    values = [least + 1000 * value if far and value > 10 else least + value for value in own]
    column = pa.array(values, pa.uint64() if least == 2**63 else pa.int64())
    codes, keys = numbered(NO_KEYS, [column])
    distinct = list(dict.fromkeys(values))
    assert [distinct[code] for code in codes.tolist()] == values
    assert shown(keys) == [(value,) for value in distinct]


def test_known_keys_keep_their_numbers() -> None:
    for columns, more in (
        ([pa.array(["b", "a"])], [pa.array(["c", "a", "c"])]),
        ([pa.array(["b", "a"]), pa.array([1, 2])], [pa.array(["c", "a", "c"]), pa.array([1, 2, 1])]),
        ([["b", "a"]], [["c", "a", "c"]]),
    ):
        _, known = numbered(NO_KEYS, columns)
        codes, keys = numbered(known, more)
        assert codes.tolist() == [2, 1, 2]
        assert shown(keys)[:2] == shown(known)
        assert (keys.size, keys.value(2)[0]) == (3, "c")


def test_no_key_is_left_and_others_come() -> None:
    _, known = numbered(NO_KEYS, [pa.array([7, 8])])
    codes, keys = numbered(known.take(np.empty(0, np.int64)), [pa.array([9])])
    assert (codes.tolist(), shown(keys)) == ([0], [(9,)])


def test_keys_of_several_kinds_stay_apart() -> None:
    codes, keys = numbered(NO_KEYS, [[1, True, "1", 1.0]])
    assert codes.tolist() == [0, 1, 2, 0]
    assert shown(keys) == [(1,), (True,), ("1",)]
