"""Plain values as bytes: what comes back is what went in, and bytes that are wrong are refused."""

from __future__ import annotations

import math
import pickle
import struct
import zlib
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import msgpack
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import InputError
from tocsin.runtime import encoding

HEADER = 21 + len("test")


def there(value, **options):
    return encoding.encode(value, kind="test", version=7, **options)


def back(data):
    return encoding.decode(data, kind="test", version=7)


def resealed(data):
    """The bytes with a checksum that fits, as a stranger would make them who knows the layout."""
    checksum = zlib.crc32(data[20:], zlib.crc32(data[:16]))
    return data[:16] + struct.pack("<I", checksum) + data[20:]


def body_of(raw):
    """A file whose body is whatever bytes."""
    plain = there(None, packed=False)[:HEADER] + raw
    return resealed(plain[:8] + struct.pack("<Q", len(raw)) + plain[16:])


atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.timedeltas(),
    st.decimals(allow_nan=False),
)
hashable = st.recursive(
    atoms,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.frozensets(inner, max_size=4),
    max_leaves=8,
)
values = st.recursive(
    hashable,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.sets(hashable, max_size=4)
    ),
    max_leaves=12,
)


def typed(value):
    """The value with the types of all its parts, so that 1, 1.0 and True, or a list and a tuple, are not the same."""
    if isinstance(value, tuple | list):
        return type(value), [typed(item) for item in value]
    if isinstance(value, dict):
        return dict, [(typed(key), typed(item)) for key, item in value.items()]
    if isinstance(value, set | frozenset):
        return type(value), sorted(repr(typed(item)) for item in value)
    return type(value), str(value) if isinstance(value, float | Decimal) else value


@given(values, st.booleans())
def test_a_value_comes_back_with_its_types(value, packed):
    assert typed(back(there(value, packed=packed))) == typed(value)


@given(values)
def test_equal_values_have_equal_bytes(value):
    assert there(value) == there(pickle.loads(pickle.dumps(value)))
    assert there(back(there(value))) == there(value)


def test_sets_have_one_order():
    up, down = {-1, 7, 1 << 62}, {1 << 62, 7, -1}
    for number in range(4000):
        up.add(number)
        down.add(3999 - number)
    assert there(up) == there(down)


@pytest.mark.parametrize(
    "number", [0, 1 << 63, -(1 << 63), (1 << 64) - 1, -(1 << 64), 1 << 4000, -(1 << 4000)]
)
def test_integers_of_any_size(number):
    assert back(there((number, -number))) == (number, -number)


def test_floats_keep_every_bit():
    odd = (math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324)
    assert [struct.pack("<d", one) for one in back(there(odd))] == [struct.pack("<d", one) for one in odd]


@pytest.mark.parametrize("name", ["b1", "i1", "i2", "i4", "i8", "u1", "u4", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(0,), (3,), (), (2, 0, 5), (3, 4)])
def test_arrays_keep_their_type_and_shape_and_can_be_written_to(name, shape):
    array = np.arange(math.prod(shape)).reshape(shape).astype(name)
    again = back(there(array))
    assert again.dtype == array.dtype
    assert again.shape == shape
    assert np.array_equal(again, array)
    assert again.flags.writeable
    assert again.flags.c_contiguous


def test_arrays_of_another_order_are_the_same_values():
    array = np.arange(12).reshape(3, 4)
    for one in (array.T, array[:, ::2], np.asfortranarray(array), array.astype(">i8")):
        assert np.array_equal(back(there(one)), one)
    assert back(there(array.astype(">i8"))).dtype == np.dtype("<i8")


def test_an_offset_of_a_datetime_is_kept():
    moment = datetime(2024, 1, 1, 12, 0, 0, 5, timezone(timedelta(hours=5, minutes=45)))
    again = back(there((moment, moment.date(), moment - moment)))
    assert again == (moment, date(2024, 1, 1), timedelta())
    assert again[0].utcoffset() == timedelta(hours=5, minutes=45)


def test_arrow_comes_back_with_its_types():
    table = pa.table(
        {
            "id": pa.array([1, None], pa.int32()),
            "at": pa.array([1, 2], pa.timestamp("us", "UTC")),
            "who": pa.array(["a", "b"]).dictionary_encode(),
            "where": pa.array([{"x": [1.5]}, None]),
        }
    )
    value = {"table": table, "array": table["where"].combine_chunks(), "schema": table.schema}
    again = back(there(value))
    assert again["table"].equals(table)
    assert again["table"].schema == table.schema
    assert again["array"].equals(value["array"])
    assert again["schema"] == table.schema
    assert back(there(table.slice(0, 0))).schema == table.schema


class Foreign(tuple):
    """A class that no reader of a checkpoint needs to know."""


@pytest.mark.parametrize(
    "value", [Foreign(), object(), np.int64(1), np.array([None]), np.array(["x"]), 1j, len]
)
def test_what_is_no_plain_value_is_not_written(value):
    with pytest.raises(TypeError, match="a checkpoint cannot hold"):
        there((1, value))


EXAMPLE = (
    1,
    "text",
    {"a": np.arange(20), (1, 2): [Decimal("1.5"), {3}]},
    1 << 70,
    pa.table({"x": [1, 2, 3]}),
    datetime(2024, 1, 1, tzinfo=UTC),
)


@pytest.mark.parametrize("packed", [False, True])
def test_a_flipped_bit_is_noticed(packed):
    data = there(EXAMPLE, packed=packed)
    for at in range(len(data)):
        for bit in range(8):
            wrong = bytearray(data)
            wrong[at] ^= 1 << bit
            with pytest.raises(InputError) as error:
                back(bytes(wrong))
            assert error.value.code in {"checkpoint-damaged", "checkpoint-version"}


@pytest.mark.parametrize("packed", [False, True])
def test_missing_and_added_bytes_are_noticed(packed):
    data = there(EXAMPLE, packed=packed)
    for wrong in (*(data[:size] for size in range(len(data))), data + b"\0", data + data):
        with pytest.raises(InputError) as error:
            back(wrong)
        assert error.value.code == "checkpoint-damaged"


def read_or_refused(data):
    """The code with which bytes are refused; None if they are some plain value."""
    try:
        value = back(data)
    except InputError as error:
        return error.code
    there(value)  # what was read is plain: it can be written again
    return None


@given(st.binary(max_size=200))
def test_foreign_bytes_are_refused_even_with_a_right_checksum(raw):
    assert read_or_refused(raw) in {"checkpoint-damaged", "checkpoint-version"}
    assert read_or_refused(body_of(raw)) in {"checkpoint-damaged", None}


@given(st.data())
def test_a_changed_body_is_refused_or_another_plain_value(data):
    wrong = bytearray(there(EXAMPLE, packed=False))
    for _ in range(data.draw(st.integers(1, 3))):
        wrong[data.draw(st.integers(HEADER, len(wrong) - 1))] = data.draw(st.integers(0, 255))
    assert read_or_refused(resealed(bytes(wrong))) in {"checkpoint-damaged", None}


@pytest.mark.parametrize(
    "raw",
    [
        msgpack.packb(msgpack.ExtType(99, b"")),
        msgpack.packb(msgpack.ExtType(5, msgpack.packb(("i8", (3,), b"\0" * 16)))),
        msgpack.packb(msgpack.ExtType(5, msgpack.packb(("O8", (2,), b"\0" * 16)))),
        msgpack.packb(msgpack.ExtType(5, msgpack.packb(("i8", (1 << 40, 1 << 40), b"")))),
        msgpack.packb(msgpack.ExtType(6, b"one")),
        msgpack.packb(msgpack.ExtType(8, msgpack.packb(("yesterday", None, 0)))),
        msgpack.packb(msgpack.ExtType(9, msgpack.packb((1 << 60, 0, 0)))),
        msgpack.packb(msgpack.ExtType(10, b"arrow")),
        b"\x91" * 5000 + b"\xc0",
        b"\xdd\xff\xff\xff\xff",
        b"\xc1",
        b"",
    ],
)
def test_a_body_that_means_nothing_is_refused(raw):
    with pytest.raises(InputError, match="checkpoint-damaged"):
        back(body_of(raw))


def test_a_body_that_claims_to_be_huge_is_refused_before_it_is_unpacked():
    data = there(tuple(range(1000)) * 9)
    assert data[5] == 1
    with pytest.raises(InputError, match="checkpoint-damaged"):
        back(resealed(data[:8] + struct.pack("<Q", 1 << 50) + data[16:]))


def test_another_version_is_refused_with_what_to_do():
    with pytest.raises(InputError) as error:
        encoding.decode(there(1), kind="test", version=8)
    assert str(error.value) == (
        "checkpoint-version: this test was written by version 7; this build of tocsin reads version 8\n"
        "hint: go on with the version of tocsin that wrote it, or start with a new checkpoint folder"
    )
    newer = resealed(there(1)[:4] + bytes((encoding.LAYOUT + 1,)) + there(1)[5:])
    with pytest.raises(InputError, match="checkpoint-version"):
        back(newer)


def test_a_pickle_is_refused_as_older_and_is_not_opened():
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("it was opened",)

    with pytest.raises(InputError, match="checkpoint-version: this test was written by an older version"):
        back(pickle.dumps(Trap()))


def test_another_kind_is_refused():
    with pytest.raises(InputError, match="it is a test, where a state was expected"):
        encoding.decode(there(1), kind="state", version=7)
