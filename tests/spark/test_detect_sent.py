"""ECL and KSU on Spark: what is sent, with which types, from which events; and what is refused, and how."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tocsin
from support import calls
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.errors import InputError, PatternErrors, TocsinError
from tocsin.events import Catalog, EventType
from tocsin.languages.ksu import parse_idl
from tocsin.runtime.batch.partition import SLICE
from tocsin.spark.events.columns import event_columns
from tocsin.spark.events.prepare import is_relevant
from tocsin.spark.query import Query
from tocsin.spark.session.failures import explain_failure
from tocsin.values import Relation, compare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCHEMA = "id long, type string, t long, source string, key string, n int, x double, room string"
ROWS = [
    (1, "A", 1, "GPS.out", "k", 5, 1.5, "r1"),
    (2, "B", 2, "INS.out", "k", 6, None, "r1"),
    (3, "A", 3, "GPS.out", "l", 7, 2.5, "7"),
    (4, "C", 4, "INS.out", "l", 8, 0.5, None),
    (5, "B", 5, "INS.out", "l", 9, 3.5, "r2"),
]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


def detect(events: DataFrame, text: Any, language: str = "ecl", **options: Any) -> DataFrame:
    given = {"time": "t", "time_unit": "s", "id": "id", "language": language, **options}
    return calls.detect(events, text, **given)


def told(found: DataFrame) -> list[tuple[Any, ...]]:
    """For each row the events it is made of, what it tells, and of which type and value."""
    return sorted(
        ([int(c.id) for c in row.constituents], row.what, row.type, row.value) for row in found.collect()
    )


def types_of(frame: DataFrame) -> dict[str, str]:
    return dict(frame.dtypes)


# ECL: what is asked


def test_fields_of_an_event_compare_with_each_other(events: DataFrame) -> None:
    frame = events.selectExpr(
        "*", "timestamp_seconds(t) as at", "timestamp_seconds(n) as due", "cast(n as double) as m"
    )
    asked = {
        "<n > event.x>": "n > x",
        "<n = event.m>": "n = m",
        "<x != event.room>": "x is not null and room is not null",
        "<x < event.room>": "false",
        "<at < event.due>": "timestamp_seconds(t) < timestamp_seconds(n)",
        "<source != event.room> /\\ !<n > event.x>": "source <> room and not coalesce(n > x, false)",
    }
    rows = frame.selectExpr(
        "id", *(f"coalesce({sql}, false) as c{k}" for k, sql in enumerate(asked.values()))
    ).collect()
    wanted = {f"S{k}": sorted(row.id for row in rows if row[f"c{k}"]) for k in range(len(asked))}
    text = " ".join(f"subscribe S{k} {{repeat {{push(x) {{{one}}}}}}}" for k, one in enumerate(asked))
    found: dict[str, list[int]] = {name: [] for name in wanted}
    for row in detect(frame, text).collect():
        found[row.pattern].append(int(row.constituents[0].id))
    assert {name: sorted(ids) for name, ids in found.items()} == wanted
    assert any(wanted.values())


# ECL: what is sent


def test_columns_of_what_is_sent_can_be_chosen(events: DataFrame) -> None:
    text = "parallel {repeat {push(x) {A}}, repeat {push(7) {C}}}"
    whole = detect(events, text)
    for wanted in (["value", "end"], ["match_id"], ["type"]):
        found = detect(events, text, columns=wanted)
        assert found.columns == wanted
        assert sorted(found.collect()) == sorted(whole.select(*wanted).collect())


def test_constants_share_one_table(events: DataFrame) -> None:
    found = detect(
        events, 'parallel {repeat {push(x) {A}}, repeat {push("low fuel") {B}}, repeat {push(7) {C}}}'
    )
    assert told(found) == [
        ([1], "push", "x", "x"),
        ([2], "push", "low fuel", "low fuel"),
        ([3], "push", "x", "x"),
        ([4], "push", "7", "7"),
        ([5], "push", "low fuel", "low fuel"),
    ]
    sent = tocsin.sent(found, "constant")
    assert types_of(sent) == {
        "id": "string", "type": "string", "time": "timestamp", "source": "string", "value": "string",
    }  # fmt: skip
    assert {row.value for row in sent.collect()} == {"x", "low fuel", "7"}


def test_made_events_have_the_types_of_columns_and_constants(events: DataFrame) -> None:
    frame = events.selectExpr("*", "timestamp_seconds(t) as at", "cast(n as decimal(6,2)) as price")
    fields = "n = event.n, x = event.x, at = event.at, price = event.price, room = event.room, us = event.timestamp"
    constants = 'whole = 3, real = 1.5, sure = true, text = "t", from = event.source, kind = event.type'
    found = detect(frame, f"repeat {{push(Made {{{fields}, {constants}}}) {{A}}}}")
    sent = tocsin.sent(found, "Made")
    own = {
        name: type for name, type in types_of(sent).items() if name not in ("id", "type", "time", "source")
    }
    assert own == {
        "n": "int", "x": "double", "at": "timestamp", "price": "decimal(6,2)", "room": "string", "us": "bigint",
        "whole": "bigint", "real": "double", "sure": "boolean", "text": "string", "from": "string", "kind": "string",
    }  # fmt: skip
    first = sent.orderBy("time").first()
    assert first.asDict() == {
        "id": first.id, "type": "Made", "time": first.at, "source": "pattern",
        "n": 5, "x": 1.5, "at": first.at, "price": first.price, "room": "r1", "us": 1_000_000,
        "whole": 3, "real": 1.5, "sure": True, "text": "t", "from": "GPS.out", "kind": "A",
    }  # fmt: skip


def test_whole_and_real_numbers_of_one_attribute_are_real(events: DataFrame) -> None:
    text = "parallel {repeat {push(N {v = event.n}) {A}}, repeat {push(N {v = 0.5}) {B}}, repeat {push(N {}) {C}}}"
    sent = tocsin.sent(detect(events, text), "N")
    assert types_of(sent)["v"] == "double"
    assert sorted(row.v for row in sent.where("v is not null").collect()) == [0.5, 0.5, 5.0, 7.0]
    assert sent.where("v is null").count() == 1


def test_a_forwarded_event_has_all_that_is_carried(events: DataFrame) -> None:
    found = detect(events, "repeat {push(*) {<x > 2>}}")
    assert told(found) == [([3], "push", "A", None), ([5], "push", "B", None)]
    sent = tocsin.sent(found, "forwarded").orderBy("time")
    # `source` is that of what was sent; the event's own has a `_` behind it.
    assert sent.columns == ["id", "type", "time", "source", "source_", "key", "n", "x", "room"]
    assert [(row.type, row.source_, row.n) for row in sent.collect()] == [
        ("A", "GPS.out", 7),
        ("B", "INS.out", 9),
    ]
    fewer = detect(events, "repeat {push(*) {<x > 2>}}", attributes=["n"])
    assert tocsin.sent(fewer, "forwarded").columns[4:] == ["n"]


def test_events_without_attributes_are_found_by_their_type(events: DataFrame) -> None:
    found = detect(events, "repeat {push(Empty {}) {A}}")
    assert "output" not in found.columns
    assert tocsin.sent(found, "Empty").columns == ["id", "type", "time", "source"]
    assert tocsin.sent(found, "Empty").count() == 2
    assert tocsin.sent(detect(events, "repeat {push(*) {A}}", attributes=[]), "A").count() == 2


def test_success_and_failure_are_rows(events: DataFrame) -> None:
    text = "subscribe Yes {accumulate {A, B}} subscribe No {do {C} unless {B}} subscribe Never {repeat {A}}"
    found = detect(events, text)
    rows = sorted((row.pattern, row.what, row.type, row.constituents[0].id) for row in found.collect())
    assert rows == [("No", "failure", None, "2"), ("Yes", "success", None, "2")]


def test_what_never_sends_anything_has_the_columns_all_the_same(events: DataFrame) -> None:
    found = detect(events, "repeat {A}")
    assert found.columns[-3:] == ["what", "type", "value"]
    assert found.count() == 0


def test_subscriptions_of_a_text_are_reported_by_their_names(events: DataFrame) -> None:
    text = "define seen = select {A, B}; subscribe S {repeat {push(s) {seen}}} subscribe T {push(t) {seen}}"
    found = detect(events, text)
    assert {(row.pattern, row.what, row.value) for row in found.collect()} == {
        ("S", "push", "s"), ("T", "push", "t"), ("T", "success", None),
    }  # fmt: skip
    several = detect(events, {"one": text, "two": "repeat {push(u) {C}}"})
    assert {row.pattern for row in several.collect()} == {"one.S", "one.T", "two"}


def test_each_key_is_a_stream_of_its_own(events: DataFrame) -> None:
    text = "repeat {push(both) {sequential {A, B}}}"
    assert told(detect(events, text)) == [([2], "push", "both", "both"), ([5], "push", "both", "both")]
    keyed = detect(events, "repeat {push(both) {sequential {B, A}}}", key="key")
    assert told(keyed) == []
    found = detect(events, text, key=["key"]).collect()
    assert sorted((row.key, row.constituents[0].id) for row in found) == [("k", "2"), ("l", "5")]
    assert {row.key for row in tocsin.sent(detect(events, text, key="key"), "constant").collect()} == {
        "k",
        "l",
    }


def test_an_event_of_a_subtype_is_one_of_its_parent(spark: SparkSession, events: DataFrame) -> None:
    catalog = Catalog([EventType("Seen"), EventType("A", {}, "Seen"), EventType("B", {}, "Seen")])
    text = "parallel {repeat {push(x) {Seen}}, repeat {push(y) {!Seen}}}"
    assert [(ids, value) for ids, _, _, value in told(detect(events, text, catalog=catalog))] == [
        ([1], "x"), ([2], "x"), ([3], "x"), ([4], "y"), ([5], "x"),
    ]  # fmt: skip
    several = events.selectExpr("id", "t", "if(type = 'C', array('C'), array(type, 'Seen')) as type")
    assert told(detect(several, text)) == told(detect(events, text, catalog=catalog))


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(
    ("field", "value"), [("room", "7"), ("room", '"7"'), ("n", "7"), ("n", '"7"'), ("n", "6.5")]
)
def test_values_of_different_kinds_compare_as_in_the_reference(
    events: DataFrame, field: str, value: str, relation: Relation
) -> None:
    constant = value.strip('"') if '"' in value else float(value)
    at = SCHEMA.split(", ").index(f"{field} {'int' if field == 'n' else 'string'}")
    expected = [[row[0]] for row in ROWS if compare(row[at], relation, constant) is True]
    found = detect(events, f"repeat {{push(x) {{<{field} {relation} {value}>}}}}")
    assert [ids for ids, *_ in told(found)] == expected


def test_a_moment_is_compared_with_a_moment_only(events: DataFrame) -> None:
    frame = events.selectExpr("id", "type", "t", "timestamp_seconds(t) as at")
    for condition, count in [
        ('<at > "1970-01-01T00:00:02">', 3), ('<at = "1970-01-01T00:00:02">', 1),
        ('<at > "soon">', 0), ("<at > 2>", 0), ("<at != 2>", 5), ("<timestamp > 2000000>", 3),
    ]:  # fmt: skip
        assert detect(frame, f"repeat {{push(x) {{{condition}}}}}").count() == count, condition


def test_options_are_those_of_the_language(events: DataFrame) -> None:
    text = "do {<n = 6>} unless {B}"
    assert [what for _, what, *_ in told(detect(events, text))] == ["success"]
    assert [what for _, what, *_ in told(detect(events, text, options={"unless_tie": "failure"}))] == [
        "failure"
    ]


# KSU: what is sent

IDL = """
eventtype Notify { attribute short SourceID; };
eventtype DataNotify : Notify { attribute float Value; attribute boolean ok; };
eventtype Alarm { };
"""
LATEST = """
Notify correlation Latest (DataNotify a, DataNotify b) l1:(a;b) | l2:(b;a) {
  case l1: push b;
  case l2: push new Notify { SourceID = a.SourceID };
}
"""
PORTS = {"Latest": {"a": "GPS.out", "b": "INS.out"}}
FLIGHT = [
    (1, "DataNotify", 1, "GPS.out", 11, 1.5, True),
    (2, "DataNotify", 2, "INS.out", 12, 2.5, False),
    (3, "DataNotify", 3, "INS.out", 13, None, None),
    (4, "Alarm", 4, "INS.out", 14, None, None),
    (5, "DataNotify", 5, "GPS.out", 15, 0.5, True),
]
FLIGHT_SCHEMA = "id long, type string, t long, source string, SourceID long, Value double, ok boolean"


@pytest.fixture
def flight(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(FLIGHT, FLIGHT_SCHEMA)


def correlate(events: DataFrame, text: Any, **options: Any) -> DataFrame:
    return detect(events, text, "ksu", **options)


def test_what_is_pushed_has_the_declared_types(flight: DataFrame) -> None:
    found = correlate(flight, LATEST, types=IDL, ports=PORTS)
    assert told(found) == [
        ([2], "push", "DataNotify", "b"),
        ([4], "dead", None, None),
        ([5], "push", "Notify", None),
    ]
    forwarded, made = tocsin.sent(found, "DataNotify"), tocsin.sent(found, "Notify")
    assert types_of(forwarded.drop("id", "type", "time", "source")) == {
        "SourceID": "smallint", "Value": "float", "ok": "boolean",
    }  # fmt: skip
    assert types_of(made.drop("id", "type", "time", "source")) == {"SourceID": "smallint"}
    row = forwarded.first()
    assert (row.source, row.SourceID, row.Value, row.ok) == ("Latest", 12, 2.5, False)
    assert [(row.type, row.SourceID) for row in made.collect()] == [("Notify", 15)]


def test_every_type_of_idl_has_a_column_type(flight: DataFrame) -> None:
    declared = {
        "octet": "smallint", "short": "smallint", "unsigned short": "int", "long": "int", "unsigned long": "bigint",
        "long long": "bigint", "float": "float", "double": "double", "boolean": "boolean", "char": "string",
        "string": "string",
    }  # fmt: skip
    names = {type.replace(" ", "_") + "_": type for type in declared}
    idl = (
        "eventtype A { }; eventtype All { " + "".join(f"attribute {t} {n}; " for n, t in names.items()) + "};"
    )
    found = correlate(flight, "All correlation C (A a) l:a { case l: push new All {} }", types=idl)
    sent = types_of(tocsin.sent(found, "All"))
    assert {type: sent[name] for name, type in names.items()} == declared


def test_without_event_types_the_columns_decide(flight: DataFrame) -> None:
    found = correlate(flight, LATEST, ports=PORTS)
    # Nobody says what a port may send, so an Alarm is taken too.
    assert told(found) == [([2], "push", "DataNotify", "b"), ([5], "push", "Notify", None)]
    sent = tocsin.sent(found, "DataNotify")
    assert types_of(sent)["SourceID"] == "bigint"
    assert sent.columns == ["id", "type", "time", "source", "source_", "SourceID", "Value", "ok"]


def test_events_are_known_by_their_types_where_no_ports_are_given(flight: DataFrame) -> None:
    text = "Notify correlation C (Notify a, Alarm b) l:(a;b) { case l: push a }"
    found = correlate(flight, text, types=IDL)
    assert told(found) == [([3, 4], "push", "DataNotify", "a")]
    assert tocsin.sent(found, "Notify").first().SourceID == 13


def test_a_statement_that_lacks_an_event_is_skipped(flight: DataFrame) -> None:
    text = "Notify correlation C (DataNotify a, Alarm b) l:(a|b) { case l: push a }"
    found = correlate(flight, text, types=IDL).where("what != 'push'")
    assert told(found) == [([4], "skipped", None, "a")]


def test_triggers_are_told_if_that_is_asked_for(flight: DataFrame) -> None:
    for value in (True, "true"):
        found = correlate(flight, LATEST, types=IDL, ports=PORTS, options={"triggers": value})
        assert told(found.where("what = 'trigger'")) == [
            ([1, 2], "trigger", "branch 1", "l1"), ([3, 5], "trigger", "branch 1", "l2"),
        ]  # fmt: skip
    assert "trigger" not in {what for _, what, *_ in told(correlate(flight, LATEST, types=IDL, ports=PORTS))}


@pytest.mark.parametrize(("overwrite", "seen"), [("recent", 15), ("earliest", 11)])
def test_of_several_events_of_a_port_the_chosen_one_is_sent(
    flight: DataFrame, overwrite: str, seen: int
) -> None:
    text = "Notify correlation C (DataNotify a, Alarm b) l:(b;a) { case l: push a; push new Notify {SourceID = a.SourceID} }"
    found = correlate(flight, text, types=IDL, options={"overwrite": overwrite})
    assert [row.SourceID for row in tocsin.sent(found, "DataNotify").collect()] == [seen]
    assert [row.SourceID for row in tocsin.sent(found, "Notify").collect()] == [seen]


def test_an_event_may_say_itself_what_it_overwrites(flight: DataFrame) -> None:
    text = "Notify correlation C (DataNotify a, Alarm b) l:(a;b) { case l: push a }"
    frame = flight.selectExpr("*", "if(id = 3, 'earliest', null) as overwrite")
    assert [
        row.SourceID for row in tocsin.sent(correlate(frame, text, types=IDL), "DataNotify").collect()
    ] == [12]


def test_an_assembly_says_the_same_as_ports(flight: DataFrame, tmp_path: Path) -> None:
    cad, idl = tmp_path / "flight.cad", tmp_path / "events.idl"
    cad.write_text("connect GPS.out -> Latest.a; connect INS.out -> Latest.b; connect Latest -> Display.in1;")
    idl.write_text(IDL)
    expected = sorted(row.match_id for row in correlate(flight, LATEST, types=IDL, ports=PORTS).collect())
    for types, assembly in [(IDL, cad.read_text()), (idl, cad), (parse_idl(IDL), cad)]:
        found = correlate(flight, LATEST, types=types, assembly=assembly)
        assert sorted(row.match_id for row in found.collect()) == expected
    other = flight.withColumnRenamed("source", "port")
    assert correlate(other, LATEST, types=IDL, assembly=cad, source="port").count() == len(expected)


def test_what_says_how_an_event_is_delivered_goes_with_it(flight: DataFrame) -> None:
    frame = flight.selectExpr("*", "cast(SourceID as int) as priority", "'recent' as drop_it")
    text = "Notify correlation C (DataNotify a, Alarm b) l:(a;b) { case l: push a; push new Notify {priority = 5, expiry = 1} }"
    found = correlate(frame, text, types=IDL)
    assert types_of(tocsin.sent(found, "DataNotify"))["priority"] == "int"
    assert "drop_it" not in tocsin.sent(found, "DataNotify").columns
    made = tocsin.sent(found, "Notify")
    assert (types_of(made)["priority"], types_of(made)["expiry"]) == ("int", "double")
    assert (tocsin.sent(found, "DataNotify").first().priority, made.first().priority) == (13, 5)


def test_correlations_are_reported_by_their_names(flight: DataFrame) -> None:
    alarm = "Notify correlation Alarms (Alarm b) l:b { case l: push new Notify {} }"
    found = correlate(flight, LATEST + alarm, types=IDL, ports=PORTS)
    assert {row.pattern for row in found.collect()} == {"Latest", "Alarms"}
    several = correlate(flight, {"both": LATEST + alarm, "one": alarm}, types=IDL, ports=PORTS)
    assert {row.pattern for row in several.collect()} == {"both.Latest", "both.Alarms", "one"}


def test_events_of_no_port_do_not_travel(flight: DataFrame) -> None:
    ports = {"Latest": {"a": "GPS.out", "b": "Nowhere"}}
    texts = named_texts(LATEST, "ksu", {"types": IDL, "ports": ports})
    planned = plan_texts(texts, KnownEvents({}))
    columns = event_columns(flight, time="t", time_unit="s", source="source")
    used = flight.where(is_relevant(Query(flight, columns, planned.compiled, planned.catalog)))
    assert sorted(row.id for row in used.collect()) == [1, 5]


# What is refused


@pytest.mark.parametrize(
    ("text", "options", "code", "says"),
    [
        ("repeat {push(x) {<nn < 5>}}", {}, "unknown-attribute", "did you mean 'n'?"),
        ("repeat {push(X {a = event.rooom}) {A}}", {}, "unknown-attribute", "did you mean 'room'?"),
        ("in (<rooom = 1>) do {A}", {}, "unknown-attribute", "line 1, column 6"),
        (
            "repeat {push(N {v = 1}) {push(N {v = event.room}) {A}}}",
            {},
            "mixed-types",
            "'v' of the events 'N'",
        ),
        ("A", {"options": {"unless_ti": "failure"}}, "unknown-option", "did you mean 'unless_tie'?"),
        ("A", {"options": {"loop_ends": "never"}}, "bad-option", "one of success, failure"),
        ("A", {"types": IDL}, "unknown-option", "ECL has no option 'types'"),
        ("A", {"ports": PORTS}, "unknown-option", "it has unless_tie, loop_ends"),
        ("repeat {", {}, "open-bracket", "line 1"),
        ({}, {}, "no-pattern", "there is no pattern to detect"),
    ],
)
def test_a_wrong_text_of_ecl(
    events: DataFrame, text: Any, options: Mapping[str, Any], code: str, says: str
) -> None:
    with pytest.raises(TocsinError) as refused:
        detect(events, text, **options)
    assert refused.value.code == code
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "options", "code", "says"),
    [
        (LATEST, {}, "no-port", "an event of type DataNotify could be a or b of Latest (line 2, column 42)"),
        (LATEST, {"types": IDL}, "no-port", "with an assembly, or ports"),
        ("N correlation C (Notify a, DataNotify b) l:(a;b) { }", {"types": IDL}, "unknown-type", "N"),
        (LATEST, {"ports": {"Latset": {}}}, "unknown-correlation", "did you mean 'Latest'?"),
        (LATEST, {"ports": {"Latest": {"c": "GPS.out"}}}, "unknown-event", "has no event 'c'"),
        (LATEST, {"ports": {"Latest": {"a": "P", "b": "P"}}}, "bound-twice", "bound to both a and b"),
        (LATEST, {"ports": PORTS, "assembly": ""}, "bad-option", "keep one"),
        (LATEST, {"assembly": "connect GPS.out -> Latest.c;"}, "unknown-event", "line 1, column 20"),
        (LATEST, {"ports": PORTS, "options": {"triger": True}}, "unknown-option", "did you mean 'triggers'?"),
        (LATEST, {"ports": PORTS, "options": {"triggers": 3}}, "bad-option", "one of true, false"),
        ("", {}, "no-pattern", "there is no correlation to run"),
    ],
)
def test_a_wrong_text_of_ksu(
    flight: DataFrame, text: str, options: Mapping[str, Any], code: str, says: str
) -> None:
    with pytest.raises(TocsinError) as refused:
        correlate(flight, text, **options)
    assert refused.value.code == code
    assert says in str(refused.value)


def test_related_types_are_in_doubt_only_where_the_relation_is_known(flight: DataFrame) -> None:
    text = "Notify correlation C (Notify a, DataNotify b) l:(a;b) { case l: push b }"
    with pytest.raises(PatternErrors, match="no-port"):
        correlate(flight, text, types=IDL)
    assert correlate(flight, text).count() == 0


def test_an_attribute_with_two_types_is_refused(flight: DataFrame) -> None:
    text = 'N correlation C (DataNotify a) l:a { case l: push a; push new DataNotify {SourceID = "x"} }'
    with pytest.raises(InputError, match="'SourceID' of the events 'DataNotify' is sent both as"):
        correlate(flight, text)
    siblings = (
        "eventtype P { }; eventtype Q : P { attribute short v; }; eventtype R : P { attribute string v; };"
    )
    with pytest.raises(InputError, match="mixed-types: 'v' of the events 'P'"):
        correlate(flight, "P correlation C (P a) l:a { case l: push a }", types=siblings)


def test_who_asks_for_the_source_needs_a_column_for_it(events: DataFrame, flight: DataFrame) -> None:
    with pytest.raises(InputError, match="no-source"):
        correlate(flight.drop("source"), LATEST, types=IDL, ports=PORTS)
    with pytest.raises(InputError, match="no-source"):
        detect(events.drop("source"), 'repeat {push(x) {<source = "GPS.out">}}')
    numbered = events.selectExpr("id", "type", "t", "id as device")
    assert told(detect(numbered, 'push(x) {<source = "3">}', source="device"))[0][0] == [3]


@pytest.mark.parametrize("column", ["SourceID * 100000", "'none'"])
def test_a_value_that_does_not_fit_is_told_in_our_words(flight: DataFrame, column: str) -> None:
    frame = flight.selectExpr("id", "type", "t", "source", f"{column} as SourceID")
    with pytest.raises(Exception, match="wrong-type") as failed:
        correlate(frame, LATEST, types=IDL, ports=PORTS).collect()
    assert explain_failure(failed.value).startswith(
        "wrong-type: 'SourceID' of 'DataNotify' is declared as int16"
    )


def test_what_is_of_another_language_is_refused(events: DataFrame) -> None:
    subscription, program = tocsin.parse("[A]"), tocsin.parse("A", "ecl")
    library = tocsin.parse("N correlation C (A a) l:a { case l: push a }", "ksu")
    for wrong, language, says in [
        (subscription, "ecl", "this is a pattern\nhint: say language='core'"),
        (subscription, "ksu", "this is a pattern\nhint: say language='core'"),
        (library, "ecl", "this is a KSU library\nhint: say language='ksu'"),
        (program, "ksu", "this is an ECL program\nhint: say language='ecl'"),
        (program, "core", "this is an ECL program\nhint: say language='ecl'"),
        ("A", "elc", "did you mean 'ecl'?"),
    ]:
        with pytest.raises(InputError) as refused:
            detect(events, wrong, language)
        assert says in str(refused.value)
    assert told(detect(events, program)) == [([1], "success", None, None)]
    assert len(told(detect(events, library, "ksu"))) == 2


def test_only_these_languages_send_events(events: DataFrame) -> None:
    with pytest.raises(InputError, match="these matches contain no events that were sent"):
        tocsin.sent(detect(events, "[A]", "core"), "A")


# Ids, order, and tables at the edge

TEXTS = [
    ("ecl", "parallel {repeat {push(x) {A}}, repeat {push(x) {A}}, repeat {push(*) {select {A, B}}}}"),
    ("ksu", "N correlation C (A a, B b) l:(a|b) || m:(a+b) { case l|m: push a; push new N {v = b.n} }"),
]


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_match_ids_are_the_same_on_every_run_and_in_every_order(
    events: DataFrame, language: str, text: str
) -> None:
    def ids(frame: DataFrame, pattern: Any) -> list[tuple[str, str]]:
        rows = detect(frame, pattern, language, key="key").collect()
        return sorted((row.match_id, row.what) for row in rows)

    first = ids(events, text)
    assert first == ids(events, text)
    assert first == ids(events.repartition(5).orderBy("room", "n"), text)
    assert first == ids(events, {"another name": text})
    assert len({match_id for match_id, _ in first}) == len(first) > 5


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_an_empty_table_sends_nothing(spark: SparkSession, language: str, text: str) -> None:
    found = detect(spark.createDataFrame([], SCHEMA), text, language)
    assert found.count() == 0
    assert tocsin.sent(found, "A").count() == 0


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_a_key_that_is_null_fails_or_is_dropped(spark: SparkSession, language: str, text: str) -> None:
    frame = spark.createDataFrame([*ROWS, (6, "A", 6, "GPS.out", None, 1, 1.0, "r")], SCHEMA)
    with pytest.raises(Exception, match="no key in column 'key'"):
        detect(frame, text, language, key="key").collect()
    dropped = detect(frame, text, language, key="key", unreadable="drop")
    assert "6" not in {constituent.id for row in dropped.collect() for constituent in row.constituents}


def test_events_of_one_moment_come_in_the_order_of_their_ids(spark: SparkSession) -> None:
    rows = [(n, "A" if n % 2 else "B", 0) for n in range(1, 8)]
    text = "repeat {push(x) {sequential {A, B}}}"
    expected = [([n], "push", "x", "x") for n in (2, 4, 6)]
    for several in (rows, rows[::-1]):
        frame = spark.createDataFrame(several, "id long, type string, t long")
        assert told(detect(frame, text)) == expected


def test_a_long_stream_is_cut_into_slices(spark: SparkSession) -> None:
    """More rows of one key than a kernel is given at once; the state and the remembered events go on."""
    frame = spark.range(2 * SLICE + 10).selectExpr(
        "id",
        "id as t",
        f"case id when 0 then 'A' when {2 * SLICE + 5} then 'B' else 'C' end as type",
        "id as n",
    )
    text = "N correlation C (A a, B b, C c) l:(a;b) || k:c { case l: push new N {first = a.n, last = b.n} }"
    found = correlate(frame, text).where("what = 'push'")
    assert [(row.first, row.last) for row in tocsin.sent(found, "N").collect()] == [(0, 2 * SLICE + 5)]
