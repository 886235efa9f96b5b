"""Resolve the paths of a pipeline file, so that two spellings of the same place can be recognised.

Two spellings of one place have to be known as one before anything is written or deleted: `file:///data` and `/data`, a
symbolic link and what it points to, `a/../b` and `b`, a wildcard and each folder that fits it.
"""

from __future__ import annotations

import glob
import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

MAX_NAME = 255  # bytes of the name of a file or folder, as most file systems have it
MAX_PATH = 4_000  # bytes of a whole path
MAX_SPELLINGS = 1_000  # paths that one with braces may stand for
MAX_LISTED = 100_000  # entries of a source that are looked at for links out of it
_WILD = re.compile(r"[*?\[\]{}\\]")
_BRACES = re.compile(r"\{([^{}]*)\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)://([^/]*)(.*)", re.DOTALL)
_FILE = re.compile(r"file:(?://([^/]*))?(.*)", re.DOTALL | re.IGNORECASE)
_ALIASES = {"s3a": "s3", "s3n": "s3", "wasbs": "wasb", "abfss": "abfs"}


@dataclass(frozen=True, slots=True)
class Place:
    """A file, a folder or a glob: its store (empty for local files), and the names that lead to it."""

    store: str
    names: tuple[str, ...]

    def overlaps(self, other: Place) -> bool:
        """Whether both can be the same place, or one can be inside the other."""
        both = zip(self.names, other.names, strict=False)
        return self.store == other.store and all(_fit(one, another) for one, another in both)


def problem_of(path: str, *, wild: bool = False) -> str | None:
    """Return why no file can have this path; None if one can.

    Args:
        wild: whether the path may stand for others by wildcards, which can be shorter.

    >>> problem_of("out"), problem_of("a" * 300)
    (None, 'a name in it has 300 bytes; the limit is 255')
    """
    host = _FILE.fullmatch(path)
    if host is not None and host[1] not in (None, "", "localhost"):
        return f"files of {host[1]!r} cannot be reached with file://"
    if any(ord(sign) < 32 or ord(sign) == 127 for sign in path):
        return "it has a control character in it"
    if (size := len(path.encode())) > MAX_PATH:
        return f"it has {size:,} bytes; the limit is {MAX_PATH:,}"
    longest = max(len(name.encode()) for name in path.split("/"))
    if longest > MAX_NAME and not (wild and _WILD.search(path)):
        return f"a name in it has {longest} bytes; the limit is {MAX_NAME}"
    return None


def whole(path: str, folder: Path) -> str:
    """Return an absolute path without links and `..`; one with a scheme keeps it.

    >>> whole("file:/data/../tmp", Path("/")), whole("s3://Bucket/a/../b", Path("/"))
    ('file:///tmp', 's3://Bucket/b')
    """
    local = _FILE.fullmatch(path)
    if local is not None:
        return "file://" + _real(str(folder / (local[2] or "/")))
    scheme = _SCHEME.fullmatch(path)
    if scheme is None:
        return _real(str(folder / path))
    inside = posixpath.normpath("/" + scheme[3].lstrip("/")) if scheme[3] else ""
    return f"{scheme[1]}://{scheme[2]}{inside}"


def local(path: str) -> Path | None:
    """Return the path of a local file; None for other stores."""
    own = _FILE.fullmatch(path)
    if own is not None:
        return Path(own[2] or "/")
    return None if _SCHEME.fullmatch(path) else Path(path)


def places(path: str) -> frozenset[Place]:
    """Return every place that a path may refer to: each expansion of its braces, with links resolved."""
    here = local(path)
    if here is None:
        scheme = _SCHEME.fullmatch(path)
        assert scheme is not None
        store = f"{_ALIASES.get(scheme[1].lower(), scheme[1].lower())}://{scheme[2].lower()}"
        return frozenset(Place(store, _names(one)) for one in _spellings(scheme[3]))
    found = set[Place]()
    for one in _spellings(str(here)):
        found |= {Place("", _names(one)), Place("", _names(_real(one)))}
        if _WILD.search(one):
            found |= {Place("", _names(_real(there))) for there in _some(glob.iglob(one))}
    return frozenset(found)


def overlap(one: str, other: str) -> bool:
    """Whether two whole paths may be the same place, or one inside the other.

    >>> overlap("/data/*/in", "file:///data/x/in/deep"), overlap("/data/*.csv", "/data/out")
    (True, False)
    """
    others = places(other)
    return any(mine.overlaps(theirs) for mine in places(one) for theirs in others)


def linked(source: str) -> frozenset[Place]:
    """Return the targets of the symbolic links inside a source, so that nothing it reads through one is deleted."""
    here = local(source)
    if here is None:
        return frozenset()
    found = set[Place]()
    for spelling in _spellings(str(here)):
        for root in _some(glob.iglob(spelling)) if _WILD.search(spelling) else (spelling,):
            found |= {
                Place("", _names(_real(entry))) for entry in _some(_entries(root)) if os.path.islink(entry)
            }
    return frozenset(found)


def _entries(folder: str) -> Iterator[str]:
    for inner, folders, files in os.walk(folder):
        yield from (os.path.join(inner, name) for name in (*folders, *files))


def _some(found: Iterator[str]) -> Iterator[str]:
    return (one for one, _ in zip(found, range(MAX_LISTED), strict=False))


def _real(path: str) -> str:
    """Return the path without links and `..`, as far as it exists; the part from the first wildcard on is unchanged."""
    wild = _WILD.search(path)
    if wild is None:
        return os.path.realpath(path)
    fixed = path[: wild.start()].rpartition("/")[0]
    return posixpath.normpath(os.path.realpath(fixed or "/").rstrip("/") + path[len(fixed) :])


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in posixpath.normpath(path).split("/") if name not in ("", "."))


def _spellings(path: str) -> tuple[str, ...]:
    """Return a path for each expansion of its braces. If there are very many, the braces become wildcards."""
    found = [path]
    while any(match := _BRACES.search(one) for one in found):
        grown: list[str] = []
        for one in found:
            match = _BRACES.search(one)
            if match is None:
                grown.append(one)
            else:
                grown += [one[: match.start()] + part + one[match.end() :] for part in match[1].split(",")]
        if len(grown) > MAX_SPELLINGS:
            # A choice may have slashes in it, so it can stand for any place below what comes before it.
            return (path[: path.index("{")].rpartition("/")[0] or "/",)
        found = grown
    return tuple(found)


def _fit(one: str, other: str) -> bool:
    if one == other:
        return True
    if _WILD.search(one) and _WILD.search(other):
        return True
    return _stands_for(one, other) or _stands_for(other, one)


def _stands_for(pattern: str, name: str) -> bool:
    if not _WILD.search(pattern):
        return False
    if "\\" in pattern:
        return True  # what is escaped may be anything; to be sure, it is taken for it
    return re.fullmatch(translate(pattern.replace("[^", "[!")), name) is not None
