"""A buffer on disk between a broker that forgets delivered messages and a query that may be killed.

A message is acknowledged to the broker when it is in the spool, and leaves the spool when Spark has committed the
micro-batch that contains it. Messages are numbered 1, 2, 3 and so on; these numbers are the offsets of the query.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from tocsin.errors import BrokerError
from tocsin.spark.brokers.message import Message

_TABLES = """
    CREATE TABLE IF NOT EXISTS messages (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT, value BLOB, topic TEXT, arrived INTEGER, headers TEXT
    );
    CREATE TABLE IF NOT EXISTS owner (client TEXT);
"""
_LOCK_SECONDS = 10.0  # how long the process of a killed query may take to exit


class Spool:
    """A folder with the messages that Spark has not yet committed; only one process at a time may use it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        # One thread stores arriving messages and another hands them to Spark, over one connection.
        self._turn = threading.Lock()
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._lock = (Path(folder) / "lock").open("w")
        except OSError as problem:
            raise _failed(folder, problem.strerror) from problem
        self._take_lock()
        try:
            self._database = sqlite3.connect(
                Path(folder) / "spool.sqlite", check_same_thread=False, isolation_level=None
            )
            self._database.execute("PRAGMA journal_mode = WAL")
            # An acknowledged message must survive a power cut, too.
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_TABLES)
            found = self._database.execute(
                "SELECT seq FROM sqlite_sequence WHERE name = 'messages'"
            ).fetchone()
            oldest = self._database.execute("SELECT min(sequence) FROM messages").fetchone()[0]
        except sqlite3.Error as problem:
            raise _failed(folder, problem) from problem
        self.last = found[0] if found else 0
        self._committed = self.last if oldest is None else oldest - 1

    def _take_lock(self) -> None:
        deadline = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError as problem:
                if time.monotonic() > deadline:
                    self._lock.close()
                    raise BrokerError(
                        "spool-in-use",
                        f"another query uses the spool {self.folder}",
                        hint="every query needs a spool of its own; stop the other one first",
                    ) from problem
                time.sleep(0.05)

    @property
    def waiting(self) -> int:
        """How many messages Spark has not yet committed."""
        return self.last - self._committed

    def client(self) -> str:
        """Return the client id of this spool's owner at the broker, generated once."""
        found = self._database.execute("SELECT client FROM owner").fetchone()
        if found:
            return str(found[0])
        name = f"tocsin-{uuid.uuid4().hex}"
        self._database.execute("INSERT INTO owner VALUES (?)", (name,))
        return name

    def append(self, messages: Sequence[Message]) -> None:
        """Store messages under the next numbers; when it returns they are on disk."""
        rows = [
            (number, m.value, m.topic, m.arrived, json.dumps(dict(m.headers)))
            for number, m in enumerate(messages, self.last + 1)
        ]
        with self._turn:
            try:
                self._database.execute("BEGIN")
                self._database.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", rows)
                self._database.execute("COMMIT")
            except sqlite3.Error as problem:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise _failed(self.folder, problem) from problem
            self.last += len(rows)

    def between(self, after: int, last: int) -> list[Message]:
        """Return the messages from `after + 1` to `last`; raise an error if any is missing."""
        with self._turn:
            try:
                rows = self._database.execute(
                    "SELECT value, topic, sequence, arrived, headers FROM messages"
                    " WHERE sequence > ? AND sequence <= ? ORDER BY sequence",
                    (after, last),
                ).fetchall()
            except sqlite3.Error as problem:
                raise _failed(self.folder, problem) from problem
        if len(rows) != last - after:
            raise spool_lost(self.folder, after + 1)
        return [
            Message(value, topic, sequence, arrived, json.loads(headers))
            for value, topic, sequence, arrived, headers in rows
        ]

    def forget(self, through: int) -> None:
        """Delete the messages up to a number; Spark will not request them again."""
        with self._turn:
            try:
                self._database.execute("DELETE FROM messages WHERE sequence <= ?", (through,))
            except sqlite3.Error as problem:
                raise _failed(self.folder, problem) from problem
            self._committed = max(self._committed, through)

    def close(self) -> None:
        """Close the files and release the folder for another query."""
        self._database.close()
        self._lock.close()


def spool_lost(folder: str, wanted: int) -> BrokerError:
    """Return the error for a checkpoint that refers to messages missing from the spool."""
    return BrokerError(
        "spool-lost",
        f"the spool {folder} does not have message {wanted}, which the checkpoint of the query counts on",
        hint="spool and checkpoint belong together: use both of the same run, or two new ones",
    )


def _failed(folder: str, why: object) -> BrokerError:
    return BrokerError(
        "spool-failed",
        f"the spool {folder} cannot be used: {why}",
        hint="it needs a local disk with free space that the driver may write to; nothing was acknowledged",
    )
