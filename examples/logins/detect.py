"""Find what the patterns describe in a day of logins and processes, in a plain Spark session.

python simulate.py --out data
python detect.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import tocsin

HERE = Path(__file__).resolve().parent
WHEN = [f"date_format({time}, 'HH:mm:ss') as {time}" for time in ("start", "end")]
SCHEMA = "id long, time timestamp, type string, user string, country string, host string, pid long, parent long, image string"


def pattern(name: str) -> str:
    """The text of a pattern, from its file."""
    return (HERE / "patterns" / f"{name}.tocsin").read_text(encoding="utf-8")


def find(session: SparkSession, data: Path) -> dict[str, DataFrame]:
    """The matches, by user and by host."""
    events = session.read.schema(SCHEMA).json(str(data / "events.jsonl"))
    columns = tocsin.Columns(id="id")
    of_users = {name: pattern(name) for name in ("brute_force", "travel")}
    of_hosts = {"document_starts_shell": pattern("document_starts_shell")}
    return {
        "users": tocsin.detect(events, of_users, columns, key="user"),
        "hosts": tocsin.detect(events, of_hosts, columns, key="host"),
    }


def main() -> None:
    """Show what is found, and write it to a folder if one is named."""
    parser = argparse.ArgumentParser(description="Find composite events among logins and processes.")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="the folder with the events")
    parser.add_argument("--out", type=Path, help="a folder for the matches, as Parquet")
    options = parser.parse_args()
    # Spark's own 200 partitions are for clusters; on one machine, a few are faster.
    settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "4"}
    session = SparkSession.builder.config(map=settings).getOrCreate()
    found = {name: matches.cache() for name, matches in find(session, options.data).items()}
    for matches in found.values():
        matches.groupBy("pattern").count().orderBy("pattern").show(truncate=False)
    travel = found["users"].where("pattern = 'travel'").orderBy("end")
    travel.selectExpr("user", *WHEN, "constituents.attributes.country").show(3, truncate=False)
    shells = found["hosts"].orderBy("end")
    shells.selectExpr("host", *WHEN, "constituents.attributes.image").show(3, truncate=False)
    if options.out:
        for name, matches in found.items():
            matches.write.parquet(str(options.out / name))


if __name__ == "__main__":
    main()
