"""Counts how the events of a micro-batch of a streaming pipeline were used, in one pass over them.

All results of a micro-batch leave a query as rows `kind, name, rows, packed`, in which `packed` holds a table as Arrow
bytes (see `pack`):

| kind | name | packed |
|---|---|---|
| `tally` | | how many events have each source, use and problem, and the latest end of them |
| `asked` | number of a job | nothing; `rows` is the number of events for the job |
| `dead` | | events that cannot be used |
| `blocks` | | the number of lines in each piece of a text file |
| `match` | name of a pattern | its matches |
| `late` | number of a job | events that arrived too late for it |
| `repeated` | number of a job | events that it had already and did not use again |
| `figures` | number of a job | one row of numbers about a shard |
| `rules` | number of a job | the decisions on changes to its rules |

So one pass over the stored rows of a micro-batch gives all its numbers, and only kinds that have rows are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.transport.pack import from_ipc, to_ipc

OUTPUT = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("name", pa.string()),
        pa.field("rows", pa.int64()),
        pa.field("packed", pa.binary()),
    ]
)
TALLY, ASKED, DEAD, BLOCKS = "tally", "asked", "dead", "blocks"
MATCH, LATE, REPEATED, FIGURES, RULES = "match", "late", "repeated", "figures", "rules"


def number_lines(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Number the lines of text files, `text, file, block` in the order of the files, within each block.

    After each block there is a row without text, whose number is minus the number of lines of the block.
    """
    text, file, block = 0, 1, 2
    last: pa.RecordBatch | None = None  # the last line of the current block
    line = 0
    for batch in batches:
        for lines in _blocks(batch, file, block):
            if last is not None and not _same(last, lines, file, block):
                yield _end_of(last, line, text)
                line = 0
            yield _numbered(lines, pa.array(range(line + 1, line + lines.num_rows + 1), pa.int64()))
            line += lines.num_rows
            last = lines.slice(lines.num_rows - 1)
    if last is not None:
        yield _end_of(last, line, text)


def _blocks(batch: pa.RecordBatch, *columns: int) -> Iterator[pa.RecordBatch]:
    """Split a batch into pieces whose lines are of one block."""
    if not batch.num_rows:
        return
    changes = [
        pc.not_equal(batch.column(column).slice(1), batch.column(column).slice(0, batch.num_rows - 1))
        for column in columns
    ]
    first = 0
    for change in pc.indices_nonzero(pc.or_(*changes)).to_pylist():
        yield batch.slice(first, change + 1 - first)
        first = change + 1
    yield batch.slice(first)


def _same(one: pa.RecordBatch, other: pa.RecordBatch, *columns: int) -> bool:
    return all(one.column(column)[0] == other.column(column)[0] for column in columns)


def _end_of(last: pa.RecordBatch, lines: int, text: int) -> pa.RecordBatch:
    nothing = pa.nulls(1, last.column(text).type)
    return _numbered(
        last.set_column(text, last.schema.field(text).name, nothing), pa.array([-lines], pa.int64())
    )


def _numbered(lines: pa.RecordBatch, numbers: pa.Array) -> pa.RecordBatch:
    names = [*lines.schema.names, "row"]
    return pa.RecordBatch.from_arrays([*lines.columns, numbers], names)


def tally(jobs: int, dead: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Tally the events of a partition, as rows `kind, name, rows, packed`.

    Args:
        jobs: how many jobs there are.
        dead: the use of events that cannot be used.
        batches: rows `source, problem, file, block, row, text, use, end, job0, job1, …`.
    """
    counted: list[pa.Table] = []
    blocks: list[pa.Table] = []
    asked = [0] * jobs
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        is_end = pc.fill_null(pc.less(rows.column("row"), 0), False)
        ends = rows.filter(is_end)
        if ends.num_rows:
            blocks.append(ends.select(["file", "block", "row"]))
            rows = rows.filter(pc.invert(is_end))
        counted.append(
            rows.group_by(["source", "use", "problem"]).aggregate([([], "count_all"), ("end", "max")])
        )
        for job in range(jobs):
            asked[job] += pc.sum(rows.column(f"job{job}")).as_py() or 0
        letters = rows.filter(pc.equal(rows.column("use"), dead))
        if letters.num_rows:
            kept = letters.select(["source", "problem", "file", "block", "row", "text"])
            yield _packed(DEAD, "", letters.num_rows, kept)
    if counted:
        whole = pa.concat_tables(counted)
        yield _packed(TALLY, "", pc.sum(whole.column("count_all")).as_py() or 0, whole)
        yield from (_packed(ASKED, str(job), number, None) for job, number in enumerate(asked))
    if blocks:
        yield _packed(BLOCKS, "", sum(map(len, blocks)), pa.concat_tables(blocks))


def packed_output(job: int, outputs: Iterable[tuple[str, pa.Table]]) -> Iterator[pa.RecordBatch]:
    """The outputs of a shard of a job as rows `kind, name, rows, packed`; matches are split by pattern."""
    for kind, table in outputs:
        if kind != MATCH:
            yield _packed(kind, str(job), table.num_rows, table)
            continue
        patterns = table.column("pattern")
        names = pc.unique(patterns).to_pylist()
        if len(names) == 1:
            yield _packed(MATCH, names[0], table.num_rows, table)
            continue
        for name, own in zip(names, _by_name(table, patterns, names), strict=True):
            yield _packed(MATCH, name, own.num_rows, own)


def _by_name(table: pa.Table, patterns: pa.ChunkedArray, names: list[str]) -> Iterator[pa.Table]:
    """The rows of each pattern, found in one sort however many patterns there are."""
    numbers = pc.index_in(patterns, value_set=pa.array(names, patterns.type)).to_numpy()
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(names)))
    by_name = table.take(pa.array(order))
    for number, end in enumerate(ends.tolist()):
        first = int(ends[number - 1]) if number else 0
        yield by_name.slice(first, end - first)


def _packed(kind: str, name: str, rows: int, table: pa.Table | None) -> pa.RecordBatch:
    # In one piece: the driver passes small tables to Spark as they are, in as many pieces as they have.
    packed = None if table is None else to_ipc(table.combine_chunks())
    columns = [[kind], [name], [rows], [packed]]
    return pa.record_batch(
        [pa.array(values, field.type) for values, field in zip(columns, OUTPUT, strict=True)], schema=OUTPUT
    )


LATE_ROWS = pa.schema(
    [
        pa.field("job", pa.string()),
        pa.field("pace_group", pa.int32()),
        pa.field("origin", pa.int64()),
        pa.field("reason", pa.string()),
        pa.field("type", pa.string()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("id", pa.string()),
        pa.field("key", pa.string()),
        pa.field("attributes", pa.string()),
    ]
)


def late_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Unpack late and repeated events from rows `name, packed`, whatever columns they have; repeated ones have no reason.

    Keys and attributes are JSON texts.
    """
    for batch in batches:
        for job, data in zip(batch.column("name").to_pylist(), batch.column("packed"), strict=True):
            rows = [_late_row(job, row) for row in from_ipc(data.as_buffer()).to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, LATE_ROWS)


def _late_row(job: str, row: dict[str, object]) -> dict[str, object]:
    key = [row[name] for name in sorted(row) if name.startswith("key")]
    return {
        **{name: row.get(name) for name in ("origin", "pace_group", "reason", "type", "end")},
        "job": job,
        "start": row.get("start", row["end"]),
        "id": str(row["id"]),
        "key": None if not key else _as_json(key[0] if len(key) == 1 else key),
        "attributes": _as_json(row["attributes"]) if "attributes" in row else None,
    }


def _as_json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
