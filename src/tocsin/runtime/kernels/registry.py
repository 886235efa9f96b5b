"""The registered kernels, and the choice of one for a detector. Adding a kernel takes a folder and a line here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from tocsin.runtime.encoding import damaged
from tocsin.runtime.kernels.protocol import Kernel, Memory
from tocsin.runtime.program import Detector

# The first kernel that serves a detector runs it. The names are part of the layout of checkpoints.
_DOORS = {
    "completion": "tocsin.runtime.kernels.completion.memory",
    "counting": "tocsin.runtime.kernels.tokens.counting.memory",
    "first_last": "tocsin.runtime.kernels.tokens.first_last.memory",
    "groups": "tocsin.runtime.kernels.tokens.groups.memory",
    "two_classes": "tocsin.runtime.kernels.pairs.two_classes.memory",
    "pairs": "tocsin.runtime.kernels.pairs.memory",
    "single": "tocsin.runtime.kernels.tokens.single.memory",
}
NAMES = tuple(_DOORS)


@cache
def kernel_named(kind: str) -> Kernel:
    """The kernel with this name, imported on first use."""
    door = _DOORS.get(kind)
    if door is None:
        raise damaged(f"it has the memory of a kernel {kind!r}, which does not exist")
    return cast(Kernel, import_module(door))


def kernel_of(detector: Detector, in_order: bool = True) -> str:
    """The name of the kernel that runs a detector, until events arrive that it cannot handle.

    Args:
        in_order: every event will lie after those that were fed before it.
    """
    return next(kind for kind in NAMES if kernel_named(kind).serves(detector, in_order))


def initial(detector: Detector, in_order: bool = True) -> Memory:
    """The memory of a detector before the first event."""
    kind = kernel_of(detector, in_order)
    return Memory(kind, kernel_named(kind).initial(detector))
