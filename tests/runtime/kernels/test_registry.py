"""Which kernel runs what, and that all of them have the same functions."""

from __future__ import annotations

import inspect

import pytest

from support.kernel_cases import detector_of, pairs_detector
from tocsin.errors import InputError
from tocsin.runtime.kernels.protocol import Kernel
from tocsin.runtime.kernels.registry import NAMES, initial, kernel_named, kernel_of

FUNCTIONS = [name for name in vars(Kernel) if not name.startswith("_")]


@pytest.mark.parametrize("kind", NAMES)
def test_a_kernel_has_every_function_of_the_protocol(kind: str) -> None:
    assert len(FUNCTIONS) == 11
    for name in FUNCTIONS:
        asked = list(inspect.signature(getattr(Kernel, name)).parameters)[1:]
        assert list(inspect.signature(getattr(kernel_named(kind), name)).parameters) == asked, name


@pytest.mark.parametrize(
    ("pattern", "in_order", "kind"),
    [
        ("[A][B]", True, "groups"),
        ("[A][B]", False, "groups"),
        ("[A];[B]", True, "single"),
        ("[A(x = $v)][B(x = $v)]", True, "single"),
        ("[A][B] with matches = any, take = count", True, "counting"),
        ("[A][B] with matches = any, take = count", False, "groups"),
        ("[A][B] with matches = any, take = first 3", True, "first_last"),
        ("[A][B] with matches = any, take = last", True, "first_last"),
        ("[A][B] with matches = leftmost, take = last", True, "groups"),
    ],
)
def test_the_first_kernel_that_serves_a_detector_runs_it(pattern: str, in_order: bool, kind: str) -> None:
    detector, _ = detector_of(pattern)
    assert kernel_of(detector, in_order) == kind
    assert initial(detector, in_order).kind == kind


def test_a_table_is_walked() -> None:
    assert kernel_of(pairs_detector()) == "completion"


def test_a_memory_of_no_kernel_is_refused() -> None:
    with pytest.raises(InputError, match=r"checkpoint-damaged: .*'preference', which does not exist"):
        kernel_named("preference")
