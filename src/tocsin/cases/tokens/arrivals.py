"""Events that arrive from several sources in any order: when a detection policy lets each one be used.

The arrivals of a case go through its detection policy, and the events it releases go to an engine, one arrival after the
other; so each match is attributed to the arrival after which it was found.

Paper: 003, "Detection Policies"; the project's decision C.3.14.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tocsin.algebra.tokens.semantics import Detection
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.execute import Session
from tocsin.automata.tokens.plan import plan
from tocsin.cases.model import Case, Skip, only_keys
from tocsin.cases.tokens import trace
from tocsin.cases.tokens.detection import Found, found
from tocsin.errors import CaseError
from tocsin.events import Composite, Event, stability, total_order

GIVEN = ("detection", "sources", "stability", "threshold")
HEARTBEAT = "heartbeat"


def detect_arrivals(subscription: Subscription, case: Case, engine: str) -> list[Found]:
    """The matches an engine finds, each with the number of the arrival after which it was found."""
    given = only_keys(case.get("given") or {}, GIVEN, "given")
    for key in ("detection", "sources"):
        if key not in given:
            raise CaseError("bad-case", f"given does not say the {key}")
    given = {"stability": "all-sources", "threshold": None, **given}
    written = enumerate(case.get("trace") or [], 1)
    arrivals = [_arrival(one, number, given["sources"]) for number, one in written]
    if engine == "stream":
        raise Skip("what was found after each arrival is asked of a log of arrivals")
    if engine == "spark":
        # Imported here, because it loads Spark.
        from tocsin.cases.tokens.tables import replay_on_spark

        return replay_on_spark(subscription, arrivals, given)
    return _replay(subscription, arrivals, given, engine)


def _arrival(written: Any, number: int, sources: Any) -> tuple[int, Event]:
    event = trace.event(written, number, more_keys=("arrival", "source"))
    source = written.get("source")
    if source not in sources:
        raise CaseError("bad-case", f"arrival {number} comes from {source!r}, which is none of the sources")
    return written.get("arrival", number), replace(event, source=source)


def _replay(
    subscription: Subscription, arrivals: Sequence[tuple[int, Event]], given: Mapping[str, Any], engine: str
) -> list[Found]:
    detection = _engine(subscription, engine)
    policy = stability.policy(
        given["detection"],
        given["sources"],
        stability=given["stability"],
        threshold=given["threshold"],
        whole_moments=len(plan([subscription]).detectors) > 1,
    )
    matches: list[Found] = []
    for arrival, event in arrivals:
        item = None if HEARTBEAT in event.types else event
        released = policy.arrive(event.source, item, event.interval.end, total_order(event))
        composites = detection.feed(released, policy.watermark)
        matches += [found(subscription, composite, arrival) for composite in composites]
    return matches


def _engine(subscription: Subscription, engine: str) -> Detection | _Local:
    match engine:
        case "reference":
            return Detection(subscription)
        case "local":
            return _Local(subscription)
        case _:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")


class _Local:
    def __init__(self, subscription: Subscription) -> None:
        self._session = Session((subscription,), in_order=False)

    def feed(self, events: Sequence[Event], until: int) -> list[Composite]:
        return self._session.feed(events, until)[0]
