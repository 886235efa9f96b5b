"""How much longer do 300 rules of 30 shapes take than one, from reading to one written output?

A folder of rule files is a pipeline with one sink for all (`together`). The rules differ in shape (sequences, alternatives,
absence, repetition, timers, variables, conditions, selections) and in their thresholds; as alerts do, each matches rarely.
The same pipeline with the first rule alone is timed in turns with it, each several times in one session. The matches of that
rule must be the same in both.

    python benchmarks/many_rules.py --events 1000000 --rules 300
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from tocsin.bench.events import EventSet, parquet_file
from tocsin.spark.pipeline import Report, run_pipeline
from tocsin.spark.session.session import local_session

DATA = Path(__file__).resolve().parent / "data"
PIPELINE = """
[[source]]
name = "events"
format = "parquet"
path = "{file}"
time = "ts"
time_unit = "ms"

[[subscription]]
file = "{rules}/*.tocsin"
key = "key"

[[sink]]
format = "parquet"
path = "{out}"
mode = "overwrite"
together = true
"""
# P and Q are rare events of two types, with thresholds of their own; W is a window.
SHAPES = (
    "([P], [Q])_{T1=W}",
    "([P], [T1 in {T1, Q}])_{T1=W}",
    "([P];[Q];[C])_{T1=W}".replace("([P];[Q];[C])", "([P], ([Q];[C]))"),
    "([P], [Q])_{T1=W} with matches = leftmost",
    "([P], [Q])_{T1=W} with matches = next",
    "([P], [Q][C])_{T1=W}",
    "([P], [C in {C, Q}])_{T1=W} with matches = next",
    "([P], ([Q] | [R]))_{T1=W}",
    "([P], ([Q][C] | [C][Q]))_{T1=W} with matches = leftmost",
    "([P], [Q])_{T1=W} | ([Q], [P])_{T1=W}",
    "([P], [P])_{T1=W}",
    "([P], [P][P])_{T1=W}",
    "([P], [P][Q])_{T1=W} with matches = next",
    "([P], [Q])_{T1=W} where P.v < Q.v".replace("P.v", "A.v").replace("Q.v", "B.v"),
    "([P], [Q])_{T1=W} with matches = any, take = first 1",
    "([P], [Q])_{T1=W} with matches = any, take = last",
    "([P], [Q])_{T1=W} with matches = any, take = count",
    "([P], [D(v > 99)][Q])_{T1=W}",
    "([P], [E in {E, D(v > 50)}])_{T1=W} with matches = next",
    "([P], [Q in {Q, E(v > 50)}])_{T1=W}",
    "([P], [R]*[Q])_{T1=W} with matches = next",
    "([P], ([R] | [Q])[C])_{T1=W} with matches = next",
    "([P], ([R][Q] | [C]))_{T1=W} with matches = next",
    "([P], [T1])_{T1=W}",
    "([P], [T1 in {T1, C}])_{T1=W}",
    "([P], [T1 in {T1, D, E}])_{T1=W}",
    "[P];[Q] with matches = adjacent",
    "([P], ([Q], [C])_{T2=W})_{T1=W} with matches = next",
    "Pair := ([P], [Q])_{T1=W};\n([Pair], [C(v > 90)])_{T2=W} with matches = next",
    "([P(v = $x)], [Q(v > $x)])_{T1=W}".replace("[P(v = $x)]", "[A(v >= a AND v = $x)]").replace(
        "[Q(v > $x)]", "[B(v >= b AND v > $x)]"
    ),
)


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rules", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    spark = local_session("tocsin-benchmark")
    with tempfile.TemporaryDirectory(prefix="tocsin-rules-") as name:
        folder = Path(name)
        for count in (1, arguments.rules):
            write_rules(folder / f"rules{count}", count)
        # A small run first, to start workers and compile kernels.
        for rows, rounds in ((50_000, 1), (arguments.events, arguments.rounds)):
            file = parquet_file(EventSet(rows, arguments.keys), DATA)
            reports: dict[int, Report] = {}
            seconds: dict[int, list[float]] = {1: [], arguments.rules: []}
            for _ in range(rounds):
                for count, own in seconds.items():
                    began = time.monotonic()
                    reports[count] = run(spark, folder, count, file)
                    own.append(round(time.monotonic() - began, 2))
        rows_written = spark.read.parquet(str(folder / f"out{arguments.rules}")).count()
    one, many = (reports[count] for count in (1, arguments.rules))
    assert one.matches["R000"] == many.matches["R000"]
    assert rows_written == sum(many.matches.values())
    found = {
        "events": one.total.read,
        "rules": len(many.matches),
        "shapes": min(len(SHAPES), arguments.rules),
        "rules_with_matches": sum(1 for count in many.matches.values() if count),
        "matches": rows_written,
        "one_rule_seconds": seconds[1],
        "all_rules_seconds": seconds[arguments.rules],
        "ratio": round(statistics.median(seconds[arguments.rules]) / statistics.median(seconds[1]), 2),
        "route": str(many.routes["R000"]).splitlines()[0],
    }
    print(json.dumps(found, indent=2))


def write_rules(folder: Path, count: int) -> None:
    """Write rule files: shape after shape, each time with other thresholds and another window."""
    folder.mkdir()
    chance = random.Random(17)
    for number in range(count):
        a, b = (chance.randrange(9_700, 9_990) / 100 for _ in range(2))
        window = f"{chance.randrange(10, 60)}s"
        text = SHAPES[number % len(SHAPES)]
        for sign, spec in (
            ("[P]", f"[A(v >= {a})]"),
            ("[Q]", f"[B(v >= {b})]"),
            ("{T1, Q}", f"{{T1, B(v >= {b})}}"),
            ("{C, Q}", f"{{C, B(v >= {b})}}"),
            ("[Q in {Q,", f"[B(v >= {b}) in {{B(v >= {b}),"),
            ("[R]", f"[C(v >= {a})]"),
            ("v >= a ", f"v >= {a} "),
            ("v >= b ", f"v >= {b} "),
            ("=W}", f"={window}}}"),
        ):
            text = text.replace(sign, spec)
        head = f"name: R{number:03d}\nseverity: {chance.choice(('low', 'medium', 'high'))}\ntags: [shape{number % 30}]"
        (folder / f"r{number:03d}.tocsin").write_text(f"---\n{head}\n---\n{text}\n")


def run(spark: SparkSession, folder: Path, count: int, file: Path) -> Report:
    """Run the pipeline with so many rules once."""
    text = PIPELINE.format(file=file, rules=folder / f"rules{count}", out=folder / f"out{count}")
    (folder / "pipeline.toml").write_text(text)
    return run_pipeline(folder / "pipeline.toml", session=spark)


if __name__ == "__main__":
    main()
