"""A pipeline file may size and tune Spark; what could run code, it may not set unless the caller trusts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.session.allowed_settings import ALLOWED, refusal

FILE = """
[[source]]
name = "doors"
format = "jsonl"
path = "doors.jsonl"

[[subscription]]
name = "Opened"
pattern = "[Open];[Close]"

[spark]
sql.shuffle.partitions = 4
"driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -Xss4m"
"spark.memory.offHeap.enabled" = true
{more}
"""

# Each runs code, or hands data and control to another machine.
DANGEROUS = (
    '"python.daemon.module" = "evil"',
    '"python.worker.module" = "evil"',
    'pyspark.python = "/tmp/evil"',
    'jars = "evil.jar"',
    '"jars.packages" = "evil:evil:1"',
    '"jars.ivySettings" = "evil.xml"',
    'extraListeners = "evil.Listener"',
    'plugins = "evil.Plugin"',
    '"sql.extensions" = "evil.Extensions"',
    '"sql.queryExecutionListeners" = "evil.Listener"',
    '"sql.streaming.stateStore.providerClass" = "evil.Provider"',
    '"sql.streaming.checkpointFileManagerClass" = "evil.Manager"',
    '"sql.catalog.evil" = "evil.Catalog"',
    'serializer = "evil.Serializer"',
    '"io.compression.codec" = "evil.Codec"',
    'master = "spark://192.0.2.1:7077"',
    '"submit.pyFiles" = "evil.py"',
    '"executorEnv.PYTHONPATH" = "/tmp/evil"',
    '"executorEnv.LD_PRELOAD" = "/tmp/evil.so"',
    '"executor.extraJavaOptions" = "-javaagent:evil.jar"',
    '"driver.extraJavaOptions" = "-javaagent:evil.jar"',
    '"driver.extraJavaOptions" = "-Xss4m -XX:OnOutOfMemoryError=evil"',
    '"driver.extraJavaOptions" = "@evil"',
    '"driver.extraClassPath" = "/tmp/evil"',
    '"driver.extraLibraryPath" = "/tmp/evil"',
    '"driver.defaultJavaOptions" = "-agentlib:evil"',
    '"driver.memory" = "1g -agentlib:evil"',
    '"hadoop.fs.evil.impl" = "evil.FileSystem"',
    '"hadoop.hadoop.security.credential.provider.path" = "evil"',
    '"ui.filters" = "evil.Filter"',
    '"ui.enabled" = true',
    '"metrics.conf" = "evil"',
    '"redaction.regex" = "x"',
    '"sql.warehouse.dir" = "/tmp/evil"',
)


def written(folder: Path, more: str) -> Path:
    """A pipeline file with one more setting; a table of TOML has no key twice."""
    (folder / "doors.jsonl").touch()
    path = folder / "pipeline.toml"
    text = FILE.format(more=more)
    if "driver.extraJavaOptions" in more:
        text = text.replace('"driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -Xss4m"\n', "")
    path.write_text(text)
    return path


def test_settings_that_size_and_tune_are_allowed(tmp_path: Path) -> None:
    settings = read_pipeline(written(tmp_path, 'master = "local[1]"')).spark
    assert settings == {
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -Xss4m",
        "spark.memory.offHeap.enabled": "true",
        "spark.master": "local[1]",
    }


@pytest.mark.parametrize("setting", DANGEROUS)
def test_what_could_run_code_is_refused_at_its_line(tmp_path: Path, setting: str) -> None:
    path = written(tmp_path, setting)
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(path)
    (error,) = raised.value.errors
    line = path.read_text().splitlines().index(setting) + 1
    assert (error.code, error.span and error.span.line_column[0]) == ("spark-setting", line)
    assert "--allow-spark-settings" in (error.hint or "")
    allowed = read_pipeline(path, allow_spark_settings=True).spark
    assert len(allowed) == (3 if "extraJavaOptions" in setting and "driver" in setting else 4)


def test_the_command_line_says_which_and_how_to_allow_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, '"python.daemon.module" = "evil"')
    assert main(["run", str(path), "--check"]) == 2
    told = capsys.readouterr().err
    assert "spark-setting: spark.python.daemon.module may not be set in a pipeline file" in told
    assert "--allow-spark-settings" in told
    assert main(["run", str(path), "--check", "--allow-spark-settings"]) == 0


def test_no_setting_of_the_list_takes_a_path_or_a_class() -> None:
    for name in ALLOWED:
        for value in (
            "/tmp/evil",
            "evil.Evil$Class",
            "file:///tmp/evil",
            "-agentlib:evil",
            "a\nb",
            "$(evil)",
        ):
            assert refusal(name, value) is not None, (name, value)
