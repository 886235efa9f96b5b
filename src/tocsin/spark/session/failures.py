"""Extract the message of a failure in Spark, without the Java stack traces around it."""

from __future__ import annotations

import logging
import re

from pyspark.logger import PySparkLogger

# One of our errors raised in a worker comes back as the text of a Python traceback.
_OURS = re.compile(r"^tocsin\.errors\.\w+: (.*)", re.DOTALL | re.MULTILINE)
_PYTHON = re.compile(r"^Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)", re.DOTALL | re.MULTILINE)
_LOST_TASK = re.compile(r"Lost task [^\n]*?\): (.*)", re.DOTALL)
_CALLING = re.compile(r"An error occurred while calling [^\n]*\n: (.*)", re.DOTALL)
# Where a message ends: at the stack, or at the SQL query, the stream or the plan that Spark appends.
_END = re.compile(
    r"\n\s*at [\w.$/]+\(|\n\tat |\n== SQL|\n=== Streaming Query|;\n|\n\s*Driver stacktrace|\n\nJVM stacktrace|\n\n"
)
_STATE = re.compile(r"(\s*SQLSTATE: \w+)+\s*$")
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+(\w+): ")
_FULL = "No space left on device"
# Spark compares the number of sources before any state is read, whose version would be refused.
_SOURCES = re.compile(r"There are \[(\d+)\] sources in the checkpoint offsets and now there are \[(\d+)\]")
_RAISED = re.compile(r"^\[USER_RAISED_EXCEPTION\] ")

# Loggers of PySpark that write whole Java stacks to the terminal, in addition to the exception.
_LOUD = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


def is_from_spark(error: BaseException) -> bool:
    """Return whether an exception was raised by Spark, in Python or in Java."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def explain_failure(error: BaseException) -> str:
    """Return the cause of a failure as a short message.

    >>> text = "An exception was thrown from the Python worker:\\nTraceback (most recent call last):\\n  …\\n"
    >>> explain_failure(RuntimeError(text + "tocsin.errors.LimitError: too-many-states: 20,000 of them"))
    'too-many-states: 20,000 of them'
    >>> explain_failure(RuntimeError("[USER_RAISED_EXCEPTION] no time in column 'at' SQLSTATE: P0001"))
    "no time in column 'at'"
    """
    text = str(error)
    if _FULL in text:
        return f"disk-full: {_FULL.lower()}\nhint: make room and start again; a stream goes on from its checkpoint"
    if other := _SOURCES.search(text):
        return (
            f"checkpoint-version: this checkpoint is of a query with {other[1]} sources; this one has {other[2]}\n"
            "hint: go on with the query and the version of tocsin that wrote it, or start with a new checkpoint folder"
        )
    if ours := _OURS.search(text):
        return _message(ours[1])
    if python := _PYTHON.search(text):
        return _message(python[1])
    # Java lists causes from the outermost to the innermost.
    _, caused, cause = text.rpartition("\nCaused by: ")
    found = (
        cause if caused else next((m[1] for m in (_LOST_TASK.search(text), _CALLING.search(text)) if m), text)
    )
    return _message(found)


def _message(text: str) -> str:
    """Return the message at the start of a text, without the Java class before it and the stack after it."""
    message = _STATE.sub("", _END.split(text.strip(), maxsplit=1)[0])
    return _CLASS.sub(r"\1: ", _RAISED.sub("", message)).strip() or "Spark does not say why"


def quiet_spark_errors() -> None:
    """Keep Spark from logging errors to the terminal; the exception contains everything."""
    for name in _LOUD:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)
