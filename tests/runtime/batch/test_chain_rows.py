"""Chains that are followed through the rows of all chunks are those of the whole stream."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import tocsin
from support.chains import LEFTMOST, TEXTS, chains_that_never_meet, random_events, random_patterns
from support.strategies import SECOND
from support.time_chunks import job_of, prepared, rows
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.span import overlap
from tocsin.runtime.batch.chain_rows import find_links, follow_links, has_links
from tocsin.runtime.batch.partition import Job, detect_partition
from tocsin.runtime.transport.time_chunks import far_apart, pack_chunks


def linked(
    compiled: Compiled, job: Job, events: pa.Table, bounds: list[int], piece: int = 7
) -> list[pa.RecordBatch]:
    """What tasks find that have a chunk each, and the one that has all their rows, the last chunk first."""
    longest = overlap(compiled, chains=True)
    assert longest is not None
    cuts = far_apart(sorted({bound * SECOND for bound in bounds}), longest)
    chunks: dict[int, list[pa.RecordBatch]] = {}
    for part in events.to_batches(max_chunksize=piece):
        for packed in pack_chunks(pa.Table.from_batches([part]), cuts, longest):
            (shard,) = set(packed.column("shard").to_pylist())
            chunks.setdefault(shard, []).append(packed)
    found = [batch for shard in sorted(chunks, reverse=True) for batch in find_links(job, chunks[shard])]
    return list(follow_links(job, found))


@pytest.mark.parametrize("seed", range(60))
def test_chains_are_those_of_the_whole(seed: int) -> None:
    random = Random(seed)
    texts = [text + LEFTMOST for text in random.sample(TEXTS, random.choice([1, 1, 2]))]
    # Twice the same pattern, which is detected once; and one without a chain beside them.
    texts += random.choice([[], texts[:1], ["([A], [B])_{T1=4s}"]])
    compiled = compile(
        [tocsin.parse(text, name=str(n)) for n, text in enumerate(texts)], points=seed % 2 == 0
    )
    assert has_links(compiled.plan)
    events = random_events(random, 150, 1, random.choice([60, 200]))
    random.shuffle(events)
    table, job = prepared(compiled, events), job_of(compiled)
    whole = rows(list(detect_partition(job, table.to_batches())))
    for _ in range(4):
        bounds = [random.randrange(200) for _ in range(random.choice([0, 1, 2, 5]))]
        assert rows(linked(compiled, job, table, bounds, random.choice([7, 200]))) == whole, (texts, bounds)


def test_chains_of_random_patterns_are_those_of_the_whole() -> None:
    for compiled, job, table, whole in random_patterns():
        for bounds in ([3], [1, 4, 8], [2, 3]):
            assert rows(linked(compiled, job, table, bounds)) == whole, (compiled, bounds)


def test_chains_that_never_meet() -> None:
    compiled, job, table, whole = chains_that_never_meet()
    assert rows(linked(compiled, job, table, [100, 150, 301, 399])) == whole


def test_few_links_travel_that_are_not_in_the_chain() -> None:
    compiled = compile([tocsin.parse(f"([A], [B])_{{T1=5s}}{LEFTMOST}")])
    events = random_events(Random(3), 3000, 1, 1500)
    table, job = prepared(compiled, events), job_of(compiled)
    cuts = far_apart([500 * SECOND, 1000 * SECOND], 5 * SECOND)
    links = list(find_links(job, pack_chunks(table, cuts, 5 * SECOND)))
    told = sum(pa.ipc.open_stream(one.as_buffer()).read_all().num_rows for b in links for one in b.column(1))
    in_chain = sum(batch.num_rows for batch in follow_links(job, links))
    assert in_chain <= told < in_chain + 30


def test_only_the_wanted_columns_of_matches() -> None:
    compiled = compile([tocsin.parse(f"([A], [B])_{{T1=5s}}{LEFTMOST}")])
    table = prepared(compiled, random_events(Random(1), 100, 1, 60))
    job = job_of(compiled)
    all_columns = pa.Table.from_batches(linked(compiled, job, table, [20, 40]))
    some = pa.Table.from_batches(linked(compiled, job._replace(wanted=("end", "start")), table, [20, 40]))
    assert some.equals(all_columns.select(["end", "start"]))
    assert some.num_rows > 3


@pytest.mark.parametrize(
    ("text", "can"),
    [
        (f"([A], [B])_{{T1=5s}}{LEFTMOST}", True),
        # Candidates for which it does not hold are in the chain as well.
        (f"([A], [B])_{{T1=5s}} where A.v = B.v{LEFTMOST}", False),
        (f"([A], [B])_{{T1=5s}}{LEFTMOST}, take = count", False),
        ("([A], [B])_{T1=5s} where A.v = B.v", True),
    ],
)
def test_what_can_be_followed_through_rows(text: str, can: bool) -> None:
    assert has_links(compile([tocsin.parse(text)]).plan) is can
