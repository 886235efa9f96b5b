"""No text of a language takes more than two seconds of CPU or 500 MB from its text to its program.

The texts are those that took longer: each names what it is made of. Every one is accepted or refused with an error of ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest


def _correlation(filter: str, cases: str = "case l: push a;", parameters: str = "E a, F b, G c") -> str:
    return f"N correlation C ({parameters}) {filter} {{ {cases} }}"


def _row(number: int, part: Callable[[int], str], between: str = ",") -> str:
    return between.join(part(i) for i in range(number))


def _tree(depth: int, signs: str) -> str:
    if not depth:
        return "a"
    inner = _tree(depth - 1, signs)
    return f"({inner}{signs[depth % len(signs)]}{inner})"


def _composites(number: int, stars: int) -> str:
    row = _row(stars, lambda j: f"[A{j}]*", "")
    return _row(number, lambda i: f"C{i} := ({row}[B{i}]);", "") + _row(number, lambda i: f"[C{i}]", "")


TEXTS = {
    "equal alternatives under stars": ("core", "(([A]|[A])*[B])*" * 12),
    "alternatives under stars": ("core", _row(60, lambda i: f"(([A{i}]|[B{i}])*[C{i}])*", "")),
    "an alternation of 3,000": ("core", f"({_row(3000, lambda i: f'[A{i}]', '|')})*[Z]"),
    "equal stars": ("core", "[A]*" * 300),
    "stars": ("core", _row(440, lambda i: f"[A{i}]*", "")),
    "chained definitions": (
        "core",
        "C0 := ([A]);" + _row(499, lambda i: f"C{i + 1} := ([C{i}]);", "") + "[C499]",
    ),
    "equal definitions": (
        "core",
        _row(450, lambda i: f"C{i} := ({_row(13, lambda j: f'[A{j}]*', '')});", "")
        + _row(450, lambda i: f"[C{i}]", ""),
    ),
    "composites that are large together": ("core", _composites(30, 200)),
    "sides that are large together": (
        "core",
        _row(60, lambda i: f"({_row(100, lambda j: f'[A{j}]*', '')}[B{i}])", "||"),
    ),
    "a number of 5,000 digits": ("core", f"[A(x = {'9' * 5000})]"),
    "repetitions": ("pretty", '("A" or "B") repeated 5000 times'),
    "exclusions": ("pretty", '"A" ' + _row(2500, lambda i: f'without "B{i}"', " ")),
    "repetitions in Python": ("binding", "A.repeated(10000)"),
    "negations in a guard": (
        "ksu",
        _correlation("l:(a;b)", f"case {_row(9900, lambda i: '!l', ' & ')}: push a;"),
    ),
    "negations of many labels": (
        "ksu",
        _correlation(
            _row(200, lambda i: f"l{i}:a", "||"),
            f"case {_row(450, lambda i: f'!l{i % 200}', ' & ')}: push a;",
        ),
    ),
    "a large filter": ("ksu", _correlation("l:" + _tree(13, ";|"))),
    "labels that are not declared": (
        "ksu",
        _correlation(
            _row(900, lambda i: f"l{i}:a", "||"), f"case {_row(90, lambda i: f'm{i}', '|')}: push a;"
        ),
    ),
    "an accumulation of 2,600": ("ecl", f"accumulate {{{_row(2600, lambda i: f'a{i}')}}}"),
    "predicates that are independent": ("ecl", f"accumulate {{{_row(12, lambda i: f'<x{i} < {i}>')}}}"),
    "a long conjunction": ("ecl", f"repeat {{push(x) {{{_row(2800, lambda i: f'<x{i} < {i}>', ' && ')}}}}}"),
    "definitions that double": (
        "ecl",
        "define d0 = a; " + _row(39, lambda i: f"define d{i + 1} = d{i} || d{i}; ", "") + "d39",
    ),
    "definitions that negate": (
        "ecl",
        "define d0 = a; " + _row(1500, lambda i: f"define d{i + 1} = !d{i}; ", "") + "d1500",
    ),
    "many parts of many levels": (
        "ecl",
        f"accumulate {{{_row(30, lambda i: 'do {' * 40 + f'a{i}' + '} unless {b}' * 40)}}}",
    ),
    "a number of 5,000 digits in ECL": ("ecl", f"repeat({'9' * 5000}) {{a}}"),
}
# Measured in a process of its own, because only there the memory is that of one text.
MEASURE = """
import json, resource, sys, time
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.errors import TocsinError
import tocsin.automata.tokens.compile, tocsin.automata.completion.draft, tocsin.automata.correlation.draft
import os
texts = json.load(sys.stdin)
told = {}
for name, (language, text) in texts.items():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (10, 11))
        base = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
        start = time.process_time()
        try:
            plan_texts(named_texts(text, language), KnownEvents())
            said = "accepted"
        except TocsinError as problem:
            said = "refused"
        except BaseException as problem:
            said = type(problem).__name__
        cpu = time.process_time() - start
        peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
        os.write(writing, json.dumps([said, cpu, (peak - base) / 1e6]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    told[name] = json.loads(data) if data else ["killed", 10.0, 0.0]
print(json.dumps(told))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_no_text_takes_long_or_much() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE], input=json.dumps(TEXTS), capture_output=True, text=True, check=True
    )
    told = json.loads(ran.stdout)
    assert told.keys() == TEXTS.keys()
    # Twice the two seconds, because other processes slow a machine down; what this guards against took ten times that.
    wrong = {
        name: one
        for name, one in told.items()
        if one[0] not in ("accepted", "refused") or one[1] > 4 or one[2] > 500
    }
    assert wrong == {}
