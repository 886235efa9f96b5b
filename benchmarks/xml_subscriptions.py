"""How does the cost of a document grow with the subscriptions over XML events, and how far is it from a bare parse?

Three things are measured in one process, without Spark:

- Table 1 of the paper: the time to match 200 documents of ten structures with the blocks of 100 and more subscriptions,
  relative to 100, beside the paper's. Each subscription compares a number with a bound of its own.
- The same where the subscriptions that a document matches stay as many: each block requires a text of its own. At the
  end the index is compared with looking at every block.
- Documents of about 1 kB with more than 20 elements each second, from bytes to constructed results, on one core; beside
  it the bare parse of the same bytes by lxml.

Times are CPU seconds, the best of several rounds.

    python benchmarks/xml_subscriptions.py
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from itertools import count

from lxml import etree

from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.automata.blocks.index import BlockIndex
from tocsin.automata.blocks.online import Subscriptions
from tocsin.cases.blocks.workload import STREAM, Workload
from tocsin.events import Interval
from tocsin.runtime.read.xml_documents import Unreadable, read_document
from tocsin.runtime.xml_tree import Content, written

PAPER = {100: 1.0, 200: 2.33, 300: 3.0, 400: 4.67, 500: 7.0}  # Table 1, relative to 100 subscriptions
STRUCTURES = 10


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--subscriptions", type=int, nargs="+", default=[100, 200, 300, 400, 500, 2000, 10_000]
    )
    parser.add_argument(
        "--documents", type=int, default=2_000, help="of the measurement from bytes to results"
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    numbers = sorted(options.subscriptions)
    found = {
        "table 1": _table_1(numbers, options.rounds),
        "constant matches": _constant_matches(numbers, options.rounds),
        "documents": _documents(500, options.documents, options.rounds),
    }
    print(json.dumps(found, indent=2))


def _table_1(numbers: list[int], rounds: int) -> dict[str, dict[str, float | None]]:
    workload = Workload(structures=STRUCTURES)
    seconds = {number: _matching(workload, number, rounds) for number in numbers}
    first = seconds[numbers[0]]
    return {
        str(number): {
            "ms": round(took * 1e3, 2),
            "relative": round(took / first, 2),
            "paper": PAPER.get(number),
        }
        for number, took in seconds.items()
    }


def _constant_matches(numbers: list[int], rounds: int) -> dict[str, object]:
    # One subscription for each structure and topic: a document matches as many blocks whatever their number.
    workloads = {
        number: Workload(structures=STRUCTURES, topics=max(1, number // STRUCTURES)) for number in numbers
    }
    seconds = {number: _matching(workload, number, rounds) for number, workload in workloads.items()}
    most = numbers[-1]
    documents = list(Workload(structures=STRUCTURES, events=5, topics=workloads[most].topics).documents())
    queries = [Evaluation(workloads[most].query(number)) for number in range(most)]

    def by_hand() -> None:
        for document in documents:
            for query in queries:
                for name in query.blocks:
                    query.match(name, document)

    each = _best(1, by_hand) / len(documents)
    index = seconds[most] / workloads[most].events
    return {
        "ms": {str(number): round(took * 1e3, 2) for number, took in seconds.items()},
        "ratio of last to first": round(seconds[most] / seconds[numbers[0]], 2),
        "times faster than looking at every block": round(each / index),
    }


def _matching(workload: Workload, number: int, rounds: int) -> float:
    index = BlockIndex()
    for one in range(number):
        evaluation = Evaluation(workload.query(one))
        for name, block in evaluation.blocks.items():
            index.add((one, name), STREAM, block.pattern, evaluation.own_predicates(name))
    documents = list(workload.documents())

    def match() -> None:
        for document in documents:
            index.match(STREAM, document)

    return _best(rounds, match)


def _documents(subscriptions: int, documents: int, rounds: int) -> dict[str, float]:
    workload = Workload(STRUCTURES, documents, fields=23, topics=subscriptions // STRUCTURES)
    data = [written(document).encode() for document in workload.documents()]
    results, clock = 0, count()
    running = Subscriptions()
    for number in range(subscriptions):
        running.add(f"q{number}", workload.query(number))

    def whole() -> None:
        nonlocal results
        results = 0
        for one in data:
            number = next(clock)
            event = XmlEvent(number, STREAM, Interval(number, number), _read(one))
            for sent in running.feed(event):
                results += sum(1 for result in sent.detection.results if written(result))

    def bare() -> None:
        for one in data:
            etree.fromstring(one)

    took, parsed = _best(rounds, whole), _best(rounds, bare)
    reading = _best(rounds, lambda: [_read(one) for one in data])
    return {
        "bytes of a document": round(sum(map(len, data)) / len(data)),
        "results": results,
        "documents per second and core": round(documents / took),
        "of these reading alone": round(documents / reading),
        "bare parses per second and core": round(documents / parsed),
        "ratio": round(took / parsed, 1),
    }


def _read(data: bytes) -> Content:
    found = read_document(data)
    if isinstance(found, Unreadable):
        raise SystemExit(f"the workload makes a document that cannot be read: {found.text}")
    return (found,)


def _best(rounds: int, run: Callable[[], object]) -> float:
    return min(map(partial(_seconds, run), range(max(1, rounds))))


def _seconds(run: Callable[[], object], _: int) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    main()
