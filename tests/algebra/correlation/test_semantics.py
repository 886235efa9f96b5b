"""What correlations mean: the definitions and the examples of the paper, by the reference."""

from __future__ import annotations

import pytest

from tocsin.algebra.correlation.expression import Interpretation, events, labelled, walk
from tocsin.algebra.correlation.outcome import Arrival, Outcome, Skipped
from tocsin.algebra.correlation.semantics import holds, is_shortest, matches, run, triggers, without
from tocsin.errors import InputError
from tocsin.languages.ksu import parse, parse_filter, parse_guard, parse_idl, show_filter


def outcome(text: str, trace: str, **options: str) -> Outcome:
    return run(parse(text).correlations[0], map(Arrival, trace.split()), Interpretation.of(options))


def sent(found: Outcome) -> list[tuple[int, str | None]]:
    return [(output.at, output.event or output.type) for output in found.outputs]


def test_the_parts_of_an_expression() -> None:
    (branch,) = parse_filter("l1:(a;b)|l2:a")
    assert events(branch) == {"a", "b"}
    assert [part.label for part in labelled(branch)] == ["l1", "l2"]
    assert [type(part).__name__ for part in walk(branch)] == (
        ["Collection", "Labelled", "Sequence", "Atom", "Atom", "Labelled", "Atom"]
    )


@pytest.mark.parametrize(
    ("text", "trace", "matched", "shortest"),
    [
        ("b", "aab", True, True),
        ("b", "aaba", True, False),
        ("a;a", "aa", True, True),
        ("a;a", "a", False, False),
        ("a+a", "a", True, True),
        ("a;b;a", "abba", True, True),
        ("a|(a;b)", "ab", True, False),
        ("a", "", False, False),
    ],
)
def test_definitions_1_to_3(text: str, trace: str, matched: bool, shortest: bool) -> None:
    (branch,) = parse_filter(text)
    assert (matches(branch, trace), is_shortest(branch, trace)) == (matched, shortest)


@pytest.mark.parametrize(
    ("text", "aborted", "left"),
    [
        ("l1:a+b", "l1", "b"),
        ("l1:a;b", "l1", "b"),
        ("a;l1:b", "l1", "a"),
        ("l1:a|b", "l1", "b"),
        ("l1:a+l2:b", "l1 l2", None),
        ("l1:(l2:a+b);c", "l2", "l1:b;c"),
        ("l1:(l2:a+l3:b);c", "l2 l3", "c"),
    ],
)
def test_definition_8(text: str, aborted: str, left: str | None) -> None:
    found = without(parse_filter(text)[0], frozenset(aborted.split()))
    assert (None if found is None else show_filter((found,))) == left


@pytest.mark.parametrize(
    ("text", "active", "aborted", "value"),
    [
        ("l1 | l2", "", "l1", False),
        ("l1 | l2", "l2", "l1", True),
        ("!l1", "", "", True),
        ("!l1", "", "l1", False),
        ("!(l1 | l2)", "", "l2", True),
        ("(l1 | l2) & l3", "l3", "l1", False),
        ("(l1 | l2) & l3", "l3", "l1 l2", True),
    ],
)
def test_definition_9(text: str, active: str, aborted: str, value: bool) -> None:
    assert holds(parse_guard(text), active.split(), aborted.split()) is value


def test_a_label_sees_the_whole_trigger_or_its_place() -> None:
    branches = parse_filter("a;(b|l1:c)")
    assert triggers(branches, "cab")[0].labels == ("l1",)
    assert triggers(branches, "cab", Interpretation(activity="local"))[0].labels == ()
    assert triggers(branches, "cac", Interpretation(activity="local"))[0].labels == ("l1",)


def test_labels_that_are_off_from_the_beginning() -> None:
    assert [t.at for t in triggers(parse_filter("l1:a;b"), "bab", off=["l1"])] == [1, 3]


DOUBLE = "D correlation C (D a, D b, D c) l1:(a+b)|l2:(a+c) {{ {} }}"


def test_the_double_match_and_its_three_strategies() -> None:
    both = outcome(DOUBLE.format("case l1: push b; case l2: push c"), "c b a")
    preferred = outcome(DOUBLE.format("case l1: push b; case !l1: push c"), "c b a a c")
    plain = outcome(DOUBLE.format("case l1 | l2: push new N {}"), "c b a")
    assert sent(both) == [(3, "b"), (3, "c")]
    assert sent(preferred) == [(3, "b"), (5, "c")]
    assert sent(plain) == [(3, "N")]


def test_an_interrupted_sequence_and_the_tie() -> None:
    text = "D correlation C (D a, D b, K c) l1:(a;b)|l2:(c;b) {{ case {}: push b; case l2: push c }}"
    assert sent(outcome(text.format("l1"), "a c b")) == [(3, "b"), (3, "c")]
    assert sent(outcome(text.format("l1 & !l2"), "a c b a b")) == [(3, "c"), (5, "b")]


SENSORS = """DataAvailable correlation Redundant (D a, D b, D c, K ca, K cb, K cc)
    ma:a + mb:b + mc:c || la:ca || lb:cb || lc:cc {{
    case la: {0} (ma); case lb: {0} (mb); case lc: {0} (mc);
    case ma & mb & mc: push new DataAvailable {{}} }}"""


@pytest.mark.parametrize(
    ("action", "trace", "at"),
    [
        ("abort", "a b c", [3]),
        ("abort", "ca b c", [3]),
        ("abort", "b c ca", [3]),
        ("abort", "ca cb c a c", [3, 5]),
        ("abort", "ca cb cc a b c", []),
        ("toggle", "ca ca b c a", [5]),
        ("toggle", "a ca ca b c", []),
        ("toggle", "a ca ca b c a", [6]),
    ],
)
def test_sensors_that_are_switched_off(action: str, trace: str, at: list[int]) -> None:
    assert [output.at for output in outcome(SENSORS.format(action), trace).outputs] == at


def test_lazy_aborts_wait_for_an_event_the_branch_can_use() -> None:
    found = outcome(SENSORS.format("abort"), "b c ca cb a c", abort="lazy")
    assert [output.at for output in found.outputs] == [6]


def test_modes_start_afresh_when_their_guard_comes_again() -> None:
    text = """O correlation M (E a, E b, G g, G h) m1:(a;b)|m2:(b;a)||l1:g|l2:h {
        abort (m2);
        case l1: abort (m1, m2); revive (m1); case l2: abort (m1, m2); revive (m2);
        case m1: push new X {}; case m2: push new Y {} }"""
    assert sent(outcome(text, "a g b a b h b h a b a")) == [(5, "X"), (11, "Y")]


def test_an_event_that_did_not_come_is_reported() -> None:
    found = outcome(
        "E correlation C (E a, E b) l1:a|l2:b { case l1|l2: push a; push new T { x = b.x } }", "b"
    )
    assert sent(found) == [(1, "T")]
    assert [(s.at, s.missing) for s in found.skipped if isinstance(s, Skipped)] == [(1, "a")]


@pytest.mark.parametrize(("overwrite", "x"), [("recent", 2), ("earliest", 1)])
def test_which_of_several_events_is_seen(overwrite: str, x: int) -> None:
    correlation = parse("T correlation C (E a, E b) l:(a+b) { case l: push new T { x = a.x } }").correlations[
        0
    ]
    trace = [Arrival("a", None, {"x": 1}), Arrival("a", None, {"x": 2}), Arrival("b")]
    assert run(correlation, trace, Interpretation.of({"overwrite": overwrite})).outputs[0].attributes == {
        "x": x
    }


def test_an_event_can_say_itself_that_the_earliest_counts() -> None:
    correlation = parse("T correlation C (E a, E b) l:(a+b) { case l: push a }").correlations[0]
    policy = {"overwrite": "earliest"}
    trace = [Arrival("a", None, {"x": 1} | policy), Arrival("a", None, {"x": 2} | policy), Arrival("b")]
    assert run(correlation, trace).outputs[0].attributes["x"] == 1


def test_types_at_run_time() -> None:
    types = parse_idl(
        "eventtype A { public short x; }; eventtype B : A { public short y; }; eventtype C { };"
    )
    correlation = parse(
        "A correlation P (A a) l:a { case l: push a; push new B { x = a.x } }", types
    ).correlations[0]
    trace = [Arrival("a", "C"), Arrival("a", "B", {"x": 1, "y": 2}, time=7), Arrival("a", None, {"x": 3})]
    found = run(correlation, trace, types=types)
    assert [(letter.at, letter.expected) for letter in found.dead] == [(1, "A")]
    assert [(o.at, o.type, dict(o.attributes), o.time) for o in found.outputs] == [
        (2, "B", {"x": 1, "y": 2}, 7),
        (2, "B", {"x": 1, "y": None}, 7),
        (3, "A", {"x": 3}, None),
        (3, "B", {"x": 3, "y": None}, None),
    ]
    assert [trigger.window for trigger in found.triggers] == [(1, 2), (3, 3)]


@pytest.mark.parametrize(
    ("options", "code"), [({"activty": "local"}, "unknown-option"), ({"abort": "never"}, "bad-option")]
)
def test_a_reading_that_does_not_exist(options: dict[str, object], code: str) -> None:
    with pytest.raises(InputError) as caught:
        Interpretation.of(options)
    assert caught.value.code == code
