"""Name the part of a checkpoint in errors about damage: nothing else distinguishes a damaged file from the others.

What Spark itself keeps there is read by Spark, in Java, and fails there: with a checksum that is wrong, or with whatever
exception the missing piece leads to. `damage_in` recognises both by where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError

from tocsin.errors import InputError
from tocsin.runtime.encoding import damaged

DAMAGED = "checkpoint-damaged"
# What Spark and Hadoop say of files that are not as they were written.
_SAID = re.compile(
    r"ChecksumException|Checksum error: |CHECKSUM_VERIFICATION_FAILED|CANNOT_LOAD_STATE_STORE|Incomplete log file"
    r"|(?i:not a checksum file)|INVALID_CHANGE_LOG|FAILED_TO_READ_STATE_SCHEMA|MALFORMED_LOG_FILE|UNSUPPORTED_LOG_VERSION"
)
# Classes of Spark that read the files of a checkpoint, and the part of it that they read.
_READERS = {
    "OffsetSeqLog": "offsets",
    "OffsetSeqMetadata": "offsets",
    "OffsetSeq": "offsets",
    "CommitLog": "commits",
    "CommitMetadata": "commits",
    "StreamMetadata": "metadata",
    "FileStreamSourceLog": "sources",
    "FileStreamSourceOffset": "offsets",
    "CompactibleFileStreamLog": "sources",
    "HDFSMetadataLog": "",
    "OperatorStateMetadata": "state",
    "StateSchema": "state",
    "StateStoreChangelogReader": "state",
    "RocksDBFileManager": "state",
    "RocksDBCheckpointMetadata": "state",
    "RocksDB": "state",
}
_READER = re.compile(
    rf"\bat (?:\S+/)?org\.apache\.spark\.sql\.\S*\b({'|'.join(_READERS)})[\w$]*\.(\S*)\(", re.MULTILINE
)
_WRITES = re.compile(r"(?i)commit$|upload|save|write|addnew|add$|purge|maintenance")
_TOP = 25  # frames of a stack that show where an exception is from
_FULL = "No space left on device"


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Prefix an error about damaged bytes with the name of the part that was read."""
    try:
        yield
    except InputError as problem:
        if problem.code != DAMAGED or what in problem.message:
            raise
        raise InputError(DAMAGED, f"{what}: {problem.message}", hint=problem.hint) from None


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Report values of an unexpected shape as damage, too, while a checkpoint is decoded."""
    with naming(what):
        try:
            yield
        except InputError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
            raise damaged(
                f"it has not the fields it should have ({type(problem).__name__}: {problem})"
            ) from None
        except Py4JJavaError as problem:
            if _SAID.search(str(problem)) is None:
                raise
            raise damaged(_explained(problem)) from None


def damage_in(problem: BaseException, checkpoint: str) -> InputError | None:
    """Return the error for a failure of Spark that comes from a damaged file of a checkpoint; None for other failures."""
    text = _whole_text(problem)
    if _FULL in text or "Traceback (most recent call last)" in text:
        return None
    reader = _reader(text)
    if reader is None and _SAID.search(text) is None:
        return None
    folder = checkpoint.removeprefix("file://")
    file = re.search(re.escape(folder) + r"/[^\s:,'\"\]})]+", text)
    place = file[0] if file else f"{folder}/{reader}".rstrip("/") if reader else folder
    found = damaged(_explained(problem))
    return InputError(DAMAGED, f"{place}: {found.message}", hint=found.hint)


def _reader(text: str) -> str | None:
    """Return the part of a checkpoint that was read when the innermost exception of a text was thrown; None if none was."""
    innermost = text.rpartition("\nCaused by: ")[2]
    frames = "\n".join([line for line in innermost.splitlines() if line.lstrip().startswith("at ")][:_TOP])
    found = _READER.search(frames)
    return None if found is None or _WRITES.search(found[2]) else _READERS[found[1]]


def _whole_text(problem: BaseException) -> str:
    """Return the message of a failure with its Java stacks, which PySpark keeps apart, and those of its causes."""
    texts, one = [], problem
    while one is not None:
        texts += [str(one), str(getattr(one, "_stackTrace", "") or "")]
        one = getattr(one, "_cause", None) or one.__cause__  # type: ignore[assignment]
    return "\n".join(texts)


def _explained(problem: BaseException) -> str:
    # Imported here, because workers load this module, and never come this far.
    from tocsin.spark.session.failures import explain_failure

    return explain_failure(problem)
