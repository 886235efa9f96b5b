"""The options that the scripts of this example share."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def at_least(minimum: int) -> Callable[[str], int]:
    """A parser of whole numbers that are not less than `minimum`."""

    def number(text: str) -> int:
        if int(text) < minimum:
            raise argparse.ArgumentTypeError(f"{text} is less than {minimum}")
        return int(text)

    return number


def add_flight(parser: argparse.ArgumentParser, *, scale: int, minutes: int) -> None:
    """Let the user choose the flight; `scale` and `minutes` are the defaults."""
    add = parser.add_argument
    add("--seed", type=at_least(0), default=1, metavar="N", help="same seed, same flight (default: 1)")
    add("--scale", type=at_least(1), default=scale, metavar="N", help=f"how many aircraft (default: {scale})")
    add(
        "--minutes",
        type=at_least(1),
        default=minutes,
        metavar="N",
        help=f"how long they fly (default: {minutes})",
    )
