"""A shard whose rules change, without a query: every rule finds what a table of the events of its own time holds."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues

import tocsin
from support.one_shard import Shard, prepared, rows
from support.strategies import SECOND, subscriptions, traces
from support.table_columns import of_columns
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.compile import compile
from tocsin.errors import InputError, LimitError
from tocsin.events import Event, Interval
from tocsin.events.pace import Mark, Pace, PaceSettings
from tocsin.runtime.feed import MAX_TOKENS
from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.results.match_rows import match_schema
from tocsin.runtime.stream.arrivals import ArrivalJob, pack_arrivals
from tocsin.runtime.stream.rule_book import MAX_BYTES, MAX_MESSAGE, Rule, file_change, read_book
from tocsin.runtime.stream.shard import ShardJob, recall
from tocsin.runtime.stream.tally import LATE, MATCH, RULES
from tocsin.runtime.transport.pack import from_ipc
from tocsin.spark.query import EventColumns
from tocsin.spark.rules.changing_rules import RulesInForce
from tocsin.spark.rules.compile_rules import RuleSettings, compile_rules, sent_types
from tocsin.spark.rules.rule_plan import rules_of
from tocsin.spark.stream.shard_processor import ShardProcessor
from tocsin.spark.stream.state_store import MEMORY, RULE_BOOK
from tocsin.spark.stream.stream_options import StreamOptions

EVENTS = T.StructType(
    [
        T.StructField("types", T.ArrayType(T.StringType())),
        T.StructField("k", T.LongType()),
        T.StructField("v", T.DoubleType()),
        T.StructField("s", T.StringType()),
        T.StructField("f", T.BooleanType()),
        T.StructField("price", T.DecimalType(10, 2)),
    ]
)
KINDS = {"k": pa.int64(), "v": pa.float64(), "s": pa.string(), "f": pa.bool_()}
LAST = 1 << 50


class Store:
    """What Spark's state store does for one shard, as far as it is used: maps of bytes."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def getMapState(self, name: str, key: str, value: str) -> Values:  # noqa: N802
        return Values(self.values.setdefault(name, {}))


class Values:
    def __init__(self, values: dict[tuple[int, int], Any]) -> None:
        self._values = values

    def getValue(self, key: tuple[int, int]) -> Any:  # noqa: N802
        return self._values.get(key)

    def updateValue(self, key: tuple[int, int], value: Any) -> None:  # noqa: N802
        self._values[key] = value

    def keys(self) -> Iterator[tuple[int, int]]:
        return iter(self._values)

    def removeKey(self, key: tuple[int, int]) -> None:  # noqa: N802
        del self._values[key]


class RuledShard:
    """The processor of a query over a store of its own; `restart` is what a query from a checkpoint does."""

    def __init__(
        self, program: Sequence[Rule], delay: int, late: str = "fail", language: str = "core", **options: Any
    ) -> None:
        self.store, self.limit, self.language, self.columns = Store(), MAX_TOKENS, language, "columns"
        self.stream = StreamOptions(delay, late=late, **options)
        self.told: list[dict[str, Any]] = []
        self.lates: list[pa.Table] = []
        self.restart(program)

    def restart(self, program: Sequence[Rule]) -> None:
        columns = EventColumns("types", "Event", ("start", "end"), None, ("key",), "id", None)
        settings = RuleSettings(EVENTS, columns, (*KINDS, "price"), self.stream, self.language)
        settings = replace(settings, outputs=sent_types(settings, program))
        self.schema = match_schema([pa.field("key", pa.string())], None, settings.outputs)
        schema = self.schema.serialize().to_pybytes()
        job = ShardJob((), schema, 1, 1, self.limit, self.stream.late)
        compiled = compile_rules(settings, program)
        in_force = RulesInForce(self.columns, tuple(program), compiled, pickle.dumps(settings, protocol=5))
        processor = ShardProcessor(job, compiled, in_force)
        self.processor = pickle.loads(pickle.dumps(processor))
        self.processor.init(cast(StatefulProcessorHandle, self.store))

    def take(self, events: Sequence[Event], changes: Sequence[dict[str, Any]] = ()) -> pa.Table:
        arriving = table_of(events, [json.dumps(change) for change in changes])
        packed = pack_arrivals(ArrivalJob(1, 1, None, False), arriving.to_batches())
        frames: Iterator[pd.DataFrame] = (batch.to_pandas() for batch in packed)
        found = [self.schema.empty_table()]
        for frame in self.processor.handleInputRows((0,), frames, cast(TimerValues, None)):
            for kind, data in zip(frame["kind"], frame["packed"], strict=True):
                if kind == MATCH:
                    found.append(from_ipc(data))
                elif kind == LATE:
                    self.lates.append(from_ipc(data))
                elif kind == RULES:
                    self.told += map(json.loads, from_ipc(data).column("rule_change").to_pylist())
        return pa.concat_tables(found)


def table_of(events: Sequence[Event], changes: Sequence[str]) -> pa.Table:
    """Events as `prepare` makes rows of them where rules change, and changes among them."""
    nothing = [None] * len(changes)
    columns = {
        "start": pa.array([*(e.interval.start for e in events), *nothing], pa.int64()),
        "end": pa.array([*(e.interval.end for e in events), *nothing], pa.int64()),
        "key0": pa.array([*(e.key for e in events), *nothing], pa.string()),
        "id": pa.array([*(e.id for e in events), *nothing], pa.int64()),
        "type": pa.array([*(min(e.types) for e in events), *nothing], pa.string()),
        "value:types": pa.array([*(sorted(e.types) for e in events), *nothing], pa.list_(pa.string())),
        "change": pa.array([*([None] * len(events)), *changes], pa.string()),
    }
    for name, type in KINDS.items():
        columns[f"value:{name}"] = pa.array([*(e.attributes.get(name) for e in events), *nothing], type)
    return pa.table(columns)


def event(number: int, type: str, at: int, key: str = "k", **attributes: Any) -> Event:
    return Event(number, frozenset({type}), Interval(at * SECOND, at * SECOND), attributes, key)


def last() -> Event:
    return Event(99_999, frozenset({"Z"}), Interval(LAST, LAST), {}, "z")


def in_its_time(one: Subscription, events: Sequence[Event], after: int, until: int) -> list[str]:
    """What a rule finds that was in force for what ended later than `after`, up to `until`."""
    compiled = compile([one])
    own = [e for e in events if after < e.interval.end <= until]
    return rows(Shard(compiled).advance(prepared(compiled, own), until))


def as_change(number: int, action: str, name: str, one: Subscription | None) -> dict[str, Any]:
    if one is None:
        return {"number": number, "action": action, "name": name}
    (rule,) = rules_of({name: one})
    return {
        "number": number,
        "action": action,
        "name": name,
        "text": rule.text,
        "language": rule.language,
        "options": dict(rule.options),
    }


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=80)
@given(
    st.lists(subscriptions().filter(of_columns), min_size=5, max_size=5),
    traces(max_size=16, keys=("p", "p", "q")),
    st.data(),
)
def test_every_rule_finds_what_a_table_of_its_own_time_holds(
    many: list[Subscription], events: list[Event], data: st.DataObject
) -> None:
    many = [replace(one, detection=None) for one in many]
    delay = data.draw(st.integers(0, 4)) * SECOND + 1
    lag = {one.id: data.draw(st.sampled_from([0, delay // 2, delay - 1])) for one in events}
    arrivals = sorted(events, key=lambda one: (one.interval.end + lag[one.id], one.id))
    names = ("x", "y", "z")
    force = {name: (replace(many[n], name=name), LONG_AGO) for n, name in enumerate(names[:2])}
    program = rules_of({name: one for name, (one, _) in force.items()})
    shard, pace = RuledShard(program, delay), Pace(PaceSettings(delay=delay))
    found: list[pa.Table] = []
    expected: list[str] = []
    size, number, until = data.draw(st.integers(1, 4)), 0, LONG_AGO
    for first in range(0, len(arrivals), size):
        changes = []
        for _ in range(data.draw(st.integers(0, 2))):
            name, one = data.draw(st.sampled_from(names)), data.draw(st.sampled_from([None, *many]))
            if one is None and name not in force:
                continue
            number += 1
            action = "remove" if one is None else "replace" if name in force else "add"
            changes.append(as_change(number, action, name, one))
            if name in force:
                expected += in_its_time(force[name][0], events, force[name][1], until)
                del force[name]
            if one is not None:
                force[name] = (replace(one, name=name), until)
        if data.draw(st.booleans()):
            shard.restart(program)
        piece = arrivals[first : first + size]
        found.append(shard.take(piece, changes))
        until = pace.hear([Mark(None, len(piece), max(one.interval.end for one in piece))])
    found.append(shard.take([last()]))
    for own, since in force.values():
        expected += in_its_time(own, events, since, LAST - delay)
    assert [one.get("code") for one in shard.told] == [None] * number
    assert rows(pa.concat_tables(found)) == sorted(expected)


# One case each


def ids(found: pa.Table) -> list[tuple[str, list[str]]]:
    return sorted((row["pattern"], [one["id"] for one in row["constituents"]]) for row in found.to_pylist())


def add(number: int, name: str, text: str, **others: Any) -> dict[str, Any]:
    return {"number": number, "action": "add", "name": name, "text": text, **others}


def test_a_rule_that_comes_later_shares_nothing_with_an_equal_one() -> None:
    shard = RuledShard([Rule("old", "[A];[B]")], 1)
    shard.take([event(1, "A", 1), event(2, "Z", 2)])
    shard.take([event(3, "A", 3), event(4, "Z", 4)], [add(1, "new", "[A];[B]")])
    found = shard.take([event(5, "B", 5), event(6, "Z", 6)])
    assert ids(found) == [("new", ["3", "5"]), ("old", ["1", "5"]), ("old", ["3", "5"])]
    # Their matches are the same, and so are the ids of these.
    same = [row["match_id"] for row in found.to_pylist() if row["constituents"][0]["id"] == "3"]
    assert len(same) == 2
    assert len(set(same)) == 1


def test_a_change_counts_for_events_that_have_come_and_wait() -> None:
    shard = RuledShard([], 10 * SECOND)
    shard.take([event(1, "A", 1), event(2, "A", 8), event(3, "Z", 12)])  # decided up to 2 s
    shard.take([], [add(7, "AB", "[A];[B]")])
    assert shard.told == [
        {"number": 7, "action": "add", "name": "AB", "until": "1970-01-01T00:00:02.000000Z"}
    ]
    assert ids(shard.take([event(4, "B", 13), event(5, "Z", 99)])) == [("AB", ["2", "4"])]


def test_what_a_removed_rule_remembered_is_released() -> None:
    shard = RuledShard([Rule("x", "[A];[B]")], 1)
    shard.take([event(1, "A", 1), event(2, "Z", 2)])
    assert shard.store.values[MEMORY]
    shard.take([event(3, "Z", 3)], [{"number": 1, "action": "remove", "name": "x"}])
    shard.take([event(4, "B", 4), event(5, "Z", 5)])
    shard.take([last()])
    # The very last event still waits for others of its moment.
    kept = [recall(memory[0]) for (line, _), memory in shard.store.values[MEMORY].items() if line >= 0]
    assert [one.waiting.column("id").to_pylist() for one in kept] == [[99_999]]


def test_a_micro_batch_that_is_run_again_changes_the_rules_again_in_the_same_place() -> None:
    shard = RuledShard([Rule("x", "[A];[B]")], 2 * SECOND)
    shard.take([event(1, "A", 1), event(2, "A", 4), event(3, "Z", 5)])  # decided up to 3 s
    before = pickle.dumps(shard.store)
    again = []
    for _ in range(2):
        shard.store = pickle.loads(before)
        shard.told.clear()
        shard.restart([Rule("x", "[A];[B]")])
        changes = [add(2, "z", "[A"), add(1, "y", "[A];[B]")]
        found = shard.take([event(4, "B", 6), event(5, "Z", 9)], changes)
        again.append((rows(found), list(shard.told), pickle.dumps(shard.store)))
    assert again[0] == again[1]
    assert ids(found) == [("x", ["1", "4"]), ("x", ["2", "4"]), ("y", ["2", "4"])]


def test_events_that_wait_must_have_the_columns_that_rules_may_name() -> None:
    shard = RuledShard([Rule("x", "[A];[B]")], 1)
    shard.take([event(1, "A", 1)])
    shard.columns = "others"
    shard.restart([Rule("x", "[A];[B]")])
    with pytest.raises(InputError, match="this checkpoint is of other columns"):
        shard.take([event(2, "B", 2)])


def refusal(told: dict[str, Any]) -> tuple[Any, ...]:
    return told.get("number"), told.get("name"), told["code"], bool(told["hint"])


def test_what_is_wrong_with_a_change_is_told_and_the_others_are_made() -> None:
    shard = RuledShard([Rule("x", "[A];[B]")], 1)
    shard.take([event(1, "A", 1), event(2, "Z", 2)])
    shard.take(
        [event(3, "Z", 3)],
        [
            add(1, "open", "[A];[B"),
            add(2, "y", "[A];[C]"),
            add(3, "x", "[A]"),
            add(4, "attribute", "[A(nothing = 1)]"),
            {"number": 5, "action": "remove", "name": "X"},
            {"number": 6, "action": "replace", "name": "w", "text": "[A]"},
            add(7, "language", "[A]", language="cobol"),
            add(8, "sends", "repeat {push(x) {A}}", language="ecl"),
            add(9, "option", "[A]", options={"restart": "never"}),
            add(10, "sources", "[A] with detection = guaranteed"),
            {"number": 11, "action": "shout", "name": "z"},
            add(2, "z again", "[A]"),
            {"number": 12, "action": "add", "name": "z"},
            {"number": 13, "action": "add", "name": "z", "texts": "[A]"},
        ],
    )
    taken = [one for one in shard.told if "code" not in one]
    assert [(one["number"], one["name"]) for one in taken] == [(2, "y")]
    assert [refusal(one) for one in shard.told if "code" in one] == [
        (None, None, "bad-change", True),
        (None, None, "bad-change", True),
        (None, None, "bad-change", True),
        (1, "open", "open-bracket", True),
        (2, "z again", "old-change", True),
        (3, "x", "duplicate-name", True),
        (4, "attribute", "unknown-attribute", True),
        (5, "X", "unknown-rule", True),
        (6, "w", "unknown-rule", True),
        (7, "language", "unknown-language", True),
        (8, "sends", "other-language", True),
        (9, "option", "bad-option", True),
        (10, "sources", "no-sources", True),
    ]
    found = shard.take([event(4, "B", 4), event(5, "A", 5), event(6, "C", 6), event(7, "Z", 7)])
    assert ids(found) == [("x", ["1", "4"]), ("y", ["5", "6"])]
    recorded = read_book(shard.store.values[MEMORY][RULE_BOOK][0])
    assert [rule.name for rule in recorded.rules] == ["x", "y"]
    assert [one.code for one in recorded.history].count(None) == 1
    assert len(recorded.history) == 14


def test_a_rule_asks_for_texts_missing_values_and_two_attributes() -> None:
    shard = RuledShard([], 1)
    shard.take(
        [event(1, "Z", 1)],
        [add(1, "like", "[A(s LIKE 'p%' AND k IS NULL)]"), add(2, "both", "[A(k < v)]")],
    )
    events = [
        event(2, "A", 3, s="pq"),
        event(3, "A", 4, s="pq", k=1, v=1.5),
        event(4, "A", 5, s="q", k=2, v=0.5),
    ]
    assert ids(shard.take([*events, event(5, "Z", 9)])) == [("both", ["3"]), ("like", ["2"])]


STRANGE = {
    "deep": b"[" * 100_000,
    "deep text": json.dumps({"action": "add", "name": "d", "text": "(" * 40_000}).encode(),
    "long": b" " * (MAX_BYTES + 1),
    "no text": b'{"action": "add", "name": "caf\xe9", "text": "[A]"}',
    "digits": b'{"action": "add", "name": "d", "text": "[A]", "options": ' + b"9" * 5000 + b"}",
    "name": json.dumps({"action": "add", "name": "n" * 300, "text": "[A]"}).encode(),
    "half a character": b'{"action": "add", "name": "h", "text": "[A(s = \'\\ud800\')]"}',
    "costly": json.dumps({"action": "add", "name": "c", "text": "(([A]|[B])*[C])*" * 20}).encode(),
}


def test_nothing_in_a_file_of_a_rule_stops_a_stream() -> None:
    """Each is refused for itself, with a reason, and the rules before and after it are made."""
    shard = RuledShard([Rule("x", "[A];[B]")], 1)
    good = json.dumps({"action": "add", "name": "y", "text": "[A];[C]"}).encode()
    files = {"000001.json": good, **{f"{n:06d}.json": data for n, data in enumerate(STRANGE.values(), 2)}}
    files["9" * 200 + ".json"] = good.replace(b'"y"', b'"z"')
    shard.take([event(1, "A", 1)], [json.loads(file_change(name, data)) for name, data in files.items()])
    assert [one["name"] for one in shard.told if "code" not in one] == ["y"]
    refused = [one for one in shard.told if "code" in one]
    assert len(refused) == len(STRANGE) + 1
    assert all(len(one["message"]) <= MAX_MESSAGE for one in refused)
    assert {one["code"] for one in refused} >= {"bad-change", "too-long", "too-deep", "bad-character"}
    assert any("byte 30" in one["message"] for one in refused)
    found = shard.take([event(2, "B", 2), event(3, "A", 3), event(4, "C", 4), event(5, "Z", 5)])
    assert ids(found) == [("x", ["1", "2"]), ("y", ["1", "4"]), ("y", ["3", "4"])]


def test_few_wrong_rules_among_many_are_found_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from tocsin.spark.rules import compile_rules as module

    compiled, own = [], module.compile_rules
    module.compiled_from.cache_clear()

    def counted(settings: RuleSettings, rules: Sequence[Rule]) -> Any:
        compiled.append(len(rules))
        return own(settings, rules)

    monkeypatch.setattr(module, "compile_rules", counted)
    shard = RuledShard([Rule("x", "[A];[B]")], 1)
    changes = [add(n, f"r{n}", "[A];[B" if n == 77 else f"[A(v > {n})]") for n in range(1, 129)]
    shard.take([event(1, "A", 1)], changes)
    assert [one["number"] for one in shard.told if "code" in one] == [77]
    assert len([one for one in shard.told if "code" not in one]) == 127
    assert len(compiled) < 20


def test_a_question_that_only_spark_can_answer_is_refused() -> None:
    shard = RuledShard([], 1)
    shard.take([event(1, "Z", 2)], [add(1, "x", "[A(price > 1)]")])
    (told,) = shard.told
    assert told["code"] == "no-arrow-form"
    assert "'price' is decimal(10,2)" in told["message"]


def test_where_the_program_says_something_else_it_wins() -> None:
    first, second, third = Rule("a", "[A]"), Rule("b", "[B]"), Rule("c", "[C]")
    shard = RuledShard([first, second], 1)
    shard.take(
        [event(1, "Z", 1)],
        [add(1, "mine", "[D]"), {"number": 2, "action": "replace", "name": "a", "text": "[E]"}],
    )
    shard.told.clear()
    # The program has changed b and added c, and says of a what it always said.
    shard.restart([first, Rule("b", "[F]"), third])
    every = [event(n, type, n) for n, type in enumerate("ABCDEFZ", 10)]
    assert ids(shard.take(every)) == [("a", ["14"]), ("b", ["15"]), ("c", ["12"]), ("mine", ["13"])]
    assert [(one["action"], one["name"]) for one in shard.told] == [("replace", "b"), ("add", "c")]
    shard.restart([])
    assert ids(shard.take([event(n, type, n) for n, type in enumerate("ABCDEFZ", 20)])) == [("mine", ["23"])]


def test_rules_have_policies_of_their_own() -> None:
    shard = RuledShard([Rule("x", "[A];[B]")], 10 * SECOND, late="keep")
    shard.take([event(1, "A", 5), event(2, "Z", 16)])  # decided up to 6 s
    now = add(1, "now", "[A];[B] with detection = best-effort")
    found = shard.take([event(3, "A", 7), event(4, "B", 8)], [now])
    assert ids(found) == [("now", ["3", "4"])]
    # The B is late for the rule that waits; the D is late too, and nobody asks for it.
    assert shard.take([event(5, "B", 6), event(6, "D", 1)]).num_rows == 0
    assert [one.column("id").to_pylist() for one in shard.lates] == [[5]]
    assert ids(shard.take([event(7, "Z", 99)])) == [("x", ["1", "4"]), ("x", ["3", "4"])]


def test_a_rule_that_waits_can_come_to_one_that_does_not() -> None:
    shard = RuledShard(
        [Rule("x", "[A]")], 0, detection=tocsin.parse("[A] with detection = best-effort").detection
    )
    assert ids(shard.take([event(1, "A", 50)])) == [("x", ["1"])]
    assert ids(shard.take([event(2, "B", 3)], [add(1, "y", "[B]")])) == [("y", ["2"])]
    assert not shard.lates


def test_what_takes_too_much_room_can_be_replaced_by_the_program() -> None:
    shard = RuledShard([], 1)
    shard.limit = 2
    shard.restart([])
    shard.take([event(1, "Z", 1)], [add(1, "many", "[A];[B]")])
    crowd = [*(event(n, "A", n) for n in range(2, 6)), event(9, "Z", 9)]
    before = pickle.dumps(shard.store)
    with pytest.raises(LimitError):
        shard.take(crowd)
    shard.store = pickle.loads(before)  # a micro-batch that fails leaves nothing behind
    shard.restart([Rule("many", "[C]")])
    assert ids(shard.take([*crowd, event(10, "C", 8)])) == [("many", ["10"])]


@pytest.mark.parametrize(
    ("language", "text", "other"),
    [
        ("ecl", "repeat {push(Made {k = event.k}) {A}}", "repeat {push(Made {k = event.k}) {B}}"),
        (
            "ksu",
            "N correlation C (A a, B b) l:(a+b) { case l: push new N {k = b.k} }",
            "N correlation D (A a, B b) l:(a|b) { case l: push new N {k = 1} }",
        ),
    ],
)
def test_rules_that_send_events_go_on_when_others_come_and_go(language: str, text: str, other: str) -> None:
    shard = RuledShard([Rule("x", text)], 1, language=language)
    before = [event(1, "A", 1, k=1), event(2, "Z", 2)]  # decided up to just before 2 s
    between = [event(3, "B", 3, k=3), event(4, "A", 4, k=4), event(5, "Z", 5)]
    after = [event(6, "B", 6, k=6), event(7, "A", 7, k=7), event(8, "B", 8, k=8), event(9, "Z", 9)]
    found = [
        shard.take(before),
        shard.take(between, [add(1, "y", other), add(2, "w", text.replace("k =", "z ="))]),
        shard.take(after, [{"number": 3, "action": "remove", "name": "x"}]),
    ]
    assert [one.get("code") for one in shard.told] == [None, "new-output", None]
    alone = RuledShard([Rule("x", text)], 1, language=language).take([*before, *between])
    later = RuledShard([Rule("y", other)], 1, language=language).take([*between, *after])
    assert rows(pa.concat_tables(found)) == sorted([*rows(alone), *rows(later)])
    assert min(alone.num_rows, later.num_rows) > 0
