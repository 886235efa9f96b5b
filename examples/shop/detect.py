"""Find what the patterns describe in the events of the shop, in a plain Spark session.

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
COLUMNS = tocsin.Columns(id="id")
WHEN = [f"date_format({time}, 'E HH:mm:ss') as {time}" for time in ("start", "end")]


def patterns(*names: str) -> dict[str, str]:
    """The patterns of these names, from their files; `funnel/*` names several."""
    files = [file for name in names for file in sorted((HERE / "patterns").glob(f"{name}.tocsin"))]
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def find(session: SparkSession, data: Path) -> dict[str, DataFrame]:
    """The matches, by customer, by product, and of the steps of the funnel."""
    events = session.read.parquet(str(data / "events.parquet"))
    by_customer = patterns("abandoned", "failed_then_paid")
    return {
        "customers": tocsin.detect(events, by_customer, COLUMNS, key="customer"),
        "funnel": tocsin.detect(events, patterns("funnel/*"), COLUMNS, key="customer"),
        "products": tocsin.detect(events, patterns("falling"), COLUMNS, key="product"),
    }


def main() -> None:
    """Show what is found, and write it to a folder if one is named."""
    parser = argparse.ArgumentParser(description="Find composite events in the shop.")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="the folder with the events")
    parser.add_argument("--out", type=Path, help="a folder for the matches, as Parquet")
    options = parser.parse_args()
    # Spark's own 200 partitions are for clusters; on one machine, a few are faster.
    settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "4"}
    session = SparkSession.builder.config(map=settings).getOrCreate()
    found = {name: matches.cache() for name, matches in find(session, options.data).items()}
    for name in ("customers", "products"):
        found[name].groupBy("pattern").count().orderBy("pattern").show()
    steps = found["funnel"].groupBy("pattern").agg(F.countDistinct("customer").alias("customers"))
    steps.orderBy("pattern").show()
    falling = found["products"].orderBy("end")
    falling.selectExpr("product", *WHEN, "constituents.attributes.price").show(3, truncate=False)
    if options.out:
        for name, matches in found.items():
            matches.write.parquet(str(options.out / name))


if __name__ == "__main__":
    main()
