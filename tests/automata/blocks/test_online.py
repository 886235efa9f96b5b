"""Many queries over one stream: they come and go, and take what others construct."""

from __future__ import annotations

import pytest

from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.automata.blocks.online import Sent, Subscriptions
from tocsin.errors import InputError, LimitError
from tocsin.events import Interval
from tocsin.languages import registry
from tocsin.runtime.read.xml_documents import Unreadable, read_document
from tocsin.runtime.xml_tree import written


def _running(**texts: str) -> Subscriptions:
    running = Subscriptions()
    for name, text in texts.items():
        running.add(name, registry.parse(text, "exml-ql"))
    return running


def _feed(running: Subscriptions, number: int, document: str, stream: str = "S") -> list[Sent]:
    found = read_document(document)
    assert not isinstance(found, Unreadable)
    return running.feed(XmlEvent(number, stream, Interval(number, number), (found,)))


def _shown(sent: list[Sent]) -> list[tuple[str, str]]:
    return [(one.query, written(result)) for one in sent for result in one.detection.results]


def test_a_query_takes_what_another_constructs() -> None:
    running = _running(
        lines='WHERE <order> <item>$i</> </> IN "S" CONSTRUCT <line> $i </>',
        dear='WHERE <line>$i</> IN "lines", $i > 10 CONSTRUCT <dear> $i </>',
        pairs='WHERE BLOCK $A: <dear>$x</> IN "dear", BLOCK $B: <order></> IN "S", EVENT $A BEFORE $B CONSTRUCT <r> $x </>',
    )
    assert _shown(_feed(running, 1, "<order><item>5</item><item>50</item></order>")) == [
        *(("lines", "<line>5</line>"), ("lines", "<line>50</line>")),
        ("dear", "<dear>50</dear>"),
    ]
    assert ("pairs", "<r>50</r>") in _shown(_feed(running, 2, "<order/>"))


def test_queries_come_and_go() -> None:
    text = 'WHERE <a>$x</> IN "S" CONSTRUCT <r> $x </>'
    running = _running(one=text, two=text)
    assert len(running.index) == 1
    assert [name for name, _ in _shown(_feed(running, 1, "<a>1</a>"))] == ["one", "two"]
    running.remove("one")
    running.add(
        "three", registry.parse('WHERE <a></> IN f("S") CONSTRUCT <r></>'.replace('f("S")', '"T"'), "exml-ql")
    )
    assert [name for name, _ in _shown(_feed(running, 2, "<a>1</a>"))] == ["two"]
    assert [name for name, _ in _shown(_feed(running, 3, "<a>1</a>", "T"))] == ["three"]
    with pytest.raises(InputError, match="unknown-name: there is no query 'one'"):
        running.remove("one")
    with pytest.raises(InputError, match="duplicate-name: there is a query 'two' already"):
        running.add("two", registry.parse(text, "exml-ql"))


def test_a_query_that_was_removed_has_forgotten() -> None:
    text = 'WHERE BLOCK $A: <a></> IN "S", BLOCK $B: <b></> IN "S", EVENT $A BEFORE $B CONSTRUCT <r></>'
    running = _running(q=text)
    _feed(running, 1, "<a/>")
    running.remove("q")
    running.add("q", registry.parse(text, "exml-ql"))
    assert _feed(running, 2, "<b/>") == []


def test_functions_are_followed_when_blocks_go() -> None:
    text = 'FUNCTION f($o) WHERE <a>$x</> IN $o CONSTRUCT <b> $x </> END WHERE <b>$x</> IN f("S") CONSTRUCT <r> $x </>'
    running = _running(q=text)
    assert _shown(_feed(running, 1, "<a>1</a>")) == [("q", "<r>1</r>")]
    running.remove("q")
    assert _feed(running, 2, "<a>1</a>") == []


def test_a_query_that_feeds_itself_is_stopped() -> None:
    running = _running(
        loop='WHERE <a></> IN "S" CONSTRUCT <a></>', again='WHERE <a></> IN "again" CONSTRUCT <a></>'
    )
    assert len(_feed(running, 1, "<a/>")) == 1
    with pytest.raises(LimitError, match="follow from one event"):
        _feed(running, 2, "<a/>", "again")
