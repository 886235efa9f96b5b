"""The process that Spark's Python workers on this machine are forked from, with all that they need in it already.

Spark's own process knows nothing of Arrow, pandas or our kernels, so every worker would import them for itself, all at once on
few cores. Spark also lets every worker collect garbage after every task, which looks at each object there is, those of these
modules too. What is here before the first fork is not looked at again.
"""

from __future__ import annotations

import gc
import importlib
import socket
import sys

# What workers of batch and streams import in their first task.
_NEEDED = (
    "pyspark.worker",
    "pyspark.sql.streaming.proto.StateMessage_pb2",
    "pandas",
    "pyarrow.compute",
    "tocsin.runtime.gather",
    "tocsin.runtime.json_values",
    "tocsin.spark.stream_jobs",
)


def main() -> None:
    """Import what workers need, then do what Spark's own process does."""
    # The same PySpark is installed beside us in compiled form; from the archive it would be compiled on every start.
    sys.path[:] = [entry for entry in sys.path if not entry.endswith("pyspark.zip")]
    for name in _NEEDED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    from pyspark import daemon

    worker = daemon.worker

    def quiet_worker(sock: socket.socket, authenticated: bool) -> int:
        """Java may close a socket before all is read that Python has written. Nobody needs to see a traceback of that."""
        try:
            return worker(sock, authenticated)
        except BrokenPipeError:
            return 1

    daemon.worker = quiet_worker
    daemon.manager()


if __name__ == "__main__":
    main()
