"""Events on their way to the workers: the columns that travel, the questions answered as bits, and the job that detects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_type

from tocsin.automata.compile import BitTest, Compiled, FieldTest
from tocsin.automata.span import overlap
from tocsin.events import Catalog
from tocsin.runtime import program as rt
from tocsin.runtime.chain import chained
from tocsin.runtime.links import find_links, follow_links, has_links
from tocsin.runtime.matches import chosen_columns, match_schema
from tocsin.runtime.pack import PACKED, pack_by_key
from tocsin.runtime.partition import Job, detect_chunks, detect_partition, detect_shards
from tocsin.spark.columns import EventColumns, HasSchema, attribute_kinds, micros
from tocsin.spark.cutting import packed_by_time
from tocsin.spark.fields import belongs_column, field_column, holds_column, type_column
from tocsin.spark.places import shard_places
from tocsin.spark.predicates import attribute_column, filter_column
from tocsin.spark.sent import output_types, sends
from tocsin.spark.together import together


def prepare(
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    catalog: Catalog,
    carried: Sequence[str],
    asked: Sequence[Column] | None = None,
    others: Sequence[Column] = (),
) -> DataFrame:
    """The events with `prepared_columns` only."""
    return events.select(*prepared_columns(events, columns, compiled, catalog, carried, asked, others))


def prepared_columns(
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    catalog: Catalog,
    carried: Sequence[str],
    asked: Sequence[Column] | None = None,
    others: Sequence[Column] = (),
) -> list[Column]:
    """The columns that travel to the workers (see `runtime.partition`), and `unreadable`: why a row cannot be used.

    With `asked`, the columns that questions ask for travel in place of Spark's answers. `others` travel beside them all.
    """
    start, end = (micros(events, name, columns.time_unit) for name in columns.time)
    kinds = attribute_kinds(events)
    selected = [
        start.alias("start"),
        end.alias("end"),
        _unreadable(columns, start, end).alias("unreadable"),
        *(attribute_column(name).alias(f"key{i}") for i, name in enumerate(columns.key)),
        _id(events, columns).alias("id"),
        type_column(events, columns).alias("type"),
        *(_bit_columns(events, columns, compiled, catalog, kinds) if asked is None else asked),
        *(
            _value(name, kinds, compiled).alias(rt.travelling("value", name))
            for name in compiled.plan.columns
        ),
        *(
            _field(events, columns, name).alias(rt.travelling("field", name))
            for name in sorted(taken_fields(compiled))
        ),
        *others,
    ]
    if carried:
        selected.append(F.struct(*(attribute_column(name) for name in carried)).alias("attributes"))
    return selected


def _unreadable(columns: EventColumns, start: Column, end: Column) -> Column:
    """The first thing that keeps a row from being an event, in words; null if it is one."""
    missing = [(name, f"no time in column {name!r}") for name in dict.fromkeys(columns.time)]
    missing += [(columns.type, f"no type in column {columns.type!r}")] if columns.type else []
    missing += [(name, f"no key in column {name!r}") for name in columns.key]
    reasons = [F.when(attribute_column(name).isNull(), F.lit(reason)) for name, reason in missing if name]
    if columns.time[0] != columns.time[1]:
        reasons.append(F.when(start > end, F.lit("it ends before it starts")))
    return F.coalesce(*reasons)


def readable(prepared: DataFrame, unreadable: str) -> DataFrame:
    """The rows without those that are no events, or with an error when one of them is met."""
    problem = prepared["unreadable"]
    if unreadable == "drop":
        return prepared.where(problem.isNull()).drop("unreadable")
    # No pattern looks at a row without a type, and yet it got as far as here. The end is what is looked at of every row.
    end = F.when(problem.isNotNull(), F.raise_error(problem)).otherwise(F.col("end"))
    return prepared.withColumn("end", end).drop("unreadable")


def without_length(used: DataFrame, columns: EventColumns) -> DataFrame:
    """The same with one column for both times, if events have no length."""
    return used.drop("start") if columns.time[0] == columns.time[1] else used


def is_unreadable(events: DataFrame, columns: EventColumns) -> Column:
    """Whether something keeps a row of the table from being an event."""
    needed = [*columns.time, *([columns.type] if columns.type else []), *columns.key]
    missing = reduce(lambda a, b: a | b, (attribute_column(name).isNull() for name in dict.fromkeys(needed)))
    if columns.time[0] == columns.time[1]:
        return missing
    start, end = (micros(events, name, columns.time_unit) for name in columns.time)
    return missing | F.coalesce(start > end, F.lit(False))


def _id(events: DataFrame, columns: EventColumns) -> Column:
    if columns.id is not None:
        return attribute_column(columns.id)
    hashable = [f.name for f in events.schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
    return F.xxhash64(*(attribute_column(name) for name in hashable))


def _bit_columns(
    events: DataFrame, columns: EventColumns, compiled: Compiled, catalog: Catalog, kinds: dict[str, str]
) -> list[Column]:
    words = _bits(events, columns, compiled, catalog, kinds)
    return [word.alias(f"bits{number}") for number, word in enumerate(words)]


def _bits(
    events: DataFrame, columns: EventColumns, compiled: Compiled, catalog: Catalog, kinds: dict[str, str]
) -> list[Column]:
    """One bigint column for 64 questions."""
    words: list[list[Column]] = [[F.lit(0).cast("long")] for _ in range(compiled.plan.words)]
    for bit, test in compiled.tests:
        answer = F.coalesce(_answer(test, events, columns, catalog, kinds), F.lit(False)).cast("long")
        words[bit >> 6].append(F.shiftleft(answer, bit & 63))
    joined = [reduce(lambda a, b: a.bitwiseOR(b), word) for word in words]
    last = max((bit for bit, _ in compiled.tests), default=0) & 63
    return [*joined[:-1], joined[-1].cast(_narrowest(last))]


def _narrowest(last: int) -> str:
    """The narrowest type with room for bits up to the last; its sign stays out of use."""
    return next((name for name, bits in (("byte", 7), ("short", 15), ("int", 31)) if last < bits), "long")


def _answer(
    test: BitTest | FieldTest,
    events: DataFrame,
    columns: EventColumns,
    catalog: Catalog,
    kinds: dict[str, str],
) -> Column:
    if isinstance(test, FieldTest):
        return holds_column(test.filter, events, columns, catalog)
    of_type = F.lit(True) if test.type is None else belongs_column(test.type, events, columns, catalog)
    if test.filter is None:
        return of_type
    truth = filter_column(test.filter, kinds)
    return of_type & (truth if test.truth else ~truth)


def _value(name: str, kinds: dict[str, str], compiled: Compiled) -> Column:
    """An attribute that kernels compare; a name that is only a variable of composites has no column."""
    return attribute_column(name) if name in kinds else F.lit(None).cast("string")


def _field(events: DataFrame, columns: EventColumns, name: str) -> Column:
    column = field_column(events, columns, name)
    return F.lit(None).cast("string") if column is None else column


def taken_fields(compiled: Compiled) -> set[str]:
    """What conditions on whole matches look at, and what outputs take from events."""

    def names(condition: tuple[Any, ...]) -> set[str]:
        if not condition:
            return set()
        if condition[0] == "compare":
            return {operand[2] for operand in condition[2:] if operand[0] == "role"}
        return set().union(*(names(part) for part in condition[1:]))

    asked = set().union(*(names(output.where) for output in compiled.plan.outputs))
    sent = {
        source[2]
        for detector in compiled.plan.detectors
        for emission in detector.emissions
        for _, source in emission.fields
        if source[0] == "field"
    }
    return asked | sent


def relevant(compiled: Compiled) -> Column:
    """Whether some pattern looks at a prepared row."""
    return _meets_domains(compiled, [F.col(f"bits{word}") for word in range(compiled.plan.words)])


def looked_at(events: DataFrame, columns: EventColumns, compiled: Compiled, catalog: Catalog) -> Column:
    """Whether some pattern looks at an event, asked of the table itself and not of its prepared rows.

    Spark answers one question after the other and stops at the first that holds, where bits would need all answers.
    """
    masks, kinds = _domain(compiled), attribute_kinds(events)
    answers = [
        _answer(test, events, columns, catalog, kinds)
        for bit, test in compiled.tests
        if masks[bit >> 6] >> (bit & 63) & 1
    ]
    return F.coalesce(reduce(lambda a, b: a | b, answers, F.lit(False)), F.lit(False))


def _meets_domains(compiled: Compiled, bits: Sequence[Column]) -> Column:
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in _domain(compiled)]
    parts = [word.bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in zip(bits, signed, strict=True)]
    return reduce(lambda a, b: a | b, parts)


def _domain(compiled: Compiled) -> list[int]:
    """The bits that make some pattern look at an event, word by word."""
    masks = [0] * compiled.plan.words
    for detector in compiled.plan.detectors:
        for state in detector.program.domain:
            for word, mask in enumerate(state.tolist()):
                masks[word] |= mask
    return masks


def run(
    used: DataFrame,
    events: DataFrame,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
    cut: str | None = None,
    wanted: Sequence[str] | None = None,
) -> DataFrame:
    """The matches in prepared rows: events of a key together, then one kernel call after the other per partition.

    Args:
        cut: `time` for tasks that each have a piece of the time axis and all keys in it; by default only without keys.
        wanted: the columns of the matches; by default all.
    """
    job, schema = job_of(used, events, columns, compiled, carried, limit, wanted)
    shards = _shuffle_partitions(used)
    used = without_length(used, columns)
    apart = overlap_by_time(compiled, columns.key) if cut == "time" or not columns.key else None
    if apart is None:
        placed = together(used, job.keys) if job.keys else None
        if placed is not None:
            return placed.mapInArrow(partial(detect_partition, job), from_arrow_schema(schema))
        # A stream that must stay whole is one shard; but it is read and packed by all cores.
        shards = shards if job.keys else 1
        packed = used.mapInArrow(partial(pack_by_key, shards, job.keys), from_arrow_schema(PACKED))
        return detect_packed(packed, job, schema, shards)
    packed = packed_by_time(used, events, columns, shards, apart)
    return detect_packed(packed, job, schema, shards, chunks=True)


def detect_packed(
    packed: DataFrame, job: Job, schema: pa.Schema, shards: int, *, chunks: bool = False
) -> DataFrame:
    """The matches in packed rows (see `runtime.pack`): all values of a shard come to one task, which detects.

    Args:
        packed: rows `shard int, packed binary`.
        schema: that of the matches.
        chunks: whether a shard is a chunk of the time axis, and not a group of keys.
    """
    placed = _by_shard(packed, shards)
    if chunks and chained(rt.from_bytes(job.plan)):
        links = placed.mapInArrow(partial(find_links, job), from_arrow_schema(PACKED))
        return links.repartition(1).mapInArrow(partial(follow_links, job), from_arrow_schema(schema))
    detect = partial(detect_chunks if chunks else detect_shards, job)
    return placed.mapInArrow(detect, from_arrow_schema(schema))


def overlap_by_time(compiled: Compiled, keys: Sequence[object]) -> int | None:
    """By how many microseconds chunks of a stream must overlap whose events travel; None if it must stay whole."""
    return overlap(compiled, chains=not keys and has_links(compiled.plan))


def _by_shard(packed: DataFrame, shards: int) -> DataFrame:
    """The values of each shard in one partition."""
    place = F.element_at(F.lit(shard_places(shards)), F.col("shard") + 1)
    placed = packed.select(place.alias("place"), "packed")
    if shards == _shuffle_partitions(packed):
        return placed.repartition("place")  # Spark may then join partitions that turn out small
    return placed.repartition(shards, "place")


def _shuffle_partitions(frame: DataFrame) -> int:
    return int(str(frame.sparkSession.conf.get("spark.sql.shuffle.partitions")))


def job_of(
    used: HasSchema,
    events: HasSchema,
    columns: EventColumns,
    compiled: Compiled,
    carried: Sequence[str],
    limit: int,
    wanted: Sequence[str] | None = None,
) -> tuple[Job, pa.Schema]:
    """What the workers are told, and the schema of the matches: of all columns, or of those that are wanted."""
    attributes = attributes_type(used, carried)
    outputs = None
    if sends(compiled):
        fields = {name: used.schema[rt.travelling("field", name)].dataType for name in taken_fields(compiled)}
        outputs = output_types(compiled, fields, attributes)
    schema = match_schema(key_type(events, columns), attributes, outputs)
    job = Job(rt.to_bytes(compiled.plan), schema.serialize().to_pybytes(), len(columns.key), limit)
    if wanted is None:
        return job, schema
    reported = chosen_columns(schema.names, wanted)
    return job._replace(wanted=tuple(reported)), pa.schema([schema.field(name) for name in reported])


def key_type(events: HasSchema, columns: EventColumns) -> pa.DataType:
    """The type that the key of a match has."""
    types = [to_arrow_type(events.schema[name].dataType) for name in columns.key]
    if len(types) <= 1:
        return types[0] if types else pa.string()
    return pa.struct([pa.field(name, type) for name, type in zip(columns.key, types, strict=True)])


def attributes_type(used: HasSchema, carried: Sequence[str]) -> pa.StructType | None:
    """The type of what constituents carry, if they carry anything."""
    if not carried:
        return None
    return _nullable(to_arrow_type(used.schema["attributes"].dataType, timezone="UTC"))


def _nullable(type: pa.DataType) -> pa.DataType:
    """The same type in which anything may be missing, as everything is for a timer."""
    if pa.types.is_struct(type):
        return pa.struct([pa.field(one.name, _nullable(one.type)) for one in type])
    if pa.types.is_list(type):
        return pa.list_(_nullable(type.value_type))
    return type
