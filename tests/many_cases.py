"""Thousands of random patterns and traces, reference against kernel: for the tests, and for long runs by hand.

    python tests/many_cases.py --family all --cases 1000000 --seed 1

Each pattern meets twenty traces or more, which are keys of one stream: so a case is one pattern and one trace, and the kernels
are called as on Spark, for many keys at once. Every pattern is fed whole and one moment at a time, with the state as bytes in
between.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from support import many_blocks, many_pairs, many_sent, many_tokens


class Family(NamedTuple):
    """How many cases a seed stands for, and how the kernel differs from the reference on them."""

    cases: int
    differences: Callable[[int], list[str]]


FAMILIES = {
    "tokens": Family(many_tokens.CASES, many_tokens.differences),
    "ecl": Family(many_sent.CASES, many_sent.ecl_differences),
    "blocks": Family(many_blocks.CASES, many_blocks.differences),
    "ksu": Family(many_sent.CASES, many_sent.ksu_differences),
    "pairs": Family(many_pairs.CASES, many_pairs.differences),
}


def main() -> int:
    """Run the cases that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--family", choices=[*FAMILIES, "all"], default="tokens")
    parser.add_argument("--cases", type=int, default=20_000, help="of each family")
    parser.add_argument("--seed", type=int, default=1, help="where the seeds begin")
    wanted = parser.parse_args()
    names = list(FAMILIES) if wanted.family == "all" else [wanted.family]
    wrong = [run(FAMILIES[name], name, wanted.cases, wanted.seed) for name in names]
    return 1 if any(wrong) else 0


def run(family: Family, name: str, cases: int, first: int) -> int:
    """Run at least so many cases of a family and print what differs; returns how many differ."""
    began, wrong, done = time.monotonic(), 0, 0
    for seed in range(first, first + -(-cases // family.cases)):
        for difference in family.differences(seed):
            wrong += 1
            print(difference, flush=True)
        done += family.cases
        if done % 10_000 == 0:
            spent = time.monotonic() - began
            print(f"{name}: {done:,} cases, {wrong} wrong, {spent:.0f} s", file=sys.stderr, flush=True)
    print(f"{name}: {done:,} cases, {wrong} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
