"""JSON values of messages are read as Spark's `from_json` reads them, whoever reads them."""

from __future__ import annotations

import json
from random import Random

import pytest
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tocsin.spark.brokers.values import read_json, write_json

pytestmark = [pytest.mark.slow, pytest.mark.spark]
EVENT = "b byte, s short, i int, n bigint, x double, t string, ok boolean, `température` double"
NAMES = ("b", "s", "i", "n", "x", "t", "ok", "température")
REASON = "the value is not JSON with fields of these types"

SCALARS = r"""
0 -0 1 -1 7 127 128 -128 -129 255 256 32767 32768 -32768 -32769 65535 2147483647 2147483648 -2147483648 -2147483649
9223372036854775807 9223372036854775808 -9223372036854775807 -9223372036854775808 -9223372036854775809 18446744073709551616
123456789012345678901234567890 1.0 1.5 -0.0 0e0 -0e1 1e3 1E3 1e+3 1e-3 0.1 0.30000000000000004 2.2250738585072011e-308
5e-324 1.7976931348623157e308 1e400 -1e400 1e-400 1e200 1e201 1e0000000001 1e99999999999 9007199254740993
100000000000000016777215 0.1000000000000000055511151231257827021181583404541015625
179769313486231570000000000000000000000000000000000000000000000000
01 -01 00 .5 1. 1.e3 +1 - 1e 1e+ 0x10 1_000 1d 1f NaN -NaN Infinity -Infinity +Infinity INF -INF +INF nan inf
true false null True FALSE NULL tru nul truex nullx
"" "a" "1" "1.5" "true" "null" "NaN" "Infinity" "-Infinity" "INF" "+INF" "-INF" "nan" "A" "é" "日本" "😀" "\u00e9" "\u0041"
"\ud83d\ude00" "\ud83d" "\ude00" "\ud83d\u0041" "\ud83dx" "\ud83d\n" "\u00" "\uzzzz" "\u0000" "\u001f" "\uFEFF"
"\b\f\n\r\t\/\\\"" "\a" "\x41" "\'" "\u12" "a'b" 'a' 'a"b' 'a\'b' "{" "}" "[" "," ":" "//" "/*x*/"
{} [] [1] [1,2] {"a":1} {"t":"x","i":5} [[]] [{}] {"a":{"b":[1,{"c":null}]}} [1,] [,1] {"a"} {"a":} {a:1} {"a":1,} [1 2] [} {]
""".split()  # noqa: SIM905  (a list of raw texts would be harder to read)
TRAILING = [
    "",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    "\x0b",
    "x",
    ",",
    "}",
    "{}",
    '{"i":9}',
    "null",
    '\n{"i":9}',
    " // x",
    " /* x */",
    "\u00a0",
]
LEADING = ["", " ", "\n \t\r", "\ufeff", "\x00", "\x0c", "//x\n", "[", "\u00a0", "x"]
WHOLE = [
    "",
    " ",
    "null",
    "true",
    "1",
    '"x"',
    "[]",
    "{}",
    "[{}]",
    '[{"i":1}]',
    '[{"i":1},{"i":2}]',
    "{",
    "}",
    "{{}}",
    '{"i"',
    '{"i":',
    '{"i":1',
    '{"i":1,',
    '{"i":1,}',
    '{,"i":1}',
    '{"i" :\n1 ,\t"t"\r: "x" }',
    '{"i":1 "t":"x"}',
    '{"i"=1}',
    "{i:1}",
    "{'i':1}",
    '{"I":1}',
    '{"":1}',
    '{"\\u0069":1}',
    '{"i":1,"\\u0069":2}',
    '{"i\\n":1}',
    '{"i":1,"i":2}',
    '{"i":1,"i":null}',
    '{"i":null,"i":1}',
    '{"i":1,"i":"x"}',
    '{"z":1,"z":2,"i":1}',
    '{"i"":1}',
    '{"i\\"":1}',
    '{"temp\u00e9rature":1.5}',
    '{"tempe\u0301rature":1.5}',
    '{"i":1}\n{"i":2}',
    '{"i":1}{"i":2}',
    '{"z":' + "[" * 59 + "]" * 59 + ',"i":1}',
    '{"z":' + "[" * 61 + "]" * 61 + ',"i":1}',
    '{"z":' + "[" * 2000 + "]" * 2000 + ',"i":1}',
    '{"z":' + '{"a":' * 70 + "1" + "}" * 70 + ',"i":1}',
    '{"z":' + "[" * 5 + "]" * 4 + ',"i":1}',
    '{"x":' + "1" * 1001 + "}",
    '{"z":' + "1" * 1001 + ',"i":1}',
    '{"x":0.' + "1" * 1001 + "}",
    '{"x":' + "1" * 61 + "}",
    '{"t":"' + "x" * 300_000 + '"}',
    '{"t":"' + "\\u00e9" * 50_000 + '","i":1}',
    '{"' + "n" * 60_000 + '":1,"i":1}',
    '{"z":"' + '\\"' * 1000 + '","i":1}',
]
BYTES = [
    b'{"t":"\xff"}',
    b'{"t":"\xc3"}',
    b'{"t":"\xc3","i":1}',
    b'{"t":"\xc0\x80"}',
    b'{"t":"\xed\xa0\x80"}',
    b'{"t":"\xf4\x90\x80\x80"}',
    b'{"t":"\xf5"}',
    b'{"t":"\xe2\x82"}',
    b'{"t":"\xf0\x9f\x98"}',
    b'{"t":"\xe0\x80\x80"}',
    b'{"t":"\xf0\x80\x80\x80"}',
    b'{"\xff":1,"i":1}',
    b'{"z":"\xff","i":1}',
    b'{"i":1}\xff',
    b'\xff{"i":1}',
    b"\xff\xfe{\x00}\x00",
    b"\x00{\x00}",
    b"\xfe\xff\x00{\x00}",
    b'{\x00"\x00i\x00"\x00:\x001\x00}\x00',
    b"\x00" * 9,
    b'{"t":"\x00"}',
    b'{"t":"a\tb"}',
    b'{"t":"a\nb"}',
    b'{"t":"\x7f"}',
    b'{"t":"\x1f"}',
    b'{"i\t":1}',
]


def hostile(random: Random, number: int) -> list[bytes | None]:
    """Values that were made to be read, and values that were made not to be."""
    made: list[bytes | None] = [None, *(text.encode() for text in WHOLE), *BYTES]
    made += [f'{{"{name}":{scalar}}}'.encode() for name in (*NAMES, "z") for scalar in SCALARS]
    made += [f'{{"z":[{scalar}],"i":1}}'.encode() for scalar in SCALARS]
    made += [f'{before}{{"i":1}}{after}'.encode() for before in LEADING for after in TRAILING]
    while len(made) < number:
        names = random.choices((*NAMES, "z", "I", "x y"), k=random.randrange(6))
        blank = random.choice(("", "", " ", "\n\t"))
        members = [f'"{name}"{blank}:{blank}{scalar(random, name)}' for name in names]
        value = ("{" + f"{blank},".join(members) + blank + "}").encode()
        if random.random() < 0.4:
            value = broken(random, value)
        made.append(value)
    return made


def scalar(random: Random, name: str) -> str:
    """Mostly one of the right type."""
    if random.random() < 0.2:
        return random.choice(SCALARS)
    if name == "t":
        return json.dumps(
            "".join(random.choices('ab"\\/é日😀\n\x01', k=4)), ensure_ascii=random.random() < 0.5
        )
    if name == "ok":
        return random.choice(("true", "false"))
    if name in ("x", "température"):
        return repr(random.choice((random.random(), random.gauss(0, 1e9), 10 ** random.uniform(-320, 308))))
    return str(random.getrandbits(random.randrange(64)) * random.choice((1, -1)))


def broken(random: Random, value: bytes) -> bytes:
    """A value with a few bytes too many, too few or of the wrong kind."""
    for _ in range(random.randrange(1, 3)):
        at = random.randrange(len(value) + 1)
        wrong = bytes([random.choice((random.randrange(256), *b'{}[]",:\\ \n\x0019eu'))])
        value = value[:at] + random.choice((b"", wrong)) + value[at + random.randrange(2) :]
    return value


def by_spark(event: StructType) -> tuple[Column, Column]:
    """What Spark alone makes of a value: the event and the problem."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt"}
    read = F.from_json(
        F.col("value").cast("string"), StructType([*event.fields]).add("_corrupt", "string"), options
    )
    bad = read.isNull() | read["_corrupt"].isNotNull()
    problem = F.when(F.col("value").isNull(), "there is no value").when(bad, REASON)
    fields = F.struct(*(read[field.name].alias(field.name) for field in event.fields))
    return F.when(problem.isNull(), fields), problem


@pytest.mark.parametrize(
    "event",
    [EVENT, "i int, t timestamp, x decimal(10, 2), z array<int>", '`i"` int, i int'],
    ids=["plain", "any", "quoted"],
)
def test_whoever_reads_a_value_it_is_what_spark_alone_would_read(spark: SparkSession, event: str) -> None:
    schema = StructType.fromDDL(event)
    values = hostile(Random(20261117), 12_000)
    messages = spark.createDataFrame([(value,) for value in values], "value binary").coalesce(2)
    expected, problem = by_spark(schema)
    # As texts, in which NaN is itself and zero has a sign.
    wanted = messages.withColumns({"expected": F.to_json(expected), "wrong": problem})
    rows = read_json(wanted, schema).withColumn("event", F.to_json("event")).collect()
    assert len(rows) == len(values)
    differ = [
        (bytes(row.value)[:200], row.event, row.expected)
        for row in rows
        if (row.event, row.problem) != (row.expected, row.wrong)
    ]
    assert differ == []
    assert sum(row.event is not None for row in rows) > 1_000
    assert sum(row.event is None for row in rows) > 1_000


def test_a_bad_message_costs_its_neighbours_nothing_and_columns_are_kept_as_asked(
    spark: SparkSession,
) -> None:
    table = [
        (b'{"i": 1}', "a"),
        (b'{"i": 1}\n{"i": 2}', "b"),
        (b"", "c"),
        (b"null", "d"),
        (None, "e"),
        (b'{"i": 3}', "f"),
    ]
    messages = spark.createDataFrame(table, "value binary, topic string").coalesce(1)
    schema = StructType.fromDDL("i int not null")
    read = read_json(messages, schema, keep=["topic"])
    assert read.columns == ["topic", "event", "problem"]
    found = {row.topic: (row.event, row.problem) for row in read.collect()}
    assert found == {
        "a": (Row(i=1), None),
        "b": (Row(i=1), None),
        "c": (None, REASON),
        "d": (None, REASON),
        "e": (None, "there is no value"),
        "f": (Row(i=3), None),
    }
    assert read_json(messages, schema, keep=()).columns == ["event", "problem"]
    assert read_json(messages, schema).columns == ["value", "topic", "event", "problem"]
    assert read_json(messages.limit(0), schema).count() == 0


def test_values_may_be_texts_and_what_is_written_is_read(spark: SparkSession) -> None:
    events = spark.sql(
        "select 1 as i, 'é\"\\n' as t, 0.1d as x, null as ok union all select 2, null, null, true"
    )
    texts = write_json(events).select(F.col("value").cast("string").alias("value"))
    back = read_json(texts, events.schema, keep=()).where("problem is null").select("event.*")
    assert sorted(back.collect()) == sorted(events.collect())


def test_spark_reads_a_value_once_whatever_is_asked_of_it_later(spark: SparkSession) -> None:
    messages = spark.createDataFrame([(b'{"i": 1, "t": "a"}',)], "value binary")
    for schema in ("i int, t string", "i int, t timestamp"):
        read = read_json(messages, StructType.fromDDL(schema), keep=())
        asked = read.where("problem is null and event.i > 0 and event.t is not null").select("event.*")
        plan = asked._jdf.queryExecution().optimizedPlan().toString()
        assert plan.count("from_json") == 1, plan
