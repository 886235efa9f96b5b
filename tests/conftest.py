"""What all tests share: one Spark session, how hard Hypothesis tries, and which files come first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No deadline: the first call of a kernel compiles it. CI tries the same examples every time, so that it turns
# red only for a change that breaks something; a developer's run looks for new ones.
settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=300, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --long, which swaps the tests of CI for those that CI has no time for."""
    parser.addoption("--long", action="store_true", help="run the tests marked long, and only those")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select by --long, and put slow files first: processes are given whole files, and short ones fill the gaps."""
    left_out = [item for item in items if bool(item.get_closest_marker("long")) != config.getoption("--long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        out = set(left_out)
        items[:] = [item for item in items if item not in out]
    ranks: dict[Path, int] = {}
    for item in items:
        own = 0 if item.get_closest_marker("spark") else 1 if item.get_closest_marker("slow") else 2
        ranks[item.path] = min(ranks.get(item.path, own), own)
    items.sort(key=lambda item: ranks[item.path])


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The one Spark session of the test run; it takes seconds to start."""
    # Imported here, so that a run without Spark tests does not load Spark.
    from support.kafka_node import connector_jars
    from tocsin.spark.session.session import local_session

    # Jars must be there when Spark starts. They are fetched only if a test of this run wants them.
    jars = connector_jars(fetch=any("test_kafka" in item.nodeid for item in request.session.items))
    session = local_session(
        "tocsin-tests", cores=2, extra_conf={"spark.jars": ",".join(jars)} if jars else {}
    )
    yield session
    session.stop()
