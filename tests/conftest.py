"""What all tests share: one Spark session, and how hard Hypothesis tries."""

from __future__ import annotations

import os
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of the test run; it takes seconds to start."""
    # Imported here, so that a run without Spark tests does not load Spark.
    from tocsin.spark.session import local_session

    session = local_session("tocsin-tests", cores=2)
    yield session
    session.stop()
