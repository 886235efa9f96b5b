"""Pipelines whose detections would feed themselves through a broker are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.broker_pipelines import SOURCE, STREAM, SUBSCRIPTION, TYPES, mistakes, read, sink
from tocsin.spark.pipeline.plan.check_loops import matches

SECOND = """
[[subscription]]
name = "Serious"
key = "room"
pattern = "[Alarm];[Alarm]"
"""
FEEDS_BACK = "Through feeds itself through found: Through → Serious → Through"


def only(name: str) -> dict[str, str]:
    """A sink of one subscription, whose composites are alarms."""
    return {"subscriptions": name, "event_type": "Alarm"}


def test_detections_may_feed_others_but_not_themselves(tmp_path: Path) -> None:
    # Alarms go round to the second subscription, and end there.
    assert read(tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found", **only("Through")), STREAM)
    # The second one would see what it sends itself.
    itself = mistakes(tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found", **only("Serious")), STREAM)
    assert itself == [("feedback-loop", "Serious feeds itself through found: Serious → Serious")]
    # Nobody reads this subject, or nobody looks at this type.
    apart = SOURCE + 'topics = "doors.>"\n'
    assert read(tmp_path, TYPES, apart, SUBSCRIPTION, SECOND, sink("found", **only("Serious")), STREAM)
    assert read(tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found"), STREAM)


def test_a_loop_through_another_subscription(tmp_path: Path) -> None:
    back = """
[[sink]]
format = "nats"
servers = ["nats://other:4222", "nats://localhost:4222"]
topic = "back"
subscriptions = "Serious"
event_type = "Open"
"""
    found = mistakes(
        tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found", **only("Through")), back, STREAM
    )
    assert found == [
        ("feedback-loop", FEEDS_BACK),
        ("feedback-loop", "Serious feeds itself through back: Serious → Through → Serious"),
    ]


def test_a_subscription_that_sends_counts_as_one_that_looks_at_everything(tmp_path: Path) -> None:
    ecl = """
[[subscription]]
name = "Told"
language = "ecl"
pattern = "repeat {push(Alarm {room = event.room}) {Open}}"
"""
    assert mistakes(tmp_path, TYPES, SOURCE, ecl, sink("found"), STREAM) == [
        ("feedback-loop", "Told feeds itself through found: Told → Told")
    ]


@pytest.mark.parametrize(
    ("filter", "topic", "meant"),
    [
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a", "a.b", False),
        ("a.b", "a", False),
        ("*.b", "a.b", True),
    ],
)
def test_filters(filter: str, topic: str, meant: bool) -> None:
    assert matches(filter.split("."), topic.split("."), "*", ">") is meant
