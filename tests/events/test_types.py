"""Event types: attributes, inheritance, sets."""

from __future__ import annotations

import pytest

from tocsin.errors import InputError
from tocsin.events import ATTRIBUTE_TYPES, Catalog, EventType


@pytest.fixture
def catalog() -> Catalog:
    return Catalog(
        [
            EventType("Seen", {"name": "string", "room": "int"}),
            EventType("Badge", {"door": "int"}, "Seen"),
            EventType("Visitor", {}, "Badge"),
            EventType("Temp", {"room": "int", "temp": "float"}),
            EventType("Board", {"room": "string"}),
        ],
        sets={"Any": ["Seen", "Temp"], "Mixed": ["Any", "Board"]},
        closed=True,
    )


def test_a_subtype_is_an_event_of_its_parents_types(catalog: Catalog) -> None:
    assert catalog.ancestors("Visitor") == ("Visitor", "Badge", "Seen")
    assert catalog.members("Seen") == {"Seen", "Badge", "Visitor"}
    assert catalog.members("Badge") == {"Badge", "Visitor"}
    assert catalog.belongs_to("Visitor") == {"Visitor", "Badge", "Seen", "Any", "Mixed"}


def test_a_subtype_has_the_attributes_of_its_parents(catalog: Catalog) -> None:
    assert catalog.attributes("Visitor") == {"name": "string", "room": "int", "door": "int"}


def test_a_set_has_its_members_and_their_subtypes_and_sets(catalog: Catalog) -> None:
    assert catalog.members("Any") == {"Seen", "Badge", "Visitor", "Temp"}
    assert catalog.members("Mixed") == catalog.members("Any") | {"Board"}


def test_a_set_has_the_attributes_that_all_its_members_share(catalog: Catalog) -> None:
    assert catalog.attributes("Any") == {"room": "int"}
    # `room` of Board is of another type.
    assert catalog.attributes("Mixed") == {}


def test_what_a_pattern_may_name(catalog: Catalog) -> None:
    assert set(catalog.names) == {"Seen", "Badge", "Visitor", "Temp", "Board", "Any", "Mixed"}
    assert [t.name for t in catalog.types] == ["Seen", "Badge", "Visitor", "Temp", "Board"]
    assert catalog.knows("Any")
    assert not catalog.knows("Door")
    assert Catalog().knows("Door")
    assert catalog.describes("Temp")
    assert not catalog.describes("Door")


def test_common_attributes_belong_to_every_type() -> None:
    catalog = Catalog([EventType("A", {"x": "int"})], common={"source": "string"})
    assert catalog.attributes("A") == {"source": "string", "x": "int"}
    assert catalog.attributes("B") == {"source": "string"}
    assert catalog.describes("B")


def test_a_type_that_nobody_declared_is_only_itself() -> None:
    assert Catalog().members("A") == Catalog().belongs_to("A") == {"A"}
    assert Catalog().attributes("A") == {}


def declare(catalog: Catalog, name: str, attributes: dict[str, str], parent: str | None = None) -> None:
    catalog.declare(EventType(name, attributes, parent))


@pytest.mark.parametrize(
    ("name", "attributes", "parent", "code"),
    [
        ("Seen", {}, None, "duplicate-type"),
        ("Any", {}, None, "duplicate-type"),
        ("New", {}, "Sen", "unknown-type"),
        ("New", {}, "New", "unknown-type"),
        ("New", {"x": "integer"}, None, "unknown-attribute-type"),
        ("New", {"room": "string"}, "Badge", "attribute-clash"),
    ],
)
def test_wrong_declarations(
    catalog: Catalog, name: str, attributes: dict[str, str], parent: str | None, code: str
) -> None:
    before = catalog.names
    with pytest.raises(InputError) as caught:
        declare(catalog, name, attributes, parent)
    assert caught.value.code == code
    assert catalog.names == before


def test_a_subtype_may_repeat_an_attribute_as_it_is(catalog: Catalog) -> None:
    declare(catalog, "New", {"room": "int"}, "Badge")
    assert catalog.attributes("New")["room"] == "int"


@pytest.mark.parametrize(
    ("name", "members", "code"), [("Seen", ["Temp"], "duplicate-type"), ("New", ["Tmp"], "unknown-type")]
)
def test_wrong_sets(catalog: Catalog, name: str, members: list[str], code: str) -> None:
    with pytest.raises(InputError) as caught:
        catalog.declare_set(name, members)
    assert caught.value.code == code


def test_hints_name_what_was_meant(catalog: Catalog) -> None:
    with pytest.raises(InputError, match="did you mean 'Seen'"):
        declare(catalog, "New", {}, "Sen")
    with pytest.raises(InputError, match=", ".join(ATTRIBUTE_TYPES)):
        declare(catalog, "New", {"x": "integer"})
