"""`tocsin.detect`, `route` and `replay` with every option as a keyword, for tests that pass options around by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import tocsin
from tocsin.spark.options import Columns, Replay, Rules, Run, Stream

_CALL = ("language", "key", "time", "type", "matches", "take")
_LANGUAGE = ("types", "assembly", "ports")


def detect(events: Any, pattern: Any, **named: Any) -> Any:
    """What `tocsin.detect` finds."""
    return tocsin.detect(events, pattern, *_options(named), **_call(named))


def route(events: Any, pattern: Any, **named: Any) -> tocsin.Route:
    """The route that `tocsin.detect` takes."""
    return tocsin.route(events, pattern, *_options(named), **_call(named))


def replay(events: Any, pattern: Any, **named: Any) -> Any:
    """What `tocsin.replay` finds."""
    log = Replay(**{name: named.pop(name) for name in _names(Replay) if name in named})
    return tocsin.replay(events, pattern, log, *_options(named), **_call(named))


def _names(kind: Any) -> list[str]:
    return [one.name for one in fields(kind)]


def _call(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: named[name] for name in _CALL if name in named}


def _options(named: Mapping[str, Any]) -> Iterator[object]:
    """The options by their kinds; nothing is left over."""
    left = {name: value for name, value in named.items() if name not in _CALL}
    if "columns" in left:
        left["report"] = left.pop("columns")
    if "rules" in left:
        of_rules = {"columns": left.pop("rule_columns", None), "report": left.pop("rule_changes", "drop")}
        yield Rules(left.pop("rules"), **of_rules)
    for kind in (Columns, Run, Stream):
        own = {name: left.pop(name) for name in _names(kind) if name in left}
        if own:
            yield kind(**own)
    language = dict(left.pop("options", None) or {})
    language |= {name: left.pop(name) for name in _LANGUAGE if name in left}
    if language:
        yield language
    if left.get("catalog") is not None:
        yield left["catalog"]
    left.pop("catalog", None)
    assert not left, left
