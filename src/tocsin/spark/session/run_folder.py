"""Temporary folders that do not outlive their process by long: those of processes that were killed go at the next start.

A process holds a lock on a file in each of its folders while it lives. Whoever makes a new folder removes those whose lock is
free, so nothing is removed that a running process still needs, and nothing that Tocsin did not make.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LOCK = "lock"
_OURS = re.compile(r"tocsin-(bench|java|spark|stream|warm)-[0-9a-f]{8}")
_SECONDS_TO_LOCK = 600  # no process takes that long from making a folder to locking it
_TRIES = 20  # to remove a folder
_locks: dict[Path, int | None] = {}  # our folders; a lock is held as long as its file is open

_process = os.getpid()  # forked ones have no folders of their own, and must not remove those of this one


def run_folder(what: str) -> Path:
    """Return a new folder `tocsin-WHAT-…`, which goes with this process; removes those that killed processes left."""
    return _new(what)


@contextmanager
def passing_folder(what: str) -> Iterator[Path]:
    """Yield a new folder `tocsin-WHAT-…`, which is removed at the end, or at the next start if there is no end."""
    folder = _new(what)
    try:
        yield folder
    finally:
        _remove(folder)


def _new(what: str) -> Path:
    remove_abandoned()
    folder = Path(tempfile.gettempdir(), f"tocsin-{what}-{secrets.token_hex(4)}")
    _locks[folder] = None  # first of all: a signal may come at any moment
    folder.mkdir(mode=0o700)  # raises if it exists: in a shared folder it could be a trap
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _locks[folder] = handle
    return folder


def _remove(folder: Path) -> None:
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.05)  # a process that is ending can still write into it
    handle = _locks.pop(folder, None)
    if handle is not None:
        os.close(handle)


@atexit.register
def _remove_all() -> None:
    if os.getpid() == _process:
        for folder in list(_locks):
            _remove(folder)


def remove_abandoned() -> None:
    """Remove the folders in the temporary directory whose process is gone."""
    with suppress(OSError):
        for entry in list(os.scandir(tempfile.gettempdir())):
            if _OURS.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_abandoned(Path(entry.path))


def _remove_if_abandoned(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return
    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        # Its process was killed before it could lock the folder, or is about to. One with contents is not ours to judge.
        if time.time() - status.st_mtime > _SECONDS_TO_LOCK:
            folder.rmdir()
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if its process lives
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)
