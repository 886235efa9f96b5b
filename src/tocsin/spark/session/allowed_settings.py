"""The Spark settings that a pipeline file may make: those that size and tune, and cannot run code.

Many settings of Spark name a class, a jar, a command or a machine, and so run code of whoever wrote them. A pipeline file
is often written by somebody else than the person who runs it, so it may only make the settings of this list, and only
with values of the kind given here. `docs/explanation/trust.md` has the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_NUMBER = r"-?\d{1,18}(\.\d{1,18})?"
_SIZE = r"-?\d{1,18}[bkmgtpBKMGTP]?[bB]?"
_DURATION = r"\d{1,18}(us|ms|s|m|min|h|d)?"
_FLAG = r"true|false"
_CODEC = r"lz4|zstd|snappy|lzf|gzip|none|uncompressed"
# Options of Java that choose a compiler, a collector or a size. Others load agents or run commands.
_JAVA_OPTION = (
    rf"-X(ms|mn|ss){_SIZE}|-XX:[+-](Use(G1|Serial|Parallel|Z|Shenandoah)GC|TieredCompilation|UseStringDeduplication"
    r"|UseCompressedOops|AlwaysPreTouch|UseNUMA)|-XX:(TieredStopAtLevel|ParallelGCThreads|ConcGCThreads"
    r"|CICompilerCount|MaxGCPauseMillis|ActiveProcessorCount)=\d{1,6}"
    rf"|-XX:(MetaspaceSize|MaxMetaspaceSize|MaxDirectMemorySize|ReservedCodeCacheSize|G1HeapRegionSize)={_SIZE}"
)

ALLOWED: Mapping[str, str] = {
    "spark.app.name": r"[\w .,()\-]{1,200}",
    "spark.broadcast.blockSize": _SIZE,
    "spark.cores.max": _NUMBER,
    "spark.default.parallelism": _NUMBER,
    "spark.driver.cores": _NUMBER,
    "spark.driver.extraJavaOptions": rf"({_JAVA_OPTION})( +({_JAVA_OPTION}))*",
    "spark.driver.maxResultSize": _SIZE,
    "spark.driver.memory": _SIZE,
    "spark.driver.memoryOverhead": _SIZE,
    "spark.executor.cores": _NUMBER,
    "spark.executor.heartbeatInterval": _DURATION,
    "spark.executor.memory": _SIZE,
    "spark.executor.memoryOverhead": _SIZE,
    "spark.executor.pyspark.memory": _SIZE,
    "spark.io.compression.codec": _CODEC,
    "spark.locality.wait": _DURATION,
    "spark.log.level": r"ALL|DEBUG|ERROR|FATAL|INFO|OFF|TRACE|WARN",
    "spark.master": r"local(\[(\d{1,4}|\*)(, ?\d{1,4})?\])?",
    "spark.memory.fraction": _NUMBER,
    "spark.memory.offHeap.enabled": _FLAG,
    "spark.memory.offHeap.size": _SIZE,
    "spark.memory.storageFraction": _NUMBER,
    "spark.network.timeout": _DURATION,
    "spark.python.worker.memory": _SIZE,
    "spark.python.worker.reuse": _FLAG,
    "spark.reducer.maxSizeInFlight": _SIZE,
    "spark.scheduler.mode": r"FIFO|FAIR",
    "spark.shuffle.compress": _FLAG,
    "spark.shuffle.file.buffer": _SIZE,
    "spark.shuffle.spill.compress": _FLAG,
    "spark.speculation": _FLAG,
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": _SIZE,
    "spark.sql.adaptive.coalescePartitions.enabled": _FLAG,
    "spark.sql.adaptive.enabled": _FLAG,
    "spark.sql.adaptive.skewJoin.enabled": _FLAG,
    "spark.sql.autoBroadcastJoinThreshold": _SIZE,
    "spark.sql.execution.arrow.maxBytesPerBatch": _SIZE,
    "spark.sql.execution.arrow.maxRecordsPerBatch": _NUMBER,
    "spark.sql.files.maxPartitionBytes": _SIZE,
    "spark.sql.files.openCostInBytes": _SIZE,
    "spark.sql.parquet.compression.codec": _CODEC,
    "spark.sql.session.timeZone": r"[A-Za-z][\w+\-/]{0,63}|[+-]\d\d:\d\d",
    "spark.sql.shuffle.partitions": _NUMBER,
    "spark.sql.streaming.maxBatchesToRetainInMemory": _NUMBER,
    "spark.sql.streaming.minBatchesToRetain": _NUMBER,
    "spark.sql.streaming.pollingDelay": _DURATION,
    "spark.sql.streaming.stateStore.maintenanceInterval": _DURATION,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": _NUMBER,
    "spark.storage.memoryFraction": _NUMBER,
    "spark.task.maxFailures": _NUMBER,
    "spark.ui.showConsoleProgress": _FLAG,
}
"""The settings by name, each with a pattern that the whole value must match."""


def refusal(name: str, value: str) -> str | None:
    """Return why a pipeline file may not make a setting; None if it may.

    >>> refusal("spark.sql.shuffle.partitions", "4")
    >>> refusal("spark.master", "spark://somewhere:7077")
    "spark.master may not be 'spark://somewhere:7077' in a pipeline file"
    >>> refusal("spark.jars", "evil.jar")
    'spark.jars may not be set in a pipeline file'
    """
    if name not in ALLOWED:
        return f"{name} may not be set in a pipeline file"
    if re.fullmatch(ALLOWED[name], value, re.ASCII) is None:
        shown = value if len(value) <= 80 else f"{value[:77]}..."
        return f"{name} may not be {shown!r} in a pipeline file"
    return None
