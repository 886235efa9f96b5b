"""Values that are read in Python are JSON, and are read as Python's own reader does."""

from __future__ import annotations

import json
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.runtime.read.json_values import JsonJob, events_of, read_values

FIELDS = (("n", pa.int64()), ("i", pa.int8()), ("x", pa.float64()), ("t", pa.string()), ("ok", pa.bool_()))
texts = st.text(st.characters(codec="utf-8"), max_size=8)
reals = st.floats(-1e100, 1e100).filter(lambda x: x == 0 or abs(x) > 1e-100)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**50), 10**50) | reals | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
events = st.fixed_dictionaries(
    {},
    optional={
        "n": st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
        "i": st.none() | st.integers(-128, 127),
        "x": st.none() | reals | st.integers(-(10**30), 10**30),
        "t": st.none() | texts,
        "ok": st.none() | st.booleans(),
        "unwanted": anything,
        "x y": anything,
    },
)


@given(st.lists(st.tuples(events, st.booleans(), st.sampled_from([None, 1]))))
def test_plain_values_are_read(made: list[tuple[dict[str, object], bool, int | None]]) -> None:
    values = [json.dumps(event, ensure_ascii=ascii, indent=indent).encode() for event, ascii, indent in made]
    found = events_of(pa.array(values, pa.binary()), FIELDS).to_pylist()
    for event, (sent, _, _) in zip(found, made, strict=True):
        assert event is not None, sent
        for name, _ in FIELDS:
            wanted = sent.get(name)
            assert event[name] == (float(wanted) if name == "x" and wanted is not None else wanted)  # type: ignore[arg-type]


@given(st.lists(st.binary(max_size=12) | st.text('{}[]":,0-1.etnu\\ ' + "tix", max_size=14).map(str.encode)))
def test_what_is_read_is_json(values: list[bytes]) -> None:
    around = [b'{"t":' + value + b"}" for value in values] + values
    found = events_of(pa.array(around, pa.binary()), FIELDS).to_pylist()
    for value, event in zip(around, found, strict=True):
        if event is not None:
            assert isinstance(json.loads(value), dict)


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "null",
        "[]",
        '{"i":1}{}',
        '{"i":1,"i":1}',
        '{"i":null,"i":1}',
        '{"i":128}',
        '{"i":-129}',
        '{"i":1.0}',
        '{"i":"1"}',
        '{"x":"1"}',
        '{"x":-0}',
        '{"x":1e201}',
        '{"n":9223372036854775808}',
        '{"n":18446744073709551617}',
        '{"t":1}',
        '{"t":"\\ud800"}',
        '{"ok":1}',
        '{"\\u0069":1}',
        "{'i':1}",
        '{"i":01}',
        '{"z":' + "[" * 62 + "]" * 62 + "}",
        '{"z":[1,]}',
        '{"z":{"a":1,}}',
        '{"z":[}}',
        '{"t":"',
    ],
)
def test_what_needs_a_decision_is_left_to_others(value: str) -> None:
    among = pa.array([b'{"i":1}', value.encode(), b'{"i":2}'])
    assert events_of(among, FIELDS).field("i").to_pylist() == [1, None, 2]
    (batch,) = read_values(JsonJob("value", ("value",), FIELDS, ("event", "rest")), [_batch(value.encode())])
    assert batch.to_pydict() == {"value": [value.encode()], "event": [None], "rest": [value.encode()]}


def test_rows_without_a_value_have_neither_an_event_nor_a_rest() -> None:
    job = JsonJob("value", (), FIELDS[:1], ("event", "rest"))
    (batch,) = read_values(job, [_batch(None, b'{"n": 5}').slice(0, 2)])
    assert batch.to_pydict() == {"event": [None, {"n": 5}], "rest": [None, None]}
    (empty,) = read_values(job, [_batch()])
    assert empty.num_rows == 0


def test_a_piece_of_a_column_is_read_from_where_it_begins() -> None:
    values = pa.array([b'{"n": %d}' % n for n in range(9)])
    assert [event["n"] for event in events_of(values[3:7], FIELDS).to_pylist()] == [3, 4, 5, 6]


def test_zero_keeps_its_sign() -> None:
    (event,) = events_of(pa.array([b'{"x": -0.0}']), FIELDS).to_pylist()
    assert math.copysign(1, event["x"]) == -1


def _batch(*values: bytes | None) -> pa.RecordBatch:
    return pa.record_batch({"value": pa.array(values, pa.binary())})
