"""What the fuzzer once found stays fixed, and the fuzzer finds what it should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from support import fuzz_texts
from support.fuzz_targets import targets
from tocsin.languages.registry import languages

HERE = Path(__file__).resolve().parent
FOUND = sorted(file for file in (HERE / "fuzz_cases").glob("*-*") if file.is_file())


@pytest.mark.slow
def test_every_language_is_tried() -> None:
    assert set(fuzz_texts.all_names()) == {one.name for one in languages() if one.name in targets()}
    assert {"core", "pretty", "ecl", "ksu"} <= set(fuzz_texts.all_names())


@pytest.mark.slow
def test_what_was_found_stays_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(HERE)
    import fuzz

    before = signal.signal(signal.SIGVTALRM, fuzz._give_up)
    try:
        wrong = {
            file.name: what
            for file in FOUND
            if (what := fuzz.attempt(file.name.rpartition("-")[0], file.read_bytes()))
        }
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert wrong == {}


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import fuzz
from support import fuzz_targets
from support.fuzz_targets import Target

def bad(data):
    if data[:1] == b"\\x07":
        raise KeyError("no place")
    if data[:1] == b"\\x08":
        while True:
            pass

made = {"bad": Target(lambda random: bytes([random.randrange(10)]), bad)}
fuzz.targets = lambda: made
fuzz.HOPELESS = 0.2
class Told:
    def send(self, message): print(message, flush=True)
    def close(self): pass
import itertools, time
ticks = itertools.count()
time.monotonic = lambda: next(ticks)  # thirty texts, however busy the machine is
fuzz.work(["bad"], 1, 30, Told())
"""


@pytest.mark.slow
def test_foreign_exceptions_and_endless_loops_are_found() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, HERE], capture_output=True, text=True, check=True)
    assert "KeyError" in done.stdout
    assert "more than 0.2 s of CPU" in done.stdout
    assert "Counter({'bad': " in done.stdout


@pytest.mark.slow
def test_what_was_tried_counts_even_if_the_process_dies(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.syspath_prepend(
        HERE.parent
    )  # the new process finds `_die_halfway` by the name of this module
    import fuzz

    monkeypatch.setattr(fuzz, "work", _die_halfway)
    monkeypatch.setattr(fuzz, "CASES", tmp_path)
    fuzzer = fuzz.Fuzzer(["core"], 1)
    fuzzer.run(1.0, 1)
    assert fuzzer.tried["core"] >= 7
    (finding,) = fuzzer.findings
    assert finding.data == b"the last one"
    assert "died within 50 texts of this one" in finding.what


def _die_halfway(names: list[str], seed: int, until: float, told: Connection) -> None:
    """Work as a process that counts some texts, begins another and is killed."""
    told.send(("core", b"the last one", None))
    told.send(Counter({names[0]: 7}))
    os.kill(os.getpid(), signal.SIGKILL)
