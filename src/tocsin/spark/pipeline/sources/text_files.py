"""Read text files with one event per line: JSON lines and CSV.

They are read as lines and not by Spark's own readers, because a line that cannot be read is kept as it is,
with the number it has in its file. Where the fields of a CSV source may hold line breaks, its lines are joined to
records first; elsewhere a line that ends inside a quoted field is malformed.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.runtime.stream.tally import number_lines
from tocsin.spark.pipeline.added_columns import BLOCK, FILE, ROW, TEXT
from tocsin.spark.pipeline.file.model import Source
from tocsin.spark.pipeline.sources.cells import Cells, CsvCells, JsonCells

_LISTED = "tocsin_listed"
_ENDED = "tocsin_ended"
_RECORD = "tocsin_record"
_PARSED = "tocsin_parsed"
_CORRUPT = "tocsin_corrupt"
MALFORMED = "tocsin_malformed"  # where it is known before a line is parsed
_WHOLE_NUMBER = r"^-?\d{1,18}$"


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a source with their contents, including blank lines and headers."""

    frame: DataFrame
    header: str | None = None
    names: tuple[str, ...] | None = None  # the fields of a CSV line
    marked: bool = (
        False  # whether a row without text holds how many lines a block has, see `runtime.stream.tally`
    )
    messages: bool = False  # whether every row stands for an event, as a message without a value does

    @property
    def is_event(self) -> Column:
        """Return a condition: whether a line is an event."""
        if self.messages:
            return F.lit(True)
        filled = F.trim(TEXT) != ""
        own = filled if self.header is None else filled & (F.col(TEXT) != self.header)
        return own | F.col(TEXT).isNull() if self.marked else own


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a file that one task read. Row number `r` is line `r + offset` of the file."""

    file: str
    block: int
    offset: int


def read_lines(session: SparkSession, source: Source) -> Lines:
    """Parse the lines of a text source."""
    frame = _placed(session.read.text(source.location)).withColumn(ROW, F.monotonically_increasing_id())
    header = None
    if source.multiline:
        frame = _records(frame)
    if source.format == "csv":
        # Records come out of a shuffle, in no order.
        ordered = frame.orderBy(FILE, ROW) if source.multiline else frame
        first = ordered.where((F.trim(TEXT) != "") & (F.col(BLOCK) == 0)).first()
        header = "" if first is None else str(first[TEXT])
    return parse_lines(frame, source, header)


def _records(lines: DataFrame) -> DataFrame:
    """Lines joined to records by RFC 4180: a line break after an odd number of quotes is inside a field, as a line feed.

    A record is in block 0 of its file, and its row is that of its first line.
    """
    order = Window.partitionBy(FILE).orderBy(BLOCK, ROW)
    before = F.coalesce(F.sum(_quotes()).over(order.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    begins = F.when(before % 2 == 0, 1).otherwise(0)
    numbered = lines.select(
        FILE, TEXT, (F.row_number().over(order) - 1).cast("long").alias(ROW), begins.alias(_RECORD), BLOCK
    ).withColumn(_RECORD, F.sum(_RECORD).over(Window.partitionBy(FILE).orderBy(ROW)))
    parts = F.array_sort(F.collect_list(F.struct(ROW, TEXT)))
    return (
        numbered.groupBy(FILE, _RECORD)
        .agg(F.array_join(parts.getField(TEXT), "\n").alias(TEXT), F.min(ROW).alias(ROW))
        .select(TEXT, FILE, F.lit(0).cast("long").alias(BLOCK), ROW)
    )


def _quotes() -> Column:
    """How many quotes a line has."""
    return F.octet_length(TEXT) - F.octet_length(F.replace(TEXT, F.lit('"'), F.lit("")))


def stream_lines(text: DataFrame, source: Source, header: str | None) -> Lines:
    """Return the lines of text files that arrive while a stream runs, with their numbers.

    Further rows hold how many lines there are (see `runtime.stream.tally`).
    """
    columns = f"{TEXT} string, {FILE} string, {BLOCK} long, {ROW} long"
    numbered = parse_lines(_placed(text).mapInArrow(number_lines, columns), source, header)
    return replace(numbered, marked=True)


def _placed(text: DataFrame) -> DataFrame:
    return text.select(
        F.col("value").alias(TEXT),
        F.col("_metadata.file_path").alias(FILE),
        F.col("_metadata.file_block_start").alias(BLOCK),
    )


def parse_lines(frame: DataFrame, source: Source, header: str | None) -> Lines:
    """Return lines with their contents; those of a CSV source have the fields named in the header."""
    frame = _valid(frame)
    if source.format != "csv":
        # Spark reads the first value of a text and leaves the rest; in a list, the rest cannot hide.
        listed = F.try_parse_json(F.concat(F.lit("["), F.col(TEXT), F.lit(",0]")))
        return Lines(frame.withColumn(_LISTED, listed).withColumn(_PARSED, _object()).drop(_LISTED))
    assert header is not None
    names = tuple(
        name.strip() for name in next(csv.reader([header.lstrip("\ufeff")], delimiter=source.separator), [])
    )
    options = {**_csv(source), "columnNameOfCorruptRecord": _CORRUPT, "mode": "PERMISSIVE"}

    def parsed(text: Column, *more: str) -> Column:
        fields = [T.StructField(name, T.StringType()) for name in (*names, *more, _CORRUPT)]
        return F.from_csv(text, T.StructType(fields).toDDL(), options)

    # A field that is written after the line belongs to a quoted one that the line does not close.
    longer = parsed(F.concat(TEXT, F.lit(source.separator + "x")), _ENDED).getField(_ENDED)
    open = (_quotes() % 2 == 1) & ~F.coalesce(longer == "x", F.lit(False))
    wrong = F.coalesce(F.col(MALFORMED), F.when(open, F.lit("a quoted field is not closed in its line")))
    found = frame.withColumns({_PARSED: parsed(F.col(TEXT)), MALFORMED: wrong})
    return Lines(found, header, names)


def malformed(source: Source, lines: Lines) -> Column:
    """Return why a line is not valid in its format, as text; null if it is."""
    if source.format != "csv":
        wrong = F.when(F.col(_PARSED).isNull(), F.lit("it is not one JSON object"))
    else:
        corrupt = F.col(_PARSED).getField(_CORRUPT).isNotNull()
        wrong = F.when(corrupt, F.lit("it does not have the fields of the first line"))
    return F.coalesce(F.col(MALFORMED), wrong)


def _csv(source: Source) -> dict[str, str]:
    """Return the options for CSV by RFC 4180: a quote in a quoted field is doubled, and a backslash is a plain character."""
    return {"sep": source.separator, "quote": '"', "escape": '"'}


def _valid(frame: DataFrame) -> DataFrame:
    """Decode lines as UTF-8; those with invalid bytes are malformed, and each invalid byte becomes U+FFFD."""
    # So that one that is in the text itself is not taken for the first wrong byte. Both have three bytes.
    marked = F.replace(F.col(TEXT), F.lit("\N{REPLACEMENT CHARACTER}"), F.lit("\0\0\0"))
    before = F.substring_index(F.make_valid_utf8(marked), "\N{REPLACEMENT CHARACTER}", 1)
    place = F.concat(F.lit("it is not text in UTF-8: byte "), F.octet_length(before), F.lit(" is invalid"))
    wrong = F.when(~F.is_valid_utf8(TEXT), place)
    known = [F.col(MALFORMED)] if MALFORMED in frame.columns else []
    return frame.withColumns({MALFORMED: F.coalesce(*known, wrong), TEXT: F.make_valid_utf8(TEXT)})


def cells(source: Source, paths: Mapping[str, str]) -> Cells:
    """Return the values of parsed lines."""
    return (CsvCells if source.format == "csv" else JsonCells)(F.col(_PARSED), paths)


def _object() -> Column:
    """Return the object on a line; null unless there is exactly one."""
    listed = F.col(_LISTED)
    alone = (
        F.try_variant_get(listed, "$[1]", "int").isNotNull()
        & F.try_variant_get(listed, "$[2]", "variant").isNull()
    )
    return F.when(F.ltrim(TEXT).startswith("{") & alone, F.try_variant_get(listed, "$[0]", "variant"))


def inferred_types(session: SparkSession, source: Source, lines: Lines) -> dict[str, T.DataType]:
    """Infer the fields of all lines and types that hold their values, in a pass over the lines."""
    if source.format == "csv":
        frame = session.read.csv(
            source.location, header=True, inferSchema=True, multiLine=source.multiline, **_csv(source)
        )
        types = {field.name: field.dataType for field in frame.schema.fields}
        return {name: types.get(name, T.StringType()) for name in lines.names or ()}
    objects = lines.frame.where(F.col(_PARSED).isNotNull())
    found = objects.select(F.schema_of_variant_agg(_PARSED).alias("shape")).first()
    shape = "" if found is None else str(found["shape"])
    struct = (
        T.DataType.fromDDL(shape.replace("OBJECT<", "STRUCT<"))
        if shape.startswith("OBJECT<")
        else T.StructType()
    )
    assert isinstance(struct, T.StructType)
    return {field.name: _plain(field.dataType) for field in struct.fields}


def _plain(type: T.DataType) -> T.DataType:
    """Return a type that patterns can use; a field with both numbers and texts is a text."""
    match type:
        case T.DecimalType():
            return T.DoubleType()
        case T.StructType():
            return T.StructType([T.StructField(field.name, _plain(field.dataType)) for field in type.fields])
        case T.ArrayType():
            return T.ArrayType(_plain(type.elementType))
        case T.VariantType() | T.NullType():
            return T.StringType()
        case _:
            return type


def measure(lines: Lines, id: Column | None) -> tuple[int, bool, tuple[Split, ...]]:
    """Count the events, and find whether every id is a whole number and where the tasks cut the files."""
    whole = F.lit(True) if id is None else F.coalesce(id.rlike(_WHOLE_NUMBER), F.lit(True))
    counted = (
        lines.frame.groupBy(FILE, BLOCK)
        .agg(
            F.count(F.lit(1)).alias("lines"),
            F.count_if(lines.is_event).alias("events"),
            F.min(ROW).alias("first"),
            F.bool_and(whole | ~lines.is_event).alias("whole"),
        )
        .orderBy(FILE, BLOCK)
        .collect()
    )
    return (
        sum(row["events"] for row in counted),
        all(row["whole"] for row in counted),
        tuple(_splits(counted)),
    )


def _splits(counted: Iterable[Any]) -> Iterable[Split]:
    before: dict[str, int] = {}
    for row in counted:
        lines = before.get(row[FILE], 0)
        yield Split(row[FILE], row[BLOCK], lines - row["first"] + 1)
        before[row[FILE]] = lines + row["lines"]
