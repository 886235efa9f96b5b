"""`tocsin warm`: compile the kernels now instead of at the first detection."""

from __future__ import annotations

import argparse
import time
from typing import Any

_HELP = """\
The kernels that did not come with the package are compiled for the processor they run on, once after an
installation, and kept beside the package, or in NUMBA_CACHE_DIR where that cannot be written. Without this
command the first query waits for it.
Run it when an image for a cluster is built, on a machine like those it is for.

example:
  pip install tocsin && tocsin warm
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    subparsers.add_parser(
        "warm",
        help="compile the kernels, once after an installation",
        description="Compile the kernels, so that the first query does not wait for it.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def run(_: argparse.Namespace) -> int:
    """Compile the kernels that are not compiled yet."""
    from tocsin.automata.execute import warm
    from tocsin.automata.pairs.in_process import warm as warm_pairs
    from tocsin.spark.warm import rehearse

    began = time.monotonic()
    warm()
    warm_pairs()
    rehearse()
    print(f"the kernels are compiled ({time.monotonic() - began:.1f} s)")
    return 0
