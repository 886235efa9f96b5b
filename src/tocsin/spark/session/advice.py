"""Settings that make detection faster in a session that somebody else made.

Some are fixed when Spark starts. The others hold for all queries of a session until they are changed, so they are set only
while Tocsin itself waits for a result; a table that is returned is computed later, with the settings of its session.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from tocsin.spark.session.session import ARROW_SETTINGS, is_on_one_machine, is_own, is_remote


def advice(session: SparkSession, *, converts_rows: bool) -> str | None:
    """Return one line with the settings that would make a query faster, and what they bring; None if there are none.

    Args:
        converts_rows: whether rows pass from Java to Python in the query.
    """
    if is_remote(session) or is_own(session.sparkContext):
        return None
    found = []
    if converts_rows and any(session.conf.get(name) != value for name, value in ARROW_SETTINGS.items()):
        listed = ", ".join(f"{name}={value}" for name, value in ARROW_SETTINGS.items())
        found.append(f"{listed} (rows are converted for Python in about half the time)")
    if is_on_one_machine(session.sparkContext):
        found.append("a session of tocsin.local_session() (a task takes 40 ms less)")
    return f"faster with {'; or with '.join(found)}" if found else None


@contextmanager
def fast_settings(session: SparkSession) -> Iterator[None]:
    """Set what makes the conversion of rows fast, and restore it afterwards."""
    before = {name: str(session.conf.get(name)) for name in ARROW_SETTINGS}
    for name, value in ARROW_SETTINGS.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)
