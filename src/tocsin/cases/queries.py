"""Cases that run on Spark, many in one query: each is a key of one table of events, and its pattern one of many.

All patterns see the events of all cases. What a pattern finds among the events of its own case is the result of that case,
and the rest is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tocsin.cases.model import Request
from tocsin.cases.parts import CASE, Part, Rows
from tocsin.spark.detect import detect
from tocsin.spark.options import Stream
from tocsin.spark.session.session import local_session
from tocsin.spark.testing import DELAY, streamed

_NO_CASE = -1


def answers(requests: Sequence[Request], engine: str) -> Iterator[tuple[int, Any]]:
    """The number of each request and its result, or the exception raised instead, as soon as it is known."""
    queries: list[dict[int, Part]] = []
    for number, request in enumerate(requests):
        try:
            part = request.part(number)
        except Exception as problem:  # noqa: BLE001  (it is the result, and the runner reports it)
            yield number, problem
            continue
        for query in queries:
            if all(part.fits(other) for other in query.values()):
                query[number] = part
                break
        else:
            queries.append({number: part})
    for query in queries:
        yield from _answers(query, engine)


def _answers(query: Mapping[int, Part], engine: str) -> Iterator[tuple[int, Any]]:
    """The results of one query. One bad case fails the whole query: then halves are tried, down to single cases."""
    try:
        rows = _run(list(query.values()), engine)
    except Exception as problem:  # noqa: BLE001  (it is the result, and the runner reports it)
        numbers = list(query)
        if len(numbers) == 1:
            yield numbers[0], problem
            return
        for half in (numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]):
            yield from _answers({number: query[number] for number in half}, engine)
        return
    own: dict[int, list[Mapping[str, Any]]] = {number: [] for number in query}
    for row in rows:
        number = _case_of(row)
        if number in query and row["pattern"] == query[number].name:
            own[number].append(row)
    for number, part in query.items():
        try:
            yield number, part.answer(own[number])
        except Exception as problem:  # noqa: BLE001  (as above)
            yield number, problem


def _case_of(row: Mapping[str, Any]) -> int:
    """The number of the case whose events a match is made of."""
    return int(row[CASE])


def _run(parts: Sequence[Part], engine: str) -> Rows:
    """The matches of all patterns in the events of all parts."""
    first = parts[0]
    table = pa.concat_tables([part.table for part in parts], promote_options="default")
    patterns = {part.name: part.pattern for part in parts}
    language = dict(first.language_options)
    for name in first.mappings:
        language[name] = {key: value for part in parts for key, value in part.mappings[name].items()}
    options = (*first.options, language)

    def asked(events: Any) -> Any:
        arriving = [Stream(delay=f"{DELAY}s", ahead="any")] if events.isStreaming else []
        return detect(events, patterns, *options, *arriving, **first.arguments)

    if engine == "stream" and table.num_rows:
        named = (first.id, *first.arguments["key"])
        last = {name: table.column(name)[0].as_py() for name in named} | {CASE: _NO_CASE}
        return streamed(table, asked, types=first.arguments["type"], moments=first.moments, last=last)
    found: Rows = asked(local_session().createDataFrame(table)).toArrow().to_pylist()
    return found
