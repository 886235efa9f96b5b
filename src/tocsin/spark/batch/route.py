"""Choose the route of a query: how its events are read, and how they are partitioned for detection.

Routes are tried from the fastest to the slowest. Each one either accepts the query or gives the reason why it cannot;
the `Route` of a query records that reason for every faster one. All routes find the same matches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pyspark.sql import DataFrame

from tocsin.errors import InputError, counted
from tocsin.explain import contents as explain
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.spark.batch.co_located import together
from tocsin.spark.batch.run import detect_by_key, detect_by_time, detect_in_place, detect_read, prepared_rows
from tocsin.spark.events.arrow_predicates import Lookup, lookup_if_many
from tocsin.spark.parquet.read_plan import plan_reading
from tocsin.spark.query import Query, Refusal
from tocsin.spark.session.advice import advice

CHUNKS = "parquet in chunks"
PARTITIONED = "already partitioned"
PARQUET = "parquet"
LOOK_UP = "look-up"
BY_TIME = "by time"
BY_KEY = "by key"
ONE_TASK = "one task"
STREAM = "stream"


@dataclass(frozen=True, slots=True)
class Route:
    """The route of a query, and why no faster one was taken. `print(route)` shows it to a person."""

    name: str
    summary: str
    refused: tuple[tuple[str, str], ...] = ()  # every faster route, and why it does not apply
    advice: str | None = None  # settings of the session that would make it faster, and what they bring

    def why_not(self, name: str) -> str | None:
        """Why a route was not taken; None for this one and for slower ones."""
        return dict(self.refused).get(name)

    @property
    def explained(self) -> explain.Route:
        """The route as a part of an explanation."""
        return explain.Route(self.name, self.summary, dict(self.refused))

    def __str__(self) -> str:
        names: dict[str, list[str]] = {}
        for name, why in self.refused:
            names.setdefault(why, []).append(name)
        return "\n".join(
            [
                f"{self.name}: {self.summary}",
                *(f"  not {', '.join(own)}: {why}" for why, own in names.items()),
                *([] if self.advice is None else [f"  {self.advice}"]),
            ]
        )


class Choice:
    """A query with the route it takes. Intermediate results are cached, because several routes need them."""

    def __init__(self, query: Query) -> None:
        self.query = query

    @cached_property
    def reading(self) -> ReadJob | Refusal:
        """How tasks read the files of the events, or why they cannot."""
        files = self.query.files
        return plan_reading(self.query.table, self.query) if files is None else files.reading(self.query)

    @cached_property
    def lookup(self) -> Lookup | Refusal:
        """The predicates in a form that can be looked up, if there are many."""
        return lookup_if_many(self.query)

    @property
    def looked_up(self) -> Lookup | None:
        """The look-up that the routes over tables use, if there is one."""
        return None if isinstance(self.lookup, Refusal) else self.lookup

    @cached_property
    def rows(self) -> DataFrame:
        """The rows of the table that are sent to the workers."""
        return prepared_rows(self.query, self.looked_up)

    @cached_property
    def in_place(self) -> DataFrame | Refusal:
        """Prepared rows that are already partitioned by key, or why they are not."""
        query = self.query
        if not query.columns.key:
            return Refusal("the events have no key")
        if query.cut == "time":
            return Refusal("cut='time' assigns events to tasks by time")
        if query.files is not None:
            return Refusal("the events are files, not a table repartitioned by the key")
        placed = together(self.rows, len(query.columns.key))
        return Refusal("the table is not repartitioned by the key alone") if placed is None else placed

    @cached_property
    def overlap(self) -> int | Refusal:
        """By how many microseconds chunks overlap when events are shuffled, or why they cannot be cut by time."""
        query = self.query
        if query.columns.key and query.cut != "time":
            return Refusal("events with a key travel by key, unless cut='time' is asked for")
        if query.overlap is None:
            return Refusal("a pattern has no longest match, or depends on earlier matches")
        return query.overlap

    @cached_property
    def route(self) -> Route:
        """The first route that applies, and the reasons against all faster ones."""
        refused: list[tuple[str, str]] = []
        for one in ROUTES:
            served = one.serve(self)
            if isinstance(served, Refusal):
                refused.append((one.name, served.reason))
            else:
                advised = advice(self.query.spark, converts_rows=one.run is not _run_read)
                return Route(one.name, served, tuple(refused), advised)
        raise _cannot_cut(dict(refused))

    def matches(self) -> DataFrame:
        """Run the query by the chosen route and return the matches."""
        return next(one.run(self) for one in ROUTES if one.name == self.route.name)


class _Way(NamedTuple):
    """A route: a check that returns a description or a refusal, and a function that runs the query."""

    name: str
    serve: Callable[[Choice], str | Refusal]
    run: Callable[[Choice], DataFrame]


def choose(query: Query) -> Choice:
    """Choose the route of a query over a table or files; raise `InputError` if it cannot be cut as requested."""
    if query.cut == "key" and not query.columns.key:
        raise InputError(
            "bad-option", "cut='key', but the events have no key", hint="say key=…, or leave cut out"
        )
    if query.cut == "time" and (query.longest if query.files is not None else query.overlap) is None:
        raise _cannot_cut({BY_TIME: "it has no longest match, or depends on earlier matches"})
    choice = Choice(query)
    assert choice.route
    return choice


def route_of_stream(lookup: Lookup | Refusal | None) -> Route:
    """Return the only route of a stream. `lookup` is that of its predicates; None for rules that change."""
    summary = "events travel to the shard of their key, which keeps its state between micro-batches"
    waiting = "the events of a stream arrive while it runs, and have to meet the state of their key"
    refused = {one.name: waiting for one in ROUTES if one.name != LOOK_UP}
    if isinstance(lookup, Refusal):
        refused[LOOK_UP] = lookup.reason
    else:
        summary += (
            f"; {'the rules in force' if lookup is None else 'predicates'} are looked up by Python workers"
        )
    return Route(STREAM, summary, tuple(refused.items()))


def _cannot_cut(refused: dict[str, str]) -> InputError:
    reason = refused[BY_TIME]
    if PARQUET in refused and CHUNKS in refused:
        reason = f"{refused[PARQUET]}; and {reason}"
    return InputError(
        "cannot-cut",
        f"the pattern cannot be detected in pieces of time: {reason}",
        hint="bound it by a timer, as in ([A], [B])_{T1=1h}, without matches = leftmost; or leave cut out",
    )


# --- Each route: whether it applies, and how it runs --------------------------------------------------


def _chunks(choice: Choice) -> str | Refusal:
    reading, query = choice.reading, choice.query
    if isinstance(reading, Refusal):
        return reading
    if reading.layout is not None:
        chunks = counted(len(reading.layout.chunks), "chunk")
        return f"tasks read Parquet files in {chunks} of time, and detect there; no event travels"
    if query.cut == "key":
        return Refusal("cut='key' is asked for")
    if query.longest is None:
        return Refusal("a pattern has no longest match, or depends on all the past")
    return Refusal("the row groups of the files are not in the order of time")


def _partitioned(choice: Choice) -> str | Refusal:
    if isinstance(choice.in_place, Refusal):
        return choice.in_place
    return "the events of each key are together already, and are not moved"


def _parquet(choice: Choice) -> str | Refusal:
    reading = choice.reading
    if isinstance(reading, Refusal):
        return reading
    return (
        f"tasks read Parquet files with Arrow, and events travel {_how(choice, reading.overlap is not None)}"
    )


def _look_up(choice: Choice) -> str | Refusal:
    if isinstance(choice.lookup, Refusal):
        return choice.lookup
    by_time = not isinstance(choice.overlap, Refusal)
    if choice.query.cut == "time" and not by_time:
        return Refusal(str(choice.overlap))
    return f"predicates are looked up where events are packed, and events travel {_how(choice, by_time)}"


def _by_time(choice: Choice) -> str | Refusal:
    return choice.overlap if isinstance(choice.overlap, Refusal) else f"events travel {_how(choice, True)}"


def _by_key(choice: Choice) -> str | Refusal:
    if choice.query.cut == "time":
        return Refusal("cut='time' is asked for")
    return (
        f"events travel {_how(choice, False)}"
        if choice.query.columns.key
        else Refusal("the events have no key")
    )


def _one_task(choice: Choice) -> str | Refusal:
    if choice.query.cut == "time":
        return Refusal("cut='time' is asked for")
    return f"events travel {_how(choice, False)}"


def _how(choice: Choice, by_time: bool) -> str:
    if by_time:
        return "to the tasks of chunks of time"
    return "to the tasks of their keys" if choice.query.columns.key else "to one task"


def _run_in_place(choice: Choice) -> DataFrame:
    assert isinstance(choice.in_place, DataFrame)
    return detect_in_place(choice.query, choice.looked_up, choice.in_place)


def _run_read(choice: Choice) -> DataFrame:
    assert isinstance(choice.reading, ReadJob)
    return detect_read(choice.query, choice.reading)


def _run_table(choice: Choice) -> DataFrame:
    if isinstance(choice.overlap, Refusal):
        return detect_by_key(choice.query, choice.looked_up, choice.rows)
    return detect_by_time(choice.query, choice.looked_up, choice.rows, choice.overlap)


ROUTES = (
    _Way(CHUNKS, _chunks, _run_read),
    _Way(PARTITIONED, _partitioned, _run_in_place),
    _Way(PARQUET, _parquet, _run_read),
    _Way(LOOK_UP, _look_up, _run_table),
    _Way(BY_TIME, _by_time, _run_table),
    _Way(BY_KEY, _by_key, _run_table),
    _Way(ONE_TASK, _one_task, _run_table),
)
