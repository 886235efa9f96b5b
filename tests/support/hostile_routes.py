"""Comparisons of hostile values on every route: what each engine says, against what must hold.

`differences(route, seed, count)` makes at least `count` comparisons on one of `ROUTES` and returns those that went wrong, as
texts. One comparison is two values, an operator and a route. The routes of `ON_SPARK` need a session.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from support.hostile_values import (
    COLUMNS,
    DECIMALS,
    Pair,
    Predicate,
    Row,
    as_value,
    some_pairs,
    some_predicates,
    some_rows,
    table_of,
)
from tocsin.algebra.completion.expression import Predicate as Succeeds
from tocsin.algebra.completion.expression import Program, Push
from tocsin.algebra.completion.expression import Subscription as Expression
from tocsin.algebra.completion.output import Constant
from tocsin.algebra.predicate import Attribute, Compare, Filter, RoleAttribute, Variable
from tocsin.algebra.tokens import semantics
from tocsin.algebra.tokens.pattern import Atom, EventSpec, Order
from tocsin.algebra.tokens.pattern import Sequence as InSequence
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata import execute
from tocsin.automata.detection_plan import BitTest
from tocsin.automata.tokens.compile import compile
from tocsin.events import Catalog, Composite, Event, Interval
from tocsin.runtime.predicates import index as rq
from tocsin.runtime.read.json_values import events_of
from tocsin.service import Service
from tocsin.values import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SECOND = 1_000_000
_EVERY = tuple(COLUMNS)
_FEW, _MANY = 55, 110  # predicates of one job: such as Spark evaluates, and such as are looked up
_READING = {"time": "at", "time_unit": "s", "id": "id"}
Said = set[tuple[str, int]]  # a pattern and a row or pair that it was found in
Detect = Callable[[Subscription, list[Event]], list[Composite]]


def differences(route: str, seed: int, count: int, spark: SparkSession | None = None) -> list[str]:
    """At least `count` comparisons on a route: those that came out wrong, as texts."""
    chance = Random(f"{route} {seed}")
    own = ROUTES[route]
    if route not in ON_SPARK:
        return list(own(chance, count))
    assert spark is not None, f"{route} needs a Spark session"
    with _time_zone(spark, chance.choice(["UTC", "Europe/Berlin", "America/St_Johns"])):
        return list(own(chance, count, spark))


@contextmanager
def _time_zone(spark: SparkSession, zone: str) -> Iterator[None]:
    """No comparison may depend on the zone of the session."""
    name = "spark.sql.session.timeZone"
    before = str(spark.conf.get(name))
    spark.conf.set(name, zone)
    try:
        yield
    finally:
        spark.conf.set(name, before)


# Columns against constants


def _single(predicate: Predicate) -> Subscription:
    return Subscription(Atom((EventSpec("E", predicate.filter),)))


def _wrong(
    found: Said, rows: Sequence[Row], predicates: Sequence[Predicate], *, sure: bool = False
) -> Iterator[str]:
    """Where what was found differs from the truth; with `sure` an unknown comparison is false, and its negation true."""
    for number, one in enumerate(predicates):
        for row, values in enumerate(rows):
            truth = one.truth(values[one.column])
            if sure and truth is None:
                truth = one.negated
            if ((f"p{number}", row) in found) is not (truth is True):
                shown = (
                    f"{one.column} {str(values[one.column])[:60]!r} {one.relation} {str(one.constant)[:60]!r}"
                )
                yield f"{'not ' * one.negated}{shown}: expected {truth}"


def _events(rows: Sequence[Row]) -> list[Event]:
    return [
        Event(n, frozenset({"E"}), Interval(n, n), {name: as_value(name, held) for name, held in row.items()})
        for n, row in enumerate(rows)
    ]


def _in_python(detect: Detect, chance: Random, count: int) -> Iterator[str]:
    """Constants, variables and `where` in this process, a third of the comparisons each."""
    rows = some_rows(chance, 100, _EVERY)
    predicates = some_predicates(chance, math.ceil(count / 300), _EVERY)
    events = _events(rows)
    found = {(f"p{n}", c.ids[0]) for n, one in enumerate(predicates) for c in detect(_single(one), events)}
    yield from _wrong(found, rows, predicates)  # type: ignore[arg-type]
    left, right, pairs = _paired(chance, count // 3, _EVERY)
    traces = _keyed(left, right)
    for make in (_by_variable, _by_where):
        said = {(f"p{n}", c.key) for n, one in enumerate(pairs) for c in detect(make(one), traces)}
        yield from _wrong_pairs(said, left, right, pairs)  # type: ignore[arg-type]


def _looked_up(chance: Random, count: int) -> Iterator[str]:
    """Values read from JSON, and predicates looked up, both as workers do it."""
    from pyspark.sql import types as T

    from tocsin.spark.events.arrow_predicates import Lookup, arrow_predicates
    from tocsin.spark.query import EventColumns

    columns = ("long", "double", "text", "truth")
    own = (T.LongType(), T.DoubleType(), T.StringType(), T.BooleanType())
    schema = T.StructType([T.StructField(name, type) for name, type in zip(columns, own, strict=True)])
    for _ in range(math.ceil(count / (_MANY * 80))):
        rows = [
            {name: None if _not_json(held) else held for name, held in row.items()}
            for row in some_rows(chance, 150, columns)
        ]
        predicates = some_predicates(chance, _MANY, columns, written=True)
        read = events_of(
            pa.array([json.dumps(row, ensure_ascii=False).encode() for row in rows]),
            tuple((name, COLUMNS[name]) for name in columns),
        )
        # Some spellings are left to another reader; nearly all are read here.
        there = read.is_valid().to_pylist()
        rows, read = [row for row, own in zip(rows, there, strict=True) if own], read.drop_null()
        assert len(rows) >= 80
        compiled = compile([_single(one) for one in predicates])
        asked = arrow_predicates(
            compiled, Catalog(), schema, EventColumns(None, "E", ("at", "at"), "s", (), None, None)
        )
        assert isinstance(asked, Lookup), asked
        table = pa.table({name: read.field(operand[1]) for name, operand in asked.columns.items()})
        numbers, distinct = rq.numbered(asked.index, table)
        bits = rq.answers(asked.index, distinct)[numbers]
        names = {one.filter: f"p{number}" for number, one in enumerate(predicates)}
        found = set()
        for bit, test in compiled.tests:
            assert isinstance(test, BitTest)
            assert test.filter is not None
            assert test.truth
            true = bits[:, bit >> 6] >> bit % 64 & 1
            found |= {(names[test.filter], row) for row in true.nonzero()[0].tolist()}
        yield from _wrong(found, rows, predicates)


def _not_json(held: Any) -> bool:
    return isinstance(held, float) and not math.isfinite(held)


def _served(chance: Random, count: int) -> Iterator[str]:
    """Constants and variables of subscriptions to the service object."""
    service = Service(Catalog())
    rows = some_rows(chance, 100, _EVERY)
    predicates = some_predicates(chance, math.ceil(count / 200), _EVERY)
    left, right, pairs = _paired(chance, count // 2, _EVERY)
    found: Said = set()
    said: Said = set()
    for number, one in enumerate(predicates):
        service.subscribe(_single(one), partial(_note, found, f"p{number}", "n"))
    for number, pair in enumerate(pairs):
        service.subscribe(_by_variable(pair), partial(_note, said, f"p{number}", "pair"), key="pair")
    for at, row in enumerate(rows):
        values = {name: as_value(name, held) for name, held in row.items()}
        service.publish(service.create_event("E", {**values, "n": at}, at=at))
    for at, event in enumerate(_keyed(left, right), len(rows)):
        (type,) = event.types
        service.publish(service.create_event(type, {**event.attributes, "pair": event.key}, at=at))
    yield from _wrong(found, rows, predicates)
    yield from _wrong_pairs(said, left, right, pairs)


def _note(into: Said, name: str, attribute: str, found: Event | Composite) -> None:
    """Write down that a subscription was told of an event, or of a match."""
    event = found if isinstance(found, Event) else next(iter(found.leaves())).event
    assert isinstance(event, Event)
    into.add((name, int(event.attributes[attribute])))  # type: ignore[arg-type]


# Values against values


def _paired(chance: Random, count: int, columns: Sequence[str]) -> tuple[list[Row], list[Row], list[Pair]]:
    pairs = some_pairs(chance, 30, columns)
    size = math.ceil(count / len(pairs))
    return some_rows(chance, size, columns), some_rows(chance, size, columns), pairs


def _keyed(left: Sequence[Row], right: Sequence[Row]) -> list[Event]:
    """For each pair two events of a key of their own: A with the left values, then B with the right ones."""
    return [
        Event(2 * key + at, frozenset({"AB"[at]}), Interval(at, at), _values(row), key)
        for key, both in enumerate(zip(left, right, strict=True))
        for at, row in enumerate(both)
    ]


def _values(row: Row) -> dict[str, Any]:
    return {name: as_value(name, held) for name, held in row.items()}


_TURNED = {
    Relation.LT: Relation.GT,
    Relation.GT: Relation.LT,
    Relation.LE: Relation.GE,
    Relation.GE: Relation.LE,
}


def _followed(first: Filter | None, then: Filter | None, where: Filter | None = None) -> Subscription:
    atoms = (Atom((EventSpec("A", first),)), Atom((EventSpec("B", then),)))
    return Subscription(InSequence(atoms, Order.STRONG), where=where)


def _by_variable(pair: Pair) -> Subscription:
    """The right value is compared with a variable that the left one was bound to."""
    turned = _TURNED.get(pair.relation, pair.relation)
    return _followed(
        Compare(Attribute(pair.left), Relation.EQ, Variable("x")),
        Compare(Attribute(pair.right), turned, Variable("x")),
    )


def _by_where(pair: Pair) -> Subscription:
    compared = Compare(RoleAttribute("A", pair.left), pair.relation, RoleAttribute("B", pair.right))
    return _followed(None, None, compared)


def _wrong_pairs(
    said: Said, left: Sequence[Row], right: Sequence[Row], pairs: Sequence[Pair]
) -> Iterator[str]:
    for number, one in enumerate(pairs):
        for key, (a, b) in enumerate(zip(left, right, strict=True)):
            truth = one.truth(a, b)
            if ((f"p{number}", key) in said) is not (truth is True):
                shown = f"{one.left} {str(a[one.left])[:60]!r} {one.relation} {one.right} {str(b[one.right])[:60]!r}"
                yield f"{shown}: expected {truth}"


# On Spark


def _table(rows: Sequence[Row], columns: Sequence[str]) -> pa.Table:
    numbers = pa.array(range(len(rows)), pa.int64())
    return table_of(rows, columns, id=numbers, at=numbers, type=pa.array(["E"] * len(rows)))


def _named(subscriptions: Iterable[Subscription]) -> dict[str, Subscription]:
    return {f"p{number}": replace(one, name=f"p{number}") for number, one in enumerate(subscriptions)}


def _frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The table as a DataFrame, in which times without a zone stay as they are."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))


def _found(frame: DataFrame) -> Said:
    """The patterns that were found, with the second of their end."""
    from pyspark.sql import functions as F

    rows = frame.select("pattern", F.unix_micros("end").alias("end")).toArrow()
    return {(row["pattern"], row["end"] // SECOND) for row in rows.to_pylist()}


def _filtered(
    predicates_of_job: int,
    columns: Sequence[str],
    route: str | None,
    chance: Random,
    count: int,
    spark: SparkSession,
) -> Iterator[str]:
    """Predicates on the events of a DataFrame; with "files" of one over a Parquet file, to which Spark pushes them down, and
    with "parquet" of that file, read by Arrow."""
    from support.calls import detect
    from support.calls import route as route_of

    rows = some_rows(chance, math.ceil(count / predicates_of_job), columns)
    by_arrow = route in ("look-up", "parquet")
    predicates = some_predicates(chance, predicates_of_job, columns, written=by_arrow)
    patterns = _named(map(_single, predicates))
    table = _table(rows, columns)
    with tempfile.TemporaryDirectory(prefix="tocsin-hostile-") as folder:
        events: Any = _frame(spark, table)
        file = str(Path(folder) / "events.parquet")
        if route in ("parquet", "files"):
            pq.write_table(table, file, row_group_size=max(2, len(rows) // 40))
            events = file if route == "parquet" else spark.read.parquet(file)
        asked: Any = {**_READING, "columns": ["pattern", "end"]}
        if isinstance(events, str):
            asked["spark"] = spark
        if by_arrow:
            taken = route_of(events, patterns, **asked)
            assert f"{taken}".startswith(route), taken
        found = _found(detect(events, patterns, **asked))
    yield from _wrong(found, rows, predicates)


def _pair_table(left: Sequence[Row], right: Sequence[Row], columns: Sequence[str]) -> pa.Table:
    both = [row for pair in zip(left, right, strict=True) for row in pair]
    numbers = range(len(both))
    return table_of(
        both,
        columns,
        pair=pa.array([number // 2 for number in numbers], pa.int64()),
        id=pa.array(numbers, pa.int64()),
        at=pa.array([1 + number % 2 for number in numbers], pa.int64()),
        type=pa.array(["AB"[number % 2] for number in numbers]),
    )


def _compared(
    make: Callable[[Pair], Subscription], streams: bool, chance: Random, count: int, spark: SparkSession
) -> Iterator[str]:
    """Values of two events, by variables or by `where`, in a table or a stream with a restart."""
    from support.calls import detect
    from tocsin.spark.testing import DELAY, streamed

    # A schema made from Arrow's has no times without a zone.
    columns = tuple(name for name in _EVERY if not streams or name != "local")
    left, right, pairs = _paired(chance, count, columns)
    patterns = _named(map(make, pairs))
    table = _pair_table(left, right, columns)
    asked: Mapping[str, Any] = {**_READING, "key": "pair"}
    if streams:
        ask = partial(detect, pattern=patterns, **asked, delay=f"{DELAY}s", ahead="any", attributes=[])
        arrived = streamed(
            table, ask, types="type", moments={"at": SECOND}, last={"pair": -1, "id": len(table)}
        )
        said = {(row["pattern"], row["pair"]) for row in arrived}
    else:
        matches = detect(_frame(spark, table), patterns, **asked, columns=["pattern", "pair"])
        said = {(row["pattern"], row["pair"]) for row in matches.toArrow().to_pylist()}
    yield from _wrong_pairs(said, left, right, pairs)


def _sent(chance: Random, count: int, spark: SparkSession) -> Iterator[str]:
    """Predicates of ECL, which are never unknown."""
    from support.calls import detect

    rows = some_rows(chance, math.ceil(count / _FEW), _EVERY)
    predicates = some_predicates(chance, _FEW, _EVERY)
    programs = {
        f"p{number}": Program((Expression(None, Push(Constant("hit"), Succeeds(one.filter))),))
        for number, one in enumerate(predicates)
    }
    frame = _frame(spark, _table(rows, _EVERY))
    matches = detect(frame, programs, language="ecl", key="id", **_READING, attributes=[])
    found = _found(matches.where("what = 'push'"))
    yield from _wrong(found, rows, predicates, sure=True)


def _correlated(chance: Random, count: int, spark: SparkSession) -> Iterator[str]:
    """KSU compares the source of an event with the port that an event of a correlation is bound to."""
    from support.calls import detect

    predicates = [
        one
        for one in some_predicates(chance, 400, ("text",))
        if one.relation is Relation.EQ and not one.negated
    ]
    rows = some_rows(chance, math.ceil(count / len(predicates)), ("text",))
    text = "\n".join(
        f"E correlation C{n} (E a, E b) l:(a) {{ case l: push a; }}" for n in range(len(predicates))
    )
    ports = {f"C{n}": {"a": one.constant, "b": "never"} for n, one in enumerate(predicates)}
    table = _table(rows, ("text",)).rename_columns({"text": "source"})
    matches = detect(
        _frame(spark, table), text, language="ksu", ports=ports, key="id", **_READING, attributes=[]
    )
    found = {(name.replace("C", "p"), end) for name, end in _found(matches.where("what = 'push'"))}
    yield from _wrong(found, rows, predicates)


_ASKED = tuple(name for name in _EVERY if name not in DECIMALS)  # the types that predicates are looked up for
ROUTES: dict[str, Callable[..., Iterable[str]]] = {
    "reference": partial(_in_python, semantics.detect),
    "kernel": partial(_in_python, execute.detect),
    "json": _looked_up,
    "service": _served,
    "spark": partial(_filtered, _FEW, _EVERY, None),
    "lookup": partial(_filtered, _MANY, _ASKED, "look-up"),
    "files": partial(_filtered, _FEW, _EVERY, "files"),
    "parquet": partial(_filtered, _FEW, _ASKED, "parquet"),
    "variable": partial(_compared, _by_variable, False),
    "where": partial(_compared, _by_where, False),
    "stream": partial(_compared, _by_variable, True),
    "ecl": _sent,
    "ksu": _correlated,
}
ON_SPARK = frozenset(ROUTES) - {"reference", "kernel", "json", "service"}
