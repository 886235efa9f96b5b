"""The process from which Spark's Python workers on this machine are forked, with all their modules already imported.

Spark's own daemon does not import Arrow, pandas or our kernels, so every worker would import them for itself, all at
once on few cores. Spark also makes every worker collect garbage after every task, which visits every object, those of
these modules included. Objects that exist before the first fork are frozen, and not visited again.
"""

from __future__ import annotations

import gc
import importlib
import socket
import sys

# The modules that workers of batch and streams import in their first task.
_NEEDED = (
    "pyspark.worker",
    "pyspark.sql.streaming.proto.StateMessage_pb2",
    "pandas",
    "pyarrow.compute",
    "tocsin.runtime.stream.fan_out",
    "tocsin.runtime.kernels.completion.memory",
    "tocsin.runtime.kernels.tokens.counting.memory",
    "tocsin.runtime.kernels.tokens.first_last.memory",
    "tocsin.runtime.kernels.tokens.groups.memory",
    "tocsin.runtime.read.json_values",
    "tocsin.spark.stream.shared_query",
)


def main() -> None:
    """Import the modules that workers need, then run Spark's own daemon."""
    # Use the installed PySpark, which has byte code; the same one in the archive would be compiled on every start.
    sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]
    for name in _NEEDED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    from pyspark import daemon

    worker = daemon.worker

    def quiet_worker(sock: socket.socket, authenticated: bool) -> int:
        """Run a worker without a traceback when Java closes the socket before reading all of Python's output."""
        try:
            return worker(sock, authenticated)
        except BrokenPipeError:
            return 1

    daemon.worker = quiet_worker
    daemon.manager()


if __name__ == "__main__":
    main()
