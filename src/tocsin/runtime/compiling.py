"""How kernels are compiled, and where that is kept: the one place that decides it.

numba's own cache has two faults that end in wrong answers. It knows a kernel by the time of its own file, so a kernel that
calls a changed one of another file stays as it was. And two processes that compile a kernel for different types at the same
moment can leave the code of one under the types of the other, which happens when two workers of Spark meet their first query.
Here each compiled kernel is a file of its own, named after its types and the text of all kernels.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numba as nb
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

_CHECKED = getattr(config, "BOUNDSCHECK", None)  # NUMBA_BOUNDSCHECK=1 finds what reaches outside an array


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, unless that was done before."""
    return _kept(nb.njit(function))


def bare(function: Callable[..., Any]) -> Any:
    """The same for a function that makes no arrays: it need not count who uses those that it is given."""
    return _kept(nb.njit(_nrt=False)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """The same for a small function, which becomes a part of those that call it."""
    return _kept(nb.njit(inline="always")(function))


def _kept(made: Any) -> Any:
    if hasattr(made, "py_func"):  # it is no plain function, as with NUMBA_DISABLE_JIT
        made._cache = _Cache(made.py_func)
    return made


class _Cache(FunctionCache):  # type: ignore[misc]  # numba is untyped here
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(Path(self._cache_path), self._impl.filename_base)


class _Files:
    """A file for each set of types. It is put in its place whole, so nobody reads half of one."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def save(self, key: Any, data: Any) -> None:
        path = self._path(key)
        unfinished = path.with_suffix(f".{uuid4().hex}.tmp")
        unfinished.write_bytes(dumps(data))
        unfinished.replace(path)

    def load(self, key: Any) -> Any:
        try:
            return pickle.loads(self._path(key).read_bytes())
        except FileNotFoundError:
            return None

    def _path(self, key: Any) -> Path:
        what = repr((nb.__version__, _CHECKED, _text_of_all_kernels(), key))
        return self._folder / f"{self._name}.{hashlib.blake2b(what.encode(), digest_size=12).hexdigest()}.nbc"


@cache
def _text_of_all_kernels() -> str:
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.blake2b(b"\0".join(file.read_bytes() for file in files), digest_size=12).hexdigest()
