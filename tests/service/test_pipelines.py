"""A service with the types and subscriptions of a pipeline file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.errors import InputError, PipelineErrors
from tocsin.events import Composite
from tocsin.service import Service

OFFICE = """
[event.Seen]
name = "string"
room = "string"

[event.Board]
room = "string"

[event.On]
extends = "Board"

[event.Off]
extends = "Board"

[event.Login]
name = "string"

[set]
Boards = ["On", "Off"]

[[source]]
name = "office"
format = "jsonl"
path = "office.jsonl"
limit = [{ type = "Seen", by = ["name", "room"], every = "1min" }]

[[subscription]]
name = "NoLogin"
events = ["Meeting"]
pattern = "([Meeting(who = $who)], [T1 in {T1, Login(name = $who)}])_{T1=5min}"

[[subscription]]
name = "Meeting"
key = "room"
pattern = "[On][Seen(name = $who)][Seen]*[Off]"

[[subscription]]
name = "Switched"
pattern = "[Boards(source = 'panel')]"

[[sink]]
format = "console"
"""


@pytest.fixture
def office(tmp_path: Path) -> Path:
    (tmp_path / "office.jsonl").write_text("")
    path = tmp_path / "office.toml"
    path.write_text(OFFICE)
    return path


def at(service: Service, type: str, second: int, **attributes: object) -> None:
    service.publish(service.create_event(type, at=second * 1_000_000, **attributes))


def meet(service: Service) -> None:
    at(service, "On", 0, room="A")
    at(service, "Seen", 0, room="A", name="Jean")
    at(service, "Seen", 30, room="A", name="Jean")  # held back: less than a minute
    at(service, "Seen", 60, room="A", name="Jean")
    at(service, "Off", 100, room="A", source="panel")
    service.close()


def test_every_subscription_of_the_file_calls_back(office: Path) -> None:
    found: list[Composite] = []
    meet(Service.from_pipeline(office, found.append))
    assert sorted((c.type, str(c.ids), c.key) for c in found) == [
        ("Meeting", "[1, 2, 4, 5]", "A"),
        ("NoLogin", "[[1, 2, 4, 5], 'T1']", None),
        ("Switched", "[5]", None),
    ]


def test_one_subscription_brings_those_it_uses(office: Path) -> None:
    found: list[Composite] = []
    service = Service.from_pipeline(
        office, {"NoLogin": found.append}, detection="guaranteed", sources=["panel"]
    )
    service.publish(service.create_event("On", at=0, room="A", source="panel"))
    with pytest.raises(InputError, match="no source"):
        at(service, "On", 1, room="A")
    assert found == []
    service = Service.from_pipeline(office, {"NoLogin": found.append})
    meet(service)
    assert [(c.type, c.attributes) for c in found] == [("NoLogin", {"who": "Jean"})]


def test_the_types_of_the_file_are_the_types_of_the_service(office: Path) -> None:
    service = Service.from_pipeline(office, {})
    with pytest.raises(InputError, match="did you mean 'Login'"):
        service.create_event("Logn", at=0)
    with pytest.raises(InputError, match="did you mean 'name'"):
        service.create_event("Login", nme="Jean", at=0)
    found: list[object] = []
    service.subscribe("[Off in Boards]", found.append)
    at(service, "Off", 1, room="A")
    assert len(found) == 1


def test_mistakes_are_told(office: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'Meeting'"):
        Service.from_pipeline(office, {"Meting": print})
    office.write_text(OFFICE.replace("[Seen]*", "[Sen]*"))
    with pytest.raises(PipelineErrors, match=r"office.toml, line \d+"):
        Service.from_pipeline(office, print)
