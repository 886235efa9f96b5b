"""Tocsin detects composite events on Apache Spark.

| name | what it does |
|---|---|
| `detect`, `route` | find patterns in a table, files or a stream; how that is done |
| `why` | how far partial matches of one key got, and what ended them |
| `replay` | find patterns in events as they arrived |
| `explain`, `check`, `parse` | what a pattern means and costs; what is odd about it; its value |
| `event` | patterns built in Python |
| `translate` | a profile of the event algebra in another of its languages |
| `sent`, `deliver` | the events that patterns sent, and how a receiver takes them |
| `watch` | observe a stream |
| `Service` | publish and subscribe in one process |
| `local_session` | a Spark session with settings that suit detection |
| `Catalog`, `EventType` | event types |
| `Columns`, `Run`, `Stream`, `Rules`, `Replay` | options of `detect` and `replay` |
| `Route`, `TocsinError`, `PatternErrors` | what is returned and raised |

`help(tocsin.detect)` says more of each.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.errors import PatternErrors as PatternErrors
    from tocsin.errors import TocsinError as TocsinError
    from tocsin.errors import TocsinWarning as TocsinWarning
    from tocsin.events import Catalog as Catalog
    from tocsin.events import EventType as EventType
    from tocsin.explain import check as check
    from tocsin.explain import explain as explain
    from tocsin.languages.binding import event as event
    from tocsin.languages.registry import parse as parse
    from tocsin.service import Service as Service
    from tocsin.spark.batch.route import Route as Route
    from tocsin.spark.deliver import deliver as deliver
    from tocsin.spark.detect import detect as detect
    from tocsin.spark.detect import route as route
    from tocsin.spark.flat import flat as flat
    from tocsin.spark.options import Columns as Columns
    from tocsin.spark.options import Replay as Replay
    from tocsin.spark.options import Rules as Rules
    from tocsin.spark.options import Run as Run
    from tocsin.spark.options import Stream as Stream
    from tocsin.spark.replay import replay as replay
    from tocsin.spark.sent import sent as sent
    from tocsin.spark.session.session import local_session as local_session
    from tocsin.spark.watch import watch as watch
    from tocsin.spark.why import why as why
    from tocsin.translate import translate as translate

__version__ = "0.1.0"

# Loaded when first used: a worker of Spark imports `tocsin.runtime`, and must not load parsers and compilers with it.
_HOMES = {
    "Catalog": "tocsin.events",
    "Columns": "tocsin.spark.options",
    "EventType": "tocsin.events",
    "PatternErrors": "tocsin.errors",
    "Replay": "tocsin.spark.options",
    "Route": "tocsin.spark.batch.route",
    "Rules": "tocsin.spark.options",
    "Run": "tocsin.spark.options",
    "Service": "tocsin.service",
    "Stream": "tocsin.spark.options",
    "TocsinError": "tocsin.errors",
    "TocsinWarning": "tocsin.errors",
    "check": "tocsin.explain",
    "deliver": "tocsin.spark.deliver",
    "detect": "tocsin.spark.detect",
    "event": "tocsin.languages.binding",
    "explain": "tocsin.explain",
    "flat": "tocsin.spark.flat",
    "local_session": "tocsin.spark.session.session",
    "parse": "tocsin.languages.registry",
    "replay": "tocsin.spark.replay",
    "route": "tocsin.spark.detect",
    "sent": "tocsin.spark.sent",
    "translate": "tocsin.translate",
    "watch": "tocsin.spark.watch",
    "why": "tocsin.spark.why",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tocsin' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
