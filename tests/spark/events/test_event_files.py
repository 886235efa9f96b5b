"""Files of events that a query names: CSV by RFC 4180."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tocsin.spark.events.event_files import read_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.slow
def test_a_quoted_field_holds_quotes_and_line_breaks(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_bytes(b'type,said,n\nA,"say ""hi""",1\nA,"two\nA,lines,2",3\n')
    rows = [tuple(row) for row in read_file(spark, str(file), "csv").collect()]
    assert sorted(rows) == [("A", 'say "hi"', 1), ("A", "two\nA,lines,2", 3)]
