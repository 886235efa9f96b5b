"""How kernels are compiled and where the machine code is cached; no other module decides this.

numba's own cache has two faults that lead to wrong results. It identifies a kernel by the modification time of its own file, so
a kernel that calls a changed kernel of another file stays stale. And two processes that compile a kernel for different types
at the same time can store the code of one under the types of the other: it happens when two Spark workers run their first
query.
Here each compiled kernel is a file of its own, named after its types and the source text of its module and of all modules that
this one imports, directly or not.

A wheel for a platform brings the machine code of the usual kernels along, in the folder `machine_code` beside this file. It is
compiled for a processor that nearly every machine has the features of, and is named in the same way: code of another text,
Python, numba or NumPy is never found. `packaging/platform_wheel.py` makes such a wheel.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numba as nb
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

_ROOT = Path(__file__).resolve().parent
MACHINE_CODE = _ROOT / "machine_code"
_PACKAGE = "".join(__name__.rpartition(".")[:2])  # of all kernels, with a dot
_CHECKED = getattr(config, "BOUNDSCHECK", None)  # NUMBA_BOUNDSCHECK=1 finds accesses outside of an array
_NUMPY = np.__version__.split(".")[:2]  # numba compiles different code for different versions of NumPy
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n#]*)", re.MULTILINE)


class Processor(NamedTuple):
    """A processor that code in a wheel is compiled for, and the features that a machine must have to run it."""

    name: str
    needed: frozenset[str]


# The processors of about the last ten years. Kernels follow indices, which newer vector instructions hardly help.
_PORTABLE = {
    "x86_64": Processor(
        "x86-64-v2", frozenset({"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"})
    ),
    "aarch64": Processor("generic", frozenset()),
    "arm64": Processor("generic", frozenset()),  # the name on macOS
}


def portable_processor() -> Processor | None:
    """Return the processor that a wheel built on this machine is compiled for; None if there is no such wheel."""
    return _PORTABLE.get(platform.machine())


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
        source = Path(function.__code__.co_filename).resolve()
        self._cache_file = _Files(Path(self._cache_path), self._impl.filename_base, source)


class _Files:
    """A cache with one file per set of types. Files are renamed into place, so that nobody reads half of one."""

    def __init__(self, folder: Path, name: str, source: Path) -> None:
        self._folder, self._name, self._source = folder, name, source

    def save(self, key: Any, data: Any) -> None:
        if _text_of(self._source) is None:
            return
        path = self._folder / self._file(key)
        unfinished = path.with_suffix(f".{uuid4().hex}.tmp")
        unfinished.write_bytes(dumps(data))
        unfinished.replace(path)

    def load(self, key: Any) -> Any:
        """The code, or None if it has to be compiled."""
        for path in self._places(key):
            try:
                return pickle.loads(path.read_bytes())
            except FileNotFoundError:
                continue
        _announce(self._name)
        return None

    def _file(self, key: Any) -> str:
        versions = (nb.__version__, _NUMPY, sys.implementation.cache_tag, _CHECKED)
        what = repr((versions, self._name, _text_of(self._source), key))
        return f"{self._name}.{hashlib.blake2b(what.encode(), digest_size=12).hexdigest()}.nbc"

    def _places(self, key: Any) -> Iterator[Path]:
        """The files that may hold the code: in the cache, or from a wheel, for this processor or a portable one."""
        if _text_of(self._source) is None:
            return
        yield self._folder / self._file(key)
        if _has_machine_code():
            yield MACHINE_CODE / self._file(key)
            types, (triple, _, features), code = key
            processor = portable_processor()
            if processor is not None and processor.needed <= set(features.replace("+", "").split(",")):
                yield MACHINE_CODE / self._file((types, (triple, processor.name, ""), code))


def _announce(name: str) -> None:
    """Note that a kernel is about to be compiled, for the command that waits for it and shows what is going on."""
    file = os.environ.get("TOCSIN_COMPILING")
    if file is None:
        return
    with suppress(OSError), open(file, "a") as compiled:
        compiled.write(f"{name}\n")


@cache
def _has_machine_code() -> bool:
    return MACHINE_CODE.is_dir()


@cache
def _text_of(source: Path) -> str | None:
    """Return a hash of the source text of a module and of all modules of kernels that it imports, directly or not.

    None if there is no text to read, as in a zip file: then nothing is kept, because it could not be known to be stale.
    """
    if not source.is_file():
        return None
    found: set[Path] = set()
    left = [source]
    while left:
        file = left.pop()
        if file not in found:
            found.add(file)
            left.extend(_imported(file))
    # In the order of their names, which does not depend on where the package is installed.
    texts = {str(file.relative_to(_ROOT)): file.read_bytes() for file in found if file.is_relative_to(_ROOT)}
    return hashlib.blake2b(repr(sorted(texts.items())).encode(), digest_size=12).hexdigest()


@cache
def _imported(source: Path) -> tuple[Path, ...]:
    """Return the files of the modules of kernels that a module imports, wherever in it."""
    names: set[str] = set()
    for package, listed in _IMPORT.findall(source.read_text()):
        parts = [part.split()[0] for part in listed.strip("()").split(",") if part.split()]
        names |= {package, *(f"{package}.{part}" for part in parts)} if package else set(parts)
    return tuple(file for name in sorted(names) if (file := _file_of(name)) is not None)


def _file_of(module: str) -> Path | None:
    """Return the file of a module of this package; None for any other, and for a name inside a module."""
    if not f"{module}.".startswith(_PACKAGE):
        return None
    place = _ROOT.joinpath(*f"{module}.".removeprefix(_PACKAGE).split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)
