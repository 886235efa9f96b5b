"""The kinds of cases of languages of the blocks family, whose events are XML documents.

The engine `reference` takes the definitions of `algebra.blocks`; `local` looks blocks up in the index and composes them
one event at a time. Spark does not run this family yet.

| kind | given | expect |
|---|---|---|
| `subscription` | expression, options, trace | `matched_blocks` of each event, `results` |
| `match-event` | patterns by name, options, a trace of one event | `R`: the names of those that match |
| `translate` | expression | `xmlql`: the query without what only this language has |
| `parse` | expression | `error` |
| `bench` | numbers of `subscriptions`, `xml_structures`, `events` | `time` for each number, `shape`; `unit` is for the reader |

Every kind may expect an `error`: true, false, a code or several. XML is compared without its blanks. The kind `bench`
counts the comparisons that the index makes, and compares how they grow; time is not measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise

from tocsin.algebra.blocks.matching import found_in
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.algebra.blocks.query import Interpretation
from tocsin.algebra.blocks.semantics import Answer, answer
from tocsin.automata.blocks.index import BlockIndex
from tocsin.automata.blocks.online import answer_online
from tocsin.cases.blocks.answers import comparable, event_of, refusal
from tocsin.cases.blocks.workload import Workload, comparisons
from tocsin.cases.model import ENGINES, ON_SPARK, Case, Compared, Handler, Skip, only_keys
from tocsin.errors import CaseError, InputError, TocsinError
from tocsin.events import Interval
from tocsin.languages.language import Language
from tocsin.languages.registry import language_and_part
from tocsin.runtime.read.xml_documents import Unreadable, read_document

Answers = Mapping[str, object]
_ON_SPARK = "Spark does not run this family yet"
_NOT_A_TABLE = "this is asked of a text or of one document, not of a table of events"
_FOR_READERS = ("unit",)
_TOLERANCE = 1.5  # how far the growth of work may be from the growth of a measured time


def _own(case: Case) -> Language:
    own, _ = language_and_part(str(case["language"]))
    return own


def _subscription(case: Case, engine: str) -> Answers:
    """The blocks that match each event, and the results with the events that they are made of."""
    query = _own(case).read(case["expression"], case.get("options"))
    events = [_event(number, one) for number, one in enumerate(case.get("trace") or [], 1)]
    found: Answer = (answer if engine == "reference" else answer_online)(query, events)
    results = [
        {"at": one.at, "xml": comparable(result), "constituents": list(one.events)}
        for one in found.detections
        for result in one.results
    ]
    return {
        "matched_blocks": [sorted(f"${name}" for name in some) for some in found.matched],
        "results": results,
    }


def _event(number: int, written: object) -> XmlEvent:
    given = only_keys(written, ("t", "source", "xml"), "an event")
    time = given.get("t", number)
    ends = time if isinstance(time, list) else [time, time]
    if len(ends) != 2 or not all(isinstance(end, int | float) for end in ends) or ends[0] > ends[1]:
        raise CaseError("bad-case", f"{time!r} is not a time", hint="write 5 or [5, 7], in seconds")
    start, end = (int(Decimal(str(one)) * 1_000_000) for one in ends)
    return XmlEvent(number, str(given.get("source", "")), Interval(start, end), (event_of(given.get("xml")),))


def _match_event(case: Case, engine: str) -> Answers:
    """The names of the patterns that match a document."""
    own, options = _own(case), Interpretation.of(case.get("options") or {})
    written = only_keys(case["expression"], case["expression"], "expression")
    patterns = {name: own.part("block-pattern")(text) for name, text in written.items()}
    if len(case["trace"]) != 1:
        raise CaseError("bad-case", "the trace must be one event", hint="write - {xml: <a/>}")
    document = (_event(1, case["trace"][0]).document[0],)
    if engine == "reference":
        found = [n for n, one in patterns.items() if found_in(one, document, root_only=options.root_only)]
    else:
        index = BlockIndex()
        for name, pattern in patterns.items():
            index.add(name, "", pattern, root_only=options.root_only)
        found = [str(name) for name in index.match("", document)]
    return {"R": sorted(found)}


def _translate(case: Case, _: str) -> Answers:
    return {"xmlql": _own(case).part("xml-ql")(case["expression"])}


def _parse(case: Case, _: str) -> Answers:
    _own(case).read(case["expression"], case.get("options"))
    return {}


def _bench(case: Case, engine: str) -> Answers:
    """Whether the work for a number of subscriptions grows as a measured time does."""
    if engine == "reference":
        raise Skip("the definitions look at every block: there is no index whose work could be counted")
    given = only_keys(
        case.get("given"), ("subscriptions", "blocks_per_subscription", "xml_structures", "events"), "given"
    )
    if given.get("blocks_per_subscription", 2) != 2:
        raise CaseError("bad-case", "a subscription of the workload has two blocks")
    numbers, expected = given["subscriptions"], case["expect"]
    workload = Workload(structures=given["xml_structures"], events=given["events"])
    work = [comparisons(workload, number) for number in numbers]
    time = expected.get("time")
    answers: dict[str, object] = {}
    if isinstance(time, list) and len(time) == len(work):
        alike = [_alike(one / work[0], other / time[0]) for one, other in zip(work, time, strict=True)]
        # Where the work grows in another way, it is shown in the unit of the first time.
        answers["time"] = time if all(alike) else [round(one * time[0] / work[0], 1) for one in work]
    claims = {
        "monotone": all(one <= other for one, other in pairwise(work)),
        "linear": all(
            _alike(one / work[0], number / numbers[0]) for one, number in zip(work, numbers, strict=True)
        ),
    }
    claimed = [word for word in claims if word in str(expected.get("shape", ""))]
    if "shape" in expected:
        if not claimed:
            raise CaseError("bad-case", "shape must say monotone or linear", hint="or leave it out")
        failed = [f"not {word}" for word in claimed if not claims[word]]
        answers["shape"] = ", ".join(failed) or expected["shape"]
    return answers


def _alike(one: float, other: float) -> bool:
    return other / _TOLERANCE <= one <= other * _TOLERANCE


# --- comparing --------------------------------------------------------------------------------------


def _handler(answer: Callable[[Case, str], Answers], *keys: str) -> Handler:
    """A handler that compares what a case expects with the results; an error is a result too."""

    def handle(case: Case, engine: str) -> Compared:
        if engine not in ENGINES:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")
        expected = only_keys(case.get("expect"), (*keys, "error"), "expect")
        if not expected:
            raise CaseError("bad-case", "expect is empty", hint="say what must come out: " + ", ".join(keys))
        if engine in ON_SPARK:
            raise Skip(_ON_SPARK if "results" in keys else _NOT_A_TABLE)
        answers, error = dict[str, object](), None
        try:
            answers = dict(answer(case, engine))
        except TocsinError as problem:
            if isinstance(problem, CaseError) or "error" not in expected:
                raise
            error = problem
        got = {**answers, "error": refusal(expected.get("error"), error)}
        return (
            {key: _normal(key, value) for key, value in expected.items() if key not in _FOR_READERS},
            {key: _normal(key, got[key]) for key in expected if key in got},
        )

    return handle


def _normal(key: str, value: object) -> object:
    """A value of `expect` without what does not matter: the order of sets, the blanks of XML."""
    match key, value:
        case "matched_blocks", list():
            return [sorted(map(str, one)) if isinstance(one, list) else one for one in value]
        case "R", list():
            return sorted(map(str, value))
        case "xmlql", str():
            return "".join(value.split())
        case "results", list():
            return [_result(one) for one in value]
        case _:
            return value


def _result(written: object) -> object:
    given = only_keys(written, ("at", "xml", "constituents"), "a result")
    xml = given.get("xml")
    if not isinstance(xml, str):
        return given
    # What is constructed need not be one element.
    found = read_document(f"<results>{xml}</results>")
    if isinstance(found, Unreadable):
        raise InputError("bad-document", f"a result is no XML: {found.text}")
    return {**given, "xml": comparable(found.content)}


KINDS: Mapping[str, Handler] = {
    "subscription": _handler(_subscription, "matched_blocks", "results"),
    "match-event": _handler(_match_event, "R"),
    "translate": _handler(_translate, "xmlql"),
    "parse": _handler(_parse),
    "bench": _handler(_bench, "time", "unit", "shape"),
}
