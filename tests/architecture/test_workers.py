"""What a worker of Spark loads, and how large the modules are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tocsin"


def test_a_worker_loads_the_runtime_and_nothing_else_of_ours() -> None:
    code = "import sys, tocsin.runtime.batch.partition; print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[1] for module in done.stdout.split()}
    assert loaded == {"errors", "runtime", "values"}


def test_a_worker_of_a_replay_loads_the_policies_as_well() -> None:
    code = "import sys, tocsin.spark.replay_worker; print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[1] for module in done.stdout.split()}
    assert loaded == {"errors", "events", "runtime", "spark", "values"}
    assert {m for m in done.stdout.split() if m.startswith("tocsin.spark.")} == {"tocsin.spark.replay_worker"}


def test_what_workers_are_forked_from_compiles_no_patterns() -> None:
    code = (
        "import importlib, sys; from tocsin.spark.session.daemon import _NEEDED; [*map(importlib.import_module, _NEEDED)]; "
        "print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[1] for module in done.stdout.split()}
    assert loaded == {"errors", "events", "runtime", "spark", "values"}


def test_the_package_itself_loads_nothing_heavy() -> None:
    code = "import sys, tocsin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numba", "numpy", "pyarrow", "pyspark"} & set(done.stdout.split())


def test_public_names_are_there() -> None:
    import tocsin

    assert all(getattr(tocsin, name) is not None for name in tocsin.__all__)


def test_no_module_is_longer_than_a_reader_will_follow() -> None:
    long = {
        str(path.relative_to(SOURCE)): n
        for path in SOURCE.rglob("*.py")
        if (n := len(path.read_text().splitlines())) > 450
    }
    assert long == {}
