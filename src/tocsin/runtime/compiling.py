"""How kernels are compiled and where the machine code is cached; no other module decides this.

numba's own cache has two faults that lead to wrong results. It identifies a kernel by the modification time of its own file, so
a kernel that calls a changed kernel of another file stays stale. And two processes that compile a kernel for different types
at the same time can store the code of one under the types of the other: it happens when two Spark workers run their first
query.
Here each compiled kernel is a file of its own, named after its types and the source text of all kernels.
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

_CHECKED = getattr(config, "BOUNDSCHECK", None)  # NUMBA_BOUNDSCHECK=1 finds accesses outside of an array


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call, unless its machine code is in the cache."""
    return _kept(nb.njit(function))


def bare(function: Callable[..., Any]) -> Any:
    """Compile, like `kernel`, a function that creates no arrays: it needs no reference counts for its arguments."""
    return _kept(nb.njit(_nrt=False)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """Compile, like `kernel`, a small function that is inlined into its callers."""
    return _kept(nb.njit(inline="always")(function))


def _kept(made: Any) -> Any:
    if hasattr(made, "py_func"):  # with NUMBA_DISABLE_JIT it is a plain function
        made._cache = _Cache(made.py_func)
    return made


class _Cache(FunctionCache):  # type: ignore[misc]  # numba is untyped here
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Files(Path(self._cache_path), self._impl.filename_base)


class _Files:
    """A cache with one file per set of types. Files are renamed into place, so that nobody reads half of one."""

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
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.blake2b(b"\0".join(file.read_bytes() for file in files), digest_size=12).hexdigest()
