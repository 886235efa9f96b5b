"""Find what the patterns describe in a day of a building's sensors, in a plain Spark session.

python simulate.py --out data
python detect.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import tocsin

HERE = Path(__file__).resolve().parent
WHEN = [f"date_format({time}, 'HH:mm:ss') as {time}" for time in ("start", "end")]
SCHEMA = "id long, time timestamp, type string, room string, celsius double"


def find(session: SparkSession, data: Path) -> DataFrame:
    """The matches of all patterns, by room."""
    events = session.read.csv(str(data / "events.csv"), schema=SCHEMA, header=True)
    files = sorted((HERE / "patterns").glob("*.tocsin"))
    patterns = {file.stem: file.read_text(encoding="utf-8") for file in files}
    matches = tocsin.detect(events, patterns, tocsin.Columns(id="id"), key="room")
    # After its last event every sensor is silent. What would be reported after the end of the table is no news.
    last = events.agg(F.max("time").alias("last"))
    return matches.join(last, matches["end"] <= last["last"]).drop("last")


def main() -> None:
    """Show what is found, and write it to a folder if one is named."""
    parser = argparse.ArgumentParser(description="Find composite events in the building.")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="the folder with the events")
    parser.add_argument("--out", type=Path, help="a folder for the matches, as Parquet")
    options = parser.parse_args()
    # Spark's own 200 partitions are for clusters; on one machine, a few are faster.
    settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "4"}
    session = SparkSession.builder.config(map=settings).getOrCreate()
    found = find(session, options.data).cache()
    found.groupBy("pattern").count().orderBy("pattern").show()
    for name in ("left_open", "silent"):
        found.where(F.col("pattern") == name).orderBy("end").selectExpr("pattern", "room", *WHEN).show(3)
    rising = found.where("pattern = 'rising'").orderBy("end")
    rising.selectExpr("room", *WHEN, "constituents.attributes.celsius").show(3, truncate=False)
    if options.out:
        found.write.parquet(str(options.out / "rooms"))


if __name__ == "__main__":
    main()
